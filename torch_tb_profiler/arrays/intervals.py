"""Sets of half-open time intervals [start, end) in integer nanoseconds: the one sweep of the house.

A set (`Spans`) is sorted, disjoint and without empty or touching members, so it is the same for the same
points in time. Everything is a handful of sorts and searches over whole arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Float64, Int64

Times = npt.NDArray[np.integer[Any]]


class Spans(NamedTuple):
    """A set of points in time as sorted, disjoint intervals. Make one with `union`."""

    start: Int64
    end: Int64

    @property
    def size(self) -> int:
        """How many intervals."""
        return len(self.start)


class Profile(NamedTuple):
    """A step function of time: `value` holds on [start, end); zero elsewhere. Segments are sorted and disjoint."""

    start: Int64
    end: Int64
    value: Float64


EMPTY = Spans(np.empty(0, np.int64), np.empty(0, np.int64))


def union(start: Times, end: Times) -> Spans:
    """The points covered by at least one of any intervals (unsorted, overlapping, empty or reversed ones too).

    With starts and ends sorted apart, the i-th start opens a new interval exactly if all i intervals that
    started before it have ended before it, that is if it lies after the (i-1)-th end.
    """
    kept = end > start
    if not kept.any():
        return EMPTY
    starts = np.sort(start[kept]).astype(np.int64, copy=False)
    ends = np.sort(end[kept]).astype(np.int64, copy=False)
    opens = np.empty(len(starts), np.bool_)
    opens[0] = True
    np.greater(starts[1:], ends[:-1], out=opens[1:])
    closes = np.empty(len(starts), np.bool_)
    closes[-1] = True
    closes[:-1] = opens[1:]
    return Spans(starts[opens], ends[closes])


def union_of(sets: Sequence[Spans]) -> Spans:
    """The points in at least one of the sets."""
    held = [s for s in sets if s.size]
    if len(held) < 2:
        return held[0] if held else EMPTY
    return union(np.concatenate([s.start for s in held]), np.concatenate([s.end for s in held]))


def total(spans: Spans) -> int:
    """Length of the set in ns."""
    return int((spans.end - spans.start).sum())


def intersection(a: Spans, b: Spans) -> Spans:
    """The points in both sets."""
    first = np.searchsorted(b.end, a.start, side="right")
    count = np.maximum(np.searchsorted(b.start, a.end, side="left") - first, 0)
    of_a = np.repeat(np.arange(a.size), count)
    nth = np.arange(len(of_a)) - np.repeat(np.cumsum(count) - count, count)
    of_b = first[of_a] + nth
    return Spans(np.maximum(a.start[of_a], b.start[of_b]), np.minimum(a.end[of_a], b.end[of_b]))


def subtraction(a: Spans, b: Spans) -> Spans:
    """The points in `a` that are not in `b`."""
    if not a.size or not b.size:
        return a
    low = np.minimum(a.start[:1], b.start[:1])
    high = np.maximum(a.end[-1:], b.end[-1:])
    gap_start, gap_end = np.concatenate([low, b.end]), np.concatenate([b.start, high])
    kept = gap_end > gap_start
    return intersection(a, Spans(gap_start[kept], gap_end[kept]))


def clip(spans: Spans, low: int, high: int) -> Spans:
    """The points in [low, high)."""
    return intersection(spans, union(np.array([low], np.int64), np.array([high], np.int64)))


class Coverage:
    """How much of a set lies between any two points, by one search each."""

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        lengths = np.cumsum(spans.end - spans.start)
        self._before_start = np.concatenate([np.zeros(1, np.int64), lengths])

    def before(self, time: Times) -> Int64:
        """ns of the set that lie before each point."""
        spans = self._spans
        inside = np.searchsorted(spans.start, time, side="right")
        covered = self._before_start[inside]
        if not spans.size:
            return covered
        # the last interval that has started may still be open
        return covered - np.where(inside > 0, np.maximum(spans.end[inside - 1] - time, 0), 0)

    def between(self, start: Times, end: Times) -> Int64:
        """ns of the set within each [start, end)."""
        covered = self.before(end) - self.before(start)
        return np.where(end > start, covered, 0)


def paint(priorities: Sequence[Spans], window_start: Int64, window_end: Int64) -> Int64:
    """Share out each window among sets, highest priority first: a point belongs to the first set that has it.

    Returns ns as an array of shape (len(priorities) + 1, windows); the last row is what no set covers. Every
    column adds up to the length of its window exactly: each row is the growth of what is covered so far.
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
    """Which of several sets hold on each stretch of time; segments are sorted and disjoint, of at least one set.

    member    bit i is set where the i-th set holds
    """

    start: Int64
    end: Int64
    member: Int64

    def of(self, member: int) -> Spans:
        """The points that lie in exactly these sets."""
        kept = self.member == member
        return Spans(self.start[kept], self.end[kept])


def overlay(sets: Sequence[Spans]) -> Overlay:
    """Cut time at every boundary of every set: the exclusive parts of their union."""
    bits = [np.full(s.size, 1 << i, np.int64) for i, s in enumerate(sets)]
    times = np.concatenate([EMPTY.start, *(s.start for s in sets), *(s.end for s in sets)])
    order = np.argsort(times, kind="stable")
    times = times[order]
    # a set is disjoint, so a bit is added and taken away in turn and sums never carry
    member = np.cumsum(np.concatenate([EMPTY.start, *bits, *(-b for b in bits)])[order])
    lasts = np.flatnonzero((times[1:] > times[:-1]) & (member[:-1] > 0))
    return Overlay(times[lasts], times[lasts + 1], member[lasts])


def profile(start: Times, end: Times, value: Float64, cap: float = np.inf) -> Profile:
    """The sum of the values of all intervals that cover a point, at most `cap`.

    Where nothing is active the value is exactly zero and there is no segment, whatever the rounding of sums.
    """
    kept = end > start
    start, end, value = start[kept], end[kept], value[kept]
    times = np.concatenate([start, end]).astype(np.int64, copy=False)
    order = np.argsort(times, kind="stable")
    times = times[order]
    active = np.cumsum(np.concatenate([np.ones(len(start), np.int64), np.full(len(start), -1)])[order])
    running = np.cumsum(np.concatenate([value, -value])[order])
    # rounding left over from before the last moment without anything active is taken away
    idle = np.maximum.accumulate(np.where(active == 0, np.arange(len(times)), -1))
    running = running - np.where(idle >= 0, running[idle], 0.0)
    lasts = np.flatnonzero((times[1:] > times[:-1]) & (active[:-1] > 0))
    return Profile(times[lasts], times[lasts + 1], np.minimum(running[lasts], cap))


def integral(of: Profile, within: Spans) -> float:
    """Sum of value × ns of the points in a set."""
    return float((of.value * Coverage(within).between(of.start, of.end)).sum())
