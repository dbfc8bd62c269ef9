"""Sums by key over many ranges of one sequence, which may lie in each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.grouping import Ints
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Int64


def positions(first: Int64, after: Int64) -> Int64:
    """All positions of the ranges [first, after), one range after the other."""
    length = after - first
    skipped = np.cumsum(length) - length
    found: Int64 = np.repeat(first - skipped, length) + np.arange(int(length.sum()))
    return found


def running_sums(values: npt.NDArray[Any]) -> Int64:
    """Sum of the values before each position, and of all."""
    running = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=running[1:])
    return running


@dataclass(frozen=True)
class SumsOfRanges:
    """A row for each key of each range, range by range, in the order in which a range first has the keys.

    range_of   which range
    key        which of the `keys` of the sequence
    count      how many have it
    sums       per column the sum over those
    """

    range_of: Int64
    key: Int64
    count: Int64
    sums: tuple[Int64, ...]


class KeyedSequence:
    """A sequence of keys and columns of integers.

    Each key has running sums of its own. A range needs the first and the last position of a key in it: the one that
    no equal key stands before in the range, and the one that none stands behind.

    keys   the different keys
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
        """Of the ranges [first, after)."""
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
        """A number that is the same for the same range and key."""
        return range_of * len(self.keys) + self._key[position]
