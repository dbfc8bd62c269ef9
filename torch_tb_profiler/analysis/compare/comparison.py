"""Two traces side by side: which parts of the programs belong together, and what each took.

The trees of both programs are aligned level by level. Parts with a role (steps, data loading, modules and their
backward, optimizer) are paired in order; what stands between two pairs is compared as one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from functools import lru_cache

import msgspec
import numpy as np

from torch_tb_profiler.analysis.compare.program import PARTS, Detail, EntrySide, Program
from torch_tb_profiler.analysis.shared.operator_times import TimedProgram
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.program_tree import NodeKind

#: a table of the sequences is kept as bits up to this many, 50 MB; longer ones are matched from left to right
MOST_BITS = 400_000_000

Pair = tuple[int, int]


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """Pair positions, ascending on both sides; among equally many pairs keep the first on the left."""
    head = 0
    while head < min(len(left), len(right)) and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < min(len(left), len(right)) - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    a, b = left[head : len(left) - tail], right[head : len(right) - tail]
    middle = _longest(a, b) if len(a) * len(b) <= MOST_BITS else _greedy(a, b)
    return [
        *((i, i) for i in range(head)),
        *((i + head, j + head) for i, j in middle),
        *((len(left) - k, len(right) - k) for k in range(tail, 0, -1)),
    ]


def _longest(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """Find the longest common subsequence, a row of the table at a time in the bits of one integer.

    Both sequences are read backwards. Bit j of row i is 0 where the entry right[j] from its end adds to the longest
    match of what follows left[i].
    """
    width = len(right)
    whole = (1 << width) - 1
    where: dict[Hashable, int] = defaultdict(int)
    for j, key in enumerate(reversed(right)):
        where[key] |= 1 << j
    rows = [whole]
    for key in reversed(left):
        row = rows[-1]
        matched = row & where.get(key, 0)
        rows.append(((row + matched) | (row - matched)) & whole)
    pairs: list[Pair] = []
    i, j = 0, 0
    # the length of the match of left[i:] and right[j:] is the number of zeros in the lower bits of row i
    while i < len(left) and j < width:
        if left[i] == right[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif rows[len(left) - i] >> (width - 1 - j) & 1:
            j += 1
        else:
            i += 1
    return pairs


def _greedy(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """Pair each entry with the next equal one."""
    where: dict[Hashable, list[int]] = defaultdict(list)
    for j in range(len(right) - 1, -1, -1):
        where[right[j]].append(j)
    pairs: list[Pair] = []
    cursor = 0
    for i, key in enumerate(left):
        places = where.get(key, [])
        while places and places[-1] < cursor:
            places.pop()
        if places:
            cursor = places.pop() + 1
            pairs.append((i, cursor - 1))
    return pairs


ROOT = "0"

_ANNOTATIONS = frozenset({NodeKind.LABEL})
_ALL = frozenset(NodeKind)
#: of these a run has one at a time, so that another name (another loader, another optimizer) is still the same part
_ROLES = frozenset({NodeKind.STEP, NodeKind.DATALOADER, NodeKind.OPTIMIZER})
_KINDS = {int(kind): kind for kind in NodeKind}
_NUMBER = lazy_pattern(r"_\d+(?=\.backward$|$)")


class ComparisonEntry(msgspec.Struct, frozen=True):
    """An entry of the comparison."""

    path: str
    left: EntrySide
    right: EntrySide


def turns_of(path: str) -> list[int] | None:
    """Parse a path: which child is taken from the root on; None if it is no path."""
    root, *turns = path.split("-")
    if root != ROOT or not all(turn.isascii() and turn.isdigit() and len(turn) < 10 for turn in turns):
        return None
    return [int(turn) for turn in turns]


class Comparison:
    """Two programs aligned; nodes are made when asked for.

    detail   parts: the main thread as the old plugin saw it, down to the innermost parts with a role.
             all: also annotations, operators where there are no parts, and the backward threads; parts that differ
             only in their number, and loaders and optimizers of another kind, are the same part.
    """

    def __init__(self, left: Model, right: Model, detail: Detail) -> None:
        self.left, self.right = Program(left, detail), Program(right, detail)
        self._detail = detail

    def root(self) -> ComparisonEntry:
        return ComparisonEntry(ROOT, EntrySide(self.left, self.left.start()), EntrySide(self.right, self.right.start()))

    def beginning(self) -> tuple[EntrySide, EntrySide]:
        """Return what the parts of the whole trace are made of, as one entry; without parts, everything."""
        left, right = self._inside(self.root()) or (self.left.start(), self.right.start())
        return EntrySide(self.left, left), EntrySide(self.right, right)

    def at(self, path: str) -> ComparisonEntry | None:
        """Return the entry at a path: `0` is the root, `0-2` its third child."""
        trail = self.trail(path)
        return trail[-1] if trail else None

    def trail(self, path: str) -> list[ComparisonEntry]:
        """Return the entries from the root to that of a path; empty if there is none."""
        turns = turns_of(path)
        if turns is None:
            return []
        found = [self.root()]
        for turn in turns:
            children = self.children(found[-1])
            if turn >= len(children):
                return []
            found.append(children[turn])
        return found

    def children(self, node: ComparisonEntry) -> list[ComparisonEntry]:
        """Align what the two sides of an entry consist of; empty if nothing in them belongs together."""
        inside = self._inside(node)
        if inside is None:
            return []
        left, right = inside
        pairs = self.pairs(left, right)
        if not pairs:
            return []
        cuts: list[tuple[Int64, Int64]] = []
        i = j = 0
        for paired_left, paired_right in [*pairs, (len(left), len(right))]:
            cuts.append((left[i:paired_left], right[j:paired_right]))
            cuts.append((left[paired_left : paired_left + 1], right[paired_right : paired_right + 1]))
            i, j = paired_left + 1, paired_right + 1
        kept = [(a, b) for a, b in cuts if len(a) or len(b)]
        return [
            ComparisonEntry(f"{node.path}-{k}", EntrySide(self.left, a), EntrySide(self.right, b))
            for k, (a, b) in enumerate(kept)
        ]

    def has_children(self, node: ComparisonEntry) -> bool:
        """Return whether there are any, without aligning them: that would cost more than the level that asks."""
        inside = self._inside(node)
        if inside is None or not len(inside[0]) or not len(inside[1]):
            return False
        wanted = PARTS if self._detail == "parts" else _ALL
        mine, theirs = (
            {loose if self._detail == "all" else key for _, key, loose in _keys(program.timed, nodes, wanted)}
            for program, nodes in zip((self.left, self.right), inside, strict=True)
        )
        return not mine.isdisjoint(theirs)

    def _inside(self, node: ComparisonEntry) -> tuple[Int64, Int64] | None:
        """Return what the two sides consist of: the children of a single node, or several nodes themselves."""
        left, right = node.left.nodes, node.right.nodes
        if len(left) == 1 and len(right) == 1:
            left = np.fromiter(self.left.children(int(left[0])), np.int64)
            right = np.fromiter(self.right.children(int(right[0])), np.int64)
        elif not (len(left) > 1 and len(right) > 1):
            return None
        return left, right

    def pairs(self, left: Int64, right: Int64) -> list[tuple[int, int]]:
        """Pair two sequences of nodes, by their places in these.

        What has most to say comes first: parts with a role, else annotations, else every node.
        """
        for wanted in (PARTS,) if self._detail == "parts" else (PARTS, _ANNOTATIONS, _ALL):
            pairs = self._pairs_of(left, right, wanted)
            if pairs:
                return pairs
        return []

    def _pairs_of(self, left: Int64, right: Int64, wanted: frozenset[NodeKind]) -> list[tuple[int, int]]:
        """Pair by name; with all detail also by role between those pairs, so that a renamed part is not lost."""
        mine, theirs = _keys(self.left.timed, left, wanted), _keys(self.right.timed, right, wanted)
        exact = align([key for _, key, _ in mine], [key for _, key, _ in theirs])
        paired: list[tuple[int, int]] = []
        i = j = 0
        for a, b in [*exact, (len(mine), len(theirs))]:
            loose = (
                []
                if self._detail == "parts" or i == a or j == b
                else align([key for _, _, key in mine[i:a]], [key for _, _, key in theirs[j:b]])
            )
            paired += [(mine[i + x][0], theirs[j + y][0]) for x, y in loose]
            if a < len(mine):
                paired.append((mine[a][0], theirs[b][0]))
            i, j = a + 1, b + 1
        return paired


def _keys(
    timed: TimedProgram, nodes: Int64, wanted: frozenset[NodeKind]
) -> list[tuple[int, tuple[NodeKind, str], tuple[NodeKind, str]]]:
    """Return place, key and loose key of the nodes that can be paired."""
    found = []
    for place, (name, number) in enumerate(zip(timed.names(nodes), timed.tree.kind[nodes].tolist(), strict=True)):
        kind = _KINDS[number]
        if kind in wanted:
            found.append((place, (kind, name), (kind, "" if kind in _ROLES else _without_number(name))))
    return found


@lru_cache(maxsize=4096)
def _without_number(name: str) -> str:
    return _NUMBER.sub("", name)
