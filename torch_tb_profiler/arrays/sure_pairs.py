"""Pairs of equal entries that two sequences have in every best alignment: what is left out cannot be known."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int64

#: how far from the diagonal entries are paired; what the sequences differ in length comes on top
BAND = 64


def sure_pairs(left: Int64, right: Int64, band: int = BAND) -> tuple[Int64, Int64]:
    """Positions on the left and on the right, both ascending.

    A best alignment keeps the order of both and has as many pairs of equal entries as can be (a longest common
    subsequence within the band). An entry that one best alignment pairs otherwise than another, or not at all, is left
    out: of three equal neighbours against two nobody knows which one is missing.

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
    same = _same(left, right, place[:-1])
    pairs = same & (before[:-1] + 1 + rest == best)
    sure = np.flatnonzero((pairs.sum(axis=1) == 1) & ~left_out)
    return sure, place[sure, pairs[sure].argmax(axis=1)]


def _same(left: Int64, right: Int64, place: Int64) -> Bool:
    """Of each entry on the left whether that at `place` on the right is equal."""
    there = (place >= 0) & (place < len(right))
    equal: Bool = there & (right[np.clip(place, 0, len(right) - 1)] == left[:, np.newaxis])
    return equal


def _most_pairs(left: Int64, right: Int64, low: Int64, width: int) -> Int64:
    """[i, k]: the most pairs of the first i on the left and the first low[i] + k on the right, within the band."""
    found = np.zeros((len(left) + 1, width), np.int64)
    columns = np.arange(width)
    for i in range(1, len(left) + 1):
        place = columns + low[i]
        above = columns + (low[i] - low[i - 1])
        previous = found[i - 1]
        one_less = np.clip(above - 1, 0, width - 1)
        pairs = (
            (place >= 1)
            & (place <= len(right))
            & (above >= 1)
            & (above <= width)
            & (right[np.clip(place - 1, 0, len(right) - 1)] == left[i - 1])
        )
        candidates = np.where(pairs, previous[one_less] + 1, previous[np.minimum(above, width - 1)])
        found[i] = np.maximum.accumulate(candidates)
    return found
