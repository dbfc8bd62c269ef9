"""Putting the nodes of a forest in order."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from torch_tb_profiler.model.nesting import depths
from torch_tb_profiler.trace.schema import Int32, Int64


def preorder(parent: Int32, rank: Int64, depth: Int32 | None = None) -> Int64:
    """Which node stands at each place of a walk from the roots; `rank` (distinct numbers) orders siblings.

    Parents may stand anywhere; `depth` is that of the nodes, if it is known. Goes level by level, so a deep forest
    costs a round per level and no recursion.
    """
    nodes = len(parent)
    if not nodes:
        return np.empty(0, np.int64)
    depth = depths(parent) if depth is None else depth
    by_level = np.lexsort((rank, parent, depth))
    bounds = np.searchsorted(depth[by_level], np.arange(int(depth.max()) + 2)).tolist()
    levels = [by_level[first:after] for first, after in pairwise(bounds)]
    size = np.ones(nodes, np.int64)
    for level in reversed(levels[1:]):
        # by_level keeps siblings together: the sum of each family
        leads = np.flatnonzero(np.concatenate(([True], parent[level[1:]] != parent[level[:-1]])))
        size[parent[level[leads]]] += np.add.reduceat(size[level], leads)
    place = np.zeros(nodes, np.int64)
    for level in levels:
        above = parent[level]
        before = np.cumsum(size[level]) - size[level]
        leads = np.flatnonzero(np.concatenate(([True], above[1:] != above[:-1])))
        before -= np.repeat(before[leads], np.diff(np.append(leads, len(level))))
        place[level] = before + np.where(above >= 0, place[above] + 1, 0)
    order = np.empty(nodes, np.int64)
    order[place] = np.arange(nodes)
    return order
