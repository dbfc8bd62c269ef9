"""Paths from the nodes of a forest up to their roots, as texts of labels: order, common prefixes, rolling hashes."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.nesting import depths
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Int64, Ints, UInt64


class RootPaths:
    """The text of a node is its label, that of its parent, and so on up to the root.

    parent   shape (n,): position of the parent, anywhere; -1 for a root
    label    shape (n,): integers, none negative
    length   shape (n,): of each text

    Takes n · log(depth) memory and sorts log(depth) times, however deep the forest is.

    >>> walks = Rollup(np.array([-1, 0, 1, 0]), np.array([5, 7, 7, 5]))
    >>> walks.order(np.arange(4)).tolist()  # 5, 55, 75, 775
    [0, 3, 1, 2]
    >>> walks.common(np.array([0, 1]), np.array([3, 2])).tolist()
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
