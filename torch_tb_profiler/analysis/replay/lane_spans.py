"""Spans of time of host threads, as sets."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.intervals import Spans, intersection, subtraction, union
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int64


class LaneSpans(msgspec.Struct, frozen=True):
    """[start, end) of threads: disjoint and not touching, by lane and start; parallel, (n,). Made by `lane_union`.

    lane         index into Trace.tracks
    start, end   ns
    """

    lane: Int64
    start: Int64
    end: Int64

    def __len__(self) -> int:
        return len(self.lane)

    def before(self, lane: Int64, time: Int64) -> Int64:
        """Find shape (m,): the span on a lane that began last, strictly before each time; -1 for none."""
        last = np.full(len(time), -1, np.int64)
        order = stable_order(lane)
        on_lane = lane[order]
        for on in lanes_of(self.lane):
            mine = order[slice(*np.searchsorted(on_lane, (on, on + 1)).tolist())]
            if len(mine):
                low, high = np.searchsorted(self.lane, (on, on + 1)).tolist()
                place = np.searchsorted(self.start[low:high], time[mine], side="left") - 1
                last[mine] = np.where(place >= 0, place + low, -1)
        return last

    def ends_in(self, lane: Int64, time: Int64) -> Bool:
        """Return shape (m,): whether what ends at each time on a lane ends in a span: start < time <= end."""
        place = self.before(lane, time)
        found: Bool = (place >= 0) & (time <= np.append(self.end, 0)[place])
        return found


def lanes_of(ascending: Int64) -> list[int]:
    """List the distinct lanes of an ascending column."""
    found: list[int] = ascending[np.append(True, ascending[1:] != ascending[:-1])].tolist() if len(ascending) else []
    return found


def lane_union(lane: Int64, start: Int64, end: Int64) -> LaneSpans:
    """Return the time in at least one of some spans; spans that touch or overlap become one.

    >>> found = lane_union(np.array([1, 0, 1]), np.array([5, 2, 3]), np.array([9, 4, 6]))
    >>> found.lane.tolist(), found.start.tolist(), found.end.tolist()
    ([0, 1], [2, 3], [4, 9])
    """
    return _combined(lambda sets: sets[0], (lane, start, end))


def lane_intersection(a: LaneSpans, b: LaneSpans) -> LaneSpans:
    """Return the time in both.

    >>> one = lane_union(np.array([1]), np.array([5]), np.array([9]))
    >>> lane_intersection(one, lane_union(np.array([0, 1]), np.array([5, 8]), np.array([9, 20]))).start.tolist()
    [8]
    """
    return _combined(lambda sets: intersection(*sets), (a.lane, a.start, a.end), (b.lane, b.start, b.end))


def lane_subtraction(a: LaneSpans, b: LaneSpans) -> LaneSpans:
    """Return the time in `a` that is not in `b`.

    >>> one = lane_union(np.array([1]), np.array([5]), np.array([9]))
    >>> lane_subtraction(one, lane_union(np.array([0, 1]), np.array([5, 8]), np.array([9, 20]))).end.tolist()
    [8]
    """
    return _combined(lambda sets: subtraction(*sets), (a.lane, a.start, a.end), (b.lane, b.start, b.end))


def _combined(function: Callable[[list[Spans]], Spans], *sets: tuple[Int64, Int64, Int64]) -> LaneSpans:
    """Apply a function of one-dimensional sets to (lane, time): lane after lane, times by their rank."""
    times, rank = distinct_places(np.concatenate([each for _, *ends in sets for each in ends]).astype(np.int64))
    n, done, keyed = max(len(times), 1), 0, []
    for lane, start, _ in sets:
        first, last = rank[done : done + len(start)], rank[done + len(start) : done + 2 * len(start)]
        keyed.append(union(lane.astype(np.int64) * n + first, lane.astype(np.int64) * n + last))
        done += 2 * len(start)
    found = function(keyed)
    return LaneSpans(found.start // n, times[found.start % n], times[found.end % n])
