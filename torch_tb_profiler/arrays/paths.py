"""Entries of a tree of calls: calls with equal keys under an equal entry are one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.nesting import by_depth, depths
from torch_tb_profiler.arrays.types import Int32, Int64, Ints

#: a level with fewer calls is not worth the calls of numpy that group it
_NARROW = 64


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
    key = group(keys).of
    for is_narrow, levels in groupby(by_depth(depths(outer)), lambda level: len(level) < _NARROW):
        if is_narrow:
            parents.append(_one_by_one(list(levels), outer, key, path, known))
            known += len(parents[-1])
            continue
        for level in levels:
            above = path[outer[level]]
            groups = group([above, key[level]])
            path[level] = known + groups.of
            parents.append(above[groups.first])
            known += len(groups)
    parent = np.concatenate(parents) if parents else np.empty(0, np.int64)
    return path[:-1], parent.astype(np.int32)


def _one_by_one(levels: Sequence[Int64], outer: Int32, key: Int64, path: Int64, known: int) -> Int64:
    """The entries around new entries, and in `path` the entries of the calls of some levels that follow each other."""
    calls, first = np.concatenate(levels), outer[levels[0]]
    entry_of = dict(zip(first.tolist(), path[first].tolist(), strict=True))
    around = outer[calls].tolist()
    entries: dict[tuple[int, int], int] = {}
    for call, outside, own in zip(calls.tolist(), around, key[calls].tolist(), strict=True):
        entry_of[call] = entries.setdefault((entry_of[outside], own), known + len(entries))
    path[calls] = [entry_of[call] for call in calls.tolist()]
    return np.array([above for above, _ in entries], np.int64)
