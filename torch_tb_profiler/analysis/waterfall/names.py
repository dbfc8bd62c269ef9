"""What the parts of a step are called, and their colours, where they are shown outside the page.

The page has the same in `fe/src/i18n/en/parts.ts` and `fe/src/draw/parts.ts`; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

#: by the longest end of an id, else by what stands before it
_NAMES: Final[Mapping[str, str]] = {
    "compute": "Computing",
    "exposed_communication": "Exposed communication",
    "exposed_copy": "Exposed copies",
    "python": "Python",
    "operator": "Operators on the host",
    "data": "Data loading",
    "launch": "Launch calls",
    "allocator": "Memory allocation",
    "api": "Other API calls",
    "collective": "Collective on the host",
    "launch_latency": "Launch latency",
    "launch_latency.graph": "Launch latency in a graph",
    "dependency": "Waits for another stream",
    "dependency.communication": "Waits for communication",
    "profiler": "Profiler",
    "sync": "Synchronization",
    "sync.relaunch": "Relaunch after a synchronization",
    "input": "Input data",
    "compile": "Compilation",
    "gc": "Garbage collection",
    "slow_launch": "Slow launch call",
    "idle.host.launch": "Host: launch calls",
    "idle.host.api": "Host: other API calls",
    "idle.host.operator": "Host: operators",
    "idle.host.python": "Host: Python",
    "idle.host.gc": "Host: garbage collection",
    "idle.host.collective": "Host: collectives",
    "idle.allocator": "Memory allocation on the host",
    "unknown": "Unknown",
}

#: kinds of kernels; the others are called by their ids
_KINDS: Final[Mapping[str, str]] = {
    "gemm": "matrix products",
    "gemv": "matrix-vector products",
    "conv": "convolutions",
    "gemm_helper": "helpers of matrix products",
    "conv_helper": "helpers of convolutions",
    "compute": "other kernels",
    "unknown": "unknown kernels",
}

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


def part_name(cause: str) -> str:
    """A part of a step by its id, for people.

    >>> part_name("compute.gemm"), part_name("compute.kv_cache"), part_name("host.data")
    ('Computing: matrix products', 'Computing: kv cache', 'Data loading')
    """
    group, _, kind = cause.partition(".")
    if group == "compute" and kind:
        return f"{_NAMES[group]}: {_KINDS.get(kind, kind.replace('_', ' '))}"
    return _known(cause, _NAMES) or cause


def part_color(cause: str) -> str:
    """The colour of a part, as the light page has it.

    >>> part_color("compute.sampler") == part_color("compute.gemm"), part_color("host.gc")
    (True, '#8fbf4d')
    """
    return _known(cause, _COLORS) or REST_COLOR


def _known(cause: str, table: Mapping[str, str]) -> str | None:
    words = cause.split(".")
    for end in range(len(words), 0, -1):
        for begin in range(end):
            found = table.get(".".join(words[begin:end]))
            if found is not None:
                return found
    return None
