"""Products whose rows do not begin at multiples of 16 bytes, so that kernels load them in small pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.shared.tensor_cores import Use
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.alignment import aligned_by_name, loads_pieces, needed_of
from torch_tb_profiler.insights.shared.products import Products, in_words, products_of
from torch_tb_profiler.model.kernel_names.family import Kind

#: calls of a size between ÷ and × this are compared
_ALIKE = 8


def _find(facts: Facts) -> Sequence[Found]:
    products = products_of(facts)
    if products is None:
        return ()
    kernels, chosen = products.kernels, products.chosen
    call = kernels.call[chosen]
    looked_at = products.are_of(Kind.GEMM) & (kernels.duration[chosen] >= facts.limit(_ID, "least_ns"))
    looked_at &= ~np.append(products.is_skinny, False)[call]
    by_name = looked_at & products.use(Use.YES) & loads_pieces(products)
    least_ns = _as_aligned(products)
    duration = kernels.calls.duration
    gains = duration - least_ns >= facts.limit(_ID, "least_gain") * duration
    odd = products.of_shapes("aligned") < needed_of(products.call_element)
    by_shape = looked_at & (aligned_by_name(products) == 0) & np.append(odd & gains, False)[call]
    slow = by_name | by_shape
    spent = products.time(slow)
    if not facts.total_ns or facts.share(spent) < facts.limit(_ID, "least_share"):
        return ()
    faster = products.faster(
        chosen[slow], least_ns, facts.limit(_ID, "most_speedup"), facts.limit(_ID, "speedup_without_shapes")
    )
    shown = _worst(products, chosen[slow])
    example = "" if shown is None else f" The longest is {shown} (m × n × k)."
    return (
        Found(
            title="Matrix products have sizes that are slow on tensor cores",
            detail=(
                f"{int(slow.sum())} products take {spent / facts.steps / 1e6:.2f} ms a step in kernels that load a few "
                f"elements at once, because their rows do not begin at multiples of 16 bytes.{example}"
            ),
            advice=(
                "Make features, classes and vocabulary multiples of 8 (of 16 in 8 bits; 64 is better still), as in "
                "`nn.Linear(hidden, 64 * math.ceil(classes / 64))`, and cut the result."
            ),
            values={"count": int(slow.sum()), "ms": round(spent / facts.steps / 1e6, 2), "sizes": shown or ""},
            rows=products.rows(faster.kernels),
            changes=(products.change(faster),),
            confidence=products.confidence(faster),
            evidence=(
                Evidence(
                    "misaligned", "Time of products with unaligned rows, per step", spent / facts.steps, "ns", "kernels"
                ),
                Evidence(
                    "share_of_compute",
                    "Share of the time of compute kernels",
                    spent / products.compute_ns,
                    "fraction",
                    "kernels",
                ),
            ),
            links=(
                Link(
                    "matmul_dimensions",
                    "Matrix multiplication: dimensions for tensor cores",
                    "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html#requirements-tc",
                ),
            ),
        ),
    )


def _as_aligned(products: Products) -> Float64:
    """Shape (calls,): what each takes at the efficiency of aligned calls of its type and like size, ns; NaN: none.

    Without any of like size those next below count, where they do better: a larger one fills the device no worse.
    """
    alike = products.alike
    aligned, flops = (products.of_shapes(name)[alike.first] for name in ("aligned", "flops"))
    # without strides the shape of what is transposed says too little: the kernel's name knows
    odd = (aligned < needed_of(alike.element)) | _in_pieces(products)
    good = ~odd & (alike.efficiency > 0)
    usual = np.full(len(alike) + 1, np.nan)  # the last is that of no group
    for at in np.flatnonzero(odd).tolist():
        size = int(flops[at])
        of_type = good & (alike.element == alike.element[at])
        like = of_type & (flops > size // _ALIKE) & (flops // _ALIKE < size)
        if not like.any():
            smaller = of_type & (flops < size) & (alike.efficiency > alike.efficiency[at])
            like = smaller & (flops > flops[smaller].max(initial=0) // _ALIKE)
        if like.any():
            usual[at] = min(median(alike.efficiency[like]), 1.0)
    least: Float64 = products.least_ns() / usual[alike.of]
    return least


def _in_pieces(products: Products) -> Bool:
    """Shape (groups of `products.alike`,): whether a kernel of theirs loads in pieces, by its name."""
    alike = products.alike
    group = np.append(alike.of, -1)[products.kernels.call[products.chosen[loads_pieces(products)]]]
    found = np.zeros(len(alike), np.bool_)
    found[group[group >= 0]] = True
    return found


def _worst(products: Products, kernels: Int64) -> str | None:
    """The sizes of the longest call; None if none is known."""
    call = products.kernels.call[kernels]
    call = call[call >= 0]
    if not len(call):
        return None
    return in_words(products.shape(int(call[np.argmax(products.kernels.calls.duration[call])])))


_ID = "misaligned_products"
RULE = Rule(_ID, "R23", (STEPS, DEVICE, PROPERTIES), _find)
