"""The order in which a walk over a forest meets its nodes."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Int32, Int64


def preorder(parent: Int32, turns: Int64) -> Int64:
    """The node at each place of a walk that meets a node, then everything below it, then its next sibling.

    parent   shape (n,): position of the parent, which may stand anywhere; -1 for a root
    turns    shape (n,): every node once; siblings, and roots, are met in the order in which they stand here
    Returns shape (n,).

    Doubles the jump each round: as many rounds as the logarithm of the levels, and no recursion.

    >>> preorder(np.array([2, -1, -1, 2], np.int32), np.array([3, 2, 1, 0])).tolist()
    [2, 3, 0, 1]
    """
    nodes = len(parent)
    if not nodes:
        return np.empty(0, np.int64)
    size = _sizes(parent)
    by_family = turns[stable_order(parent[turns])]
    family = parent[by_family]
    # how far a node is behind its parent: all of the siblings before it
    before = np.cumsum(size[by_family]) - size[by_family]
    leads = np.flatnonzero(begins_run(family))
    before -= np.repeat(before[leads], np.diff(np.append(leads, nodes)))
    place = np.zeros(nodes + 1, np.int64)  # the last one is that of -1
    place[by_family] = before + (family >= 0)
    jump = np.append(parent, -1).astype(np.intp)
    while jump.max() >= 0:
        place += place[jump]
        jump = jump[jump]
    order = np.empty(nodes, np.int64)
    order[place[:-1]] = np.arange(nodes)
    return order


def _sizes(parent: Int32) -> Int64:
    """How many nodes there are from each on downwards, itself counted; shape (n,)."""
    size = np.ones(len(parent), np.int64)
    node = np.flatnonzero(parent >= 0)
    jump = parent.astype(np.intp)
    while len(node):
        # `size` has all that are less than a jump below; those of the node a jump below are as far again
        size += sums_at(jump[node], size[node], len(size))
        far = jump[jump[node]]
        jump[node] = far
        node = node[far >= 0]
    return size
