"""Any number of recordings in their order: each against a baseline and the one before, and where a level changed.

Steps of one recording against those of another: `shift.py`. Between recordings a value each (its median step): the last
three against up to eight before them, and the change point, where the windows before and after differ most.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, exp, log, sqrt
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, Fraction, FractionChange, NsMean
from torch_tb_profiler.analysis.change.change import BUSY_THRESHOLD, STEP_THRESHOLD
from torch_tb_profiler.analysis.change.figures import (
    RecordingDifference,
    RecordingFigures,
    differences,
    recording_figures,
)
from torch_tb_profiler.analysis.change.metrics import Metric, median_of, metric_of
from torch_tb_profiler.analysis.change.shift import Scale, Shift, Verdict, hodges_lehmann, shift, verdict
from torch_tb_profiler.analysis.change.statistics import LEVEL, Z, adjusted
from torch_tb_profiler.analysis.question import Listed, NoParameters, Question, Scope, Subject, absent_traces
from torch_tb_profiler.analysis.traces import TraceNames, titles_of
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.trace import Note

#: what is followed, and from which relative change on it is judged
FOLLOWED = (("step_time", STEP_THRESHOLD), ("device_busy", BUSY_THRESHOLD))

#: recordings of a window before and after; after a change point at least so many as are looked at for the last ones
BEFORE, LAST = 8, 3


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A recording in a trend. Relative changes: 0.05 is 5 % more.

    value          typical value: the median of the steps that count; null if it was not recorded
    shift          against the baseline: the median of all pairs of steps; null for the baseline itself, and where
                   nothing can be compared
    low            lower bound of its 95 % interval; null with fewer than four steps on a side
    high           upper bound
    q              least false discovery rate, over all recordings of the trend, at which it differs from the baseline
    verdict        regressed or improved by the threshold or more with q ≤ 0.05, unchanged, inconclusive, or unknown
    since          against the recording before: the shift; null likewise
    since_low      lower bound of its 95 % interval
    since_high     upper bound
    since_verdict  the same, for this pair only
    """

    value: NsMean | None
    shift: FractionChange | None
    low: FractionChange | None
    high: FractionChange | None
    q: Fraction | None
    verdict: Verdict
    since: FractionChange | None
    since_low: FractionChange | None
    since_high: FractionChange | None
    since_verdict: Verdict


class LevelChange(msgspec.Struct, frozen=True, kw_only=True):
    """Recordings against those before them, a value each.

    at      position of the first of the later ones, from 0
    before  how many are before it
    after   how many are later, itself included
    shift   relative change: the median of all pairs
    low     lower bound of its interval
    high    upper bound
    level   of the interval, 0…1: 0.95, or more where several places were tried
    """

    at: Count
    before: Count
    after: Count
    shift: FractionChange
    low: FractionChange
    high: FractionChange
    level: Fraction


class Trend(msgspec.Struct, frozen=True, kw_only=True):
    """One metric over all recordings.

    metric        step_time or device_busy
    unit          of the values
    threshold     from which relative change on it is judged, 0…1
    points        of each recording, in their order
    last          the last three against up to eight before them; null if they are too few for an interval, or a
                  recording cannot be compared with them
    change_point  where the level changed by the threshold or more for certain, by most; null if nowhere
    """

    metric: str
    unit: Literal["ns"] = "ns"
    threshold: Fraction
    points: Sequence[TrendPoint]
    last: LevelChange | None
    change_point: LevelChange | None


class TrendRecording(msgspec.Struct, frozen=True, kw_only=True):
    """A recording.

    name         run, worker and span, where they differ
    steps        how many count
    left_out     how many first steps do not
    differences  differences from the baseline, and what cannot be judged because of them
    """

    name: str
    steps: Count
    left_out: Count
    differences: Sequence[RecordingDifference]


class Trends(Answer, frozen=True, kw_only=True):
    """Any number of recordings, in the order in which they are given.

    baseline    position of the one that the others are compared with, from 0
    recordings  all of them
    trends      of each metric that all have
    """

    baseline: Count
    recordings: Sequence[TrendRecording]
    trends: Sequence[Trend]


def trends(
    recordings: Sequence[RecordingFigures],
    names: Sequence[str],
    baseline: int = 0,
    across_devices: bool = False,
) -> Trends:
    """Follow one recording or more. across_devices: other devices and numbers of processes forbid no verdict."""
    unlike = [differences([recordings[baseline]], [each]) for each in recordings]
    found = [_trend(recordings, baseline, key, threshold, across_devices) for key, threshold in FOLLOWED]
    return Trends(
        baseline=baseline,
        recordings=[
            TrendRecording(name=name, steps=len(each.steps[each.kept]), left_out=each.first_kept, differences=differs)
            for name, each, differs in zip(names, recordings, unlike, strict=True)
        ],
        trends=[each for each in found if each is not None],
    )


