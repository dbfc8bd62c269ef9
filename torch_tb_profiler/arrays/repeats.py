"""What repeats in a sequence: the longest stretch that is one piece again and again."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.range_sums import running_sums
from torch_tb_profiler.arrays.types import Int64, Ints

#: up to this length of a sequence every period is tried
_ALL_PERIODS = 1024

#: of longer ones, for each length of a window, so many of the distances after which windows most often come again
_DISTANCES = 8

#: stretches that weigh this much of the heaviest one are as good: of these the one with the shortest period is meant
_AS_GOOD = 0.95


class Repeat(NamedTuple):
    """A stretch [first, after) of a sequence in which each entry equals the one `period` later.

    weight   Σ weights of its entries
    """

    first: int
    after: int
    period: int
    weight: int

    @property
    def times(self) -> int:
        """How often the piece is there in full, at least 2."""
        return (self.after - self.first) // self.period


def repeats(keys: Ints, weight: Ints) -> list[Repeat]:
    """The heaviest stretches that repeat at least once in full, by period, ascending.

    keys     shape (n,): equal entries are the same thing
    weight   shape (n,), not negative
    One stretch for each period, of those whose weight is nearly that of the heaviest. Time O(n log² n): a period is
    looked for among the distances at which windows of 1, 2, 4, … entries come again.

    >>> repeats(np.array([9, 1, 2, 3, 1, 2, 3, 1, 2, 8]), np.ones(10, np.int64))
    [Repeat(first=1, after=9, period=3, weight=8)]
    """
    n = len(keys)
    sums = running_sums(weight)
    periods = range(1, n // 2 + 1) if n <= _ALL_PERIODS else _likely_periods(keys)
    found = [repeat for period in periods if (repeat := _heaviest(keys, sums, period))]
    most = max((repeat.weight for repeat in found), default=0)
    return [repeat for repeat in found if repeat.weight >= most * _AS_GOOD]


def _heaviest(keys: Ints, sums: Int64, period: int) -> Repeat | None:
    """Of one period the heaviest stretch."""
    same = keys[:-period] == keys[period:]
    edges = np.flatnonzero(np.diff(same, prepend=False, append=False))
    first, after = edges[::2], edges[1::2] + period
    full = after - first >= 2 * period
    first, after = first[full], after[full]
    if not len(first):
        return None
    weights = sums[after] - sums[first]
    best = int(np.argmax(weights))
    return Repeat(int(first[best]), int(after[best]), period, int(weights[best]))


def _likely_periods(keys: Ints) -> list[int]:
    """Ascending."""
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
