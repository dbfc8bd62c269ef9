"""Sorting integers, medians and percentiles, order statistics of all pairwise differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Float64, Int64, Ints


def stable_order(values: Ints) -> Int64:
    """Return the positions that sort integers, stably: a faster `np.argsort(values, kind="stable")`.

    values   shape (n,)
    Returns shape (n,).

    numpy sorts 16-bit integers by radix and wider ones by vector instructions, but for a stable argsort of wider ones
    it merges runs, element by element. That is faster where runs are long, as for times recorded in order. Otherwise
    a value and its position are packed into one number where they fit.

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
    """Return whether ascents and descents alternate clearly less often than in random numbers (two thirds)."""
    falls = values[1:] < values[:-1]
    return 8 * int(np.count_nonzero(falls[1:] != falls[:-1])) <= 5 * len(values)


def inverse(order: Ints) -> Int64:
    """Return the position of each number in a permutation: `inverse(order)[order[i]] == i`.

    order   shape (n,), each of 0 … n - 1 once
    Returns shape (n,).

    >>> inverse(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def median(values: npt.NDArray[Any]) -> float:
    """Return the median. `np.median` imports numpy.ma on its first call, which takes some ten milliseconds.

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
    """Return a percentile, linear between two values: `np.percentile` without numpy.ma, like `median`.

    values   shape (n,), n > 0, finite

    >>> percentile(np.array([7, 3, 5]), 75)
    6.0
    """
    place = percent / 100 * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    low, high = np.partition(values, (below, above))[[below, above]].tolist()
    return float(low + (high - low) * (place - below))


#: up to so many differences are computed and sorted; more are counted
MOST_SORTED = 250_000

_SIGN_BITS = np.int64(np.iinfo(np.int64).max)


def differences_at(left: Float64, right: Float64, ranks: Sequence[int]) -> list[float]:
    """Return the differences `left[i] - right[j]` at some ranks in sorted order; 0 is the smallest.

    left, right   shape (n,) and (m,), finite
    ranks         each 0 … n·m - 1

    Above `MOST_SORTED` pairs a rank's value is bisected: the differences up to a value are counted at most 64 times,
    each in n · log m operations and n + m memory.

    >>> differences_at(np.array([10.0, 20.0]), np.array([1.0, 2.0, 3.0]), [0, 2, 5])
    [7.0, 9.0, 19.0]
    """
    if len(left) * len(right) <= MOST_SORTED:
        every = np.sort(np.subtract.outer(left, right).ravel())
        return [float(every[rank]) for rank in ranks]
    if len(left) > len(right):
        # the shorter one has a row each: -(right - left)
        last = len(left) * len(right) - 1
        return [-each for each in differences_at(right, left, [last - rank for rank in ranks])]
    # the smallest difference of each row first
    subtrahends = np.sort(right)[::-1]
    return [_by_bisection(left, subtrahends, rank) for rank in ranks]


def _by_bisection(minuends: Float64, subtrahends: Float64, rank: int) -> float:
    """Return the difference at `rank`: the least number that is at least as large as `rank` + 1 differences."""
    low = int(_ordered_bits(np.array([(minuends - subtrahends[0]).min()]))[0])
    high = int(_ordered_bits(np.array([(minuends - subtrahends[-1]).max()]))[0])
    while low < high:
        middle = (low + high) >> 1
        if _count_at_most(minuends, subtrahends, _number_of_bits(middle)) > rank:
            high = middle
        else:
            low = middle + 1
    return _number_of_bits(low)


def _count_at_most(minuends: Float64, subtrahends: Float64, value: float) -> int:
    """Count the differences that are at most `value`; in each row they come first."""
    low, high = np.zeros(len(minuends), np.int64), np.full(len(minuends), len(subtrahends))
    for _ in range(len(subtrahends).bit_length()):
        middle = (low + high) >> 1
        inside = middle < high
        below = inside & (minuends - subtrahends[np.minimum(middle, len(subtrahends) - 1)] <= value)
        low, high = np.where(below, middle + 1, low), np.where(inside & ~below, middle, high)
    return int(low.sum())


def _ordered_bits(values: Float64) -> Int64:
    """Map floats to integers of the same order, neighbouring numbers to neighbouring integers."""
    bits = (values + 0.0).view(np.int64)
    found: Int64 = np.where(bits < 0, bits ^ _SIGN_BITS, bits)
    return found


def _number_of_bits(ordered: int) -> float:
    bits = np.array([ordered], np.int64)
    return float(np.where(bits < 0, bits ^ _SIGN_BITS, bits).view(np.float64)[0]) + 0.0