def numbered(recordings: Sequence[RecordingFigures]) -> list[str]:
    """Name recordings by their runs; with a number where a run has several."""
    runs = [each.run for each in recordings]
    return [run if runs.count(run) == 1 else f"{run} ({runs[: at + 1].count(run)})" for at, run in enumerate(runs)]


def _trend(
    recordings: Sequence[RecordingFigures], baseline: int, key: str, threshold: float, across: bool
) -> Trend | None:
    """Follow one metric; None if no recording has it."""
    metric = metric_of(key)
    assert metric is not None, key
    values = [_positive(metric.values(figures)) for figures in recordings]
    if not any(values):
        return None

    def compared(left: int, right: int) -> Shift | None:
        """Shift one recording against another; None if they cannot be compared."""
        alike = _are_alike(recordings[left], recordings[right], metric, across)
        if left == right or not alike or not values[left] or not values[right]:
            return None
        return shift([values[left]], [values[right]], Scale(relative=True, between=metric.between))

    limit = log(1 + threshold)
    of_base = [compared(baseline, index) for index in range(len(recordings))]
    of_last = [compared(index - 1, index) if index else None for index in range(len(recordings))]
    sure = _discoveries(of_base)
    typical = [median_of(series) if series else None for series in values]
    # one level is looked for: what is unlike the last recording, or has no value, is not of it
    same = [
        index
        for index, figures in enumerate(recordings)
        if typical[index] is not None and _are_alike(figures, recordings[-1], metric, across)
    ]
    levels = np.log([value for index in same if (value := typical[index]) is not None])
    return Trend(
        metric=key,
        threshold=threshold,
        points=[
            _point(value, base, last, q, limit)
            for value, base, last, q in zip(typical, of_base, of_last, sure, strict=True)
        ],
        last=_placed(_level_change(levels, len(same) - LAST, LAST, LEVEL), same),
        change_point=_placed(_change_point(levels, limit), same),
    )


def _positive(values: Sequence[float] | None) -> list[float]:
    """Return the values, or none where a step has none of it: ratios could not be formed."""
    return list(values) if values and min(values) > 0 else []


def _are_alike(left: RecordingFigures, right: RecordingFigures, metric: Metric, across: bool) -> bool:
    for each in differences([left], [right]):
        if each.forbids == "all" or (each.forbids == "across" and not across):
            return False
        if each.forbids == "host" and metric.is_of_host:
            return False
    return True


def _discoveries(shifts: Sequence[Shift | None]) -> list[float | None]:
    """Return q of each, from the normal distribution whose 95 % interval is that of the shift."""
    known = [at for at, each in enumerate(shifts) if each is not None and each.half is not None]
    p = [_p(each) for at in known if (each := shifts[at]) is not None]
    found: list[float | None] = [None] * len(shifts)
    for at, q in zip(known, adjusted(np.array(p, np.float64)).tolist(), strict=True):
        found[at] = q
    return found


def _p(found: Shift) -> float:
    """Return the two-sided p, with the half of the interval that is on the side of 0."""
    if found.shift is None or found.lower is None or found.upper is None:
        return 1.0
    half = found.shift - found.lower if found.shift > 0 else found.upper - found.shift
    if half <= 0:
        return 0.0 if found.shift else 1.0
    return erfc(Z * abs(found.shift) / half / sqrt(2))


def _point(value: float | None, base: Shift | None, last: Shift | None, q: float | None, limit: float) -> TrendPoint:
    outcome: Verdict = "unknown" if base is None else verdict(base, limit)
    if outcome in ("regressed", "improved") and (q is None or q > LEVEL):
        outcome = "inconclusive"
    return TrendPoint(
        value=value,
        shift=None if base is None else _relative(base.shift),
        low=None if base is None else _relative(base.lower),
        high=None if base is None else _relative(base.upper),
        q=q,
        verdict=outcome,
        since=None if last is None else _relative(last.shift),
        since_low=None if last is None else _relative(last.lower),
        since_high=None if last is None else _relative(last.upper),
        since_verdict="unknown" if last is None else verdict(last, limit),
    )


