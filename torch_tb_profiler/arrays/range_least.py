"""The least value in many ranges of one sequence, which may lie in each other."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.types import Int64

#: of a range without values
NOTHING = np.iinfo(np.int64).max


def least_in(values: Int64, first: Int64, after: Int64) -> Int64:
    """The least of the values in each range [first, after).

    values         shape (n,)
    first, after   shape (m,), positions from 0 to n
    Returns shape (m,); NOTHING for a range that ends where it begins, or before.
    Takes n · log(longest range) + m operations: runs of 1, 2, 4, … values are made one by one, and a range is two
    of the longest runs that fit into it.

    >>> least_in(np.array([3, 1, 4]), np.array([0, 2, 1]), np.array([2, 3, 1])).tolist()[:2]
    [1, 4]
    """
    found = np.full(len(first), NOTHING)
    length = after - first
    # 2^(n - 1) <= length < 2^n
    size = np.frexp(np.maximum(length, 0).astype(np.float64))[1]
    runs = values
    for power in range(int(size.max(initial=0))):
        width = 1 << power
        asked = np.flatnonzero(size == power + 1)
        found[asked] = np.minimum(runs[first[asked]], runs[after[asked] - width])
        runs = np.minimum(runs[:-width], runs[width:])
    return found
