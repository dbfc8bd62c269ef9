"""Search in the times of many lanes at once, without a loop over lanes."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Int64, Ints


class LaneIndex:
    """Times on lanes, sorted for binary search.

    lane, time   shape (n,), in any order; no lane below 0
    order        shape (n,): the positions that sort them by lane, then time; equal ones stay

    >>> index = LaneIndex(np.array([0, 2, 0]), np.array([5, 3, 1]))
    >>> index.until(np.array([0, 0, 2, 7]), np.array([5, 1, 9, 9])).tolist()
    [2, 1, 3, 3]
    >>> index.last(np.array([0, 0, 2, 7]), np.array([5, 0, 9, 9])).tolist()
    [0, -1, 1, -1]
    """

    def __init__(self, lane: Ints, time: Ints) -> None:
        self._times = distinct(time)
        keys = self._keys(lane, np.searchsorted(self._times, time))
        self.order = stable_order(keys)
        self._sorted = keys[self.order]

    def before(self, lane: Ints, time: Ints) -> Int64:
        """Count the times on smaller lanes, and on the lane before each time: a position in sorted order."""
        return np.searchsorted(self._sorted, self._keys(lane, np.searchsorted(self._times, time)))

    def until(self, lane: Ints, time: Ints) -> Int64:
        """Count as `before`, including those at the time."""
        return np.searchsorted(self._sorted, self._keys(lane, np.searchsorted(self._times, time, side="right")))

    def between(self, lane: Ints, since: Ints, until: Ints) -> Int64:
        """Count the times on each lane in [since, until); negative where that is reversed."""
        found: Int64 = self.before(lane, until) - self.before(lane, since)
        return found

    def last(self, lane: Ints, time: Ints) -> Int64:
        """Return the input position of the last one on each lane at or before each time; -1 for none."""
        place = self.until(lane, time) - 1
        there = place >= np.searchsorted(self._sorted, self._keys(lane, np.zeros(len(lane), np.int64)))
        return np.where(there, np.append(self.order, -1)[place], -1)

    def first(self, lane: Ints, time: Ints) -> Int64:
        """Return the input position of the first one on each lane at or after each time; -1 for none."""
        place = self.before(lane, time)
        after = np.searchsorted(self._sorted, self._keys(np.asarray(lane, np.int64) + 1, np.zeros(len(lane), np.int64)))
        return np.where(place < after, np.append(self.order, -1)[np.minimum(place, len(self.order))], -1)

    def _keys(self, lane: Ints, rank: Int64) -> Int64:
        keys: Int64 = np.asarray(lane, np.int64) * (len(self._times) + 1) + rank
        return keys


class LaneCoverage:
    """How much of a time range on a lane is covered by intervals of the lane that start in the range.

    lane, start, end   shape (n,), in any order; intervals of one lane do not overlap, no lane is below 0

    >>> coverage = LaneCoverage(np.array([0, 0, 1]), np.array([2, 6, 0]), np.array([4, 9, 9]))
    >>> coverage.between(np.array([0, 0]), np.array([1, 3]), np.array([7, 6])).tolist()
    [3, 0]
    """

    def __init__(self, lane: Ints, start: Int64, end: Int64) -> None:
        self._starts = LaneIndex(lane, start)
        order = self._starts.order
        self._lengths = running_sums((end - start)[order])
        self._ends = np.append(end[order], 0)

    def between(self, lane: Ints, since: Int64, until: Int64) -> Int64:
        """Measure the covered part of each [since, until), in log(n) operations each; shape as given."""
        first, after = self._starts.before(lane, since), self._starts.before(lane, until)
        behind = np.maximum(self._ends[after - 1] - until, 0)
        return np.where(after > first, self._lengths[after] - self._lengths[first] - behind, 0)
