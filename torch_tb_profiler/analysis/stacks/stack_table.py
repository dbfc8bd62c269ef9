"""StackEntries as they are shown: a tree in preorder, with what is too small folded together."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.stacks.entries import NEVER_SEEN, EntryKind, EntryRole, StackEntries, Weight
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.forest import preorder
from torch_tb_profiler.arrays.grouping import sums_at
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
