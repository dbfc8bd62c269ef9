"""Forests: sums over subtrees, preorder, and merging of equal paths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.nesting import by_depth, depths, to_root
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, Ints


class Forest:
    """A forest with its nodes in preorder.

    parent      shape (n,): position of the parent, -1 for a root; everything below a node stands right after it
    children    shape (n,): number of children
    after       shape (n,): the first position behind each node's subtree

    >>> forest = Forest(np.array([-1, 0, 1, 0, -1], np.int32))
    >>> forest.children.tolist(), forest.after.tolist()
    ([2, 1, 0, 0, 0], [4, 3, 3, 4, 5])
    """

    def __init__(self, parent: Int32) -> None:
        nodes = len(parent)
        self.children = np.bincount(parent + 1, minlength=nodes + 1)[1:]
        # the nodes below one end with the last child of the last child …; of equal indices the last one counts
        last = np.arange(nodes)
        inner = np.flatnonzero(parent >= 0)
        last[parent[inner]] = inner
        self.after = to_root(last) + 1

    def below(self, values: Int64 | Bool) -> Int64:
        """Sum the values over each node's subtree, itself included; exact.

        values   shape (n,)
        Returns shape (n,).

        >>> Forest(np.array([-1, 0, 1, 0, -1], np.int32)).below(np.array([1, 2, 3, 4, 5])).tolist()
        [10, 5, 3, 4, 5]
        """
        running = running_sums(values)
        sums: Int64 = running[self.after] - running[:-1]
        return sums


def preorder(parent: Int32, turns: Int64) -> Int64:
    """Return the nodes in preorder: a node, then everything below it, then its next sibling.

    parent   shape (n,): position of the parent, which may stand anywhere; -1 for a root
    turns    shape (n,): every node once; gives the order among siblings and among roots
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
    """Return the size of each node's subtree, itself included; shape (n,)."""
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


#: a level with fewer calls is not worth the calls of numpy that group it
_NARROW = 64


def paths(outer: Int32, keys: Sequence[Ints]) -> tuple[Int64, Int32]:
    """Merge calls with equal keys below equal parents: return each call's entry and each entry's parent.

    outer   shape (calls,): the enclosing call, -1 for none
    keys    of shape (calls,) each
    Returns shapes (calls,) and (entries,), level by level: a parent precedes its children; -1 for a root.

    >>> of, parent = paths(np.array([-1, 0, 0, -1, 3], np.int32), [np.array([7, 8, 8, 7, 9])])
    >>> of.tolist(), parent.tolist()
    ([0, 1, 1, 0, 2], [-1, 0, 0])
    """
    path = np.full(len(outer) + 1, -1, np.int64)
    parents: list[Int64] = []
    known = 0
    key = group(keys).inverse
    for is_narrow, levels in groupby(by_depth(depths(outer)), lambda level: len(level) < _NARROW):
        if is_narrow:
            parents.append(_one_by_one(list(levels), outer, key, path, known))
            known += len(parents[-1])
            continue
        for level in levels:
            above = path[outer[level]]
            groups = group([above, key[level]])
            path[level] = known + groups.inverse
            parents.append(above[groups.first])
            known += len(groups)
    parent = np.concatenate(parents) if parents else np.empty(0, np.int64)
    return path[:-1], parent.astype(np.int32)


def _one_by_one(levels: Sequence[Int64], outer: Int32, key: Int64, path: Int64, known: int) -> Int64:
    """Enter consecutive narrow levels into `path`; return the parents of the new entries."""
    calls, first = np.concatenate(levels), outer[levels[0]]
    entry_of = dict(zip(first.tolist(), path[first].tolist(), strict=True))
    around = outer[calls].tolist()
    entries: dict[tuple[int, int], int] = {}
    for call, outside, own in zip(calls.tolist(), around, key[calls].tolist(), strict=True):
        entry_of[call] = entries.setdefault((entry_of[outside], own), known + len(entries))
    path[calls] = [entry_of[call] for call in calls.tolist()]
    return np.array([above for above, _ in entries], np.int64)
