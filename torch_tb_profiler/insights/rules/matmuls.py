"""Matmuls and convolutions: too many bits, sizes that are slow, and few rows for all weights."""

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
from torch_tb_profiler.insights.facts import DEVICE, PROPERTIES, SHAPES, STEPS, Facts
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.insights.shared.matmuls import (
    FasterMatmuls,
    StepMatmuls,
    alignment_in_name,
    elements_in_16_bytes,
    has_narrow_loads,
    step_matmuls,
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
    """Matmuls of 32 bits on plain cores, where tensor cores would multiply them as TF32."""
    matmuls, limit = step_matmuls(facts), partial(facts.limit, "tf32")
    if matmuls is None or not _have_tf32(facts, matmuls):
        return
    # by their kind, or as part of a call of a convolution
    by_call = np.append(matmuls.dimension("batch") == 0, False)[matmuls.kernels.call[matmuls.chosen]]
    convolves = matmuls.has_kind(KernelKind.CONV) | by_call
    for what, family in (("matmul", matmuls.has_kind(KernelKind.GEMM) & ~convolves), ("conv", convolves)):
        slow = family & matmuls.has_element("fp32") & matmuls.use(Use.NO) & ~matmuls.is_for_few_rows
        spent = matmuls.time(slow)
        share = spent / matmuls.compute_ns
        # where some are multiplied as TF32 it is on, and libraries chose plain cores for the others
        if share < limit("least_share") or matmuls.time(family & matmuls.has_element("tf32")):
            continue
        faster = matmuls.faster(
            matmuls.chosen[slow],
            matmuls.least_ns("tf32") / limit("efficiency"),
            limit("most_speedup"),
            limit("speedup_without_shapes"),
        )
        yield Found(
            values={"what": what, "share": share},
            rows=matmuls.rows(faster.kernels),
            changes=(matmuls.change(faster),),
            confidence=matmuls.confidence(faster),
            evidence=(
                evidence("fp32_products", spent / facts.steps, "ns", "kernels"),
                evidence("share_of_compute", share, "fraction", "kernels"),
            ),
            links=(link("tf32"),),
        )


def _have_tf32(facts: Facts, matmuls: StepMatmuls) -> bool:
    """Tell whether it is worth something on every device."""
    capabilities = [nvidia_capability(facts.trace.header.device(device)) for device in matmuls.peaks]
    return all(each is not None and each >= FIRST_WITH_TF32 for each in capabilities) and all(
        each.flops.get("tf32", 0) >= _LEAST_RATIO * each.flops["fp32"] for each in matmuls.peaks.values()
    )


@rule("R22", STEPS, DEVICE, PROPERTIES)
def tensor_cores(facts: Facts) -> Iterator[Found]:
    """Matmuls of 32 bits, where tensor cores would do those of 16 several times as fast."""
    matmuls, limit = step_matmuls(facts), partial(facts.limit, "tensor_cores")
    half = None if matmuls is None else _half_of(matmuls)
    if matmuls is None or half is None:
        return
    wide, narrow = matmuls.has_element("fp32", "tf32"), matmuls.has_element("bf16", "fp16", "fp8", "int8")
    undecided = (matmuls.kernels.element[matmuls.chosen] < 0) & ~matmuls.has_kind(KernelKind.GEMV)
    spent, whole = matmuls.time(wide), int(matmuls.kernels.duration[matmuls.chosen].sum())
    share = spent / matmuls.compute_ns
    if (
        share < limit("least_share")
        or spent < limit("least_share_of_products") * whole
        or matmuls.time(narrow) > limit("most_16_bits") * whole
        or matmuls.time(undecided) > limit("most_undecided") * whole
    ):
        return
    faster = _in_16_bits(facts, matmuls, matmuls.chosen[wide & ~matmuls.is_for_few_rows], half)
    yield Found(
        values={
            "share": share,
            "half": half,
            "training": facts.is_training,
            "twice": 2 * matmuls.time(matmuls.has_element("tf32")) > spent,
        },
        rows=matmuls.rows(faster.kernels),
        changes=(matmuls.change(faster),),
        confidence=matmuls.confidence(faster),
        evidence=(
            evidence("fp32_data", spent / facts.steps, "ns", "kernels"),
            evidence("share_of_compute", share, "fraction", "kernels"),
            evidence("share_of_products", spent / whole, "fraction", "kernels"),
        ),
        links=(link("mixed_precision"),),
    )


def _half_of(matmuls: StepMatmuls) -> Half | None:
    """Return the 16 bits that all devices multiply on tensor cores: bfloat16 where they can."""
    choices: tuple[Half, ...] = ("bf16", "fp16")
    return next((each for each in choices if all(each in peaks.flops for peaks in matmuls.peaks.values())), None)


def _in_16_bits(facts: Facts, matmuls: StepMatmuls, kernels: Int64, half: Half) -> FasterMatmuls:
    """Find how long kernels of 32 bits may take instead."""
    limit = partial(facts.limit, "tensor_cores")
    # a call that reaches more of the peak as TF32 does so in 16 bits, too
    reached = np.clip(np.nan_to_num(matmuls.efficiency), limit("efficiency"), 1.0)
    expected = np.where(matmuls.call_element == _TF32, reached, limit("efficiency"))
    faster = matmuls.faster(
        kernels,
        matmuls.least_ns(half, size=2) / expected,
        limit("most_speedup"),
        limit("speedup_without_shapes"),
    )
    # what is multiplied as TF32 gains less: it is on tensor cores already
    half_the_time = np.where(matmuls.kernels.element[kernels] == _TF32, matmuls.kernels.duration[kernels] / 2, 0)
    return FasterMatmuls(kernels, np.maximum(faster.target_ns, half_the_time).astype(np.int64), faster.by_shape)


@rule("R23", STEPS, DEVICE, PROPERTIES)
def misaligned_products(facts: Facts) -> Iterator[Found]:
    """Matmuls whose rows do not begin at multiples of 16 bytes, so that kernels load them in small pieces."""
    matmuls, limit = step_matmuls(facts), partial(facts.limit, "misaligned_products")
    if matmuls is None:
        return
    kernels, chosen = matmuls.kernels, matmuls.chosen
    call, least_ns = kernels.call[chosen], _as_aligned(matmuls)
    looked_at = matmuls.has_kind(KernelKind.GEMM) & (kernels.duration[chosen] >= limit("least_ns"))
    looked_at &= ~np.append(matmuls.is_skinny, False)[call] & ~matmuls.in_attention
    gains = kernels.calls.duration - least_ns >= limit("least_gain") * kernels.calls.duration
    odd = matmuls.dimension("aligned") < elements_in_16_bytes(matmuls.call_element)
    by_shape = (alignment_in_name(matmuls) == 0) & np.append(odd & gains, False)[call]
    slow = looked_at & (matmuls.use(Use.YES) & has_narrow_loads(matmuls) | by_shape)
    spent = matmuls.time(slow)
    if not spent or facts.share(spent) < limit("least_share"):
        return
    faster = matmuls.faster(chosen[slow], least_ns, limit("most_speedup"), limit("speedup_without_shapes"))
    yield Found(
        values={
            "count": int(slow.sum()),
            "ms": round(spent / facts.steps / 1e6, 2),
            "sizes": _longest(matmuls, call[slow & (call >= 0)]),
        },
        rows=matmuls.rows(faster.kernels),
        changes=(matmuls.change(faster),),
        confidence=matmuls.confidence(faster),
        evidence=(
            evidence("misaligned", spent / facts.steps, "ns", "kernels"),
            evidence("share_of_compute", spent / matmuls.compute_ns, "fraction", "kernels"),
        ),
        links=(link("matmul_dimensions"),),
    )


def _as_aligned(matmuls: StepMatmuls) -> Float64:
    """Shape (calls,): what each takes at the efficiency of aligned calls of its type and like size, ns; NaN: none.

    Without any of like size those next below count, where they do better: a larger one fills the device no worse.
    """
    alike = matmuls.by_shape_and_type
    aligned, flops = (matmuls.dimension(name)[alike.first] for name in ("aligned", "flops"))
    # without strides the shape of what is transposed says too little: the kernel's name knows
    odd = (aligned < elements_in_16_bytes(alike.element)) | _in_pieces(matmuls)
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
    least: Float64 = matmuls.least_ns() / usual[alike.of]
    return least


def _in_pieces(matmuls: StepMatmuls) -> Bool:
    """Shape (groups of `matmuls.by_shape_and_type`,): whether a kernel of theirs loads in pieces, by its name."""
    alike = matmuls.by_shape_and_type
    group = np.append(alike.of, -1)[matmuls.kernels.call[matmuls.chosen[has_narrow_loads(matmuls)]]]
    found = np.zeros(len(alike), np.bool_)
    found[group[group >= 0]] = True
    return found


def _longest(matmuls: StepMatmuls, calls: Int64) -> str:
    """Write m × n × k of the longest of some calls: `8192 × 1024 × 32000`, or `16 × (27 × 16 × 27)` of a batch."""
    if not len(calls):
        return ""
    shape = matmuls.shape(int(calls[np.argmax(matmuls.kernels.calls.duration[calls])]))
    sizes = f"{shape.m} × {shape.n} × {shape.k}"
    return f"{shape.batch} × ({sizes})" if shape.batch > 1 else sizes


@rule("R24", STEPS, DEVICE, PROPERTIES, SHAPES)
def slow_products(facts: Facts) -> Iterator[Found]:
    """Matmuls that take far longer than others of their trace, measured by what the device can do."""
    matmuls, limit = step_matmuls(facts), partial(facts.limit, "slow_products")
    if matmuls is None or not len(matmuls.calls):
        return
    kernels, chosen = matmuls.kernels, matmuls.chosen
    call, expected = kernels.call[chosen], _expected(facts, matmuls)
    slow = matmuls.has_kind(KernelKind.GEMM) & matmuls.use(Use.YES) & ~has_narrow_loads(matmuls)
    slow &= np.append(_slow_calls(facts, matmuls, expected), False)[call] & ~matmuls.in_attention
    faster = matmuls.faster(chosen[slow], matmuls.least_ns() / expected, limit("most_speedup"), 1)
    lost = int((kernels.duration[faster.kernels] - faster.target_ns).sum())
    if not lost or facts.share(lost) < limit("least_share"):
        return
    calls = distinct(call[slow])
    spent = int(kernels.calls.duration[calls].sum())
    reached = float(matmuls.least_ns()[calls].sum()) / spent
    yield Found(
        values={
            "count": len(calls),
            "share": facts.share(spent),
            "reached": reached,
            "others": float(np.mean(expected[calls])),
            "sizes": _longest(matmuls, calls),
        },
        rows=matmuls.rows(faster.kernels),
        changes=(matmuls.change(faster),),
        confidence="low",
        evidence=(
            evidence("product_efficiency", reached, "fraction", "kernels"),
            evidence("lost_in_products", lost / facts.steps, "ns", "kernels"),
        ),
        links=(link("matmul_background"),),
    )


def _slow_calls(facts: Facts, matmuls: StepMatmuls, expected: Float64) -> Bool:
    """Shape (calls,): large enough to be measured, and far slower than expected for a cause that no other rule has."""
    calls, efficiency, limit = matmuls.kernels.calls, matmuls.efficiency, partial(facts.limit, "slow_products")
    slow = (efficiency < limit("most_efficiency")) & (efficiency < limit("part_of_others") * expected)
    large = matmuls.least_ns() >= limit("least_ns")
    aligned = matmuls.dimension("aligned") >= elements_in_16_bytes(matmuls.call_element)
    found: Bool = large & slow & aligned & ~matmuls.is_skinny & (calls.duration > 0)
    return found


def _expected(facts: Facts, matmuls: StepMatmuls) -> Float64:
    """Shape (calls,): the efficiency that half of the time of matmuls of its type, not larger than it, reaches.

    NaN where there are none. A larger matmul fills the device better, so that it is no measure of a smaller one.
    """
    alike = matmuls.by_shape_and_type
    flops = matmuls.dimension("flops")[alike.first].astype(np.float64)
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
    """Matmuls with few rows: the device reads all weights for a handful of numbers."""
    matmuls, limit = step_matmuls(facts), partial(facts.limit, "skinny_products")
    # weights that are trained are not stored in 8 bits, and a training step has its batch
    if matmuls is None or facts.is_training or not len(matmuls.calls):
        return
    kernels, chosen = matmuls.kernels, matmuls.chosen
    weights, elements = matmuls.dimension("weights"), matmuls.dimension("elements")
    bound = (
        matmuls.is_skinny
        & matmuls.dimension("constant").astype(np.bool_)
        & (matmuls.dimension("size") == 2)
        & (matmuls.efficiency >= limit("least_efficiency"))
        & (weights > elements)
    )
    call = kernels.call[chosen]
    reads = (
        matmuls.has_kind(KernelKind.GEMM, KernelKind.GEMV)
        & matmuls.has_element("bf16", "fp16")
        & np.append(bound, False)[call]
    )
    spent = matmuls.time(reads)
    if not spent or facts.share(spent) < limit("least_share"):
        return
    # the memory is the bound: what is read takes its time, and weights of 8 bits are half of it
    moved = (2 * elements + weights) / (2 * (elements + weights))
    faster = matmuls.faster(chosen[reads], kernels.calls.duration.astype(np.float64) * moved, 2, 1)
    calls = distinct(call[reads])
    reached = float(matmuls.least_ns()[calls].sum() / kernels.calls.duration[calls].sum())
    yield Found(
        values={
            "count": len(calls),
            "share": facts.share(spent),
            "reached": reached,
            "sizes": _longest(matmuls, calls),
        },
        rows=matmuls.rows(faster.kernels),
        changes=(matmuls.change(faster),),
        confidence=matmuls.confidence(faster),
        evidence=(
            evidence("skinny", spent / facts.steps, "ns", "kernels"),
            evidence("bandwidth_share", reached, "fraction", "kernels"),
        ),
        links=(link("quantization"),),
    )
