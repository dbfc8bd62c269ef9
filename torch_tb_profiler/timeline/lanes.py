"""Every slice to a lane: below what encloses it, beside what it only overlaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis import intervals
from torch_tb_profiler.model.nesting import depths, outermost_first, parents
from torch_tb_profiler.timeline.bands import Band, band_of, drawn, nesting_rank
from torch_tb_profiler.timeline.schema import BusyTracks, Lanes
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import Int32, Int64

#: of one band of a track; only broken files have more
MOST_DEPTHS = 2000


@dataclass(frozen=True)
class Placed:
    """of_row: shape (events,), lane of each event; -1 for what is not drawn."""

    lanes: Lanes
    of_row: Int32
    busy: BusyTracks


def place(trace: Trace) -> tuple[Placed, Int32]:
    """Put every slice and instant on a lane; and the rows of all these by band of a track, then by start.

    On the lanes of a band a slice stands below the slices that enclose it. One that begins inside of another and
    ends after it goes to the first lane below its enclosing slice that is free. So properly nested slices stand at
    their depth, and no two slices of a lane overlap.
    """
    events = trace.events
    rows = np.flatnonzero(drawn(events)).astype(np.int32)
    key = events.track[rows] * np.int32(len(Band)) + band_of(events)[rows]
    present = np.flatnonzero(np.bincount(key))
    group = np.zeros(int(present.max(initial=-1)) + 1, np.int32)
    group[present] = np.arange(len(present), dtype=np.int32)
    group = group[key]
    order = outermost_first(group, events.start[rows], events.end[rows], nesting_rank(events)[rows])
    rows, group = rows[order], group[order]
    start, end = events.start[rows], events.end[rows]
    parent = parents(group, start, end)
    depth = _depths(start, end, parent)
    of_row = np.full(len(events), -1, np.int32)
    kept = depth < MOST_DEPTHS
    deepest = np.zeros(len(present), np.int64)
    if len(present):
        lowest = np.maximum.reduceat(depth, np.searchsorted(group, np.arange(len(present))))
        deepest = np.minimum(lowest + 1, MOST_DEPTHS).astype(np.int64)
    first = np.cumsum(deepest) - deepest
    of_row[rows[kept]] = first[group[kept]] + depth[kept]
    lanes = Lanes.from_columns(
        {
            "track": np.repeat(present // len(Band), deepest),
            "band": np.repeat(present % len(Band), deepest),
            "depth": np.arange(deepest.sum()) - np.repeat(first, deepest),
        }
    )
    busy = _busy(present // len(Band), group, start, end, parent, len(trace.tracks))
    return Placed(lanes, of_row, busy), rows[kept]


def _depths(start: Int64, end: Int64, parent: Int32) -> Int32:
    depth = depths(parent)
    inner = np.flatnonzero(parent >= 0)
    crossing = inner[end[inner] > end[parent[inner]]]
    if len(crossing):
        # what has no parent begins when nothing is open: from there to the next such one all stands by itself
        begins = np.flatnonzero(parent < 0)
        broken = np.unique(np.searchsorted(begins, crossing, side="right") - 1)
        for low, high in zip(begins[broken].tolist(), np.append(begins, len(start))[broken + 1].tolist(), strict=True):
            depth[low:high] = _side_by_side(start[low:high], end[low:high])
    return depth


def _side_by_side(start: Int64, end: Int64) -> list[int]:
    """The first free lane below the innermost enclosing slice, one slice after the other in the order of starts."""
    found: list[int] = []
    ends: list[int] = []  # of each lane, where its last slice ends
    open_: list[tuple[int, int]] = []  # end and lane; some in the middle may have ended
    for begin, finish in zip(start.tolist(), end.tolist(), strict=True):
        while open_ and open_[-1][0] <= begin:
            open_.pop()
        lane = next((lane for closes, lane in reversed(open_) if closes > begin and closes >= finish), -1) + 1
        while lane < len(ends) and ends[lane] > begin:
            lane += 1
        if lane == len(ends):
            ends.append(finish)
        else:
            ends[lane] = finish
        open_.append((finish, lane))
        found.append(lane)
    return found


def _busy(track_of: Int64, group: Int32, start: Int64, end: Int64, parent: Int32, tracks: int) -> BusyTracks:
    """From one slice without parent to the next, those of a band cover all from the first start to the last end."""
    busy = np.zeros(tracks, np.int64)
    begins = np.flatnonzero(parent < 0)
    if not len(begins):
        return BusyTracks(busy)
    start, end, group = start[begins], np.maximum.reduceat(end, begins), group[begins]
    first = np.searchsorted(group, np.arange(len(track_of) + 1))
    for track in np.unique(track_of).tolist():
        bands = np.flatnonzero(track_of == track)
        low, high = first[bands[0]], first[bands[-1] + 1]
        if len(bands) == 1:
            busy[track] = (end[low:high] - start[low:high]).sum()
        else:
            busy[track] = intervals.total(intervals.union(start[low:high], end[low:high]))
    return BusyTracks(busy)


def in_lane_order(lane: Int32, start: Int64, end: Int64, by_start: Int64 | None = None) -> Int64:
    """Sort slices by lane, start and end.

    by_start   an order in which the slices of each lane come by start, if one is known
    """
    order = np.argsort(start, kind="stable") if by_start is None else by_start
    lanes = lane[order]
    fits = not len(lanes) or int(lanes.max()) < 2**16
    # numpy sorts 16 bits by their digits
    order = order[np.argsort(lanes.astype(np.uint16) if fits else lanes, kind="stable")]
    low, high = order[:-1], order[1:]
    wrong = (lane[low] == lane[high]) & (start[low] == start[high]) & (end[low] > end[high])
    return np.lexsort((end, start, lane)) if wrong.any() else order
