"""All entries of a comparison of parts, level by level and in arrays: what `Comparison.children` says of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from torch_tb_profiler.analysis.compare.diff import Comparison
from torch_tb_profiler.analysis.compare.sides import Operators, OperatorTables, Siblings, Sides
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.forest import preorder
from torch_tb_profiler.arrays.ranges import positions
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model.program_tree import NodeKind

#: operators that are added up together
_OPERATORS_OF_A_PIECE = 30_000


class Whole(msgspec.Struct, frozen=True):
    """Entries of a comparison in preorder.

    depth   shape (entries,): how many entries each lies in
    """

    depth: Int32
    left: Sides
    right: Sides

    def operators(self) -> Iterator[tuple[slice, OperatorTables, OperatorTables]]:
        """The operators of both sides, some entries at a time: which ones, left, right."""
        left, right = Operators(self.left.siblings), Operators(self.right.siblings)
        count = np.zeros(len(self.depth), np.int64)
        for operators, sides in ((left, self.left), (right, self.right)):
            first, after = operators.ranges(sides)
            count += after - first
        cuts = np.flatnonzero(np.diff(np.cumsum(count) // _OPERATORS_OF_A_PIECE)) + 1
        for begin, end in pairwise([0, *cuts.tolist(), len(count)]):
            some = slice(begin, end)
            yield some, left.of(self.left.some(some)), right.of(self.right.some(some))


def whole(comparison: Comparison, most: int) -> Whole:
    """The entries of a comparison of parts; once there are `most`, those that follow get no children."""
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
    return Whole(depth[shown], lefts.some(shown), rights.some(shown))


def family(comparison: Comparison, turns: Sequence[int]) -> Whole | None:
    """An entry and its children; `turns` are the places of children from the root on. None if there is no such."""
    pairing = _Pairing(comparison)
    left, right = pairing.beginning()
    for turn in turns:
        of, left, right = pairing.children(left, right)
        if turn >= len(of):
            return None
        left, right = left.some(slice(turn, turn + 1)), right.some(slice(turn, turn + 1))
    of, lefts, rights = pairing.children(left, right)
    depth = np.append(0, np.ones_like(of)).astype(np.int32)
    return Whole(depth, _joined((left, lefts)), _joined((right, rights)))


def _joined(levels: tuple[Sides, ...]) -> Sides:
    first = np.concatenate([level.first for level in levels])
    return Sides(levels[0].siblings, first, np.concatenate([level.after for level in levels]))


class _Pairing:
    """What belongs together in the two programs of a comparison."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._siblings = Siblings(comparison.left), Siblings(comparison.right)
        self._keys = _keys(*self._siblings)

    def beginning(self) -> tuple[Sides, Sides]:
        """Both sides of the root."""
        left, right = (Sides(side, np.zeros(1, np.int64), np.full(1, side.beginning)) for side in self._siblings)
        return left, right

    def children(self, left: Sides, right: Sides) -> tuple[Int64, Sides, Sides]:
        """The children of entries, and which entry each belongs to."""
        like = ((left.size == 1) & (right.size == 1)) | ((left.size > 1) & (right.size > 1))
        asked = np.flatnonzero(like)
        inside = left.some(asked).inside(), right.some(asked).inside()
        of, *paired = self._pairs(*inside)
        # of each entry with pairs: what stands before each pair, the pair, and at last what stands after them
        leads, lasts = np.flatnonzero(np.diff(of, prepend=-1)), np.flatnonzero(np.diff(of, append=-1))
        pair = 2 * np.arange(len(of)) + 1 + np.repeat(np.arange(len(leads)), lasts + 1 - leads)
        rest = pair[lasts] + 1
        owner = np.empty(2 * len(of) + len(leads), np.int64)
        owner[pair - 1], owner[pair], owner[rest] = of, of, of[lasts]
        made = []
        for sides, places in zip(inside, paired, strict=True):
            first, after = np.empty((2, len(owner)), np.int64)
            first[pair], after[pair], after[pair - 1] = places, places + 1, places
            first[rest], after[rest] = places[lasts] + 1, sides.after[of[lasts]]
            first[pair[1:] - 1] = places[:-1] + 1
            first[pair[leads] - 1] = sides.first[of[leads]]
            made.append(Sides(sides.siblings, first, after))
        kept = np.flatnonzero((made[0].size > 0) | (made[1].size > 0))
        return asked[owner[kept]], made[0].some(kept), made[1].some(kept)

    def _pairs(self, left: Sides, right: Sides) -> tuple[Int64, Int64, Int64]:
        """Which places of both sides belong together: of which sides, left place, right place; in this order."""
        bounds = [
            (side.siblings.parts_before[side.first], side.siblings.parts_before[side.after]) for side in (left, right)
        ]
        count, count_right = (after - first for first, after in bounds)
        # the usual case: both have the same parts
        same = count == count_right
        asked = np.flatnonzero(same & (count > 0))
        of = np.repeat(asked, count[asked])
        mine, theirs = (positions(first[asked], after[asked]) for first, after in bounds)
        same[of[self._keys[0][mine] != self._keys[1][theirs]]] = False
        usual = same[of]
        found = [(of[usual], left.siblings.parts[mine[usual]], right.siblings.parts[theirs[usual]])]
        for other in np.flatnonzero(~same & (count > 0) & (count_right > 0)).tolist():
            nodes = (side.siblings.nodes[side.first[other] : side.after[other]] for side in (left, right))
            places = np.array(self._comparison.pairs(*nodes), np.int64).reshape(-1, 2)
            found.append(
                (np.full(len(places), other), left.first[other] + places[:, 0], right.first[other] + places[:, 1])
            )
        columns = [np.concatenate(column) for column in zip(*found, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        of, left_places, right_places = (column[order] for column in columns)
        return of, left_places, right_places


def _keys(left: Siblings, right: Siblings) -> tuple[Int64, Int64]:
    """A number for each part of both sides; equal where kind and name are."""
    numbers: dict[str, int] = {}

    def keys(siblings: Siblings) -> Int64:
        timed, parts = siblings.program.timed, siblings.nodes[siblings.parts]
        codes, place = distinct_places(timed.tree.name[parts])
        number = [numbers.setdefault(timed.strings[code], len(numbers)) for code in codes.tolist()]
        return np.array(number, np.int64)[place] * len(NodeKind) + timed.tree.kind[parts]

    return keys(left), keys(right)
