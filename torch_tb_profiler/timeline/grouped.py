"""Rows by what they belong to, a piece of the trace at a time: what is on the way stays small."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64

#: of rows looked at together
PIECE = 262_144


def rows_by(group: Int32, groups: int) -> tuple[Int32, Int64]:
    """The rows of each group one after the other, in order; and shape (groups + 1,) where those of each begin.

    group   by row; -1 for rows that belong to none
    """
    sizes = np.zeros(groups + 1, np.int64)
    for low in range(0, len(group), PIECE):
        sizes += _sizes(group[low : low + PIECE], groups)
    first = np.cumsum(np.append(0, sizes[1:]))
    found, done = np.empty(first[-1], np.int32), first[:-1].copy()
    # numpy sorts 16 bits by their digits
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
    """How many rows belong to none, and to each group."""
    return np.bincount(group + 1, minlength=groups + 1).astype(np.int64)


def batches(first: Int64) -> Iterator[tuple[int, int]]:
    """Neighbouring groups that are not much together, or one group that is."""
    low, groups = 0, len(first) - 1
    while low < groups:
        high = max(low + 1, int(np.searchsorted(first, first[low] + PIECE, "right")) - 1)
        yield low, min(high, groups)
        low = high
