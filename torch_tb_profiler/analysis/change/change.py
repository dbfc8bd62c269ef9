"""Compares the recordings of two sides: what changed in the mean step, and for which names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.change.figures import RecordingFigures, recording_figures
from torch_tb_profiler.analysis.change.lists import ChangedNames, SideOfName, name_list
from torch_tb_profiler.analysis.change.named import Named, NamedTable
from torch_tb_profiler.analysis.change.parts import StepChange, step_change
from torch_tb_profiler.analysis.change.shares import StepShares, step_shares
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model


class Recording(msgspec.Struct, frozen=True):
    """One recording and those of its steps that count.

    has_work  whether `shares` has kernels and operators; false for saved recordings, which have causes alone
    """

    figures: RecordingFigures
    shares: StepShares
    has_work: bool = True

    @property
    def step_ns(self) -> list[int]:
        """The durations of the steps that count."""
        return self.figures.step_ns[self.figures.kept]


def recording(model: Model, run: str) -> Recording:
    """Prepare a trace for comparison. run: the name of its run."""
    figures = recording_figures(model, run)
    return Recording(figures, step_shares(model, tuple(range(len(figures.steps))[figures.kept])))


def saved_recording(figures: RecordingFigures) -> Recording:
    """Of figures that were saved, of one process: of ranks together causes do not add up to the step."""
    kept = figures.kept
    sums = {cause: sum(ns[kept]) for cause, ns in figures.causes.items()}
    shares = StepShares(
        steps=len(figures.steps[kept]),
        devices=figures.lanes,
        step_ns=sum(figures.step_ns[kept]),
        causes={cause: ns for cause, ns in sums.items() if ns},
        shares=(),
    )
    return Recording(figures, shares, has_work=False)


class Changed(msgspec.Struct, frozen=True):
    """Two sides compared.

    parts      None if a side has no steps; without any work where a recording has none
    operators  by the time on devices of what they launch themselves; without devices on a side by their own host time
    kernels    by their durations
    """

    before: tuple[Recording, ...]
    after: tuple[Recording, ...]
    parts: StepChange | None
    operators: ChangedNames
    kernels: ChangedNames


def changed(before: Sequence[Recording], after: Sequence[Recording]) -> Changed:
    """Compare two sides of one or more recordings each; recordings without steps are ignored."""
    sides = [[each for each in side if each.step_ns] for side in (before, after)]
    has_steps = all(sides)
    has_work = all(each.has_work for side in sides for each in side)
    steps = tuple(_mean([ns for each in side for ns in each.step_ns]) for side in sides)
    on_device = all(each.figures.basis == "devices" for side in sides for each in side)

    def listed(table: str, measure: str) -> ChangedNames:
        left, right = (_by_name(side, table, measure) for side in sides)
        return name_list(left, right, (steps[0], steps[1]))

    return Changed(
        tuple(before),
        tuple(after),
        step_change(*([_shares(each, has_work) for each in side] for side in sides)) if has_steps else None,
        listed("operators", "device_ns" if on_device else "host_ns"),
        listed("kernels", "device_ns"),
    )


def _shares(each: Recording, has_work: bool) -> StepShares:
    return each.shares if has_work else msgspec.structs.replace(each.shares, shares=())


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else 0.0


def _by_name(side: Sequence[Recording], table: str, measure: str) -> Mapping[str, SideOfName]:
    """Steps of all recordings one after the other; where one does not have a name, it did nothing in its steps."""
    tables: list[NamedTable] = [getattr(each.figures, table) for each in side]
    names = dict.fromkeys(named.name for each in tables for named in each.names)
    known = [{named.name: named for named in each.names} for each in tables]

    def steps(name: str, what: str) -> Int64:
        parts = [
            _of(found.get(name), what, len(each.figures.steps))[each.figures.kept]
            for found, each in zip(known, side, strict=True)
        ]
        return np.concatenate(parts).astype(np.int64)

    return {name: SideOfName(steps(name, measure), steps(name, "calls")) for name in names}


def _of(named: Named | None, what: str, steps: int) -> list[int]:
    return [0] * steps if named is None else getattr(named, what)
