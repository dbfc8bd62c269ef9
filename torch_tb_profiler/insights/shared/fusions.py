"""Kernels that one kernel could replace, and operators on the CPU that one could: rows, numbers and changes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.changes import Fused, ScaleHost, fused_groups, scale
from torch_tb_profiler.arrays.grouping import first_at
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.rule import Evidence, evidence
from torch_tb_profiler.insights.shared.operator_line import operator_line
from torch_tb_profiler.insights.shared.patterns import LEFT, Group


class Fusion(msgspec.Struct, frozen=True):
    """Groups of kernels in the steps, that which saves most first.

    rows       the longest kernel of each group
    spent_ns   time of all kernels
    left_ns    of those in their place
    kernels    how many there are
    """

    groups: Sequence[Group]
    rows: Int32
    spent_ns: int
    left_ns: int
    kernels: int

    @property
    def change(self) -> Fused:
        """Each group is one kernel."""
        return fused_groups((each.rows.tolist(), each.target_ns) for each in self.groups)

    def evidence(self, facts: Facts) -> tuple[Evidence, ...]:
        """Per step: groups, kernels, and their time."""
        n = facts.steps
        return (
            evidence("fusible_groups", len(self.groups) / n, "count", "kernels"),
            evidence("fusible_kernels", self.kernels / n, "count", "kernels"),
            evidence("fusible_ns", self.spent_ns / n, "ns", "kernels"),
        )


def fusion_of(facts: Facts, groups: Sequence[Group]) -> Fusion | None:
    """Return what there is to fuse in the steps; None for nothing."""
    kept = [kernels for kernels in groups if len(kernels.rows) > 1]
    if kept:
        in_steps = facts.step_of(np.array([kernels.rows[0] for kernels in kept], np.int32)) >= 0
        kept = [kernels for kernels, inside in zip(kept, in_steps.tolist(), strict=True) if inside]
    if not kept:
        return None
    rows = np.concatenate([kernels.rows for kernels in kept])
    duration, heads = facts.duration(rows), np.cumsum([0, *(len(kernels.rows) for kernels in kept[:-1])])
    spent = np.add.reduceat(duration, heads)
    order = np.argsort(np.array([kernels.target_ns for kernels in kept]) - spent, kind="stable")
    kept = [kept[i] for i in order.tolist()]
    longest = np.maximum.reduceat(duration, heads)
    of = np.repeat(np.arange(len(heads)), np.diff(np.append(heads, len(rows))))
    at = first_at(of[duration == longest[of]], rows[duration == longest[of]], len(heads))
    return Fusion(
        groups=tuple(kept),
        rows=at[order],
        spent_ns=int(spent.sum()),
        left_ns=sum(kernels.target_ns for kernels in kept),
        kernels=len(rows),
    )


class WrittenOut(msgspec.Struct, frozen=True):
    """What several operators do in the steps.

    rows    the longest operator of each, that which takes most first
    ns      what all of them take
    calls   how often
    pieces  how many operators there are
    change  what one operator takes in their place: those that stay, and `LEFT` of the others
    """

    rows: Int32
    ns: int
    calls: int
    pieces: int
    change: ScaleHost


def written_out(facts: Facts, spans: Sequence[tuple[int, int]], stays: str = "") -> WrittenOut | None:
    """Intervals of the operator line of a program on the CPU; None for none in the steps.

    stays   letters of operators that take as long as before; without any the longest of each stretch
    """
    line, tree = operator_line(facts.model), facts.model.tree
    longest: list[int] = []
    less: list[int] = []
    ns = pieces = 0
    for first, after in spans:
        rows = tree.row[line.node[first:after]]
        if int(facts.step_of(rows[:1])[0]) < 0:
            continue
        duration = facts.duration(rows)
        at = int(np.argmax(duration))
        kept = [letter in stays for letter in line.text[first:after]] if stays else np.arange(len(rows)) == at
        less += rows[~np.asarray(kept, np.bool_)].tolist()
        longest.append(int(rows[at]))
        ns, pieces = ns + int(duration.sum()), pieces + len(rows)
    if not longest:
        return None
    found = facts.longest_first(np.array(longest, np.int32))
    return WrittenOut(found, ns, len(longest), pieces, scale("operator", LEFT, rows=less))
