"""Forests: sums over subtrees, preorder, merging of equal paths, and paths from nodes up to their roots as texts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run, distinct_places
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.nesting import by_depth, depths, to_root
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, Ints, UInt64


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


class RootPaths:
    """The text of a node is its label, that of its parent, and so on up to the root.

    parent   shape (n,): position of the parent, anywhere; -1 for a root
    label    shape (n,): integers, none negative
    length   shape (n,): of each text

    Takes n · log(depth) memory and sorts log(depth) times, however deep the forest is.

    >>> paths = RootPaths(np.array([-1, 0, 1, 0]), np.array([5, 7, 7, 5]))
    >>> paths.order(np.arange(4)).tolist()  # 5, 55, 75, 775
    [0, 3, 1, 2]
    >>> paths.common(np.array([0, 1]), np.array([3, 2])).tolist()
    [1, 1]
    """

    def __init__(self, parent: Ints, label: Ints) -> None:
        nodes = len(parent)
        self.length: Int64 = depths(parent.astype(np.int32)).astype(np.int64) + 1
        # the last place is that of "beyond the root", whose rank is 0
        jump = np.append(parent, -1).astype(np.int64)
        rank = np.append(distinct_places(label)[1] + 1, 0)
        self._jumps: list[Int64] = []
        #: of the first 1, 2, 4, … labels of each text; shorter texts come first
        self._ranks = [rank]
        while len(jump) and int(jump.max()) >= 0:
            self._jumps.append(jump)
            pairs = rank * (nodes + 1) + rank[jump]
            rank = distinct_places(pairs)[1]
            self._ranks.append(rank)
            jump = jump[jump]
            jump[-1] = -1

    def order(self, nodes: Int64) -> Int64:
        """Return the positions that sort nodes by their texts, stably; a prefix comes first."""
        return stable_order(self._ranks[-1][nodes])

    def common(self, a: Int64, b: Int64) -> Int64:
        """Return the length of the common prefix of the texts of each pair of nodes."""
        a, b = a.copy(), b.copy()
        shared = np.zeros(len(a), np.int64)
        length = np.append(self.length, 0)
        for power in range(len(self._ranks) - 1, -1, -1):
            rank = self._ranks[power]
            same = np.flatnonzero((rank[a] == rank[b]) & (length[a] >= 1 << power) & (length[b] >= 1 << power))
            shared[same] += 1 << power
            if power < len(self._jumps):
                a[same], b[same] = self._jumps[power][a[same]], self._jumps[power][b[same]]
            else:
                a[same] = b[same] = -1
        return shared

    def ancestor(self, node: Int64, distance: Int64) -> Int64:
        """Return the ancestor at a distance above each node; -1 beyond the root."""
        found = node.copy()
        found[distance >= self.length[node]] = -1
        for power, jump in enumerate(self._jumps):
            goes = np.flatnonzero((distance >> power & 1 > 0) & (found >= 0))
            found[goes] = jump[found[goes]]
        return found

    def folded(self, values: UInt64, factor: int) -> UInt64:
        """Sum value · factor^distance over each node and its ancestors, modulo 2⁶⁴.

        values   shape (n,): of the nodes
        Returns shape (n,).
        """
        sums = np.append(values, np.uint64(0))
        for jump in self._jumps:
            sums = sums + np.uint64(factor) * sums[jump]
            factor = factor * factor % 2**64
        return sums[:-1]


class TextTree(msgspec.Struct, frozen=True):
    """The prefixes that sorted texts share, as a tree: a node where texts diverge and where one ends.

    parent   shape (nodes,): -1 at the top
    length   shape (nodes,): length of the prefix in labels; larger than that of the parent
    first    shape (nodes,): the first text with the prefix
    after    shape (nodes,): the first text after it without the prefix
    """

    parent: Int64
    length: Int64
    first: Int64
    after: Int64


def text_tree(length: Int64, common: Int64) -> TextTree:
    """Build the prefix tree of different texts in ascending order.

    length   shape (texts,)
    common   shape (texts,): length of the prefix shared with the previous text; 0 for the first

    >>> found = text_tree(np.array([1, 2, 3]), np.array([0, 1, 0]))
    >>> [column.tolist() for column in (found.parent, found.length, found.first, found.after)]
    [[-1, 0, -1], [1, 2, 3], [0, 1, 2], [2, 2, 3]]
    """
    parent: list[int] = []
    lengths: list[int] = []
    first: list[int] = []
    after: list[int] = []
    open_: list[int] = []

    def begin(labels: int, text: int) -> None:
        open_.append(len(parent))
        parent.append(-1)
        lengths.append(labels)
        first.append(text)
        after.append(-1)

    for text, (labels, shared) in enumerate(zip([*length.tolist(), 0], [*common.tolist(), 0], strict=True)):
        inner = -1
        while open_ and lengths[open_[-1]] > shared:
            inner = open_.pop()
            after[inner] = text
            if open_ and lengths[open_[-1]] >= shared:
                parent[inner], inner = open_[-1], -1
        if inner >= 0 and shared:
            begin(shared, first[inner])
            parent[inner] = open_[-1]
        if labels:
            begin(labels, text)
    return TextTree(*(np.array(column, np.int64) for column in (parent, lengths, first, after)))
