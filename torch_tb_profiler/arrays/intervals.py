"""Sets of integer points, written as half-open intervals [start, end), and functions of a point.

A set (`Spans`) is sorted, disjoint and without empty or touching intervals, so equal sets are written equally. Each
function is a handful of sorts and searches over whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torch_tb_profiler.arrays.range_sums import positions
from torch_tb_profiler.arrays.types import Float64, Int64, Ints


class Spans(NamedTuple):
    """A set of points. Made by `union`.

    start, end   shape (intervals,), sorted, disjoint, not touching, none empty
    """

    start: Int64
    end: Int64

    @property
    def size(self) -> int:
        """How many intervals."""
        return len(self.start)


class Profile(NamedTuple):
    """A piecewise constant function: `value` on [start, end), zero elsewhere. Made by `profile`.

    start, end, value   shape (segments,), sorted and disjoint
    """

    start: Int64
    end: Int64
    value: Float64


EMPTY = Spans(np.empty(0, np.int64), np.empty(0, np.int64))


def union(start: Ints, end: Ints) -> Spans:
    """The points in at least one of some intervals.

    start, end   shape (n,), in any order; intervals may overlap, and empty or reversed ones count as empty

    With starts and ends sorted separately, the i-th start opens a new interval exactly if the i intervals that started
    before it have ended before it, that is if it lies after the (i-1)-th end.

    >>> found = union(np.array([8, 0, 3, 5]), np.array([9, 4, 6, 5]))
    >>> found.start.tolist(), found.end.tolist()
    ([0, 8], [6, 9])
    """
    kept = end > start
    if not kept.any():
        return EMPTY
    # most come in runs that are sorted already, which a stable sort only merges
    starts = np.sort(start[kept], kind="stable").astype(np.int64, copy=False)
    ends = np.sort(end[kept], kind="stable").astype(np.int64, copy=False)
    opens = np.empty(len(starts), np.bool_)
    opens[0] = True
    np.greater(starts[1:], ends[:-1], out=opens[1:])
    closes = np.empty(len(starts), np.bool_)
    closes[-1] = True
    closes[:-1] = opens[1:]
    return Spans(starts[opens], ends[closes])


def union_of(sets: Sequence[Spans]) -> Spans:
    """The points in at least one of some `sets`.

    >>> a, b = union(np.array([0]), np.array([4])), union(np.array([3, 8]), np.array([6, 9]))
    >>> [ends.tolist() for ends in union_of([a, b])]
    [[0, 8], [6, 9]]
    """
    held = [s for s in sets if s.size]
    if len(held) < 2:
        return held[0] if held else EMPTY
    return union(np.concatenate([s.start for s in held]), np.concatenate([s.end for s in held]))


def total(spans: Spans) -> int:
    """How many points are in the set `spans`: the sum of the lengths of its intervals.

    >>> total(union(np.array([0, 8]), np.array([6, 9])))
    7
    """
    return int((spans.end - spans.start).sum())


def intersection(a: Spans, b: Spans) -> Spans:
    """The points in both sets.

    >>> a, b = union(np.array([0, 8]), np.array([6, 9])), union(np.array([4]), np.array([20]))
    >>> [ends.tolist() for ends in intersection(a, b)]
    [[4, 8], [6, 9]]
    """
    first = np.searchsorted(b.end, a.start, side="right")
    count = np.maximum(np.searchsorted(b.start, a.end, side="left") - first, 0)
    of_a = np.repeat(np.arange(a.size), count)
    of_b = positions(first, first + count)
    return Spans(np.maximum(a.start[of_a], b.start[of_b]), np.minimum(a.end[of_a], b.end[of_b]))


def subtraction(a: Spans, b: Spans) -> Spans:
    """The points in `a` that are not in `b`.

    >>> a, b = union(np.array([0]), np.array([9])), union(np.array([4]), np.array([6]))
    >>> [ends.tolist() for ends in subtraction(a, b)]
    [[0, 6], [4, 9]]
    """
    if not a.size or not b.size:
        return a
    low = np.minimum(a.start[:1], b.start[:1])
    high = np.maximum(a.end[-1:], b.end[-1:])
    gap_start, gap_end = np.concatenate([low, b.end]), np.concatenate([b.start, high])
    kept = gap_end > gap_start
    return intersection(a, Spans(gap_start[kept], gap_end[kept]))


def clip(spans: Spans, low: int, high: int) -> Spans:
    """The points of the set `spans` that lie in [low, high).

    >>> [ends.tolist() for ends in clip(union(np.array([0, 8]), np.array([6, 9])), 2, 8)]
    [[2], [6]]
    """
    return intersection(spans, union(np.array([low], np.int64), np.array([high], np.int64)))


class Coverage:
    """How much of a set lies between any two points, with one binary search for each.

    >>> coverage = Coverage(union(np.array([0, 8]), np.array([6, 9])))
    >>> coverage.before(np.array([-1, 2, 7, 20])).tolist()
    [0, 2, 6, 7]
    >>> coverage.between(np.array([2, 9]), np.array([9, 2])).tolist()
    [5, 0]
    """

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        lengths = np.cumsum(spans.end - spans.start)
        self._before_start = np.concatenate([np.zeros(1, np.int64), lengths])

    def before(self, point: Ints) -> Int64:
        """How many points of the set lie before each given point; shape as given."""
        spans = self._spans
        inside = np.searchsorted(spans.start, point, side="right")
        covered = self._before_start[inside]
        if not spans.size:
            return covered
        # the last interval that has started may not have ended
        return covered - np.where(inside > 0, np.maximum(spans.end[inside - 1] - point, 0), 0)

    def between(self, start: Ints, end: Ints) -> Int64:
        """How many points of the set lie in each [start, end); 0 where that is empty or reversed."""
        covered = self.before(end) - self.before(start)
        return np.where(end > start, covered, 0)


def paint(priorities: Sequence[Spans], window_start: Int64, window_end: Int64) -> Int64:
    """Divide each window among sets by priority: a point belongs to the first set that has it.

    priorities                 the highest first
    window_start, window_end   shape (windows,)
    Returns shape (len(priorities) + 1, windows): how many points of each window belong to each set; in the last row
    those that are in no set. Every column adds up to the length of its window exactly.

    >>> high, low = union(np.array([2]), np.array([4])), union(np.array([0]), np.array([6]))
    >>> paint([high, low], np.array([0]), np.array([10])).tolist()
    [[2], [4], [4]]
    """
    length = np.maximum(window_end - window_start, 0).astype(np.int64, copy=False)
    painted = np.empty((len(priorities) + 1, len(length)), np.int64)
    so_far, covered = EMPTY, np.zeros(len(length), np.int64)
    for row, spans in enumerate(priorities):
        if spans.size:
            so_far = union_of([so_far, spans])
            now = Coverage(so_far).between(window_start, window_end)
        else:
            now = covered
        painted[row] = now - covered
        covered = now
    painted[-1] = length - covered
    return painted


class Overlay(NamedTuple):
    """Segments in which the same of several sets hold, at least one. Made by `overlay`.

    start, end   shape (segments,), sorted and disjoint
    member       shape (segments,): bit i is set where the i-th set holds
    """

    start: Int64
    end: Int64
    member: Int64

    def of(self, member: int) -> Spans:
        """The points that are in exactly the sets whose bits are set in `member`."""
        kept = self.member == member
        return Spans(self.start[kept], self.end[kept])


def overlay(sets: Sequence[Spans]) -> Overlay:
    """The union of at most 62 `sets`, cut at every boundary of every set.

    >>> a, b = union(np.array([0]), np.array([4])), union(np.array([3]), np.array([6]))
    >>> [column.tolist() for column in overlay([a, b])]
    [[0, 3, 4], [3, 4, 6], [1, 3, 2]]
    """
    bits = [np.full(s.size, 1 << i, np.int64) for i, s in enumerate(sets)]
    times = np.concatenate([EMPTY.start, *(s.start for s in sets), *(s.end for s in sets)])
    order = np.argsort(times, kind="stable")
    times = times[order]
    # a set is disjoint, so a bit is added and taken away in turn and sums never carry
    member = np.cumsum(np.concatenate([EMPTY.start, *bits, *(-b for b in bits)])[order])
    lasts = np.flatnonzero((times[1:] > times[:-1]) & (member[:-1] > 0))
    return Overlay(times[lasts], times[lasts + 1], member[lasts])


def profile(start: Ints, end: Ints, value: Float64, cap: float = np.inf) -> Profile:
    """At each point the sum of the values of all intervals that cover it, at most `cap`.

    start, end, value   shape (n,), intervals in any order; empty and reversed ones are left out
    Where no interval is active there is no segment: the function is exactly zero there, whatever rounding left over.

    >>> found = profile(np.array([0, 2]), np.array([4, 6]), np.array([1.0, 0.5]))
    >>> [column.tolist() for column in found]
    [[0, 2, 4], [2, 4, 6], [1.0, 1.5, 0.5]]
    """
    kept = end > start
    start, end, value = start[kept], end[kept], value[kept]
    times = np.concatenate([start, end]).astype(np.int64, copy=False)
    order = np.argsort(times, kind="stable")
    times = times[order]
    active = np.cumsum(np.concatenate([np.ones(len(start), np.int64), np.full(len(start), -1)])[order])
    running = np.cumsum(np.concatenate([value, -value])[order])
    # subtract what rounding has left over at the last point without an active interval
    idle = np.maximum.accumulate(np.where(active == 0, np.arange(len(times)), -1))
    running = running - np.where(idle >= 0, running[idle], 0.0)
    lasts = np.flatnonzero((times[1:] > times[:-1]) & (active[:-1] > 0))
    return Profile(times[lasts], times[lasts + 1], np.minimum(running[lasts], cap))


def integral(of: Profile, within: Spans) -> float:
    """The sum of the values `of` a function over the points `within` a set.

    >>> function = profile(np.array([0, 2]), np.array([4, 6]), np.array([1.0, 0.5]))
    >>> integral(function, union(np.array([3]), np.array([5])))
    2.0
    """
    return float((of.value * Coverage(within).between(of.start, of.end)).sum())
