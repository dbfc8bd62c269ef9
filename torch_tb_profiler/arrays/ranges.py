"""Sums, sums by key, and minima over many ranges of one sequence, which may overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Int64, Ints


def positions(first: Int64, after: Int64) -> Int64:
    """Return all positions in the ranges [first, after), one range after the other.

    first, after   shape (n,); no range may end before it begins
    Returns shape (sum of lengths,).

    >>> positions(np.array([5, 0, 7]), np.array([7, 3, 7])).tolist()
    [5, 6, 0, 1, 2]
    """
    length = after - first
    skipped = np.cumsum(length) - length
    found: Int64 = np.repeat(first - skipped, length) + np.arange(int(length.sum()))
    return found


def running_sums(values: npt.NDArray[Any]) -> Int64:
    """Return the sum of the values before each position, and of all.

    values   shape (n,), integers or bool
    Returns shape (n + 1,): the sum of the range [a, b) is `running[b] - running[a]`.

    >>> running_sums(np.array([3, 1, 4])).tolist()
    [0, 3, 4, 8]
    """
    running = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=running[1:])
    return running


class SumsOfRanges(msgspec.Struct, frozen=True):
    """A row per range and key in it, range by range; the keys of a range in order of first occurrence.

    range_of   shape (n,): which range
    key        shape (n,): index into `KeyedSequence.keys`
    count      shape (n,): how many elements of the range have the key
    sums       per column shape (n,): the sum over those elements
    """

    range_of: Int64
    key: Int64
    count: Int64
    sums: tuple[Int64, ...]


class KeyedSequence:
    """A sequence of keys with columns of integers, prepared for sums by key over ranges that may overlap.

    keys   the different keys, ascending

    Keeps running sums for each key. A sum over a range follows from a key's first and last element in it: those without
    an equal key before, or after, them in the range.

    >>> sequence = KeyedSequence(np.array([7, 3, 7, 3]), [np.array([1, 10, 100, 1000])])
    >>> sums = sequence.sums(np.array([0, 1]), np.array([3, 4]))
    >>> sums.range_of.tolist(), sums.key.tolist(), sums.count.tolist(), sums.sums[0].tolist()
    ([0, 0, 1, 1], [1, 0, 0, 1], [2, 1, 2, 1], [101, 10, 1010, 100])
    """

    def __init__(self, key: Ints, columns: Sequence[Int64]) -> None:
        different, self._key = distinct_places(key)
        self.keys = different.astype(np.int64)
        order = stable_order(self._key)
        self._place = np.empty(len(key), np.int64)
        self._place[order] = np.arange(len(key))
        same = self._key[order[1:]] == self._key[order[:-1]]
        earlier, later = order[:-1][same], order[1:][same]
        self._before, self._behind = np.full(len(key), -1), np.full(len(key), len(key))
        self._before[later], self._behind[earlier] = earlier, later
        self._running = [running_sums(column[order]) for column in columns]

    def sums(self, first: Int64, after: Int64) -> SumsOfRanges:
        """Sum by key over the ranges [first, after); both of shape (ranges,), within the sequence, first <= after."""
        length = after - first
        at = positions(first, after)
        leads = np.flatnonzero(self._before[at] < np.repeat(first, length))
        tails = np.flatnonzero(self._behind[at] >= np.repeat(after, length))
        of = np.repeat(np.arange(len(first)), length)
        begin, end = at[leads], np.empty(len(leads), np.int64)
        end[np.argsort(self._row(of[leads], begin))] = at[tails][np.argsort(self._row(of[tails], at[tails]))]
        low, high = self._place[begin], self._place[end] + 1
        sums = tuple(running[high] - running[low] for running in self._running)
        return SumsOfRanges(of[leads], self._key[begin], high - low, sums)

    def _row(self, range_of: Int64, position: Int64) -> Int64:
        """Combine range and key into one number."""
        return range_of * len(self.keys) + self._key[position]


#: the minimum of an empty range
NOTHING = np.iinfo(np.int64).max


def least_in(values: Int64, first: Int64, after: Int64) -> Int64:
    """Return the least of the values in each range [first, after).

    values         shape (n,)
    first, after   shape (m,), positions from 0 to n
    Returns shape (m,); NOTHING for an empty or reversed range.
    Takes n · log(longest range) + m operations: runs of 1, 2, 4, … values are made one by one, and a range is two
    of the longest runs that fit into it.

    >>> least_in(np.array([3, 1, 4]), np.array([0, 2, 1]), np.array([2, 3, 1])).tolist()[:2]
    [1, 4]
    """
    least = np.full(len(first), NOTHING)
    length = after - first
    # 2^(n - 1) <= length < 2^n
    size = np.frexp(np.maximum(length, 0).astype(np.float64))[1]
    runs = values
    for power in range(int(size.max(initial=0))):
        width = 1 << power
        fitting = np.flatnonzero(size == power + 1)
        least[fitting] = np.minimum(runs[first[fitting]], runs[after[fitting] - width])
        runs = np.minimum(runs[:-width], runs[width:])
    return least
