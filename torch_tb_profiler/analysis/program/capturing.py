"""When streams are captured: what is called then runs nothing, and becomes nodes of a graph."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.intervals import Coverage, union
from torch_tb_profiler.arrays.lane_index import LaneIndex
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model

_BEGIN, _END = lazy_pattern(r"\w+StreamBeginCapture"), lazy_pattern(r"\w+StreamEndCapture")


class Capturing(msgspec.Struct, frozen=True):
    """Captures of the whole trace; parallel. Times in ns.

    track   index into Trace.tracks
    row     the call that begins it
    """

    track: Int32
    start: Int64
    end: Int64
    row: Int64

    def at(self, track: Int32, time: Int64) -> Bool:
        """Whether each thread captures at each time: the last capture that began until then ends last."""
        last = LaneIndex(self.track, self.start).last(track, time)
        return (last >= 0) & (time < np.append(self.end, 0)[last])

    def during(self, start: Int64, end: Int64) -> Int64:
        """For how long of each stretch of time any thread captures, ns."""
        return Coverage(union(self.start, self.end)).between(start, end)


@cached
def capturing(model: Model) -> Capturing:
    """From a call that begins a capture to the next that ends one, on one thread."""
    events, row = model.trace.events, model.trace.launches.row
    names = model.trace.strings

    def called(name: Callable[[str], object]) -> Int64:
        return row[names.where(name, events.name[row])[events.name[row]]].astype(np.int64)

    begins, ends = called(_BEGIN.match), called(_END.match)
    last = LaneIndex(events.track[ends], events.start[ends]).first(events.track[begins], events.start[begins])
    first, last = begins[last >= 0], ends[last[last >= 0]]
    return Capturing(events.track[first].astype(np.int32), events.start[first], events.end[last], first)