def _change_point(levels: Float64, limit: float) -> LevelChange | None:
    """Find the largest significant level change, of all places with three or more recordings on both sides.

    As many places are tried, each is asked for as much more: of recordings without a change one of twenty series has
    a change point at most.
    """
    places = range(LAST, len(levels) - LAST + 1)
    found = [
        each
        for at in places
        if (each := _level_change(levels, at, BEFORE, LEVEL / len(places))) is not None
        and (each.low > 0 or each.high < 0)
        and abs(log(1 + each.shift)) >= limit
    ]
    return max(found, key=lambda each: abs(log(1 + each.shift)), default=None)


def _level_change(levels: Float64, first: int, after: int, level: float) -> LevelChange | None:
    """Compare the windows around a place; None if so few recordings have no interval of that level."""
    windows = levels[max(first - BEFORE, 0) : max(first, 0)], levels[max(first, 0) : first + after]
    if first < 1 or not len(windows[1]):
        return None
    found, low, high = hodges_lehmann(windows[0], windows[1], level)
    if low is None or high is None:
        return None
    before, later = map(len, windows)
    return LevelChange(
        at=first,
        before=before,
        after=later,
        shift=exp(found) - 1,
        low=exp(low) - 1,
        high=exp(high) - 1,
        level=1 - level,
    )


def _placed(found: LevelChange | None, same: Sequence[int]) -> LevelChange | None:
    """Return it with its place among all recordings."""
    return None if found is None else msgspec.structs.replace(found, at=same[found.at])


def _relative(logarithm: float | None) -> float | None:
    return None if logarithm is None else exp(logarithm) - 1


#: traces in one answer: each that was not asked before has to be opened
MOST_TRACES = 200


class TrendScope(Scope, frozen=True):
    """Which traces, and the baseline."""

    base_run: Annotated[str | None, Meta(description="Run of the baseline; where it is not there, the first.")] = None
    base_worker: Annotated[str | None, Meta(description="Its worker; where it is not there, another.")] = None
    base_span: Annotated[str | None, Meta(description="Its span; where it is not there, another.")] = None


class TracesTrends(Trends, frozen=True, kw_only=True):
    """Any number of traces, in the order of their runs.

    traces  which trace each recording is
    notes   which traces are not among them
    """

    traces: Sequence[TraceNames]
    notes: Sequence[Note]


def _recording(subject: Subject, _: NoParameters) -> RecordingFigures:
    return recording_figures(subject.model, subject.run)


RECORDING = Question(
    name="figures/recording",
    summary="What one trace gives to be compared: per step its parts, and what every name did",
    compute=_recording,
    tag="several traces",
    of_steps=False,
    more="A baseline that `torch-tb-profiler check --save` writes is a list of these.",
)


def _of_each(_: TrendScope) -> dict[str, tuple[Question, msgspec.Struct]]:
    return {"recording": (RECORDING, NoParameters())}


def _trends(listed: Sequence[Listed], params: TrendScope) -> TracesTrends:
    known = [trace for trace in listed if trace.answers]
    figures = [trace.answers["recording"] for trace in known if trace.answers]
    notes = absent_traces(
        "compare",
        "trends",
        loading=[trace.file for trace in listed if trace.state in ("queued", "loading")],
        failed=[trace.file for trace in listed if trace.state == "failed"],
    )
    if not figures:
        return TracesTrends(baseline=0, recordings=(), trends=(), traces=(), notes=tuple(notes))
    found = trends(figures, titles_of([(each.run, each.worker, each.span) for each in known]), _baseline(known, params))
    return TracesTrends(
        baseline=found.baseline,
        recordings=found.recordings,
        trends=found.trends,
        traces=[TraceNames(each.run, each.worker, each.span) for each in known],
        notes=tuple(notes),
    )


def _baseline(known: Sequence[Listed], params: TrendScope) -> int:
    """Return the trace that is wanted, else one of its run, else the first."""
    wanted = (params.base_run, params.base_worker, params.base_span)

    def fit(at: int) -> int:
        names = (known[at].run, known[at].worker, known[at].span)
        alike = [name is None or name == of for name, of in zip(wanted, names, strict=True)]
        return sum(alike) if alike[0] else 0

    return max(range(len(known)), key=lambda at: (fit(at), -at))


TRENDS = Question(
    name="compare/trends",
    summary="How step time and busy time change over any number of traces",
    each=_of_each,
    most=MOST_TRACES,
    compute=_trends,
    more="How a change is judged, and what a change point is: docs/compare-two-runs.md.",
)
