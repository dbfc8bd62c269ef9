"""The colours of the parts of a step outside the page, which has the same in `fe/src/draw/parts.ts`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from torch_tb_profiler.words.parts import by_end

_COLORS: Final[Mapping[str, str]] = {
    "compute": "#0072b2",
    **dict.fromkeys(("attention", "attention_helper", "linear_attention"), "#004c86"),
    **dict.fromkeys(("conv", "conv_helper"), "#5a6fc0"),
    **dict.fromkeys(("pointwise", "activation", "optimizer", "compute.copy"), "#3c8fd1"),
    **dict.fromkeys(("norm", "softmax", "reduction"), "#23a0b5"),
    **dict.fromkeys(("gemm", "gemm_helper", "gemv"), "#0072b2"),
    **dict.fromkeys(("exposed_communication", "compute.communication", "collective"), "#cc79a7"),
    "exposed_copy": "#56b4e9",
    **dict.fromkeys(("operator", "host"), "#009e73"),
    **dict.fromkeys(("python", "gc"), "#8fbf4d"),
    **dict.fromkeys(("data", "input"), "#d55e00"),
    "launch": "#e69f00",
    "slow_launch": "#a86400",
    "api": "#f0c878",
    "launch_latency": "#d3bc1b",
    "sync": "#882255",
    "sync.relaunch": "#cc6677",
    "allocator": "#a65bd0",
    "compile": "#8c8a2f",
    "dependency": "#4b3fa8",
    "dependency.communication": "#9a86d8",
    "profiler": "#a0684a",
    "unknown": "#9aa3ae",
}

#: of what has no colour of its own, and of all smaller parts together
REST_COLOR: Final = _COLORS["unknown"]


def part_color(cause: str) -> str:
    """The colour of a part, as the light page has it.

    >>> part_color("compute.sampler") == part_color("compute.gemm"), part_color("host.gc")
    (True, '#8fbf4d')
    """
    return by_end(cause, _COLORS) or REST_COLOR
