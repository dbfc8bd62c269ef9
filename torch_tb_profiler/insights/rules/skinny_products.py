"""Products with few rows: the device reads all weights for a handful of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.shared.count_text import by_count, counted
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES, SHAPES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.products import in_words, products_of
from torch_tb_profiler.model.kernel_names.family import Kind

_ID = "skinny_products"


def _find(facts: Facts) -> Sequence[Found]:
    products = products_of(facts)
    # weights that are trained are not stored in 8 bits, and a training step has its batch
    if products is None or facts.is_training or not len(products.calls):
        return ()
    kernels, chosen = products.kernels, products.chosen
    weights, elements = products.of_shapes("weights"), products.of_shapes("elements")
    bound = (
        products.is_skinny
        & products.of_shapes("constant").astype(np.bool_)
        & (products.of_shapes("size") == 2)
        & (products.efficiency >= facts.limit(_ID, "least_efficiency"))
        & (weights > elements)
    )
    call = kernels.call[chosen]
    reads = products.are_of(Kind.GEMM, Kind.GEMV) & products.are("bf16", "fp16") & np.append(bound, False)[call]
    spent = products.time(reads)
    if not facts.total_ns or facts.share(spent) < facts.limit(_ID, "least_share"):
        return ()
    # the memory is the bound: what is read takes its time, and weights of 8 bits are half of it
    moved = (2 * elements + weights) / (2 * (elements + weights))
    least = kernels.calls.duration.astype(np.float64) * moved
    faster = products.faster(chosen[reads], least, 2, 1)
    calls = distinct(call[reads])
    worst = int(calls[np.argmax(kernels.calls.duration[calls])])
    reached = float(products.least_ns()[calls].sum() / kernels.calls.duration[calls].sum())
    shape = products.shape(worst)
    return (
        Found(
            title="Matrix products wait for their weights",
            detail=(
                f"{counted(len(calls), 'product')} with at most 16 rows {by_count(len(calls), 'takes', 'take')} "
                f"{100 * facts.share(spent):.1f} % of the average "
                f"step: all weights are read for a few numbers, at {100 * reached:.0f} % of the bandwidth of the "
                f"memory. The longest is {in_words(shape)} (m × n × k)."
            ),
            advice=(
                "Serve several requests in one batch: weights are then read once for all. Or store them in 8 bits, "
                "which the saving is for: `torchao.quantization.quantize_(model, Int8WeightOnlyConfig())`, then "
                "`torch.compile(model)`."
            ),
            values={
                "count": len(calls),
                "share": facts.share(spent),
                "reached": reached,
                "sizes": in_words(shape),
            },
            rows=products.rows(faster.kernels),
            changes=(products.change(faster),),
            confidence="medium" if products.confidence(faster) == "medium" else "low",
            evidence=(
                Evidence("skinny", "Products with at most 16 rows, per step", spent / facts.steps, "ns", "kernels"),
                Evidence("bandwidth_share", "Share of the peak bandwidth", reached, "fraction", "kernels"),
            ),
            links=(
                Link(
                    "quantization",
                    "Weights of 8 bits",
                    "https://docs.pytorch.org/ao/stable/api_reference/generated/torchao.quantization.Int8WeightOnlyConfig.html",
                ),
            ),
        ),
    )


RULE = Rule(_ID, "R25", (STEPS, DEVICE, PROPERTIES, SHAPES), _find)
