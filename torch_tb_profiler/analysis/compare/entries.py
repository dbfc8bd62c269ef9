"""All entries of a comparison of parts, level by level and in arrays: what `Comparison.children` says of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.compare.comparison import Comparison
from torch_tb_profiler.analysis.compare.program import PARTS, SUMS, EntrySide, OperatorTotals, Program, below
from torch_tb_profiler.arrays.distinct import distinct_places, one_of
from torch_tb_profiler.arrays.forest import preorder
from torch_tb_profiler.arrays.lookup import bounds_of
from torch_tb_profiler.arrays.order import inverse, stable_order
from torch_tb_profiler.arrays.ranges import KeyedSequence, positions, running_sums
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model.program_tree import NodeKind


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
        """Return the first place of the children of nodes, and the place after the last; equal where there are none."""
        first = self._first_child[node]
        return first, first + self.program.timed.forest.children[node]


class EntrySides(msgspec.Struct, frozen=True):
    """One side of entries: of each the nodes in the places [first, after), none when only the other side has it."""

    siblings: Siblings
    first: Int64
    after: Int64

    @property
    def size(self) -> Int64:
        """How many nodes each has."""
        return self.after - self.first

    def some(self, chosen: slice | Int64) -> EntrySides:
        return EntrySides(self.siblings, self.first[chosen], self.after[chosen])

    def inside(self) -> EntrySides:
        """Return what each consists of: the children of a single node, or several nodes themselves. Each must have
        nodes.
        """
        single = self.size == 1
        first, after = self.siblings.children(self.siblings.nodes[self.first])
        return EntrySides(self.siblings, np.where(single, first, self.first), np.where(single, after, self.after))

    def names(self) -> list[str | None]:
        """Return the name of each; None unless it is a single node."""
        found: npt.NDArray[Any] = np.full(len(self.first), None)
        single = np.flatnonzero(self.size == 1)
        found[single] = self.siblings.program.timed.names(self.siblings.nodes[self.first[single]])
        names: list[str | None] = found.tolist()
        return names

    def times(self) -> tuple[Int64, Int64, Int64]:
        """Return the fields of `EntryTimes`, ns."""
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
    sums: OperatorTotals


class EntryOperators:
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

    def ranges(self, sides: EntrySides) -> tuple[Int64, Int64]:
        """Return the first position of the operators of each side, and that after the last; equal where they are
        apart.
        """
        program, nodes = self._siblings.program, self._siblings.nodes
        there = np.flatnonzero((sides.size > 0) & ~self._apart(sides))
        head, last = nodes[sides.first[there]], nodes[sides.after[there] - 1]
        first, after = np.zeros((2, len(sides.first)), np.int64)
        # the first of a node to return is so many before it as there are nodes below it
        first[there] = self._before[program.returned[head] + 1 - (program.timed.forest.after[head] - head)]
        after[there] = self._before[program.returned[last] + 1]
        return first, after

    def of(self, sides: EntrySides) -> OperatorTables:
        """Sum the operators of each side, as `EntrySide.operators` does."""
        first, after = self.ranges(sides)
        summed = self._sequence.sums(first, after)
        names = self._siblings.program.timed.strings.texts(self._sequence.keys[summed.key])
        sums = OperatorTotals(tuple(names), summed.count, *summed.sums)
        apart = np.flatnonzero(self._apart(sides))
        if not len(apart):
            return OperatorTables(bounds_of(summed.range_of, len(first)), sums)
        nodes = self._siblings.nodes
        tables = [
            EntrySide(self._siblings.program, nodes[sides.first[each] : sides.after[each]]).operators()
            for each in apart.tolist()
        ]
        side_of = np.concatenate([summed.range_of, np.repeat(apart, [len(table.name) for table in tables])])
        order = stable_order(side_of)
        names = [*names, *(name for table in tables for name in table.name)]
        columns = {key: np.concatenate([getattr(each, key) for each in (sums, *tables)])[order] for key in SUMS}
        sums = OperatorTotals(tuple(names[at] for at in order.tolist()), **columns)
        return OperatorTables(bounds_of(side_of[order], len(first)), sums)

    def _apart(self, sides: EntrySides) -> Bool:
        """Mark sides whose operators may be no neighbours."""
        return (sides.first < self._siblings.beginning) & (sides.size > 1) & self._in_each_other


#: operators that are added up together
_OPERATORS_OF_A_PIECE = 30_000


class EntryTable(msgspec.Struct, frozen=True):
    """Entries of a comparison in preorder.

    depth   shape (entries,): how many entries each lies in
    """

    depth: Int32
    left: EntrySides
    right: EntrySides

    def operators(self) -> Iterator[tuple[slice, OperatorTables, OperatorTables]]:
        """Yield the operators of both sides, some entries at a time: which ones, left, right."""
        left, right = EntryOperators(self.left.siblings), EntryOperators(self.right.siblings)
        count = np.zeros(len(self.depth), np.int64)
        for operators, sides in ((left, self.left), (right, self.right)):
            first, after = operators.ranges(sides)
            count += after - first
        cuts = np.flatnonzero(np.diff(np.cumsum(count) // _OPERATORS_OF_A_PIECE)) + 1
        for begin, end in pairwise([0, *cuts.tolist(), len(count)]):
            some = slice(begin, end)
            yield some, left.of(self.left.some(some)), right.of(self.right.some(some))


def all_entries(comparison: Comparison, most: int) -> EntryTable:
    """List the entries of a comparison of parts; after `most` entries, further ones get no children."""
    pairing = _Pairing(comparison)
    left, right = pairing.beginning()
    levels, parents = [(left, right)], [np.full(1, -1)]
    entries = 1
    # of each entry of a level so many stand before it, at least; behind `most` no children are shown
    before = np.zeros(1, np.int64)
    while len(levels) < most:
        opened_at_most = slice(int(np.searchsorted(before, most)))
        of, left, right = pairing.children(left.some(opened_at_most), right.some(opened_at_most))
        if not len(of):
            break
        parents.append(entries - len(parents[-1]) + of)
        levels.append((left, right))
        entries += len(of)
        before = before[of] + 1 + np.arange(len(of))
    parent = np.concatenate(parents).astype(np.int32)
    depth = np.repeat(np.arange(len(levels), dtype=np.int32), [len(of) for of in parents])
    order = preorder(parent, np.arange(entries))
    children = np.bincount(parent[1:], minlength=entries)[order]
    opened = np.empty(entries, np.bool_)
    opened[order] = 1 + np.cumsum(children) - children < most
    shown = order[(parent[order] < 0) | opened[parent[order]]]
    lefts, rights = (_joined(sides) for sides in zip(*levels, strict=True))
    return EntryTable(depth[shown], lefts.some(shown), rights.some(shown))


def entry_with_children(comparison: Comparison, turns: Sequence[int]) -> EntryTable | None:
    """List an entry and its children; `turns` are the places of children from the root on. None if there is no such."""
    pairing = _Pairing(comparison)
    left, right = pairing.beginning()
    for turn in turns:
        of, left, right = pairing.children(left, right)
        if turn >= len(of):
            return None
        left, right = left.some(slice(turn, turn + 1)), right.some(slice(turn, turn + 1))
    of, lefts, rights = pairing.children(left, right)
    depth = np.append(0, np.ones_like(of)).astype(np.int32)
    return EntryTable(depth, _joined((left, lefts)), _joined((right, rights)))


def _joined(levels: tuple[EntrySides, ...]) -> EntrySides:
    first = np.concatenate([level.first for level in levels])
    return EntrySides(levels[0].siblings, first, np.concatenate([level.after for level in levels]))


class _Pairing:
    """What belongs together in the two programs of a comparison."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._siblings = Siblings(comparison.left), Siblings(comparison.right)
        self._keys = _keys(*self._siblings)

    def beginning(self) -> tuple[EntrySides, EntrySides]:
        """Return both sides of the root."""
        left, right = (EntrySides(side, np.zeros(1, np.int64), np.full(1, side.beginning)) for side in self._siblings)
        return left, right

    def children(self, left: EntrySides, right: EntrySides) -> tuple[Int64, EntrySides, EntrySides]:
        """Return the children of entries, and which entry each belongs to."""
        like = ((left.size == 1) & (right.size == 1)) | ((left.size > 1) & (right.size > 1))
        comparable = np.flatnonzero(like)
        inside = left.some(comparable).inside(), right.some(comparable).inside()
        parent, *paired = self._pairs(*inside)
        # of each entry with pairs: what stands before each pair, the pair, and at last what stands after them
        leads, lasts = np.flatnonzero(np.diff(parent, prepend=-1)), np.flatnonzero(np.diff(parent, append=-1))
        pair = 2 * np.arange(len(parent)) + 1 + np.repeat(np.arange(len(leads)), lasts + 1 - leads)
        rest = pair[lasts] + 1
        owner = np.empty(2 * len(parent) + len(leads), np.int64)
        owner[pair - 1], owner[pair], owner[rest] = parent, parent, parent[lasts]
        made = []
        for sides, places in zip(inside, paired, strict=True):
            first, after = np.empty((2, len(owner)), np.int64)
            first[pair], after[pair], after[pair - 1] = places, places + 1, places
            first[rest], after[rest] = places[lasts] + 1, sides.after[parent[lasts]]
            first[pair[1:] - 1] = places[:-1] + 1
            first[pair[leads] - 1] = sides.first[parent[leads]]
            made.append(EntrySides(sides.siblings, first, after))
        kept = np.flatnonzero((made[0].size > 0) | (made[1].size > 0))
        return comparable[owner[kept]], made[0].some(kept), made[1].some(kept)

    def _pairs(self, left: EntrySides, right: EntrySides) -> tuple[Int64, Int64, Int64]:
        """Pair places of both sides: which side they are of, left place, right place; in this order."""
        bounds = [
            (side.siblings.parts_before[side.first], side.siblings.parts_before[side.after]) for side in (left, right)
        ]
        count, count_right = (after - first for first, after in bounds)
        # the usual case: both have the same parts
        same = count == count_right
        same_parts = np.flatnonzero(same & (count > 0))
        side_of = np.repeat(same_parts, count[same_parts])
        mine, theirs = (positions(first[same_parts], after[same_parts]) for first, after in bounds)
        same[side_of[self._keys[0][mine] != self._keys[1][theirs]]] = False
        usual = same[side_of]
        found = [(side_of[usual], left.siblings.parts[mine[usual]], right.siblings.parts[theirs[usual]])]
        for other in np.flatnonzero(~same & (count > 0) & (count_right > 0)).tolist():
            nodes = (side.siblings.nodes[side.first[other] : side.after[other]] for side in (left, right))
            places = np.array(self._comparison.pairs(*nodes), np.int64).reshape(-1, 2)
            found.append(
                (np.full(len(places), other), left.first[other] + places[:, 0], right.first[other] + places[:, 1])
            )
        columns = [np.concatenate(column) for column in zip(*found, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        side_of, left_places, right_places = (column[order] for column in columns)
        return side_of, left_places, right_places


def _keys(left: Siblings, right: Siblings) -> tuple[Int64, Int64]:
    """Assign a number to each part of both sides; equal where kind and name are."""
    numbers: dict[str, int] = {}

    def keys(siblings: Siblings) -> Int64:
        timed, parts = siblings.program.timed, siblings.nodes[siblings.parts]
        codes, place = distinct_places(timed.tree.name[parts])
        number = [numbers.setdefault(timed.strings[code], len(numbers)) for code in codes.tolist()]
        return np.array(number, np.int64)[place] * len(NodeKind) + timed.tree.kind[parts]

    return keys(left), keys(right)
