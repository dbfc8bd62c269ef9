"""One side of many entries of a comparison, in arrays: what `diff.Side` says of one."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.compare.diff import PARTS, SUMS, OperatorSums, Program, Side, below
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.lookup import bounds_of
from torch_tb_profiler.arrays.order import inverse, stable_order
from torch_tb_profiler.arrays.ranges import KeyedSequence, running_sums
from torch_tb_profiler.arrays.types import Bool, Int64


class Siblings:
    """The nodes of a program in places, so that those of one side of an entry are neighbours.

    First come the nodes that the comparison begins with, then all nodes by depth: there the children of a node are
    neighbours.

    nodes         shape (places,)
    beginning     how many places the comparison begins with
    parts         shape (parts,): the places of nodes with a role, ascending
    parts_before  shape (places + 1,): how many of these are before each place
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        tree, start = program.timed.tree, program.start()
        by_depth = stable_order(tree.depth)
        self.nodes: Int64 = np.concatenate([start, by_depth])
        self.beginning = len(start)
        parent = tree.parent[by_depth]
        leads = np.flatnonzero(np.diff(parent, prepend=-1))
        leads = leads[parent[leads] >= 0]
        self._first_child = np.zeros(len(tree), np.int64)
        self._first_child[parent[leads]] = len(start) + leads
        is_part = one_of(tree.kind, PARTS)[self.nodes]
        self.parts = np.flatnonzero(is_part)
        self.parts_before = running_sums(is_part)

    def children(self, node: Int64) -> tuple[Int64, Int64]:
        """The first place of the children of nodes, and the place after the last; equal where there are none."""
        first = self._first_child[node]
        return first, first + self.program.timed.forest.children[node]


class Sides(msgspec.Struct, frozen=True):
    """One side of entries: of each the nodes in the places [first, after), none when only the other side has it."""

    siblings: Siblings
    first: Int64
    after: Int64

    @property
    def size(self) -> Int64:
        """How many nodes each has."""
        return self.after - self.first

    def some(self, chosen: slice | Int64) -> Sides:
        return Sides(self.siblings, self.first[chosen], self.after[chosen])

    def inside(self) -> Sides:
        """What each consists of: a single node of its children, several of themselves. Each must have nodes."""
        single = self.size == 1
        first, after = self.siblings.children(self.siblings.nodes[self.first])
        return Sides(self.siblings, np.where(single, first, self.first), np.where(single, after, self.after))

    def names(self) -> list[str | None]:
        """None unless it is a single node."""
        found: npt.NDArray[Any] = np.full(len(self.first), None)
        single = np.flatnonzero(self.size == 1)
        found[single] = self.siblings.program.timed.names(self.siblings.nodes[self.first[single]])
        names: list[str | None] = found.tolist()
        return names

    def times(self) -> tuple[Int64, Int64, Int64]:
        """The fields of `Times`, ns."""
        timed, nodes = self.siblings.program.timed, self.siblings.nodes
        device, duration = timed.device_total[nodes], timed.tree.duration[nodes]
        return self._sums(duration), self._sums(device), self._sums(np.where(device > 0, device, duration))

    def _sums(self, values: Int64) -> Int64:
        running = running_sums(values)
        sums: Int64 = running[self.after] - running[self.first]
        return sums


class OperatorTables(msgspec.Struct, frozen=True):
    """Operators of several sides, one table after the other; that of the i-th side is bounds[i] to bounds[i + 1]."""

    bounds: Int64
    sums: OperatorSums


class Operators:
    """The operators of a program in the order in which they return: those of one side of an entry are neighbours."""

    def __init__(self, siblings: Siblings) -> None:
        self._siblings = siblings
        program = siblings.program
        timed, returned = program.timed, program.returned
        start = siblings.nodes[: siblings.beginning]
        compared, _ = below(timed, start)
        by_return = inverse(returned)
        is_there = np.zeros(len(returned), np.bool_)
        is_there[returned[compared[timed.is_operator[compared]]]] = True
        nodes = by_return[is_there]
        self._before = running_sums(is_there)
        columns = timed.tree.duration, timed.device_total, timed.host_self, timed.device_self
        self._sequence = KeyedSequence(timed.tree.name[nodes], [column[nodes] for column in columns])
        # where steps lie in steps, nodes are compared several times, and those of several nodes of the beginning are
        # no neighbours
        self._in_each_other = bool((timed.forest.after[start[:-1]] > start[1:]).any())

    def ranges(self, sides: Sides) -> tuple[Int64, Int64]:
        """First position of the operators of each side, and the position after the last; equal where they are apart."""
        program, nodes = self._siblings.program, self._siblings.nodes
        there = np.flatnonzero((sides.size > 0) & ~self._apart(sides))
        head, last = nodes[sides.first[there]], nodes[sides.after[there] - 1]
        first, after = np.zeros((2, len(sides.first)), np.int64)
        # the first of a node to return is so many before it as there are nodes below it
        first[there] = self._before[program.returned[head] + 1 - (program.timed.forest.after[head] - head)]
        after[there] = self._before[program.returned[last] + 1]
        return first, after

    def of(self, sides: Sides) -> OperatorTables:
        """Of each side what `Side.operators` says."""
        first, after = self.ranges(sides)
        found = self._sequence.sums(first, after)
        names = self._siblings.program.timed.strings.texts(self._sequence.keys[found.key])
        sums = OperatorSums(tuple(names), found.count, *found.sums)
        apart = np.flatnonzero(self._apart(sides))
        if not len(apart):
            return OperatorTables(bounds_of(found.range_of, len(first)), sums)
        nodes = self._siblings.nodes
        tables = [
            Side(self._siblings.program, nodes[sides.first[each] : sides.after[each]]).operators()
            for each in apart.tolist()
        ]
        of = np.concatenate([found.range_of, np.repeat(apart, [len(table.name) for table in tables])])
        order = stable_order(of)
        names = [*names, *(name for table in tables for name in table.name)]
        columns = {key: np.concatenate([getattr(each, key) for each in (sums, *tables)])[order] for key in SUMS}
        sums = OperatorSums(tuple(names[at] for at in order.tolist()), **columns)
        return OperatorTables(bounds_of(of[order], len(first)), sums)

    def _apart(self, sides: Sides) -> Bool:
        """Sides whose operators may be no neighbours."""
        return (sides.first < self._siblings.beginning) & (sides.size > 1) & self._in_each_other
