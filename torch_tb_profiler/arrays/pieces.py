"""Rows by group, a piece of the rows at a time: what is needed in memory beside the result stays small."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64

#: how many rows are worked on together
PIECE = 262_144


def rows_by(group: Int32, groups: int) -> tuple[Int32, Int64]:
    """The rows of each group, group by group, each in ascending order.

    group    shape (n,), 0 … groups - 1; -1 for a row that belongs to none
    groups   how many there are
    Returns the rows, shape (rows that belong to a group,), and where those of each group begin, shape (groups + 1,).

    >>> rows, first = rows_by(np.array([1, -1, 0, 1], np.int32), 3)
    >>> rows.tolist(), first.tolist()
    ([2, 0, 3], [0, 1, 3, 3])
    """
    sizes = np.zeros(groups + 1, np.int64)
    for low in range(0, len(group), PIECE):
        sizes += _sizes(group[low : low + PIECE], groups)
    first = np.cumsum(np.append(0, sizes[1:]))
    found, done = np.empty(first[-1], np.int32), first[:-1].copy()
    # numpy sorts 16-bit integers by radix
    small = np.uint16 if groups < 2**16 - 1 else np.uint32
    for low in range(0, len(group), PIECE):
        piece = group[low : low + PIECE]
        held = _sizes(piece, groups)
        order = np.argsort((piece + 1).astype(small), kind="stable")[held[0] :]
        before = np.cumsum(held[1:]) - held[1:]
        found[np.arange(len(order)) + np.repeat(done - before, held[1:])] = order + low
        done += held[1:]
    return found, first


def _sizes(group: Int32, groups: int) -> Int64:
    """How many rows belong to no group, and to each group."""
    return np.bincount(group + 1, minlength=groups + 1).astype(np.int64)


def batches(first: Int64) -> Iterator[tuple[int, int]]:
    """Ranges of neighbouring groups that have at most `PIECE` rows together, or a single group that has more.

    first   shape (groups + 1,): where the rows of each group begin

    >>> list(batches(np.array([0, 100, 200_000, 600_000, 600_001])))
    [(0, 2), (2, 3), (3, 4)]
    """
    low, groups = 0, len(first) - 1
    while low < groups:
        high = max(low + 1, int(np.searchsorted(first, first[low] + PIECE, "right")) - 1)
        yield low, min(high, groups)
        low = high
