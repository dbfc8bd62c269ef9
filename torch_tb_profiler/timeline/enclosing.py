"""What encloses a slice, and what runs below it."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Count, Ns, Row
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.lookup import find
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.timeline.bands import Band
from torch_tb_profiler.timeline.pyramid import Items
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Category

#: what slices can lie in; the others only happen at the same time
_ENCLOSING = (Band.PYTHON, Band.HOST, Band.ANNOTATION, Band.DEVICE)


class SliceReference(msgspec.Struct, frozen=True):
    """A slice, as every answer names it.

    row          number of its event
    lane         number of the lane it is on
    name         of the slice
    short_name   for a kernel, the parts of its name that show what it does; null for all others
    category     name in small letters, as in `trace/schema.py`
    start_ns     when it begins
    duration_ns  how long it lasts
    """

    row: Row
    lane: Count
    name: str
    category: str
    start_ns: Ns
    duration_ns: Ns
    short_name: str | None


def reference(timeline: Timeline, row: int) -> SliceReference:
    """Of a row that stands on a lane."""
    trace, events = timeline.trace, timeline.trace.events
    name = trace.strings[events.name[row]]
    return SliceReference(
        row,
        int(timeline.placed.of_row[row]),
        name,
        Category(events.category[row]).name.lower(),
        int(events.start[row]),
        max(int(events.duration[row]), 0),
        short_name(name) if events.category[row] == Category.KERNEL else None,
    )


def enclosing(timeline: Timeline, track: int, start: int, end: int) -> list[int]:
    """Rows of the slices of a track that begin at `start` or before and end at `end` or behind, outermost first."""
    lanes = timeline.placed.lanes
    chosen = np.flatnonzero((lanes.track == track) & np.isin(lanes.band, _ENCLOSING))
    found = timeline.within(chosen, start, start + 1)
    found = found.take((found.start <= start) & (found.end >= end))
    order = np.lexsort((found.lane, -(found.end - found.start), found.start))
    rows: list[int] = found.longest[order].tolist()
    return rows


def self_time(timeline: Timeline, row: int) -> int:
    """ns of a slice in which nothing ran on the lanes below it in its band."""
    lanes, lane = timeline.placed.lanes, timeline.placed.of_row[row]
    start, end = int(timeline.trace.events.start[row]), int(timeline.trace.events.end[row])
    below = np.flatnonzero(
        (lanes.track == lanes.track[lane]) & (lanes.band == lanes.band[lane]) & (lanes.depth > lanes.depth[lane])
    )
    covered = intervals.union(*_ends(timeline.within(below, start, end)))
    return end - start - intervals.total(intervals.clip(covered, start, end))


def _ends(items: Items) -> tuple[Int64, Int64]:
    return items.start, items.end


def work_of(timeline: Timeline, row: int) -> int:
    """The place of a row in `device_work`, -1 for none."""
    return int(find(timeline.trace.device_work.row, np.array([row]))[0])


def launch_of(timeline: Timeline, row: int) -> int | None:
    """The row of the API call that started device work; None for what has none."""
    work = work_of(timeline, row)
    launch = int(timeline.links.work.launch[work]) if work >= 0 else -1
    return int(timeline.trace.launches.row[launch]) if launch >= 0 else None


def launched_by(timeline: Timeline, row: int) -> Int64:
    """Rows of the device work that was started inside a host slice, or by it, the longest first."""
    trace, events = timeline.trace, timeline.trace.events
    rows = trace.launches.row
    # of one event more, so that -1, for no launch, is no call
    inside = np.zeros(len(rows) + 1, np.bool_)
    inside[:-1] = (events.track[rows] == events.track[row]) & (events.start[rows] >= events.start[row])
    inside[:-1] &= (events.start[rows] < events.end[row]) | (rows == row)
    work = trace.device_work.row[inside[timeline.links.work.launch]].astype(np.int64)
    return work[np.lexsort((work, events.start[work], -events.duration[work]))]
