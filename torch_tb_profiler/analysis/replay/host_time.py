"""The time of host threads, cut where something begins or ends, with a label for each piece."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.labels import HOST_CATEGORIES, Label, labels_of
from torch_tb_profiler.arrays.nesting import Nesting
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.model.call_tree import nest_category
from torch_tb_profiler.spill import spilled, spilled_property
from torch_tb_profiler.trace import Trace

LABELS = len(Label)


class HostTime(msgspec.Struct, frozen=True, dict=True):
    """The time of all host threads, cut where an operator, an annotation or a call begins or ends.

    row        shape (nodes,): the events, in the preorder of `nesting`
    lane       shape (pieces,): index into Trace.tracks; ascending
    start      shape (pieces,), ns: ascending within a lane; a piece ends where the next one of its lane begins
    label      shape (pieces,)
    node       shape (pieces,): position of the innermost event in `nesting`, -1 for none
    lanes      number of tracks
    """

    row: Int32
    nesting: Nesting
    lane: Int32
    start: Int64
    label: Int8
    node: Int32
    lanes: int

    @property
    def length(self) -> Int64:
        """Shape (pieces,), ns: 0 for the last of each lane, which has no end."""
        length = np.zeros(len(self.start), np.int64)
        if len(length):
            length[:-1] = np.where(self.lane[1:] == self.lane[:-1], self.start[1:] - self.start[:-1], 0)
        return length

    @spilled_property
    def first(self) -> Int64:
        """Shape (lanes + 1,): where the pieces of each lane begin."""
        return np.searchsorted(self.lane, np.arange(self.lanes + 1)).astype(np.int64)

    def boundaries(self, lane: int) -> Int64:
        """ns, ascending: when the pieces of a lane begin."""
        return self.start[self.first[lane] : self.first[lane + 1]]

    def place(self, lane: Int64, time: Int64) -> Int64:
        """The piece of a lane at each time; the first of the lane before it, -1 where the lane has none."""
        found = np.full(len(time), -1, np.int64)
        order = stable_order(lane)
        bounds = np.searchsorted(lane[order], np.arange(self.lanes + 1))
        for on in np.flatnonzero(np.diff(bounds)).tolist():
            low, high = int(self.first[on]), int(self.first[on + 1])
            if high > low:
                asked = order[bounds[on] : bounds[on + 1]]
                at = np.searchsorted(self.start[low:high], time[asked], side="right") - 1
                found[asked] = np.maximum(at, 0) + low
        return found


def host_time(trace: Trace, launches: Bool, marks: tuple[int, int] | None) -> HostTime:
    """Cut the time of every host thread.

    launches   shape (events,): the calls that started device work
    marks      the track of the main thread and the start of its first step: its time counts from there at least
    """
    row, nesting = spilled(nest_category(trace, HOST_CATEGORIES))
    label = spilled(labels_of(trace, row, nesting, launches))
    long = np.flatnonzero(nesting.end > nesting.start)
    back = long[::-1]
    # what ends comes before what begins; of several ends the outermost last, of several beginnings the innermost
    extra = [] if marks is None or (len(long) and _covers(nesting, long, marks)) else [marks]
    lane = np.concatenate((nesting.lane[back], nesting.lane[long], np.array([m[0] for m in extra], np.int32)))
    time = np.concatenate((nesting.end[back], nesting.start[long], np.array([m[1] for m in extra], np.int64)))
    node = np.concatenate((nesting.parent[back].astype(np.int64), long, np.full(len(extra), -1)))
    lane, time, node = spilled((lane, time, node))
    del long, back
    order = stable_order(time)
    order = order[stable_order(lane[order])]
    lane, time, node = spilled((lane[order], time[order], node[order]))
    del order
    if len(time):
        last = np.append((time[1:] != time[:-1]) | (lane[1:] != lane[:-1]), True)
        lane, time, node = lane[last], time[last], node[last]
    of_piece = np.append(label, np.int8(Label.PYTHON))[node]  # the last place is that of -1
    return HostTime(row, nesting, lane, time, of_piece, node.astype(np.int32), len(trace.tracks))


def _covers(nesting: Nesting, long: Int64, marks: tuple[int, int]) -> bool:
    """Whether the lane of the marks has begun when the first one does."""
    mine = long[nesting.lane[long] == marks[0]]
    return len(mine) > 0 and int(nesting.start[mine].min()) <= marks[1]
