"""Compares the recordings of two sides: what changed in the mean step, for which names, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction, FractionChange, NsMean
from torch_tb_profiler.analysis.change.figures import RecordingFigures, recording_figures
from torch_tb_profiler.analysis.change.metrics import OF_DEVICES, OF_STEPS, Values, metric_of
from torch_tb_profiler.analysis.change.name_lists import ChangedNames, SideOfName, name_list
from torch_tb_profiler.analysis.change.parts import StepChange, step_change
from torch_tb_profiler.analysis.change.shares import StepShares, TimesByName, TimesOfName, step_shares
from torch_tb_profiler.analysis.change.shift import Scale, Verdict, detectable, shift, verdict
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
    """Make a recording of saved figures of one process: causes of several ranks do not add up to the step."""
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
    sides = [[recording for recording in side if recording.step_ns] for side in (before, after)]
    has_steps = all(sides)
    has_work = all(recording.has_work for side in sides for recording in side)
    steps = tuple(_mean([ns for recording in side for ns in recording.step_ns]) for side in sides)
    on_device = all(recording.figures.basis == "devices" for side in sides for recording in side)

    def listed(table: str, measure: str) -> ChangedNames:
        left, right = (_by_name(side, table, measure) for side in sides)
        return name_list(left, right, (steps[0], steps[1]))

    return Changed(
        tuple(before),
        tuple(after),
        step_change(*([_shares(recording, has_work) for recording in side] for side in sides)) if has_steps else None,
        listed("operators", "device_ns" if on_device else "host_ns"),
        listed("kernels", "device_ns"),
    )


def _shares(each: Recording, has_work: bool) -> StepShares:
    return each.shares if has_work else msgspec.structs.replace(each.shares, shares=())


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _by_name(side: Sequence[Recording], table: str, measure: str) -> Mapping[str, SideOfName]:
    """Concatenate the steps of all recordings; a name that one does not have did nothing in its steps."""
    tables: list[TimesByName] = [getattr(each.figures, table) for each in side]
    names = dict.fromkeys(named.name for each in tables for named in each.names)
    known = [{named.name: named for named in each.names} for each in tables]

    def steps(name: str, what: str) -> Int64:
        parts = [
            _of(found.get(name), what, len(each.figures.steps))[each.figures.kept]
            for found, each in zip(known, side, strict=True)
        ]
        return np.concatenate(parts).astype(np.int64)

    return {name: SideOfName(steps(name, measure), steps(name, "calls")) for name in names}


def _of(named: TimesOfName | None, what: str, steps: int) -> list[int]:
    return [0] * steps if named is None else getattr(named, what)


#: from where on a change has a verdict, relatively
STEP_THRESHOLD, BUSY_THRESHOLD = 0.03, 0.02


class ChangedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the step on both sides. Relative changes: 0.05 is 5 % more.

    before_ns   mean of the steps that count, baseline
    exp_ns      the same of the experiment
    shift       of the typical step, a relative change: the median of all pairs of both sides; null without values
    low         lower bound of its 95 % interval; null with fewer than four steps on a side
    high        upper bound
    detectable  the smallest relative change that such steps show in 80 of 100 cases, 0…1; null likewise
    threshold   from which relative change on it is judged, 0…1
    verdict     regressed, improved, unchanged, inconclusive, or unknown without an interval
    """

    before_ns: NsMean
    exp_ns: NsMean
    shift: FractionChange | None
    low: FractionChange | None
    high: FractionChange | None
    detectable: Fraction | None
    threshold: Fraction
    verdict: Verdict


def judged(
    base: Sequence[RecordingFigures], new: Sequence[RecordingFigures], key: str, threshold: float
) -> ChangedFigure | None:
    """Judge one metric by its key. None if a side lacks it, or has a step without a value."""
    metric = metric_of(key)
    assert metric is not None, key
    sides = [_series(side, metric.values) for side in (base, new)]
    if not all(sides) or any(value <= 0 for side in sides for series in side for value in series):
        return None
    estimate = shift(sides[0], sides[1], Scale(relative=True, between=metric.between))
    means = [_mean([value for series in side for value in series]) for side in sides]
    return ChangedFigure(
        before_ns=means[0],
        exp_ns=means[1],
        shift=_relative(estimate.shift),
        low=_relative(estimate.lower),
        high=_relative(estimate.upper),
        detectable=_relative(detectable(estimate)),
        threshold=threshold,
        verdict=verdict(estimate, log(1 + threshold)),
    )


def bounds_of_cause(
    base: Sequence[RecordingFigures], new: Sequence[RecordingFigures], cause: str
) -> tuple[float, float] | None:
    """Return the 95 % interval of the change of a cause in a typical step, ns; None with fewer than four steps on a
    side.
    """
    sides = [
        _series(side, lambda each: [ns / each.lanes for ns in each.cause_alone(cause)[each.kept]])
        for side in (base, new)
    ]
    largest = max((_mean([value for series in side for value in series]) for side in sides if side), default=0.0)
    between = OF_STEPS if cause.startswith(("idle", "host")) else OF_DEVICES
    found = shift(sides[0], sides[1], Scale(relative=False, between=between * largest))
    return None if found.lower is None or found.upper is None else (found.lower, found.upper)


def _series(side: Sequence[RecordingFigures], of: Values) -> list[Sequence[float]]:
    """Return the values of the steps that count; nothing where a recording does not know it."""
    found = [of(each) for each in side]
    known = [values for values in found if values is not None]
    return [values for values in known if len(values)] if len(known) == len(found) else []


def _relative(logarithm: float | None) -> float | None:
    return None if logarithm is None else exp(logarithm) - 1
