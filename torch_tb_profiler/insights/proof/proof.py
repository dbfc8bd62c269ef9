"""The verdict on a finding, on its prediction, and on what else changed (docs/prove.md)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, expm1, hypot, sqrt
from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.analysis.answer import NS_IN_MS, digits
from torch_tb_profiler.analysis.change.figures import RecordingFigures, differences
from torch_tb_profiler.analysis.change.gate import changed_parts
from torch_tb_profiler.analysis.change.metrics import OF_STEPS, metric_of
from torch_tb_profiler.analysis.change.shift import LEAST_RECORDINGS, LEAST_VALUES, Scale, shift
from torch_tb_profiler.analysis.change.statistics import LEVEL, Z, quantile
from torch_tb_profiler.analysis.waterfall.waterfall import is_below
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.insights.places import without_numbers
from torch_tb_profiler.insights.proof.answer import (
    Agreement,
    ChangedPart,
    ChangedQuantity,
    FindingSignature,
    FindingVerdict,
    Predicted,
    ProofAnswer,
    ProvedMeasure,
)
from torch_tb_profiler.insights.proof.measures import Measure, MeasureUnit, measure_of
from torch_tb_profiler.insights.proof.sentences import proof_words, sentence_of
from torch_tb_profiler.insights.rule import Finding

#: gone: what is left of the measure is at most this part of it, or of the step; and for certain at most the third
_LEFT, _LEFT_OF_STEP, _CERTAINLY_LEFT = 0.05, 0.003, 0.1
#: unchanged: the whole interval lies within this part of the measure, either way
_SAME = 0.1
#: moved: the step gains less than this part of what the measure lost
_MOVED = 0.5
#: another change is told from this part of the step, and of its gain, on
_LEAST_OF_STEP, _LEAST_OF_GAIN = 0.01, 0.2
#: FLOP of a step that differ by more are other work, such as another batch size
_SAME_WORK = 0.02
_MOST_PARTS, _MOST_PAIRS = 8, 100


def signature_of(finding: Finding) -> FindingSignature:
    """Return what makes a finding the same in another recording."""
    where = finding.where
    if where is None:
        return FindingSignature(finding.id, None, None, None, None)
    module = None if where.module is None else without_numbers(where.module)
    return FindingSignature(finding.id, where.operator, where.function, module, where.annotation)


class _Estimate(msgspec.Struct, frozen=True):
    """before − after of a quantity: the estimate and its 95 % interval; None where there is too little.

    most  of any step after the change; None if less than half of the steps before it had any, so that little may be
          an accident
    """

    before: float
    after: float
    less: float
    low: float | None
    high: float | None
    most: float | None = None

    def changed(self, per: float) -> ChangedQuantity:
        """Return it in a unit of `per`, with four significant digits."""
        before, after, less = (digits(value / per) or 0.0 for value in (self.before, self.after, self.less))
        return ChangedQuantity(
            before=before, after=after, less=less, low=_digits(self.low, per), high=_digits(self.high, per)
        )


def _digits(value: float | None, per: float) -> float | None:
    return None if value is None else digits(value / per)


def _estimate(before: Sequence[Float64], after: Sequence[Float64], between: float, relative: bool = False) -> _Estimate:
    """Compare the values of the steps of recordings.

    In pairs where both sides have three or more, with Student's interval of the differences of their means; otherwise
    by the shift between all steps.

    between    spread between recordings of one program, one standard deviation; a part of the value if relative
    relative   all values are above 0, and compared as ratios
    """
    means = [np.array([float(values.mean()) for values in side]) for side in (before, after)]
    first, second = (float(side.mean()) for side in means)
    steps = [np.concatenate(side) for side in (before, after)]
    spreads = [float(np.ptp(side)) for side in steps]
    most = float(steps[1].max()) if 2 * int(np.count_nonzero(steps[0])) >= len(steps[0]) else None
    if _is_paired(before, after):
        difference = np.log(means[1] / means[0]) if relative else means[1] - means[0]
        half = quantile(LEVEL / 2, len(difference) - 1) * float(difference.std(ddof=1)) / sqrt(len(difference))
        lower, upper = float(difference.mean()) - half, float(difference.mean()) + half
    elif not relative and spreads == [0.0, 0.0]:
        # no step differs from the others on its side: an exact count
        lower = upper = second - first
    else:
        found = shift([list(one) for one in before], [list(one) for one in after], Scale(relative, between))
        if found.lower is None or found.upper is None:
            return _Estimate(first, second, first - second, None, None, most)
        lower, upper = found.lower, found.upper
    if relative:
        lower, upper = first * expm1(lower), first * expm1(upper)
        # a share of a step whose own length these recordings know as well as their spread lets them
        middle, of_base = (lower + upper) / 2, Z * between / sqrt(len(before)) * (second - first)
        half = hypot((upper - lower) / 2, of_base)
        lower, upper = middle - half, middle + half
    return _Estimate(first, second, first - second, -upper, -lower, most)


def _is_paired(before: Sequence[object], after: Sequence[object]) -> bool:
    return len(before) == len(after) >= LEAST_RECORDINGS


def _verdict(measured: _Estimate, step_ns: float, unit: MeasureUnit) -> FindingVerdict:
    low, high, before = measured.low, measured.high, measured.before
    of_step = _LEFT_OF_STEP * step_ns if unit == "ns" else 0.0
    if low is None or high is None or before <= of_step:
        return "cannot_tell"
    least = max(_LEFT * before, of_step)
    left = before - low if measured.most is None else min(before - low, measured.most)
    if measured.after <= least and left <= max(_CERTAINLY_LEFT * before, least):
        return "gone"
    if -_SAME * before <= low and high <= _SAME * before:
        return "unchanged"
    if low > 0:
        return "reduced"
    return "worse" if high < 0 else "cannot_tell"


def _grown(
    measured: _Estimate, gain: _Estimate, parts: Sequence[ChangedPart], metrics: Sequence[str]
) -> list[ChangedPart]:
    """Return what seems to have taken the place of a cause: the step gained less than half of what its measure lost."""
    lost = measured.less / NS_IN_MS
    if gain.less >= _MOVED * measured.less:
        return []
    grown = [part for part in parts if part.less < 0 and not any(is_below(part.cause, name) for name in metrics)]
    enough = -sum(part.less for part in grown) >= _MOVED * (lost - gain.less / NS_IN_MS)
    return sorted(grown, key=lambda part: part.less) if enough else []


def _agreement(predicted: Predicted | None, gain: _Estimate | None) -> Agreement:
    if predicted is None or predicted.low is None or predicted.high is None:
        return "no_prediction"
    if gain is None or gain.low is None or gain.high is None:
        return "cannot_tell"
    low, high = gain.low / NS_IN_MS, gain.high / NS_IN_MS
    if high < predicted.low:
        return "less"
    return "more" if low > predicted.high else "as_predicted"


def _predicted(finding: Finding) -> Predicted | None:
    saving = finding.saving
    if saving is None or saving.alone_ns is None:
        return None
    low, high = saving.low_ns, saving.high_ns
    # the interval is of what is saved after others; alone it may be more
    ends = None if low is None or high is None else (min(low, saving.alone_ns), max(high, saving.alone_ns))
    shown = [_digits(value, NS_IN_MS) for value in (saving.alone_ns, *(ends or (None, None)))]
    return Predicted(shown[0] or 0.0, shown[1], shown[2], saving.bound)


class Side(msgspec.Struct, frozen=True):
    """The recordings before or after a change.

    figures   one entry for each recording, of one process
    findings  signatures of the findings of the first; None if they were not looked at
    flops     FLOP of its average step; None if unknown
    """

    figures: Sequence[RecordingFigures]
    findings: Sequence[FindingSignature] | None = None
    flops: float | None = None


def prove(
    finding: Finding, before: Side, after: Side, across_devices: bool = False, work_changed: bool = False
) -> ProofAnswer:
    """Say whether a change removed the cause of a finding, and gained what was predicted.

    across_devices   other devices forbid no verdict
    work_changed     the steps after the change do another amount of work: times are compared per FLOP
    """
    sides = before.figures, after.figures
    unlike = differences(*sides)
    measure, predicted = measure_of(finding, before.figures[0]), _predicted(finding)
    reason = _refusal(before, after, across_devices, work_changed)
    scale = before.flops / after.flops if work_changed and before.flops and after.flops else 1.0
    values = [[np.asarray(one.step_ns[one.kept], np.float64) for one in side] for side in sides]
    has_steps = all(len(one) for side in values for one in side)
    gain = None
    if has_steps:
        gain = _estimate(values[0], [one * scale for one in values[1]], OF_STEPS, relative=True)
    parts = [
        ChangedPart(part.cause, _digits(-part.change_ns, NS_IN_MS) or 0.0)
        for part in (changed_parts(*sides) if sides[0][0].basis == sides[1][0].basis else [])
    ]
    moved: list[ChangedPart] = []
    proved = None
    if reason is None and gain is not None and measure is not None:
        measured = _measured(measure, sides, scale, gain.before)
        if measured is not None:
            verdict = _verdict(measured, gain.before, measure.unit)
            if any(one.forbids == "host" for one in unlike) and _is_of_host(measure):
                verdict = "cannot_tell"
            if measure.unit == "ns" and verdict in ("gone", "reduced"):
                moved = _grown(measured, gain, parts, measure.metrics)
                is_certain = gain.high is not None and gain.high < _MOVED * measured.less
                verdict = verdict if not moved else "moved" if is_certain else "cannot_tell"
            proved = ProvedMeasure(
                metrics=measure.metrics,
                unit="ms" if measure.unit == "ns" else "count",
                verdict=verdict,
                **asdict(measured.changed(NS_IN_MS if measure.unit == "ns" else 1.0)),
            )
    least = 0.0 if gain is None else max(_LEAST_OF_STEP * gain.before, _LEAST_OF_GAIN * abs(gain.less)) / NS_IN_MS
    own = () if measure is None else measure.metrics
    answer = _certainty(reason, proved, gain)
    agreement = "cannot_tell" if reason is not None else _agreement(predicted, gain)
    step = None if gain is None else gain.changed(NS_IN_MS)
    return ProofAnswer(
        answer=answer,
        sentence=sentence_of(reason, proved, predicted, step, agreement, moved),
        why=None if reason is None else proof_words("reasons").say(reason, {}),
        finding=finding.key,
        signature=signature_of(finding),
        still_found=None if after.findings is None else signature_of(finding) in after.findings,
        predicted=predicted,
        measure=proved,
        step=step,
        agreement=agreement,
        moved=moved[:_MOST_PARTS] if proved is not None and proved.verdict == "moved" else [],
        others=[
            part for part in parts if abs(part.less) >= least and not any(is_below(part.cause, name) for name in own)
        ][:_MOST_PARTS],
        unlike=[one.text for one in unlike],
        recordings=(len(sides[0]), len(sides[1])),
        paired=_is_paired(*sides),
        more=None if reason is not None else _pairs_needed(proved, len(sides[0])),
    )


def _refusal(before: Side, after: Side, across_devices: bool, work_changed: bool) -> str | None:
    """Return why nothing can be said; None if something can."""
    hashes = [{digest for one in side.figures for digest in one.sha256} for side in (before, after)]
    if hashes[0] & hashes[1]:
        return "same_recording"
    forbids = {one.forbids for one in differences(before.figures, after.figures)}
    if "all" in forbids:
        return "other_recording"
    if "across" in forbids and not across_devices:
        return "other_devices"
    if min(len(one.steps[one.kept]) for side in (before, after) for one in side.figures) < LEAST_VALUES:
        return "few_steps"
    if not work_changed and before.flops and after.flops and abs(after.flops / before.flops - 1) > _SAME_WORK:
        return "other_work"
    return None


def _measured(
    measure: Measure, sides: tuple[Sequence[RecordingFigures], ...], scale: float, step_ns: float
) -> _Estimate | None:
    values = [[measure.of(one) for one in side] for side in sides]
    known = [[one for one in side if one is not None] for side in values]
    if any(len(some) < len(every) for some, every in zip(known, values, strict=True)):
        return None
    factor = scale if measure.unit == "ns" else 1.0
    return _estimate(known[0], [one * factor for one in known[1]], OF_STEPS * step_ns if measure.unit == "ns" else 0.0)


def _is_of_host(measure: Measure) -> bool:
    return any(metric is not None and metric.is_of_host for metric in map(metric_of, measure.metrics))


def _certainty(
    reason: str | None, proved: ProvedMeasure | None, gain: _Estimate | None
) -> Literal["yes", "partly", "cannot"]:
    if reason == "same_recording":
        return "yes"
    if reason is not None or gain is None:
        return "cannot"
    is_proved = proved is not None and proved.verdict != "cannot_tell"
    return "yes" if is_proved else "partly" if gain.low is not None else "cannot"


def _pairs_needed(proved: ProvedMeasure | None, pairs: int) -> int | None:
    """Return how many pairs would decide: half-widths shrink with the square root of their number."""
    if proved is None or proved.verdict != "cannot_tell" or proved.low is None or proved.high is None:
        return None if proved is None or proved.verdict != "cannot_tell" else LEAST_RECORDINGS
    if not proved.less:
        return None
    half = (proved.high - proved.low) / 2
    count = max(ceil(max(pairs, 1) * (half / abs(proved.less)) ** 2), pairs + 1, LEAST_RECORDINGS)
    return count if count <= _MOST_PAIRS else None
