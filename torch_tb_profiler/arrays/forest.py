"""Sums over forests: what a node and everything below it add up to."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.nesting import to_root
from torch_tb_profiler.arrays.range_sums import running_sums
from torch_tb_profiler.arrays.types import Bool, Int32, Int64


class Forest:
    """A forest whose nodes stand in preorder.

    parent      shape (n,): position of the parent, -1 for a root; everything below a node stands right after it
    children    shape (n,): how many nodes are directly below each
    after       shape (n,): the first position after each node and everything below it

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
        """Sum of the values of each node and all nodes below it, exact.

        values   shape (n,)
        Returns shape (n,).

        >>> Forest(np.array([-1, 0, 1, 0, -1], np.int32)).below(np.array([1, 2, 3, 4, 5])).tolist()
        [10, 5, 3, 4, 5]
        """
        running = running_sums(values)
        sums: Int64 = running[self.after] - running[:-1]
        return sums
