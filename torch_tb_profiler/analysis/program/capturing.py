"""When streams are captured: what is called then runs nothing, and becomes nodes of a graph."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.arrays.intervals import total, union
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.model import Model

_BEGIN, _END = late_pattern(r"\w+StreamBeginCapture"), late_pattern(r"\w+StreamEndCapture")


class Capturing(msgspec.Struct, frozen=True):
    """Captures of the whole trace; parallel. Times in ns.

    track   index into Trace.tracks
    row     the call that begins it
    """

    track: Int32
    start: Int64
    end: Int64
    row: Int64

    def at(self, track: int, time: Int64) -> Bool:
        """Whether a thread captures at some times."""
        mine = np.flatnonzero(self.track == track)
        inside: Bool = (self.start[mine] <= time[:, None]) & (time[:, None] < self.end[mine])
        return np.asarray(inside.any(axis=1), np.bool_)

    def any_at(self, track: Int32, time: Int64) -> Bool:
        """The same for times on tracks of their own."""
        found = np.zeros(len(track), np.bool_)
        for each in np.unique(self.track).tolist():
            on = track == each
            found[on] = self.at(each, time[on])
        return found

    def captured_ns(self, start: int, end: int) -> int:
        """For how long of a stretch of time any thread captures."""
        inside = union(np.maximum(self.start, start), np.minimum(self.end, end))
        return total(inside)


@remembered
def capturing(model: Model) -> Capturing:
    """From a call that begins a capture to the next that ends one, on one thread."""
    events, row = model.trace.events, model.trace.launches.row
    names = model.trace.strings
    begins = np.flatnonzero(names.where(_BEGIN.match, events.name[row])[events.name[row]])
    ends = np.flatnonzero(names.where(_END.match, events.name[row])[events.name[row]])
    pairs = []
    for call in begins.tolist():
        same = events.track[row[ends]] == events.track[row[call]]
        later = ends[same & (events.start[row[ends]] >= events.start[row[call]])]
        if len(later):
            pairs.append((call, int(later[np.argmin(events.start[row[later]])])))
    first = row[np.array([a for a, _ in pairs], np.int64)]
    last = row[np.array([b for _, b in pairs], np.int64)]
    return Capturing(
        events.track[first].astype(np.int32), events.start[first], events.end[last], first.astype(np.int64)
    )
