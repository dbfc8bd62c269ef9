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


def place(trace: Trace) -> Placed:
    """Put every slice and instant on a lane.

    On the lanes of a band a slice stands below the slices that enclose it. One that begins inside of another and
    ends after it goes to the first lane below its enclosing slice that is free. So properly nested slices stand at
    their depth, and no two slices of a lane overlap.
    """
    events = trace.events
    rows = np.flatnonzero(drawn(events)).astype(np.int32)
    key = events.track[rows] * np.int32(len(Band)) + band_of(events)[rows]
    present, group = np.unique(key, return_inverse=True)
    order = outermost_first(group.astype(np.int32), events.start[rows], events.end[rows], nesting_rank(events)[rows])
    rows, group = rows[order], group[order]
    start, end = events.start[rows], events.end[rows]
    parent = parents(group.astype(np.int32), start, end)
    depth = _depths(start, end, parent)
    of_row = np.full(len(events), -1, np.int32)
    kept = depth < MOST_DEPTHS
    deepest = np.zeros(len(present), np.int64)
    np.maximum.at(deepest, group[kept], depth[kept] + 1)
    first = np.cumsum(deepest) - deepest
    of_row[rows[kept]] = first[group[kept]] + depth[kept]
    lanes = Lanes.from_columns(
        {
            "track": np.repeat(present // len(Band), deepest),
            "band": np.repeat(present % len(Band), deepest),
            "depth": np.arange(deepest.sum()) - np.repeat(first, deepest),
        }
    )
    return Placed(lanes, of_row, _busy(present[group] // len(Band), start, end, parent, len(trace.tracks)))


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


def _busy(track: Int64, start: Int64, end: Int64, parent: Int32, tracks: int) -> BusyTracks:
    """From one slice without parent to the next, slices cover all from the first start to the last end."""
    busy = np.zeros(tracks, np.int64)
    begins = np.flatnonzero(parent < 0)
    if len(begins):
        last = np.maximum.reduceat(end, begins)
        order = np.argsort(track[begins], kind="stable")
        for chosen in np.split(order, np.flatnonzero(np.diff(track[begins][order])) + 1):
            covered = intervals.union(start[begins][chosen], last[chosen])
            busy[track[begins[chosen[0]]]] = intervals.total(covered)
    return BusyTracks(busy)


def in_lane_order(lane: Int32, start: Int64, end: Int64) -> Int64:
    """Sort slices by lane, start, end and the order in which they are given, for slices that come nearly in time."""
    order = np.argsort(start, kind="stable")
    lanes = lane[order]
    by_lane = np.argsort(lanes.astype(np.uint16) if _fits(lanes) else lanes, kind="stable")
    order = order[by_lane]
    low, high = order[:-1], order[1:]
    wrong = (lane[low] == lane[high]) & (start[low] == start[high]) & (end[low] > end[high])
    return np.lexsort((end, start, lane)) if wrong.any() else order


def _fits(lanes: Int32) -> bool:
    return not len(lanes) or int(lanes.max()) < 2**16
