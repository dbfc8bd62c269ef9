"""What is known of steps, and what a person may choose about them."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.trace import Note

_DIGITS = late_pattern(r"\d+")


def unnumbered(label: str) -> str:
    """`iteration #` of `iteration 17`."""
    return _DIGITS.sub("#", label)


class HostSteps(msgspec.Struct, frozen=True):
    """Steps on the host, in time order. Of two neighbours the first may end 1 ns after the second begins.

    names        shape (n,): the number after `ProfilerStep#`, else counted from 0
    start, end   shape (n,), ns
    labels       shape (n,): what marks the step
    """

    names: list[str]
    start: Int64
    end: Int64
    labels: list[str]


class Steps(msgspec.Struct, frozen=True):
    """The steps, in time order.

    names                  shape (n,): the number after `ProfilerStep#`, else counted from 0
    host_start, host_end   shape (n,), ns: the mark on the host. What was launched in it is the work of the step. Marks
                           do not overlap, but for 1 ns of rounding; there may be time between them
    start, end             shape (n,), ns: the period. It ends when the mark has ended, all work launched in it, and the
                           step before; it begins where that one ended, `start[k + 1] == end[k]`. So the periods add up
                           to the time from the first to the last, and time between marks belongs to the later step.
                           The first begins with its mark, or when the streams it uses are done with work launched
                           before it
    overview_start         shape (n,), ns: where the step began for the old plugin's /overview and /distributed/overlap:
                           with its mark, when the step before had ended by then. For these alone
    labels                 shape (n,): what marks the step: the name of an annotation, or of what repeats
    """

    rule: str
    names: tuple[str, ...]
    host_start: Int64
    host_end: Int64
    start: Int64
    end: Int64
    overview_start: Int64
    notes: tuple[Note, ...] = ()
    labels: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def kind(self) -> Int64:
        """Shape (n,): the same number for steps whose labels differ in digits only; `prefill` is not `decode`."""
        seen: dict[str, int] = {}
        found = [seen.setdefault(unnumbered(label), len(seen)) for label in self.labels]
        return np.array(found or [0] * len(self), np.int64)

    @classmethod
    def none(cls) -> Steps:
        """Of a trace in which nothing has a duration."""
        nothing = np.empty(0, dtype=np.int64)
        return cls("none", (), nothing, nothing, nothing, nothing, nothing)


class StepChoice(msgspec.Struct, frozen=True):
    """What a person asked for: one of the rules, or a regular expression that names of annotations match."""

    rule: str | None = None
    pattern: str | None = None
