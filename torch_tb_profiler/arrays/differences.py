"""All differences between the values of two arrays, in order, without making them all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.types import Float64, Int64

#: as many differences are made and sorted; more are counted
MOST_SORTED = 250_000

_SIGN = np.int64(np.iinfo(np.int64).max)


def differences_at(left: Float64, right: Float64, ranks: Sequence[int]) -> list[float]:
    """The differences `left[i] - right[j]` that stand at some ranks when all are sorted; 0 is the smallest.

    left, right   shape (n,) and (m,), finite
    ranks         each 0 … n·m - 1

    Above `MOST_SORTED` pairs the value of a rank is found by bisection: at most 64 times the differences up to a value
    are counted, in n · log m. Memory is n + m then.

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
    # of a row the smallest difference first
    subtrahends = np.sort(right)[::-1]
    return [_by_bisection(left, subtrahends, rank) for rank in ranks]


def _by_bisection(minuends: Float64, subtrahends: Float64, rank: int) -> float:
    """The least number that more than `rank` of the differences do not exceed: one of them."""
    low = int(_ordered(np.array([(minuends - subtrahends[0]).min()]))[0])
    high = int(_ordered(np.array([(minuends - subtrahends[-1]).max()]))[0])
    while low < high:
        middle = (low + high) >> 1
        if _count(minuends, subtrahends, _number(middle)) > rank:
            high = middle
        else:
            low = middle + 1
    return _number(low)


def _count(minuends: Float64, subtrahends: Float64, value: float) -> int:
    """How many differences are at most `value`; in each row they are the first ones."""
    low, high = np.zeros(len(minuends), np.int64), np.full(len(minuends), len(subtrahends))
    for _ in range(len(subtrahends).bit_length()):
        middle = (low + high) >> 1
        inside = middle < high
        below = inside & (minuends - subtrahends[np.minimum(middle, len(subtrahends) - 1)] <= value)
        low, high = np.where(below, middle + 1, low), np.where(inside & ~below, middle, high)
    return int(low.sum())


def _ordered(values: Float64) -> Int64:
    """Integers in the order of the values, without a gap between neighbouring numbers."""
    bits = (values + 0.0).view(np.int64)
    found: Int64 = np.where(bits < 0, bits ^ _SIGN, bits)
    return found


def _number(ordered: int) -> float:
    bits = np.array([ordered], np.int64)
    return float(np.where(bits < 0, bits ^ _SIGN, bits).view(np.float64)[0]) + 0.0
