"""Put every slice on a lane: below what encloses it, beside what it only overlaps. Bands of a track have own lanes."""

from __future__ import annotations

from bisect import bisect_right
from enum import IntEnum
from heapq import heappop, heappush
from typing import Literal, get_args

import msgspec
import numpy as np

from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import group_batches, rows_by_group, sums_at
from torch_tb_profiler.arrays.lookup import bounds_of
from torch_tb_profiler.arrays.nesting import depths, outermost_first, parents
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, UInt8
from torch_tb_profiler.timeline.schema import BusyTracks, Lanes
from torch_tb_profiler.trace import Category, EventPhase, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK, Events

#: of a band, in answers
BandName = Literal["python", "host", "annotation", "device", "sync", "span", "overhead", "instant"]


class LaneBand(IntEnum):
    """In the order in which the bands of a track are drawn."""

    PYTHON = 0
    HOST = 1  # operators, annotations, API calls, and whatever else runs on a host thread
    ANNOTATION = 2  # shadows of annotations on a device
    DEVICE = 3
    SYNC = 4
    SPAN = 5  # the recording window
    OVERHEAD = 6
    INSTANT = 7  # events without length


BAND_NAMES: tuple[BandName, ...] = get_args(BandName)


_BAND_OF = {
    Category.PYTHON_FUNCTION: LaneBand.PYTHON,
    Category.GPU_USER_ANNOTATION: LaneBand.ANNOTATION,
    Category.SYNC: LaneBand.SYNC,
    Category.SPAN: LaneBand.SPAN,
    Category.OVERHEAD: LaneBand.OVERHEAD,
    **dict.fromkeys(DEVICE_WORK, LaneBand.DEVICE),
}

_BANDS = np.array([_BAND_OF.get(category, LaneBand.HOST) for category in Category], np.uint8)

#: of two ranges that begin and end together, the category named first is outside
_OUTER_FIRST = (Category.USER_ANNOTATION, Category.OPERATOR, Category.RUNTIME, Category.DRIVER)
_RANKS = np.full(len(Category), len(_OUTER_FIRST), np.int32)
_RANKS[list(_OUTER_FIRST)] = np.arange(len(_OUTER_FIRST))


def drawn(events: Events) -> Bool:
    """Return a mask over rows: slices, and events without length."""
    found: Bool = (events.duration >= 0) | (events.phase == EventPhase.INSTANT)
    return found


def band_of(events: Events) -> UInt8:
    """Shape (events,): the band of each row, whether it is drawn or not."""
    return np.where(events.phase == EventPhase.INSTANT, np.uint8(LaneBand.INSTANT), _BANDS[events.category])


def nesting_rank(category: UInt8) -> Int32:
    """Of two slices of these categories that begin and end together, the one of lower rank encloses the other."""
    ranks: Int32 = _RANKS[category]
    return ranks


#: of one band of a track; only broken files have more
MOST_DEPTHS = 2000


class Placed(msgspec.Struct, frozen=True):
    """of_row: shape (events,), lane of each event; -1 for what is not drawn."""

    lanes: Lanes
    of_row: Int32
    busy: BusyTracks


