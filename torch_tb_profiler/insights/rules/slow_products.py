"""Products that take far longer than others of their trace, measured by what the device can do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.flops.products import ELEMENTS
from torch_tb_profiler.analysis.shared.count_text import by_count, counted
from torch_tb_profiler.analysis.shared.tensor_cores import Use
from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.types import Bool, Float64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES, SHAPES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.alignment import loads_pieces, needed_of
from torch_tb_profiler.insights.shared.products import Products, in_words, products_of
from torch_tb_profiler.model.kernel_names.family import Kind

_ID = "slow_products"
_ON_TENSOR_CORES = [ELEMENTS.index(each) for each in ("tf32", "bf16", "fp16", "fp8", "int8")]


def _find(facts: Facts) -> Sequence[Found]:
    products = products_of(facts)
    if products is None or not len(products.calls):
        return ()
    kernels, chosen = products.kernels, products.chosen
    expected = _expected(facts, products)
    slow_call = _slow_calls(facts, products, expected)
    call = kernels.call[chosen]
    slow = products.are_of(Kind.GEMM) & products.use(Use.YES) & ~loads_pieces(products)
    slow &= np.append(slow_call, False)[call]
    least = products.least_ns() / expected
    faster = products.faster(chosen[slow], least, facts.limit(_ID, "most_speedup"), 1)
    lost = int((kernels.duration[faster.kernels] - faster.target_ns).sum())
    if not facts.total_ns or facts.share(lost) < facts.limit(_ID, "least_share"):
        return ()
    calls = distinct(call[slow])
    worst = int(calls[np.argmax(kernels.calls.duration[calls])])
    duration = kernels.calls.duration[calls]
    reached = float(products.least_ns()[calls].sum() / duration.sum())
    sizes, others = in_words(products.shape(worst)), float(np.mean(expected[calls]))
    return (
        Found(
            title="Matrix products are far from what the GPU can do",
            detail=(
                f"{counted(len(calls), 'product')} {by_count(len(calls), 'takes', 'take')} "
                f"{100 * facts.share(int(duration.sum())):.1f} % of the average step at "
                f"{100 * reached:.0f} % of the peak; others of this trace come to {100 * others:.0f} %. "
                f"The longest is {sizes} (m × n × k)."
            ),
            advice=(
                "Make them larger: a larger batch, or one `nn.Linear` for layers with the same input, such as q, k and "
                'v. `torch.compile(model, mode="max-autotune")` tries other kernels for each size.'
            ),
            values={
                "count": len(calls),
                "share": facts.share(int(duration.sum())),
                "reached": reached,
                "others": others,
                "sizes": sizes,
            },
            rows=products.rows(faster.kernels),
            changes=(products.change(faster),),
            confidence="low",
            evidence=(
                Evidence("product_efficiency", "Share of the peak that they reach", reached, "fraction", "kernels"),
                Evidence(
                    "lost_in_products", "Lost compared with others, per step", lost / facts.steps, "ns", "kernels"
                ),
            ),
            links=(
                Link(
                    "matmul_background",
                    "Matrix multiplication background",
                    "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html",
                ),
            ),
        ),
    )


def _slow_calls(facts: Facts, products: Products, expected: Float64) -> Bool:
    """Shape (calls,): large enough to be measured, and far slower than expected for a cause that no other rule has."""
    calls, efficiency = products.kernels.calls, products.efficiency
    large = products.least_ns() >= facts.limit(_ID, "least_ns")
    slow = (efficiency < facts.limit(_ID, "most_efficiency")) & (
        efficiency < facts.limit(_ID, "part_of_others") * expected
    )
    aligned = products.of_shapes("aligned") >= needed_of(products.call_element)
    found: Bool = large & slow & aligned & ~products.is_skinny & (calls.duration > 0)
    return found


def _expected(facts: Facts, products: Products) -> Float64:
    """Shape (calls,): the efficiency that half of the time of products of its type, not larger than it, reaches.

    NaN where there are none. A larger product fills the device better, so that it is no measure of a smaller one.
    """
    alike = products.alike
    flops = products.of_shapes("flops")[alike.first].astype(np.float64)
    measured = one_of(alike.element, _ON_TENSOR_CORES) & (alike.efficiency > 0)
    usual = np.full(len(alike) + 1, np.nan)
    for at in np.flatnonzero(measured).tolist():
        like = measured & (alike.element == alike.element[at]) & (flops <= 2 * flops[at])
        like[at] = False
        if int(alike.duration[like].sum()) >= facts.limit(_ID, "least_others") * int(alike.duration[at]):
            order = np.argsort(alike.efficiency[like])
            below = np.cumsum(alike.duration[like][order])
            usual[at] = alike.efficiency[like][order][np.searchsorted(below, below[-1] / 2)]
    expected: Float64 = np.minimum(usual, 1)[alike.of]
    return expected


RULE = Rule(_ID, "R24", (STEPS, DEVICE, PROPERTIES, SHAPES), _find)
