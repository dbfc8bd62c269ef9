"""Call stacks as a tree in preorder, from the top or from the bottom, with small entries folded together.

Seen from the bottom, a tree has as many entries as all stacks together have levels, which deep stacks make the square
of what was recorded. So stacks are sorted as texts, read from their ends upwards, and only entries that are shown are
made.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.stacks.entries import (
    NEVER_SEEN,
    EntryKind,
    EntryRole,
    Hash,
    StackEntries,
    TextHashes,
    Weight,
    ids,
)
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.forest import RootPaths, TextTree, preorder, text_tree
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.ranges import least_in, running_sums
from torch_tb_profiler.arrays.types import Int64

Direction = Literal["top_down", "bottom_up"]

#: entries below the smallest share
SMALLER = "(smaller)"


class StackTable(Result, group="stacks"):
    """StackEntries as a tree in preorder, siblings as they were first seen.

    `parent` is a row of this table, -1 at the top. Of every row, total_ns = self_ns + Σ total_ns of the rows directly
    below; Σ self_ns = whole_ns.
    """

    name: tuple[str, ...] = column(
        "Name",
        "The innermost entry: file(line): function for a Python frame, otherwise the name of the module, operator, "
        "annotation or device work.",
    )
    id: Int64 = column(
        "Id",
        "Identifies the names from the top down to it; it is the same for the same stack in every trace.",
        unit=None,
        hidden=True,
    )
    parent: Int64 = column(
        "Parent", "Row of the entry around it; -1 at the top.", unit=None, missing_below_zero=True, hidden=True
    )
    kind: tuple[EntryKind, ...] = column(
        "Kind",
        "frame (Python function), builtin (function in C), module (call of nn.Module), annotation, operator, device "
        "(kernel, copy or fill), other (an API call outside all these), smaller (entries folded together).",
    )
    role: tuple[EntryRole | None, ...] = column(
        "Role",
        "What device work does: compute, communication (a kernel of a collective), copy (copies and fills). "
        "Communication also for calls of torch.distributed on the host. Empty for all others.",
        hidden=True,
    )
    short_name: tuple[str | None, ...] = column(
        "Short name",
        "For device work, the name without parameters and most template arguments, as in GPU Kernel; empty for others.",
    )
    self_ns: Int64 = column(
        "Self",
        "Host: time in which it was innermost. Device: Σ durations of the kernels, copies and fills of this name "
        "launched from there.",
    )
    total_ns: Int64 = column("Total", "Self + Σ total of the entries directly below.")
    calls: Int64 = column("Calls", "How often it began there, or ran on the device.")
    folded: Int64 = column(
        "Folded",
        "How many entries were folded into this one, because each has less than the smallest share; 0 for all others.",
        hidden=True,
    )

    weight: Weight = fact("whose time it is")
    direction: Direction = fact("from callers to called, or the other way")
    above: StackTable | None = fact(
        "the entries around what was asked for, from the top down; None if it is everything"
    )
    whole_ns: int = fact("time of what is shown: of all stacks, or of the entry asked for")
    all_ns: int = fact("time of all stacks")
    no_stack_ns: int = fact(
        "the part of the device time that was launched outside all frames, operators and annotations"
    )
    entries: int = fact("different stacks with any time of this weight, shown or not, seen from the top")
    limit_ns: int = fact("entries with less are folded together")


class ShownEntries(msgspec.Struct, frozen=True):
    """The entries of an answer, in any order, and those that are folded into one below each of them."""

    label: Int64
    parent: Int64
    id: Int64
    self_ns: Int64
    total_ns: Int64
    calls: Int64
    first: Int64
    small_parent: Int64
    small_ns: Int64
    small_calls: Int64

    def __len__(self) -> int:
        return len(self.label)

    def chain_to(self, id_: int) -> Int64:
        """Return the entries from the top down to the one of an id, without it."""
        found: list[int] = []
        at = int(self.parent[np.flatnonzero(self.id == id_)[0]])
        while at >= 0:
            found.append(at)
            at = int(self.parent[at])
        return np.array(found[::-1], np.int64)


class StackTableBuilder(msgspec.Struct, frozen=True):
    """Builds tables of some stacks, with the totals that all of them share."""

    found: StackEntries
    weight: Weight
    direction: Direction
    all_ns: int
    entries: int

    def table(self, shown: ShownEntries, whole_ns: int, limit_ns: int, above: StackTable | None) -> StackTable:
        folds, fold = distinct_places(shown.small_parent)
        entries = len(shown)
        parent = np.concatenate([shown.parent, folds])
        turns = np.argsort(np.append(shown.first, np.full(len(folds), NEVER_SEEN)), kind="stable")
        order = preorder(parent.astype(np.int32), turns)
        place = np.full(len(parent) + 1, -1, np.int64)
        place[order] = np.arange(len(order))
        folded_ns = sums_at(fold, shown.small_ns, len(folds))
        labels_of = self.found.labels
        names, kinds, roles = labels_of.names, labels_of.kinds, labels_of.roles

        def column(values: Int64, of_folds: Int64) -> Int64:
            return np.concatenate([values, of_folds])[order]

        labels = column(shown.label, np.full(len(folds), -1)).tolist()
        return StackTable(
            weight=self.weight,
            direction=self.direction,
            id=column(shown.id, -1 - np.arange(len(folds))),
            parent=place[parent[order]],
            name=tuple(names[label] if label >= 0 else SMALLER for label in labels),
            kind=tuple(kinds[label] if label >= 0 else "smaller" for label in labels),
            role=tuple(roles.get(label) for label in labels),
            short_name=tuple(labels_of.short_name(label) if label >= 0 else None for label in labels),
            self_ns=column(shown.self_ns, folded_ns),
            total_ns=column(shown.total_ns, folded_ns),
            calls=column(shown.calls, sums_at(fold, shown.small_calls, len(folds))),
            folded=column(np.zeros(entries, np.int64), np.bincount(fold, minlength=len(folds))),
            above=above,
            whole_ns=whole_ns,
            all_ns=self.all_ns,
            no_stack_ns=self.found.no_stack_ns if self.weight == "device" else 0,
            entries=self.entries,
            limit_ns=limit_ns,
        )

    def chain(self, shown: ShownEntries, rows: Int64) -> StackTable:
        """Return a table of some entries, each below the one before it."""
        none = np.empty(0, np.int64)
        columns = (shown.id, shown.self_ns, shown.total_ns, shown.calls, shown.first)
        id_, self_ns, total_ns, calls, first = (column[rows] for column in columns)
        parent = np.arange(len(rows)) - 1
        part = ShownEntries(shown.label[rows], parent, id_, self_ns, total_ns, calls, first, none, none, none)
        return self.table(part, self.all_ns, 1, None)


#: entries of an answer; where there are more, a larger share is folded
MOST_SHOWN = 200_000
#: entries among which one of an id is looked for
MOST_SEARCHED = 2_000_000


class _Rows(msgspec.Struct, frozen=True):
    """Entries of at least a limit, in the order of their levels, then of their texts.

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

    def __init__(self, entries: StackEntries, weight: Weight, only: _Part | None = None) -> None:
        self._found, self._weight = entries, weight
        own = entries.self_ns(weight)
        self._walks = only.walks if only else RootPaths(entries.parent, entries.label)
        spent = only.spent if only else np.flatnonzero(own > 0)
        ends = only.ends if only else spent
        order = self._walks.order(ends)
        self._ends, spent = ends[order], spent[order]
        self._spent = spent
        self._length = self._walks.length[self._ends]
        common = np.zeros(len(spent), np.int64)
        common[1:] = self._walks.common(self._ends[:-1], self._ends[1:])
        self._tree = text_tree(self._length, common)
        self._own, self._calls, self._first = own[spent], entries.calls[spent], entries.first[spent]
        tree, running = self._tree, running_sums(self._own)
        self._total = running[tree.after] - running[tree.first]
        self._hashes = only.hashes if only else TextHashes(self._walks, entries.labels.hashes()[entries.label])
        self._state = only.state if only else np.uint64(0)
        self.whole_ns = int(self._own.sum())

    def limit(self, least: int) -> int:
        """Return the least time of entries that are shown: `least`, or more, so that not too many are."""
        while self._count(least) > MOST_SHOWN:
            least *= 2
        return least

    def part(self, id_: int, limit: int) -> tuple[ShownEntries, _Part] | None:
        """Return what is above the entry of an id, and its part of the tree; None if it is not among MOST_SEARCHED."""
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

    def shown(self, limit: int) -> ShownEntries:
        rows = self._rows(limit)
        return self._shown(rows, self._states(rows), limit)

    def _count(self, limit: int) -> int:
        return int(self._size(limit).sum())

    def _size(self, limit: int) -> Int64:
        """Return how many entries each node of the tree stands for."""
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
        """Return the entry at each row, on the way of one of its ends to the top."""
        return self._walks.ancestor(self._ends[self._tree.first[rows.node]], rows.level - 1)

    def _states(self, rows: _Rows) -> Hash:
        return self._hashes.of(self._ends[self._tree.first[rows.node]], rows.level, self._state)

    def _shown(self, rows: _Rows, states: Hash, limit: int) -> ShownEntries:
        tree, first = self._tree, self._tree.first[rows.node]
        calls = running_sums(self._calls)
        seen = least_in(self._first, tree.first, tree.after)
        ends_here = (rows.level == tree.length[rows.node]) & (self._length[first] == rows.level)
        nodes = len(self._total)
        small = np.flatnonzero(self._total < limit)
        small = small[(tree.parent[small] < 0) | (np.append(self._total, 0)[tree.parent[small]] >= limit)]
        below = np.append(rows.last, -1)[tree.parent[small]]
        all_calls = calls[tree.after] - calls[tree.first] if nodes else calls[:0]
        return ShownEntries(
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
    """The part of `Callers` below one entry. state: before the entry."""

    walks: RootPaths
    hashes: TextHashes
    ends: Int64
    spent: Int64
    state: np.uint64
