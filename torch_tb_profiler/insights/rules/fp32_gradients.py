"""Gradients that are all-reduced in 32 bits, though the model computes in 16."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import kernels
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, DEVICE, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.collective_calls import collective_calls
from torch_tb_profiler.insights.shared.exposed import ONE_RANK, exposed_communication
from torch_tb_profiler.insights.shared.products import products_of
from torch_tb_profiler.insights.shared.wording import mebibytes


def _find(facts: Facts) -> Sequence[Found]:
    exposed = exposed_communication(facts)
    products = products_of(facts) if exposed is not None and facts.is_training else None
    if exposed is None or products is None:
        return ()
    whole = np.ones(len(products.chosen), np.bool_)
    halves = products.time(products.are("bf16", "fp16")) / max(products.time(whole), 1)
    if halves < facts.limit("fp32_gradients", "least_share_of_products"):
        return ()
    calls = collective_calls(facts)
    calls = calls.take(calls.are("all_reduce") & (calls.in_bytes > 0))
    names = [each.lower() in ("float", "float32", "c10::float") for each in calls.of.dtypes]
    singles = np.array(names, np.bool_)[calls.of.operations.dtype[calls.operation]]
    total, wide = int(calls.in_bytes.sum()), int(calls.in_bytes[singles].sum())
    per_step = wide / max(facts.steps, 1)
    if wide < facts.limit("fp32_gradients", "least_share_of_bytes") * total or per_step < facts.limit(
        "fp32_gradients", "least_bytes"
    ):
        return ()
    chosen = calls.take(singles)
    return (
        Found(
            title="Gradients are sent in 32 bits, and the model computes in 16",
            detail=(
                f"{100 * wide / total:.0f} % of the bytes of all-reduces are FP32, {mebibytes(per_step)} a step, "
                f"while {100 * halves:.0f} % of the time of matrix products and convolutions is in 16 bits."
            ),
            advice=(
                "Send half of the bytes: `model.register_comm_hook(None, "
                "torch.distributed.algorithms.ddp_comm_hooks.default_hooks.bf16_compress_hook)`. Check that the loss "
                "still falls: sums of many ranks lose digits."
            ),
            values={
                "share": wide / total,
                "bytes": round(per_step),
                "products": halves,
            },
            rows=facts.longest_first(chosen.row),
            changes=(kernels(0.5, rows=chosen.row),),
            refused=ONE_RANK,
            confidence="medium",
            evidence=(
                exposed.evidence,
                Evidence("fp32_bytes", "All-reduced in FP32, per step", per_step, "bytes", "distributed"),
            ),
            links=(
                Link(
                    "bf16_compress_hook",
                    "bf16_compress_hook",
                    "https://docs.pytorch.org/docs/stable/ddp_comm_hooks.html#default-communication-hooks",
                ),
            ),
        ),
    )


RULE = Rule("fp32_gradients", "R51", (STEPS, DEVICE, COMMUNICATION), _find, over_ranks=True)
