"""Whole numbers in proportion to weights."""

from __future__ import annotations

from torch_tb_profiler.arrays.types import Int64


def apportion(weights: Int64, whole: int) -> list[int]:
    """Divide `whole` into whole numbers in proportion to weights; the largest remainders are rounded up.

    >>> import numpy as np
    >>> apportion(np.array([1, 1, 1]), 5)
    [2, 2, 1]
    """
    total = int(weights.sum())
    shares = [divmod(int(weight) * whole, total) for weight in weights.tolist()]
    numbers = [share for share, _ in shares]
    by_remainder = sorted(range(len(shares)), key=lambda at: -shares[at][1])
    for at in by_remainder[: whole - sum(numbers)]:
        numbers[at] += 1
    return numbers
