"""StackEntries as they are shown: a tree in preorder, with what is too small folded together."""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.stacks.columns import STACKS
from torch_tb_profiler.analysis.stacks.entries import NEVER_SEEN, EntryKind, EntryRole, StackEntries, Weight
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.preorder import preorder
from torch_tb_profiler.arrays.types import Int64

Direction = Literal["top_down", "bottom_up"]

#: entries below the smallest share
SMALLER = "(smaller)"


class StackTable(Tabular, frozen=True):
    """StackEntries as a tree in preorder, siblings as they were first seen; parallel columns, times in ns.

    Definitions of the columns: `definitions.STACKS`. `parent` is a row of this table, -1 at the top. Of every row,
    total_ns = self_ns + Σ total_ns of the rows directly below; Σ self_ns = whole_ns.

    above        the entries around what was asked for, from the top down; None if it is everything
    whole_ns     time of what is shown: of all stacks, or of the entry asked for
    all_ns       time of all stacks
    no_stack_ns  the part of the device time that was launched outside all frames, operators and annotations
    entries      different stacks with any time of this weight, shown or not, seen from the top
    limit_ns     entries with less are folded together
    """

    weight: Weight
    direction: Direction
    id: Int64
    parent: Int64
    name: tuple[str, ...]
    kind: tuple[EntryKind, ...]
    role: tuple[EntryRole | None, ...]
    short_name: tuple[str | None, ...]
    self_ns: Int64
    total_ns: Int64
    calls: Int64
    folded: Int64
    above: StackTable | None
    whole_ns: int
    all_ns: int
    no_stack_ns: int
    entries: int
    limit_ns: int

    missing_below_zero: ClassVar[tuple[str, ...]] = ("parent",)

    defined = STACKS

    def __len__(self) -> int:
        return len(self.name)


class Shown(msgspec.Struct, frozen=True):
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
        """The entries from the top down to the one of an id, without it."""
        found: list[int] = []
        at = int(self.parent[np.flatnonzero(self.id == id_)[0]])
        while at >= 0:
            found.append(at)
            at = int(self.parent[at])
        return np.array(found[::-1], np.int64)


class Whole(msgspec.Struct, frozen=True):
    """What a table says about all of it."""

    found: StackEntries
    weight: Weight
    direction: Direction
    all_ns: int
    entries: int

    def table(self, shown: Shown, whole_ns: int, limit_ns: int, above: StackTable | None) -> StackTable:
        folds, fold = distinct_places(shown.small_parent)
        entries = len(shown)
        parent = np.concatenate([shown.parent, folds])
        turns = np.argsort(np.append(shown.first, np.full(len(folds), NEVER_SEEN)), kind="stable")
        order = preorder(parent.astype(np.int32), turns)
        place = np.full(len(parent) + 1, -1, np.int64)
        place[order] = np.arange(len(order))
        folded_ns = sums_at(fold, shown.small_ns, len(folds))
        of = self.found.labels
        names, kinds, roles = of.names, of.kinds, of.roles

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
            short_name=tuple(of.short_name(label) if label >= 0 else None for label in labels),
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

    def chain(self, shown: Shown, rows: Int64) -> StackTable:
        """Some entries, each below the one before it."""
        none = np.empty(0, np.int64)
        columns = (shown.id, shown.self_ns, shown.total_ns, shown.calls, shown.first)
        id_, self_ns, total_ns, calls, first = (column[rows] for column in columns)
        parent = np.arange(len(rows)) - 1
        part = Shown(shown.label[rows], parent, id_, self_ns, total_ns, calls, first, none, none, none)
        return self.table(part, self.all_ns, 1, None)
