"""Products of matrices, and convolutions: too many bits, sizes that are slow, and few rows for all weights."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.flops.matmuls import ELEMENTS, FIRST_WITH_TF32
from torch_tb_profiler.analysis.shared.tensor_cores import Use, nvidia_capability
from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES, SHAPES, STEPS
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.insights.shared.products import (
    Faster,
    Products,
    aligned_by_name,
    loads_pieces,
    needed_of,
    products_of,
)
from torch_tb_profiler.model.kernel_names.family import KernelKind

Half = Literal["bf16", "fp16"]

#: where the peak is less than this many times that of plain cores, TF32 is nothing to advise
_LEAST_RATIO = 2.0
#: calls of a size between ÷ and × this are compared
_ALIKE = 8
_TF32 = ELEMENTS.index("tf32")
_ON_TENSOR_CORES = [ELEMENTS.index(each) for each in ("tf32", "bf16", "fp16", "fp8", "int8")]


@rule("R21", STEPS, DEVICE, PROPERTIES)
def tf32(facts: Facts) -> Iterator[Found]:
    """Products of 32 bits on plain cores, where tensor cores would multiply them as TF32."""
    products, limit = products_of(facts), partial(facts.limit, "tf32")
    if products is None or not _have_tf32(facts, products):
        return
    # by their kind, or as part of a call of a convolution
    by_call = np.append(products.of_shapes("batch") == 0, False)[products.kernels.call[products.chosen]]
    convolves = products.are_of(KernelKind.CONV) | by_call
    for what, family in (("matmul", products.are_of(KernelKind.GEMM) & ~convolves), ("conv", convolves)):
        slow = family & products.are("fp32") & products.use(Use.NO) & ~products.is_for_few_rows
        spent = products.time(slow)
        share = spent / products.compute_ns
        # where some are multiplied as TF32 it is on, and libraries chose plain cores for the others
        if share < limit("least_share") or products.time(family & products.are("tf32")):
            continue
        faster = products.faster(
            products.chosen[slow],
            products.least_ns("tf32") / limit("efficiency"),
            limit("most_speedup"),
            limit("speedup_without_shapes"),
        )
        yield Found(
            values={"what": what, "share": share},
            rows=products.rows(faster.kernels),
            changes=(products.change(faster),),
            confidence=products.confidence(faster),
            evidence=(
                evidence("fp32_products", spent / facts.steps, "ns", "kernels"),
                evidence("share_of_compute", share, "fraction", "kernels"),
            ),
            links=(link("tf32"),),
        )


def _have_tf32(facts: Facts, products: Products) -> bool:
    """Tell whether it is worth something on every device."""
    capabilities = [nvidia_capability(facts.trace.header.device(device)) for device in products.peaks]
    return all(each is not None and each >= FIRST_WITH_TF32 for each in capabilities) and all(
        each.flops.get("tf32", 0) >= _LEAST_RATIO * each.flops["fp32"] for each in products.peaks.values()
    )


@rule("R22", STEPS, DEVICE, PROPERTIES)
def tensor_cores(facts: Facts) -> Iterator[Found]:
    """Products of 32 bits, where tensor cores would do those of 16 several times as fast."""
    products, limit = products_of(facts), partial(facts.limit, "tensor_cores")
    half = None if products is None else _half_of(products)
    if products is None or half is None:
        return
    wide, narrow = products.are("fp32", "tf32"), products.are("bf16", "fp16", "fp8", "int8")
    undecided = (products.kernels.element[products.chosen] < 0) & ~products.are_of(KernelKind.GEMV)
    spent, whole = products.time(wide), int(products.kernels.duration[products.chosen].sum())
    share = spent / products.compute_ns
    if (
        share < limit("least_share")
        or spent < limit("least_share_of_products") * whole
        or products.time(narrow) > limit("most_16_bits") * whole
        or products.time(undecided) > limit("most_undecided") * whole
    ):
        return
    faster = _in_16_bits(facts, products, products.chosen[wide & ~products.is_for_few_rows], half)
    yield Found(
        values={
            "share": share,
            "half": half,
            "training": facts.is_training,
            "twice": 2 * products.time(products.are("tf32")) > spent,
        },
        rows=products.rows(faster.kernels),
        changes=(products.change(faster),),
        confidence=products.confidence(faster),
        evidence=(
            evidence("fp32_data", spent / facts.steps, "ns", "kernels"),
            evidence("share_of_compute", share, "fraction", "kernels"),
            evidence("share_of_products", spent / whole, "fraction", "kernels"),
        ),
        links=(link("mixed_precision"),),
    )


def _half_of(products: Products) -> Half | None:
    """Return the 16 bits that all devices multiply on tensor cores: bfloat16 where they can."""
    choices: tuple[Half, ...] = ("bf16", "fp16")
    return next((each for each in choices if all(each in peaks.flops for peaks in products.peaks.values())), None)


def _in_16_bits(facts: Facts, products: Products, kernels: Int64, half: Half) -> Faster:
    """Find how long kernels of 32 bits may take instead."""
    limit = partial(facts.limit, "tensor_cores")
    # a call that reaches more of the peak as TF32 does so in 16 bits, too
    reached = np.clip(np.nan_to_num(products.efficiency), limit("efficiency"), 1.0)
    expected = np.where(products.call_element == _TF32, reached, limit("efficiency"))
    faster = products.faster(
        kernels,
        products.least_ns(half, size=2) / expected,
        limit("most_speedup"),
        limit("speedup_without_shapes"),
    )
    # what is multiplied as TF32 gains less: it is on tensor cores already
    half_the_time = np.where(products.kernels.element[kernels] == _TF32, products.kernels.duration[kernels] / 2, 0)
    return Faster(kernels, np.maximum(faster.target_ns, half_the_time).astype(np.int64), faster.by_shape)


@rule("R23", STEPS, DEVICE, PROPERTIES)
def misaligned_products(facts: Facts) -> Iterator[Found]:
    """Products whose rows do not begin at multiples of 16 bytes, so that kernels load them in small pieces."""
    products, limit = products_of(facts), partial(facts.limit, "misaligned_products")
    if products is None:
        return
    kernels, chosen = products.kernels, products.chosen
    call, least_ns = kernels.call[chosen], _as_aligned(products)
    looked_at = products.are_of(KernelKind.GEMM) & (kernels.duration[chosen] >= limit("least_ns"))
    looked_at &= ~np.append(products.is_skinny, False)[call] & ~products.in_attention
    gains = kernels.calls.duration - least_ns >= limit("least_gain") * kernels.calls.duration
    odd = products.of_shapes("aligned") < needed_of(products.call_element)
    by_shape = (aligned_by_name(products) == 0) & np.append(odd & gains, False)[call]
    slow = looked_at & (products.use(Use.YES) & loads_pieces(products) | by_shape)
    spent = products.time(slow)
    if not spent or facts.share(spent) < limit("least_share"):
        return
    faster = products.faster(chosen[slow], least_ns, limit("most_speedup"), limit("speedup_without_shapes"))
    yield Found(
        values={
            "count": int(slow.sum()),
            "ms": round(spent / facts.steps / 1e6, 2),
            "sizes": _longest(products, call[slow & (call >= 0)]),
        },
        rows=products.rows(faster.kernels),
        changes=(products.change(faster),),
        confidence=products.confidence(faster),
        evidence=(
            evidence("misaligned", spent / facts.steps, "ns", "kernels"),
            evidence("share_of_compute", spent / products.compute_ns, "fraction", "kernels"),
        ),
        links=(link("matmul_dimensions"),),
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


def _longest(products: Products, calls: Int64) -> str:
    """Write m × n × k of the longest of some calls: `8192 × 1024 × 32000`, or `16 × (27 × 16 × 27)` of a batch."""
    if not len(calls):
        return ""
    shape = products.shape(int(calls[np.argmax(products.kernels.calls.duration[calls])]))
    sizes = f"{shape.m} × {shape.n} × {shape.k}"
    return f"{shape.batch} × ({sizes})" if shape.batch > 1 else sizes


@rule("R24", STEPS, DEVICE, PROPERTIES, SHAPES)
def slow_products(facts: Facts) -> Iterator[Found]:
    """Products that take far longer than others of their trace, measured by what the device can do."""
    products, limit = products_of(facts), partial(facts.limit, "slow_products")
    if products is None or not len(products.calls):
        return
    kernels, chosen = products.kernels, products.chosen
    call, expected = kernels.call[chosen], _expected(facts, products)
    slow = products.are_of(KernelKind.GEMM) & products.use(Use.YES) & ~loads_pieces(products)
    slow &= np.append(_slow_calls(facts, products, expected), False)[call] & ~products.in_attention
    faster = products.faster(chosen[slow], products.least_ns() / expected, limit("most_speedup"), 1)
    lost = int((kernels.duration[faster.kernels] - faster.target_ns).sum())
    if not lost or facts.share(lost) < limit("least_share"):
        return
    calls = distinct(call[slow])
    spent = int(kernels.calls.duration[calls].sum())
    reached = float(products.least_ns()[calls].sum()) / spent
    yield Found(
        values={
            "count": len(calls),
            "share": facts.share(spent),
            "reached": reached,
            "others": float(np.mean(expected[calls])),
            "sizes": _longest(products, calls),
        },
        rows=products.rows(faster.kernels),
        changes=(products.change(faster),),
        confidence="low",
        evidence=(
            evidence("product_efficiency", reached, "fraction", "kernels"),
            evidence("lost_in_products", lost / facts.steps, "ns", "kernels"),
        ),
        links=(link("matmul_background"),),
    )


def _slow_calls(facts: Facts, products: Products, expected: Float64) -> Bool:
    """Shape (calls,): large enough to be measured, and far slower than expected for a cause that no other rule has."""
    calls, efficiency, limit = products.kernels.calls, products.efficiency, partial(facts.limit, "slow_products")
    slow = (efficiency < limit("most_efficiency")) & (efficiency < limit("part_of_others") * expected)
    large = products.least_ns() >= limit("least_ns")
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
        least_others = facts.limit("slow_products", "least_others")
        if int(alike.duration[like].sum()) >= least_others * int(alike.duration[at]):
            order = np.argsort(alike.efficiency[like])
            below = np.cumsum(alike.duration[like][order])
            usual[at] = alike.efficiency[like][order][np.searchsorted(below, below[-1] / 2)]
    expected: Float64 = np.minimum(usual, 1)[alike.of]
    return expected


@rule("R25", STEPS, DEVICE, PROPERTIES, SHAPES)
def skinny_products(facts: Facts) -> Iterator[Found]:
    """Products with few rows: the device reads all weights for a handful of numbers."""
    products, limit = products_of(facts), partial(facts.limit, "skinny_products")
    # weights that are trained are not stored in 8 bits, and a training step has its batch
    if products is None or facts.is_training or not len(products.calls):
        return
    kernels, chosen = products.kernels, products.chosen
    weights, elements = products.of_shapes("weights"), products.of_shapes("elements")
    bound = (
        products.is_skinny
        & products.of_shapes("constant").astype(np.bool_)
        & (products.of_shapes("size") == 2)
        & (products.efficiency >= limit("least_efficiency"))
        & (weights > elements)
    )
    call = kernels.call[chosen]
    reads = (
        products.are_of(KernelKind.GEMM, KernelKind.GEMV) & products.are("bf16", "fp16") & np.append(bound, False)[call]
    )
    spent = products.time(reads)
    if not spent or facts.share(spent) < limit("least_share"):
        return
    # the memory is the bound: what is read takes its time, and weights of 8 bits are half of it
    moved = (2 * elements + weights) / (2 * (elements + weights))
    faster = products.faster(chosen[reads], kernels.calls.duration.astype(np.float64) * moved, 2, 1)
    calls = distinct(call[reads])
    reached = float(products.least_ns()[calls].sum() / kernels.calls.duration[calls].sum())
    yield Found(
        values={
            "count": len(calls),
            "share": facts.share(spent),
            "reached": reached,
            "sizes": _longest(products, calls),
        },
        rows=products.rows(faster.kernels),
        changes=(products.change(faster),),
        confidence=products.confidence(faster),
        evidence=(
            evidence("skinny", spent / facts.steps, "ns", "kernels"),
            evidence("bandwidth_share", reached, "fraction", "kernels"),
        ),
        links=(link("quantization"),),
    )
