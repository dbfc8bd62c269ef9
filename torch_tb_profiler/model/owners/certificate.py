"""Whether the names of operators and kernels agree, where nothing else joins a captured graph with its replays.

CUDA does not write the name of the kernel with the call that captures it. Two graphs with equally many nodes then look
alike, though the one multiplies where the other normalizes.
"""

from __future__ import annotations

from collections.abc import Iterable

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import KernelKind, cached_by_name

#: part of the nodes whose operator and kernel both tell what they do, at least
LEAST_TOLD = 0.2
#: part of these that may disagree, at most: fused kernels do more than their operator says
MOST_DISAGREEING = 0.02

#: what operators are called, and the kinds of kernels that they launch; the first that matches decides
_OPERATORS = (
    (lazy_pattern(r"(?i:cache)"), {KernelKind.KV_CACHE}),
    (lazy_pattern(r"(?i:rotary|rope)"), {KernelKind.ROTARY, KernelKind.KV_CACHE}),
    (lazy_pattern(r"(?i:norm)"), {KernelKind.NORM}),
    (
        lazy_pattern(r"(?i:attention|attn|sdpa)"),
        {KernelKind.ATTENTION, KernelKind.ATTENTION_HELPER, KernelKind.ROTARY, KernelKind.KV_CACHE},
    ),
    (lazy_pattern(r"(?i:silu|gelu|swiglu)"), {KernelKind.ACTIVATION}),
    (
        lazy_pattern(r"(?i:(?:^|[:_])(?:add|b|badd)?mm(?:_|$)|::(?:linear|matmul|einsum|addmv|mv)$|gemm)"),
        {KernelKind.GEMM, KernelKind.GEMM_HELPER, KernelKind.GEMV},
    ),
    (lazy_pattern(r"::(?:copy_|_to_copy|clone|contiguous)$"), {KernelKind.COPY}),
)
_KINDS = frozenset().union(*(kinds for _, kinds in _OPERATORS))


def names_agree(operators: Iterable[str], kernels: Iterable[str]) -> bool:
    """Return whether enough nodes tell by both names what they do, and hardly any of them disagrees.

    >>> names_agree(["aten::mm", "aten::silu"], ["ampere_sgemm_128x64", "act_and_mul_kernel"])
    True
    >>> names_agree(["vllm::rms_norm", "aten::mm"], ["ampere_sgemm_128x64", "rms_norm_kernel"])
    False
    """
    nodes = [
        (_launched_kinds(operator), family_of(kernel)) for operator, kernel in zip(operators, kernels, strict=True)
    ]
    told = [family.kind in kinds for kinds, family in nodes if kinds and family is not None and family.kind in _KINDS]
    return len(told) >= max(1, LEAST_TOLD * len(nodes)) and told.count(False) <= MOST_DISAGREEING * len(told)


@cached_by_name
def _launched_kinds(operator: str) -> frozenset[KernelKind]:
    return frozenset(next((kinds for pattern, kinds in _OPERATORS if pattern.search(operator)), ()))
