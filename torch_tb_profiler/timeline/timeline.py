"""One trace as it is drawn, and the distinct names of its slices."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model.communication import is_host_communication
from torch_tb_profiler.timeline.lanes import Placed, ends_of, in_lane_order
from torch_tb_profiler.timeline.links import Links, Queue, queues_of
from torch_tb_profiler.timeline.pyramid import Bounded, Levels, PyramidItems, highest_level
from torch_tb_profiler.timeline.series import RecordedCounter, TimelineCounters, recorded_counters
from torch_tb_profiler.timeline.summary import TimelineSummary
from torch_tb_profiler.trace import Category, Trace


class SliceNames(msgspec.Struct, frozen=True):
    """Parallel: by total time, the largest first.

    code    into Trace.strings
    count   slices and instants of that name
    total   ns
    number  shape (strings,): the place of each string here; -1 for one that is no name of a slice
    """

    code: Int32
    count: Int64
    total: Int64
    number: Int32

    def __len__(self) -> int:
        return len(self.code)


def slice_names(trace: Trace, rows: Int32) -> SliceNames:
    """Assign numbers to the names of the slices in `rows`."""
    events = trace.events
    name = events.name[rows]
    count = np.bincount(name, minlength=len(trace.strings))
    total = sums_at(name, np.maximum(events.duration[rows], 0), len(trace.strings))
    used = np.flatnonzero(count)
    code = used[np.lexsort((used, -total[used]))].astype(np.int32)
    number = np.full(len(trace.strings), -1, np.int32)
    number[code] = np.arange(len(code), dtype=np.int32)
    return SliceNames(code, count[code].astype(np.int64), total[code], number)


#: ranges of the host that can be calls of torch.distributed, and their counterparts on devices
RANGES = (Category.OPERATOR, Category.USER_ANNOTATION, Category.GPU_USER_ANNOTATION)

#: bytes of the columns of `events`, per event
_BYTES_OF_EVENT = 26


class Timeline(msgspec.Struct, frozen=True, dict=True):
    """Lanes, slices and cells of a trace.

    levels    the levels that are kept; 0 holds the slices themselves
    links     what belongs together
    summary   for the overview of its run
    counters  what is kept of them
    """

    #: see `analysis.question`
    ABOUT: ClassVar = "timeline"

    trace: Trace
    placed: Placed
    levels: dict[int, Bounded]
    links: Links
    summary: TimelineSummary
    counters: TimelineCounters = msgspec.field(default_factory=TimelineCounters)

    @property
    def lanes(self) -> int:
        """Return the number of lanes."""
        return len(self.placed.lanes)

    @property
    def slices(self) -> Bounded:
        """Every slice and instant, by lane and time."""
        return self.levels[0]

    @cached_property
    def names(self) -> SliceNames:
        """Return the distinct names of slices."""
        return slice_names(self.trace, self.slices.items.longest)

    @cached_property
    def is_kernel_name(self) -> Bool:
        """Return whether a kernel has this name, shape (strings,)."""
        events = self.trace.events
        found = np.zeros(len(self.trace.strings), np.bool_)
        found[events.name[events.category == Category.KERNEL]] = True
        return found

    @cached_property
    def is_communication_name(self) -> Bool:
        """Return whether an operator or annotation of this name is a call of torch.distributed, shape (strings,)."""
        events, strings = self.trace.events, self.trace.strings
        found = np.zeros(len(strings), np.bool_)
        for code in distinct(events.name[one_of(events.category, RANGES)]).tolist():
            found[code] = is_host_communication(strings[code])
        return found

    @cached_property
    def device_of_track(self) -> Int32:
        """Return the device of each track, shape (tracks,); -1 on the host."""
        work = self.trace.device_work
        found = np.full(len(self.trace.tracks), -1, np.int32)
        known = np.flatnonzero(work.device >= 0)
        # the first of several counts
        found[self.trace.events.track[work.row[known]][::-1]] = work.device[known][::-1]
        return found

    @cached_property
    def recorded(self) -> tuple[RecordedCounter, ...]:
        """Return the counters recorded in the file."""
        return recorded_counters(self.trace)

    @cached_property
    def queues(self) -> dict[int, Queue]:
        """Return the launched work that has not begun, by device."""
        return queues_of(self.trace, self.links, self.device_of_track)

    def rows_named(self, code: int) -> Int32:
        """Return the rows of slices and instants whose name is this string, by lane and time."""
        rows = self.slices.items.longest
        named: Int32 = rows[self.trace.events.name[rows] == code]
        return named

    def row_at(self, start: int, end: int) -> int | None:
        """Return the row of the slice with this start and end; of several, the one on the last lane.

        Work of devices is below the ranges of the same name on the host.
        """
        found = self.within(np.arange(self.lanes, dtype=np.int64), start, max(end, start + 1))
        same = np.flatnonzero((found.start == start) & (found.end == end))
        return int(found.longest[same[-1]]) if len(same) else None

    @property
    def begin(self) -> int:
        """ns: where the first slice begins."""
        return self.summary.begin_ns

    @property
    def end(self) -> int:
        """ns: where the last slice ends."""
        return self.summary.end_ns

    @property
    def highest_level(self) -> int:
        """Return the coarsest level."""
        return highest_level(self.begin, self.end)

    @property
    def size(self) -> int:
        """Return about how many bytes it takes in memory."""
        return self.items.size + self.placed.of_row.nbytes + _BYTES_OF_EVENT * len(self.trace.events)

    @cached_property
    def items(self) -> Levels:
        """The slices and cells of all levels."""
        return Levels(self.levels, self.trace.events.duration)

    def within(self, lanes: Int64, start: int, end: int, level: int = 0) -> PyramidItems:
        """Return the items of a kept level that touch [start, end), of `lanes` (ascending)."""
        return self.items.within(lanes, start, end, level)

    def tile(self, level: int, tile: int, lanes: Int64) -> PyramidItems:
        """Return the items that touch a tile, of `lanes` (ascending)."""
        return self.items.tile(level, tile, lanes)


def extent_of(slices: PyramidItems) -> tuple[int, int]:
    """Return the start of the first slice and the end of the last, ns; 0 and 0 without slices."""
    return (int(slices.start.min()), int(slices.end.max())) if len(slices) else (0, 0)


def slices_of(trace: Trace, placed: Placed) -> PyramidItems:
    """Return every slice and instant on its lane, by lane and time."""
    events = trace.events
    rows = in_lane_order(events, placed.of_row, len(placed.lanes))
    # neither array takes memory
    idle = np.broadcast_to(np.int64(0), len(rows))
    count = np.broadcast_to(np.int32(1), len(rows))
    return PyramidItems(placed.of_row[rows], events.start[rows], ends_of(events, rows), idle, count, rows)
