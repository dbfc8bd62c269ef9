"""Sets of integer points, written as half-open intervals [start, end), and functions of a point.

A set (`Spans`) is sorted, disjoint and without empty or touching intervals, so equal sets are written equally. Each
function is a handful of sorts and searches over whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from torch_tb_profiler.arrays.ranges import positions
from torch_tb_profiler.arrays.types import Float64, Int64, Ints


class Spans(NamedTuple):
    """A set of points. Made by `union`.

    start, end   shape (intervals,), sorted, disjoint, not touching, none empty
    """

    start: Int64
    end: Int64

    @property
    def size(self) -> int:
        """Number of intervals."""
        return len(self.start)


class StepFunction(NamedTuple):
    """A piecewise constant function: `value` on [start, end), zero elsewhere. Made by `step_function`.

    start, end, value   shape (segments,), sorted and disjoint
    """

    start: Int64
    end: Int64
    value: Float64


EMPTY = Spans(np.empty(0, np.int64), np.empty(0, np.int64))


def union(start: Ints, end: Ints) -> Spans:
    """Return the points in at least one of some intervals.

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
    """Return the points in at least one of some `sets`.

    >>> a, b = union(np.array([0]), np.array([4])), union(np.array([3, 8]), np.array([6, 9]))
    >>> [ends.tolist() for ends in union_of([a, b])]
    [[0, 8], [6, 9]]
    """
    held = [s for s in sets if s.size]
    if len(held) < 2:
        return held[0] if held else EMPTY
    return union(np.concatenate([s.start for s in held]), np.concatenate([s.end for s in held]))


def total(spans: Spans) -> int:
    """Count the points of the set `spans`: the sum of the lengths of its intervals.

    >>> total(union(np.array([0, 8]), np.array([6, 9])))
    7
    """
    return int((spans.end - spans.start).sum())


def intersection(a: Spans, b: Spans) -> Spans:
    """Return the points in both sets.

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
    """Return the points in `a` that are not in `b`.

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
    """Return the points of the set `spans` that lie in [low, high).

    >>> [ends.tolist() for ends in clip(union(np.array([0, 8]), np.array([6, 9])), 2, 8)]
    [[2], [6]]
    """
    return intersection(spans, union(np.array([low], np.int64), np.array([high], np.int64)))


class Coverage:
    """The size of a set between any two points, by one binary search for each.

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
        """Count the points of the set before each given point; shape as given."""
        spans = self._spans
        inside = np.searchsorted(spans.start, point, side="right")
        covered = self._before_start[inside]
        if not spans.size:
            return covered
        # the last interval that has started may not have ended
        return covered - np.where(inside > 0, np.maximum(spans.end[inside - 1] - point, 0), 0)

    def between(self, start: Ints, end: Ints) -> Int64:
        """Count the points of the set in each [start, end); 0 where that is empty or reversed."""
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
        """Return the points that are in exactly the sets whose bits are set in `member`."""
        kept = self.member == member
        return Spans(self.start[kept], self.end[kept])


def overlay(sets: Sequence[Spans]) -> Overlay:
    """Unite at most 62 `sets`, cut at every boundary of every set.

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


def step_function(start: Ints, end: Ints, value: Float64, cap: float = np.inf) -> StepFunction:
    """Sum at each point the values of all intervals that cover it, at most `cap`.

    start, end, value   shape (n,), intervals in any order; empty and reversed ones are left out
    Where no interval is active there is no segment: the function is exactly zero there, whatever rounding left over.

    >>> found = step_function(np.array([0, 2]), np.array([4, 6]), np.array([1.0, 0.5]))
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
    return StepFunction(times[lasts], times[lasts + 1], np.minimum(running[lasts], cap))


def integral(function: StepFunction, within: Spans) -> float:
    """Sum the values of a function over the points `within` a set.

    >>> function = step_function(np.array([0, 2]), np.array([4, 6]), np.array([1.0, 0.5]))
    >>> integral(function, union(np.array([3]), np.array([5])))
    2.0
    """
    return float((function.value * Coverage(within).between(function.start, function.end)).sum())


class PriorityIntervals(NamedTuple):
    """Disjoint segments, by start; each belongs to one of the given intervals. Made by `priority_intervals`.

    start, end   shape (segments,)
    source       shape (segments,): which interval
    """

    start: Int64
    end: Int64
    source: Int64


def priority_intervals(start: Int64, end: Int64, rank: Int64) -> PriorityIntervals:
    """Assign every covered point to the interval of lowest rank that covers it; to the first of several.

    start, end, rank   shape (n,), in any order; empty and reversed intervals count as empty

    >>> found = priority_intervals(np.array([0, 2, 4]), np.array([6, 8, 5]), np.array([1, 2, 0]))
    >>> list(zip(*(column.tolist() for column in found)))
    [(0, 4, 0), (4, 5, 2), (5, 6, 0), (6, 8, 1)]
    """
    chosen = np.flatnonzero(end > start)
    chosen = chosen[np.lexsort((rank[chosen], start[chosen]))]
    if not len(chosen):
        nothing = np.empty(0, np.int64)
        return PriorityIntervals(nothing, nothing, nothing)
    begin, finish, order = start[chosen], end[chosen], rank[chosen]
    reached = np.maximum.accumulate(finish)
    before = np.concatenate(([begin[0]], reached[:-1]))
    opens = np.concatenate(([True], begin[1:] >= reached[:-1]))
    bundle = np.cumsum(opens) - 1
    late = np.zeros(int(bundle[-1]) + 1, np.bool_)
    # within a bundle of touching intervals ranks may fall: only there the lowest has to be searched
    late[bundle[1:][(order[1:] < order[:-1]) & ~opens[1:]]] = True
    plain = np.flatnonzero(~late[bundle])
    low, high = np.maximum(begin[plain], np.where(opens[plain], begin[plain], before[plain])), finish[plain]
    kept = high > low
    parts = [(low[kept], high[kept], chosen[plain][kept])]
    for number in np.flatnonzero(late).tolist():
        first, after = np.searchsorted(bundle, [number, number + 1])
        inside = slice(int(first), int(after))
        parts.append(_priority_by_heap(begin[inside], finish[inside], order[inside], chosen[inside]))
    columns = [np.concatenate([part[column] for part in parts]) for column in range(3)]
    turns = np.argsort(columns[0], kind="stable")
    return PriorityIntervals(*(column[turns] for column in columns))


def _priority_by_heap(start: Int64, end: Int64, rank: Int64, name: Int64) -> tuple[Int64, Int64, Int64]:
    """Do the same for touching intervals, sorted by start, one after the other."""
    starts, ends, ranks = start.tolist(), end.tolist(), rank.tolist()
    segments: list[tuple[int, int, int]] = []
    running: list[tuple[int, int]] = []
    time, following = starts[0], 0
    while following < len(starts) or running:
        while following < len(starts) and starts[following] <= time:
            heappush(running, (ranks[following], following))
            following += 1
        while running and ends[running[0][1]] <= time:
            heappop(running)
        if not running:
            time = starts[following] if following < len(starts) else time
            continue
        first = running[0][1]
        until = min(ends[first], starts[following] if following < len(starts) else ends[first])
        if segments and segments[-1][2] == first and segments[-1][1] == time:
            segments[-1] = (segments[-1][0], until, first)
        else:
            segments.append((time, until, first))
        time = until
    columns = np.array(segments, np.int64).reshape(-1, 3).T
    return columns[0], columns[1], name[columns[2]]
