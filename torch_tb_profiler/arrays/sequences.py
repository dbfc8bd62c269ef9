"""Sequences: the heaviest run that repeats with a period, and pairs of entries in every best alignment of two."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Bool, Int64, Ints

#: up to this length of a sequence every period is tried
_ALL_PERIODS = 1024

#: in longer ones: so many of the most frequent distances between equal windows, for each length of a window
_DISTANCES = 8

#: runs that weigh this much of the heaviest are as good: of these the shortest period is meant
_AS_GOOD = 0.95


class RepeatedRun(NamedTuple):
    """A run [first, after) of a sequence in which each entry equals the one `period` later.

    weight   Σ weights of its entries
    """

    first: int
    after: int
    period: int
    weight: int

    @property
    def times(self) -> int:
        """Number of full periods, at least 2."""
        return (self.after - self.first) // self.period


def repeats(keys: Ints, weight: Ints) -> list[RepeatedRun]:
    """Return the heaviest runs that repeat at least once in full, by period, ascending.

    keys     shape (n,): equal entries are the same thing
    weight   shape (n,), not negative
    One run for each period, if its weight is nearly that of the heaviest. Time O(n log² n): periods are tried among the
    distances at which windows of 1, 2, 4, … entries recur.

    >>> repeats(np.array([9, 1, 2, 3, 1, 2, 3, 1, 2, 8]), np.ones(10, np.int64))
    [RepeatedRun(first=1, after=9, period=3, weight=8)]
    """
    n = len(keys)
    sums = running_sums(weight)
    periods = range(1, n // 2 + 1) if n <= _ALL_PERIODS else _likely_periods(keys)
    found = [repeat for period in periods if (repeat := _heaviest(keys, sums, period))]
    most = max((repeat.weight for repeat in found), default=0)
    return [repeat for repeat in found if repeat.weight >= most * _AS_GOOD]


def _heaviest(keys: Ints, sums: Int64, period: int) -> RepeatedRun | None:
    """Return the heaviest run of one period."""
    same = keys[:-period] == keys[period:]
    edges = np.flatnonzero(np.diff(same, prepend=False, append=False))
    first, after = edges[::2], edges[1::2] + period
    full = after - first >= 2 * period
    first, after = first[full], after[full]
    if not len(first):
        return None
    weights = sums[after] - sums[first]
    best = int(np.argmax(weights))
    return RepeatedRun(int(first[best]), int(after[best]), period, int(weights[best]))


def _likely_periods(keys: Ints) -> list[int]:
    """Return the periods worth trying, ascending."""
    periods: set[int] = set()
    _, window = distinct_places(keys)
    length = 1
    while length <= len(keys) // 2:
        order = stable_order(window)
        distance = np.diff(order)[window[order[1:]] == window[order[:-1]]]
        if not len(distance):
            break
        counts = np.bincount(distance)
        usual = np.argsort(-counts, kind="stable")[:_DISTANCES]
        periods.update(usual[counts[usual] > 0].tolist())
        _, window = distinct_places(window[:-length] * (int(window.max()) + 1) + window[length:])
        length *= 2
    return sorted(period for period in periods if period <= len(keys) // 2)


#: how far from the diagonal entries are paired, on top of the difference in length
BAND = 64


def sure_pairs(left: Int64, right: Int64, band: int = BAND) -> tuple[Int64, Int64]:
    """Return the pairs of equal entries that every best alignment has, as ascending positions on the left and right.

    A best alignment is a longest common subsequence within the band. An entry that another best alignment pairs
    differently, or not at all, is left out: of three equal neighbours against two nobody knows which one is missing.

    left, right   shapes (n,) and (m,)
    Takes O(n · (band + |n − m|)) time and memory.

    >>> sure_pairs(np.array([7, 1, 1, 1, 8, 9]), np.array([7, 1, 1, 8]))[0].tolist()
    [0, 4]
    """
    if not len(left) or not len(right):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    n, m = len(left), len(right)
    half = band + abs(n - m)
    width = 2 * half + 2
    # row i pairs what stands before i on the left with the first low[i] … low[i] + width - 1 on the right
    low = np.arange(n + 1) * m // n - half
    before = _most_pairs(left, right, low, width)
    after = _most_pairs(left[::-1], right[::-1], (m - low - width + 1)[::-1], width)[::-1, ::-1]
    place = low[:, np.newaxis] + np.arange(width)
    inside = (place >= 0) & (place <= m)
    best = int(before[0, -low[0]] + after[0, -low[0]])
    next_row = np.minimum(np.arange(width) - (low[1:] - low[:-1])[:, np.newaxis], width - 1)
    reachable = next_row >= 0
    below = np.where(reachable, np.take_along_axis(after[1:], np.maximum(next_row, 0), 1), -1)
    left_out = ((before[:-1] + below == best) & inside[:-1]).any(axis=1)
    next_pair = next_row + 1
    fits = (next_pair >= 0) & (next_pair < width)
    rest = np.where(fits, np.take_along_axis(after[1:], np.clip(next_pair, 0, width - 1), 1), -1)
    same = _equal_entries(left, right, place[:-1])
    pairs = same & (before[:-1] + 1 + rest == best)
    sure = np.flatnonzero((pairs.sum(axis=1) == 1) & ~left_out)
    return sure, place[sure, pairs[sure].argmax(axis=1)]


def _equal_entries(left: Int64, right: Int64, place: Int64) -> Bool:
    """Return whether each entry on the left equals the one at `place` on the right."""
    there = (place >= 0) & (place < len(right))
    equal: Bool = there & (right[np.clip(place, 0, len(right) - 1)] == left[:, np.newaxis])
    return equal


def _most_pairs(left: Int64, right: Int64, low: Int64, width: int) -> Int64:
    """Count at [i, k] the most pairs of the first i on the left and the first low[i] + k on the right."""
    pairs_up_to = np.zeros((len(left) + 1, width), np.int64)
    columns = np.arange(width)
    for i in range(1, len(left) + 1):
        place = columns + low[i]
        above = columns + (low[i] - low[i - 1])
        previous = pairs_up_to[i - 1]
        one_less = np.clip(above - 1, 0, width - 1)
        pairs = (
            (place >= 1)
            & (place <= len(right))
            & (above >= 1)
            & (above <= width)
            & (right[np.clip(place - 1, 0, len(right) - 1)] == left[i - 1])
        )
        candidates = np.where(pairs, previous[one_less] + 1, previous[np.minimum(above, width - 1)])
        pairs_up_to[i] = np.maximum.accumulate(candidates)
    return pairs_up_to
