"""Stacks seen from the bottom: what time was spent in, who called that, who called those, and so on.

Such a tree has as many entries as all stacks together have levels, which deep stacks make the square of what was
recorded. So the stacks are sorted as texts, read from their ends upwards, and only entries that are shown are made.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.stacks.entries import Hash, StackEntries, Weight
from torch_tb_profiler.analysis.stacks.ids import TextHashes, ids
from torch_tb_profiler.analysis.stacks.stack_table import Shown
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.ranges import least_in, running_sums
from torch_tb_profiler.arrays.rollup import Rollup, TextTree, text_tree
from torch_tb_profiler.arrays.types import Int64

#: entries of an answer; where there are more, a larger share is folded
MOST_SHOWN = 200_000
#: entries among which one of an id is looked for
MOST_SEARCHED = 2_000_000


class _Rows(msgspec.Struct, frozen=True):
    """Entries that are worth a limit, in the order of their levels, then of their texts.

    node    shape (rows,): of the tree of texts
    level   shape (rows,): how many levels each is below the top, from 1 on
    above   shape (rows,): the row of what it called; -1 at the top
    last    shape (nodes,): the row of each node's last level, -1 for what is folded
    """

    node: Int64
    level: Int64
    above: Int64
    last: Int64


class Callers:
    """The callers of entries in which time was spent.

    ends    shape (ends,): these entries, no two of the same text, sorted by their texts
    spent   shape (ends,): where the time was spent; `ends` itself, or far below it when an entry is looked at alone
    """

    def __init__(self, found: StackEntries, weight: Weight, only: _Part | None = None) -> None:
        self._found, self._weight = found, weight
        own = found.self_ns(weight)
        self._walks = only.walks if only else Rollup(found.parent, found.label)
        spent = only.spent if only else np.flatnonzero(own > 0)
        ends = only.ends if only else spent
        order = self._walks.order(ends)
        self._ends, spent = ends[order], spent[order]
        self._spent = spent
        self._length = self._walks.length[self._ends]
        common = np.zeros(len(spent), np.int64)
        common[1:] = self._walks.common(self._ends[:-1], self._ends[1:])
        self._tree = text_tree(self._length, common)
        self._own, self._calls, self._first = own[spent], found.calls[spent], found.first[spent]
        tree, running = self._tree, running_sums(self._own)
        self._total = running[tree.after] - running[tree.first]
        self._hashes = only.hashes if only else TextHashes(self._walks, found.labels.hashes()[found.label])
        self._state = only.state if only else np.uint64(0)
        self.whole_ns = int(self._own.sum())

    def limit(self, least: int) -> int:
        """From when on entries are shown: `least`, or so much more that not too many are."""
        while self._count(least) > MOST_SHOWN:
            least *= 2
        return least

    def part(self, id_: int, limit: int) -> tuple[Shown, _Part] | None:
        """What is above the entry of an id, and its part of the tree; None if there is no such among many."""
        while self._count(limit) <= MOST_SEARCHED:
            rows = self._rows(limit)
            states = self._states(rows)
            match = np.flatnonzero(ids(states) == id_)
            if len(match):
                return self._shown(rows, states, limit), self._part(rows, int(match[0]))
            if limit == 1:
                break
            limit = max(1, limit // 16)
        return None

    def shown(self, limit: int) -> Shown:
        rows = self._rows(limit)
        return self._shown(rows, self._states(rows), limit)

    def _count(self, limit: int) -> int:
        return int(self._size(limit).sum())

    def _size(self, limit: int) -> Int64:
        """Of each node of the tree how many entries it stands for."""
        tree = self._tree
        above = np.where(tree.parent >= 0, tree.length[tree.parent], 0) if len(tree.parent) else tree.length
        size: Int64 = np.where(self._total >= limit, tree.length - above, 0)
        return size

    def _rows(self, limit: int) -> _Rows:
        tree: TextTree = self._tree
        size = self._size(limit)
        after = np.cumsum(size)
        node = np.repeat(np.arange(len(size)), size)
        level = tree.length[node] - (after[node] - np.arange(len(node))) + 1
        is_first = np.zeros(len(node), np.bool_)
        is_first[(after - size)[size > 0]] = True
        last = np.append(np.where(size > 0, after - 1, -1), -1)
        above = np.where(is_first, last[tree.parent[node]], np.arange(len(node)) - 1)
        order = np.lexsort((tree.first[node], level))
        place = np.append(inverse(order), -1)
        return _Rows(node[order], level[order], place[above[order]], place[last[:-1]])

    def _at(self, rows: _Rows) -> Int64:
        """The entry that stands at each row, on the way of one of its ends to the top."""
        return self._walks.ancestor(self._ends[self._tree.first[rows.node]], rows.level - 1)

    def _states(self, rows: _Rows) -> Hash:
        return self._hashes.of(self._ends[self._tree.first[rows.node]], rows.level, self._state)

    def _shown(self, rows: _Rows, states: Hash, limit: int) -> Shown:
        tree, first = self._tree, self._tree.first[rows.node]
        calls = running_sums(self._calls)
        seen = least_in(self._first, tree.first, tree.after)
        ends_here = (rows.level == tree.length[rows.node]) & (self._length[first] == rows.level)
        nodes = len(self._total)
        small = np.flatnonzero(self._total < limit)
        small = small[(tree.parent[small] < 0) | (np.append(self._total, 0)[tree.parent[small]] >= limit)]
        below = np.append(rows.last, -1)[tree.parent[small]]
        all_calls = calls[tree.after] - calls[tree.first] if nodes else calls[:0]
        return Shown(
            label=self._found.label[self._at(rows)],
            parent=rows.above,
            id=ids(states),
            self_ns=np.where(ends_here, self._own[first], 0),
            total_ns=self._total[rows.node],
            calls=all_calls[rows.node],
            first=seen[rows.node],
            small_parent=below,
            small_ns=self._total[small],
            small_calls=all_calls[small],
        )

    def _part(self, rows: _Rows, row: int) -> _Part:
        node, level = int(rows.node[row]), int(rows.level[row])
        chosen = slice(int(self._tree.first[node]), int(self._tree.after[node]))
        ends = self._walks.ancestor(self._ends[chosen], np.full(chosen.stop - chosen.start, level - 1))
        before = self._state
        if level > 1:
            above = rows.above[row : row + 1]
            parent = _Rows(rows.node[above], rows.level[above], above, rows.last)
            before = self._states(parent)[0]
        return _Part(self._walks, self._hashes, ends, self._spent[chosen], before)


class _Part(msgspec.Struct, frozen=True):
    """Of `Callers` what lies below one entry. state: before the entry."""

    walks: Rollup
    hashes: TextHashes
    ends: Int64
    spent: Int64
    state: np.uint64
