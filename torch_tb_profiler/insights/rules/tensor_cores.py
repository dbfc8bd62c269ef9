"""Matrix products without tensor cores on a GPU that has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.kernels.table import kernel_totals
from torch_tb_profiler.analysis.shared.tensor_cores import FIRST_CAPABILITY, eligible_device_work
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule


def _find(facts: Facts) -> Sequence[Found]:
    model = facts.model
    devices = model.trace.header.devices
    major = devices[0].get("computeMajor") if devices else None
    if not isinstance(major, int) or major < FIRST_CAPABILITY[0]:
        return ()
    totals = kernel_totals(model)
    found = totals.tensor_cores
    if found is None or found.yes or found.unknown > facts.limit("tensor_cores", "most_undecided"):
        return ()
    rows = model.device_work.row[eligible_device_work(model)]
    eligible = int(np.maximum(model.trace.events.duration[rows], 0).sum())
    if not eligible:
        return ()
    share = eligible / totals.compute_ns
    return (
        Found(
            title="Tensor cores are not used",
            detail=(
                f"Kernels with {100 * share:.0f} % of the time do work that tensor cores could do, and none of them "
                "uses these."
            ),
            advice=(
                'Run products in 16 bits with `torch.autocast("cuda", dtype=torch.bfloat16)`; for 32-bit products '
                '`torch.set_float32_matmul_precision("high")` uses TF32 on Ampere and later.'
            ),
            values={"share": share},
            severity="medium" if share >= facts.limit("tensor_cores", "little") else "low",
            rows=facts.longest_first(rows),
            evidence=(
                Evidence("eligible_kernel_time", "Kernel time that could use tensor cores", eligible, "ns", "kernels"),
                Evidence("eligible_share", "Share of the time of compute kernels", share, "fraction", "kernels"),
                Evidence(
                    "tensor_cores_yes", "Time of compute kernels using tensor cores", found.yes, "fraction", "kernels"
                ),
            ),
            links=(
                Link("mixed_precision", "Automatic mixed precision", "https://docs.pytorch.org/docs/stable/amp.html"),
            ),
        ),
    )


RULE = Rule("tensor_cores", "R22", (DEVICE, PROPERTIES), _find)
