"""Entries of a tree of calls: calls with equal keys under an equal entry are one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Int32, Int64, Ints


def paths(outer: Int32, keys: Sequence[Ints]) -> tuple[Int64, Int32]:
    """The entry of each call, and the entry around each entry; level by level.

    outer   shape (calls,): the call around each, -1 for none
    keys    of shape (calls,) each
    Returns shapes (calls,) and (entries,); -1 for an entry at the top, which comes before what is in it.

    >>> of, parent = paths(np.array([-1, 0, 0, -1, 3], np.int32), [np.array([7, 8, 8, 7, 9])])
    >>> of.tolist(), parent.tolist()
    ([0, 1, 1, 0, 2], [-1, 0, 0])
    """
    path = np.full(len(outer) + 1, -1, np.int64)
    parents: list[Int64] = []
    known = 0
    level = np.flatnonzero(outer < 0)
    waiting = np.flatnonzero(outer >= 0)
    while len(level):
        above = path[outer[level]]
        groups = group([above, *(key[level] for key in keys)])
        path[level] = known + groups.of
        parents.append(above[groups.first])
        known += len(groups)
        ready = path[outer[waiting]] >= 0
        level, waiting = waiting[ready], waiting[~ready]
    parent = np.concatenate(parents) if parents else np.empty(0, np.int64)
    return path[:-1], parent.astype(np.int32)
