"""Which threads hardly do anything."""

from __future__ import annotations

from torch_tb_profiler.arrays.types import Bool, Int64

#: of the time in which the main thread runs operators, annotations and calls: threads with less of it are idle
_IDLE_SHARE = 0.01


def are_idle(called_ns: Int64, main: int) -> Bool:
    """Shape (threads,).

    called_ns  in which each runs operators, annotations and calls
    main       the place of the main thread there
    """
    found: Bool = called_ns < _IDLE_SHARE * called_ns[main]
    return found
