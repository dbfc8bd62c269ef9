"""How much the step, the time that devices were busy, and each cause changed, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

import msgspec

from torch_tb_profiler.analysis.answer import Fraction, FractionChange, NsMean
from torch_tb_profiler.analysis.change.figures import RecordingFigures
from torch_tb_profiler.analysis.change.metrics import OF_DEVICES, OF_STEPS, Values, metric_of
from torch_tb_profiler.analysis.change.shift import Scale, shift
from torch_tb_profiler.analysis.change.verdict import Verdict, detectable, verdict

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
    found = shift(sides[0], sides[1], Scale(relative=True, between=metric.between))
    means = [_mean([value for series in side for value in series]) for side in sides]
    return ChangedFigure(
        before_ns=means[0],
        exp_ns=means[1],
        shift=_relative(found.shift),
        low=_relative(found.lower),
        high=_relative(found.upper),
        detectable=_relative(detectable(found)),
        threshold=threshold,
        verdict=verdict(found, log(1 + threshold)),
    )


def bounds_of_cause(
    base: Sequence[RecordingFigures], new: Sequence[RecordingFigures], cause: str
) -> tuple[float, float] | None:
    """95 % interval of the change of a cause in a typical step, ns; None with fewer than four steps on a side."""
    sides = [
        _series(side, lambda each: [ns / each.lanes for ns in each.cause_alone(cause)[each.kept]])
        for side in (base, new)
    ]
    largest = max((_mean([value for series in side for value in series]) for side in sides if side), default=0.0)
    between = OF_STEPS if cause.startswith(("idle", "host")) else OF_DEVICES
    found = shift(sides[0], sides[1], Scale(relative=False, between=between * largest))
    return None if found.lower is None or found.upper is None else (found.lower, found.upper)


def _series(side: Sequence[RecordingFigures], of: Values) -> list[Sequence[float]]:
    """Of the steps that count; nothing where a recording does not know it."""
    found = [of(each) for each in side]
    known = [values for values in found if values is not None]
    return [values for values in known if len(values)] if len(known) == len(found) else []


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _relative(logarithm: float | None) -> float | None:
    return None if logarithm is None else exp(logarithm) - 1
