"""What the parts of a step are called outside the page, which has the same in `fe/src/i18n/en/parts.ts`."""

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


def part_name(cause: str) -> str:
    """A part of a step by its id, for people.

    >>> part_name("compute.gemm"), part_name("compute.kv_cache"), part_name("host.data")
    ('Computing: matrix products', 'Computing: kv cache', 'Data loading')
    """
    group, _, kind = cause.partition(".")
    if group == "compute" and kind:
        return f"{_NAMES[group]}: {_KINDS.get(kind, kind.replace('_', ' '))}"
    return by_end(cause, _NAMES) or cause


def by_end(cause: str, table: Mapping[str, str]) -> str | None:
    """What a table has for the longest end of an id such as `idle.host.operator`, else for what stands before it."""
    words = cause.split(".")
    for end in range(len(words), 0, -1):
        for begin in range(end):
            found = table.get(".".join(words[begin:end]))
            if found is not None:
                return found
    return None