def place(trace: Trace) -> Placed:
    """Put every slice and instant on a lane.

    On the lanes of a band a slice stands below the slices that enclose it. One that begins inside another and
    ends after it goes to the first lane below its enclosing slice that is free. So properly nested slices stand at
    their depth, and no two slices of a lane overlap.
    """
    events = trace.events
    key = np.where(drawn(events), events.track * np.int32(len(LaneBand)) + band_of(events), np.int32(-1))
    # of a track the bands come one after the other
    present = np.flatnonzero(np.bincount(key + 1)[1:])
    number = np.full(int(present.max(initial=-1)) + 2, -1, np.int32)  # the last is for what is not drawn
    number[present] = np.arange(len(present), dtype=np.int32)
    rows, first = rows_by_group(number[key], len(present))
    del key
    of_row = np.full(len(events), -1, np.int32)
    deepest, lanes = np.zeros(len(present), np.int64), 0
    busy = _Busy(len(trace.tracks))
    for low, high in group_batches(first):
        batch = rows[first[low] : first[high]]
        group = np.repeat(np.arange(high - low, dtype=np.int32), np.diff(first[low : high + 1]))
        start, end = events.start[batch], ends_of(events, batch)
        order = outermost_first(group, start, end, nesting_rank(events.category[batch]))
        batch, start, end = batch[order], start[order], end[order]
        parent = parents(group, start, end)
        depth = _depths(start, end, parent)
        begins = first[low:high] - first[low]
        deepest[low:high] = np.minimum(np.maximum.reduceat(depth, begins) + 1, MOST_DEPTHS)
        above = lanes + np.cumsum(deepest[low:high]) - deepest[low:high]
        kept = depth < MOST_DEPTHS
        of_row[batch[kept]] = above[group[kept]] + depth[kept]
        lanes += int(deepest[low:high].sum())
        roots = np.flatnonzero(parent < 0)
        # from one slice without parent to the next, those of a band cover all from the first start to the last end
        busy.add(present[low:high] // len(LaneBand), group[roots], start[roots], np.maximum.reduceat(end, roots))
    above = np.cumsum(deepest) - deepest
    columns = {
        "track": np.repeat(present // len(LaneBand), deepest),
        "band": np.repeat(present % len(LaneBand), deepest),
        "depth": np.arange(deepest.sum()) - np.repeat(above, deepest),
    }
    return Placed(Lanes.from_columns(columns), of_row, BusyTracks(busy.total()))


def _depths(start: Int64, end: Int64, parent: Int32) -> Int32:
    depth = depths(parent)
    inner = np.flatnonzero(parent >= 0)
    crossing = inner[end[inner] > end[parent[inner]]]
    if len(crossing):
        # what has no parent begins when nothing is open: from there to the next such one all stands by itself
        begins = np.flatnonzero(parent < 0)
        broken = distinct(np.searchsorted(begins, crossing, side="right") - 1)
        for low, high in zip(begins[broken].tolist(), np.append(begins, len(start))[broken + 1].tolist(), strict=True):
            depth[low:high] = _side_by_side(start[low:high], end[low:high])
    return depth


def _side_by_side(start: Int64, end: Int64) -> list[int]:
    """Return the first free lane below the innermost enclosing slice, one slice after the other in the order of starts.

    Lanes from MOST_DEPTHS on are not told apart. Takes n · log n operations, however many overlap.
    """
    lane_of: list[int] = []
    free = (1 << MOST_DEPTHS) - 1  # a bit for each lane
    taken: list[tuple[int, int]] = []  # a heap: when each lane becomes free again
    # what may enclose a later slice: ends, negated and ascending; one that ends before a later one never is innermost
    closes: list[int] = []
    lanes: list[int] = []
    for begin, finish in zip(start.tolist(), end.tolist(), strict=True):
        while taken and taken[0][0] <= begin:
            free |= 1 << heappop(taken)[1]
        enclosing = bisect_right(closes, -max(finish, begin + 1)) - 1
        lane = lanes[enclosing] + 1 if enclosing >= 0 else 0
        above = free >> lane
        lane = lane + (above & -above).bit_length() - 1 if above else MOST_DEPTHS
        if lane < MOST_DEPTHS:
            free ^= 1 << lane
            heappush(taken, (finish, lane))
        while closes and closes[-1] >= -finish:
            closes.pop()
            lanes.pop()
        closes.append(-finish)
        lanes.append(lane)
        lane_of.append(lane)
    return lane_of


class _Busy:
    """Time in which at least one slice ran, track by track; the bands of a track come one after the other."""

    def __init__(self, tracks: int) -> None:
        self._total = np.zeros(tracks, np.int64)
        self._track = -1
        self._bands: list[intervals.Spans] = []

    def add(self, tracks: Int64, band: Int32, start: Int64, end: Int64) -> None:
        """Add what slices without parent cover, by band and start. tracks: of each band."""
        bounds = bounds_of(band, len(tracks))
        # the first and the last may have bands in what was added before, or comes after
        only_band = np.ones(len(tracks), np.bool_)
        only_band[[0, -1]] = False
        shared = tracks[1:] == tracks[:-1]
        only_band[1:] &= ~shared
        only_band[:-1] &= ~shared
        self._total[tracks[only_band]] = sums_at(band, end - start, len(tracks))[only_band]
        for at in np.flatnonzero(~only_band).tolist():
            if tracks[at] != self._track:
                self._finish()
                self._track = int(tracks[at])
            self._bands.append(intervals.Spans(start[bounds[at] : bounds[at + 1]], end[bounds[at] : bounds[at + 1]]))

    def total(self) -> Int64:
        """ns, by track."""
        self._finish()
        return self._total

    def _finish(self) -> None:
        if len(self._bands) == 1:
            self._total[self._track] = intervals.total(self._bands[0])
        elif self._bands:
            self._total[self._track] = intervals.total(intervals.union_of(self._bands))
        self._bands.clear()


def ends_of(events: Events, rows: Int32) -> Int64:
    """Of some of the events: `events.end` holds those of all."""
    ends: Int64 = np.maximum(events.duration[rows], 0)
    ends += events.start[rows]
    return ends


def in_lane_order(events: Events, of_row: Int32, lanes: int) -> Int32:
    """Return the rows of what is drawn, by lane, start and end."""
    rows, first = rows_by_group(of_row, lanes)
    for low, high in group_batches(first):
        batch = rows[first[low] : first[high]]
        lane, start, end = of_row[batch], events.start[batch], ends_of(events, batch)
        earlier = (start[1:] < start[:-1]) | ((start[1:] == start[:-1]) & (end[1:] < end[:-1]))
        if (earlier & (lane[1:] == lane[:-1])).any():
            batch[:] = batch[np.lexsort((end, start, lane))]
    return rows
