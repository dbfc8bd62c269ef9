"""Sorting integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Int64, Ints


def stable_order(values: Ints) -> Int64:
    """The positions that sort integers; equal ones stay in order: `np.argsort(values, kind="stable")`, faster.

    values   shape (n,)
    Returns shape (n,).

    numpy sorts 16-bit integers by radix and wider ones by vector instructions, but for a stable argsort of wider ones
    it merges runs, element by element. That is the faster way where runs are long, as of times that were noted in
    order. Else a value and its position are packed into one number where they fit.

    >>> stable_order(np.array([7, 3, 7, -1])).tolist()
    [3, 1, 0, 2]
    """
    if not len(values):
        return np.empty(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < 2**16:
        # in 64 bits: a difference of small numbers may not fit into their own type
        return np.argsort(np.subtract(values, low, dtype=np.int64).astype(np.uint16), kind="stable")
    bits = (len(values) - 1).bit_length()
    if high - low >= 2 ** (63 - bits) or _has_runs(values):
        return np.argsort(values, kind="stable")
    packed = values.astype(np.int64) - low
    packed <<= bits
    packed |= np.arange(len(values))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def _has_runs(values: Ints) -> bool:
    """Whether ascents and descents alternate clearly less often than among random numbers: two thirds of the time."""
    falls = values[1:] < values[:-1]
    return 8 * int(np.count_nonzero(falls[1:] != falls[:-1])) <= 5 * len(values)


def inverse(order: Ints) -> Int64:
    """The position of each number in a permutation: `inverse(order)[order[i]] == i`.

    order   shape (n,), each of 0 … n - 1 once
    Returns shape (n,).

    >>> inverse(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def median(values: npt.NDArray[Any]) -> float:
    """The median: `np.median`, which imports numpy.ma when it is first called, some ten milliseconds.

    values   shape (n,), n > 0, finite

    >>> median(np.array([7, 3, 5])), median(np.array([7, 3, 5, 4]))
    (5.0, 4.5)
    """
    half = len(values) // 2
    if len(values) % 2:
        return float(np.partition(values, half)[half])
    low, high = np.partition(values, (half - 1, half))[half - 1 : half + 1].tolist()
    return float((low + high) / 2)


def percentile(values: npt.NDArray[Any], percent: float) -> float:
    """`np.percentile`, linear between two values, and without numpy.ma as `median`.

    values   shape (n,), n > 0, finite

    >>> percentile(np.array([7, 3, 5]), 75)
    6.0
    """
    place = percent / 100 * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    low, high = np.partition(values, (below, above))[[below, above]].tolist()
    return float(low + (high - low) * (place - below))
