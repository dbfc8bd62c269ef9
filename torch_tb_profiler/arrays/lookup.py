"""Looking values up in arrays: with an index for "none", in sorted arrays, in windows, in the times of many lanes."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Int64, Ints

T = TypeVar("T", bound=np.generic)


def take_known(values: npt.NDArray[T], index: Ints, missing: int = -1) -> npt.NDArray[T]:
    """Return `values[index]`, and `missing` where the index is negative.

    values   shape (n,); may be empty
    index    shape (m,), below n; negative for none
    Returns shape (m,), of the type of `values`. Raises IndexError.

    >>> take_known(np.array([5, 6, 7]), np.array([2, -1, 0])).tolist()
    [7, -1, 5]
    """
    found = np.full(len(index), missing, values.dtype)
    known = np.flatnonzero(index >= 0)
    found[known] = values[index[known]]
    return found


def places_of(chosen: Ints, size: int) -> Int64:
    """Return the position of each number 0 … size - 1 in `chosen`, -1 for those not in it: the inverse of a choice.

    chosen   shape (n,), different numbers below `size`
    Returns shape (size,).

    >>> places_of(np.array([3, 1]), 5).tolist()
    [-1, 1, -1, 0, -1]
    """
    place = np.full(size, -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    return place


def find(ascending: Ints, wanted: Ints) -> Int64:
    """Return the position of each wanted number in an ascending array of different numbers; -1 for those not in it.

    ascending   shape (n,)
    wanted      shape (m,)
    Returns shape (m,).

    >>> find(np.array([2, 3, 7]), np.array([7, 4, 2, 9])).tolist()
    [2, -1, 0, -1]
    """
    if not len(ascending):
        return np.full(len(wanted), -1, np.int64)
    place = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    return np.where(ascending[place] == wanted, place, -1)


def bounds_of(ascending: Ints, size: int) -> Int64:
    """Return where the run of each number 0 … size - 1 begins in an ascending array, and where the last one ends.

    ascending   shape (n,), sorted; numbers that do not occur have an empty run
    Returns shape (size + 1,): the run of a number is [bounds[number], bounds[number + 1]).

    >>> bounds_of(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    return np.searchsorted(ascending, np.arange(size + 1)).astype(np.int64, copy=False)


def window_of(start: Ints, end: Ints, first: Ints, last: Ints | None = None) -> Int64:
    """Return which of disjoint windows [start, end], ends included, holds each interval [first, last]; -1 for none.

    start, end    shape (n,), ascending
    first, last   shape (m,); without `last` points are looked up
    Returns shape (m,). Where a window begins at the end of another, a point there is in the later one.

    >>> window_of(np.array([0, 10]), np.array([5, 20]), np.array([3, 5, 7, 10])).tolist()
    [0, 0, -1, 1]
    >>> window_of(np.array([0, 10]), np.array([5, 20]), np.array([3, 12]), np.array([6, 20])).tolist()
    [-1, 1]
    """
    if not len(start):
        return np.full(len(first), -1, np.int64)
    place = np.searchsorted(start, first, side="right") - 1
    return np.where((place >= 0) & ((first if last is None else last) <= end[place]), place, -1)


def place_of_running_maximum(values: npt.NDArray[Any]) -> Int64:
    """Return, for each position, that of the largest value up to it; the last of several.

    values   shape (n,)
    Returns shape (n,).

    >>> place_of_running_maximum(np.array([4, 2, 4, 9, 1])).tolist()
    [0, 0, 2, 3, 3]
    """
    highest = np.maximum.accumulate(values)
    return np.maximum.accumulate(np.where(values == highest, np.arange(len(values)), 0))


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
