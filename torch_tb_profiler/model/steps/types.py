"""What is known of steps, and what a person may choose about them."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace import Note

_DIGITS = lazy_pattern(r"\d+")


def unnumbered(label: str) -> str:
    """Strip the number: `iteration #` of `iteration 17`."""
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
                           The first begins with its mark, when the streams it uses are done with work launched
                           before it, or, where it waited for work that is not recorded, as far behind its mark as the
                           device is behind the second one
    overview_start         shape (n,), ns: where the step began for the old plugin's /overview and /distributed/overlap:
                           with its mark, when the step before had ended by then. For these alone
    labels                 shape (n,): what marks the step: the name of an annotation, or of what repeats
    fill_ns                how much longer the first is than if the device had been as far behind its mark as it is
                           behind the second one: it had nothing to do before
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
    fill_ns: int = 0

    def __len__(self) -> int:
        return len(self.names)

    @property
    def host_since(self) -> Int64:
        """Shape (n,), ns: where the time of a step on the host begins; it ends at `host_end`.

        Time between marks belongs to the later step.
        """
        return np.append(self.host_start[:1], self.host_end[:-1])

    def on_host(self, time: Int64) -> Int64:
        """Find the step of each moment of the host, -1 for none. time: ns, any shape."""
        return _window_of(self.host_since, self.host_end, time)

    def on_device(self, time: Int64) -> Int64:
        """Find the step in whose period each moment of devices lies, -1 for none. time: ns, any shape."""
        return _window_of(self.start, self.end, time)

    @classmethod
    def none(cls) -> Steps:
        """Make the steps of a trace in which nothing has a duration."""
        nothing = np.empty(0, dtype=np.int64)
        return cls("none", (), nothing, nothing, nothing, nothing, nothing)


def _window_of(start: Int64, end: Int64, time: Int64) -> Int64:
    """Find the window [start, end) that holds each moment, of windows that follow each other; -1 for none."""
    if not len(start):
        return np.full(np.shape(time), -1, np.int64)
    place = np.searchsorted(start, time, side="right") - 1
    return np.where((place >= 0) & (time < end[place]), place, -1)


class StepChoice(msgspec.Struct, frozen=True):
    """How a person wants steps to be found: one of the rules, or a pattern that names of annotations match."""

    rule: str | None = None
    pattern: str | None = None
