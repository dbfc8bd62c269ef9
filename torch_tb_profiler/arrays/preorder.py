"""The order in which a walk over a forest meets its nodes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.lookup import bounds_of, places_of
from torch_tb_profiler.arrays.nesting import depths
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Int32, Int64


def preorder(parent: Int32, turns: Int64, depth: Int32 | None = None) -> Int64:
    """The node at each place of a walk that meets a node, then everything below it, then its next sibling.

    parent   shape (n,): position of the parent, which may stand anywhere; -1 for a root
    turns    shape (n,): every node once; siblings, and roots, are met in the order in which they stand here
    depth    shape (n,): that of the nodes, if it is known
    Returns shape (n,).

    Works level by level: a round per level and no recursion.

    >>> preorder(np.array([2, -1, -1, 2], np.int32), np.array([3, 2, 1, 0])).tolist()
    [2, 3, 0, 1]
    """
    nodes = len(parent)
    if not nodes:
        return np.empty(0, np.int64)
    depth = depths(parent) if depth is None else depth
    # level by level, families together
    by_family = turns[stable_order(parent[turns])]
    by_level = by_family[stable_order(depth[by_family])]
    bounds = bounds_of(depth[by_level], int(depth.max()) + 1).tolist()
    levels = list(pairwise(bounds))[1:]
    position = places_of(by_level, nodes + 1)
    above = position[parent[by_level]]
    leads = np.flatnonzero(begins_run(above))
    families = np.searchsorted(leads, bounds).tolist()
    size = np.ones(nodes, np.int64)
    for (first, after), (lead, last) in zip(reversed(levels), reversed(list(pairwise(families))[1:]), strict=True):
        size[above[leads[lead:last]]] += np.add.reduceat(size[first:after], leads[lead:last] - first)
    place = np.cumsum(size) - size
    place -= np.repeat(place[leads], np.diff(np.append(leads, nodes)))
    for first, after in levels:
        place[first:after] += place[above[first:after]] + 1
    order = np.empty(nodes, np.int64)
    order[place] = by_level
    return order
