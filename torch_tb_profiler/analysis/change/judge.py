"""Judge one rule on two sides: the change, its bounds, the verdict, and the sentence that says what changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.analysis.change.figures import RecordingDifference, RecordingFigures
from torch_tb_profiler.analysis.change.metrics import (
    GateRule,
    Metric,
    MetricUnit,
    median_of,
    metric_of,
    slow_steps,
    typical_step,
)
from torch_tb_profiler.analysis.change.name_lists import moved_names
from torch_tb_profiler.analysis.change.parts import Headline
from torch_tb_profiler.analysis.change.question import ChangeAnswer, ChangedWork
from torch_tb_profiler.analysis.change.shift import (
    LEAST_RECORDINGS,
    LEAST_VALUES,
    DataNeeded,
    Scale,
    Shift,
    Verdict,
    detectable,
    needed,
    shift,
    verdict,
)
from torch_tb_profiler.analysis.change.statistics import LEVEL, fisher_rise
from torch_tb_profiler.words.files import part_name

Sides = tuple[Sequence[RecordingFigures], Sequence[RecordingFigures]]


class JudgedRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule, and what it found. Times in ns.

    rule        the rule
    unit        of base, new, threshold and, where it is not relative, of change and what follows it
    base        typical value of the baseline: the median over its steps, of several recordings of their medians; null
                where it was not recorded; of all names (`kernel(*)`) that of the one that became slower by most
    new         the same of the new recordings
    scale       relative: change, lower, upper and detectable are parts of the baseline, 0.05 is 5 % more; absolute:
                they are differences in the unit
    change      how much more; null if unknown
    lower       95 % interval of the change, or the change itself where it is exact; null without verdict
    upper       its other end
    detectable  the smallest change that this data shows in 80 of 100 cases; 0 where it is exact; null without verdict
    needed      what would decide; null if it is decided, or cannot be said
    test        how it was compared: steps, recordings (a median each), exact, or cases (Fisher's exact test)
    counts      how many values there are on each side
    threshold   the limit in the unit, of this baseline; null without one
    verdict     regressed, improved, unchanged, inconclusive, or unknown where there is none
    reason      why there is no verdict; null if there is one
    """

    rule: GateRule
    unit: MetricUnit
    base: float | None
    new: float | None
    scale: Literal["relative", "absolute"]
    change: float | None
    lower: float | None
    upper: float | None
    detectable: float | None
    needed: DataNeeded | None
    test: Literal["steps", "recordings", "exact", "cases"]
    counts: tuple[Count, Count]
    threshold: float | None
    verdict: Verdict
    reason: str | None


def judge(rule: GateRule, sides: Sides, unlike: Sequence[RecordingDifference]) -> JudgedRule:
    """Apply one rule to two sides. unlike: the differences between the sides that forbid a comparison."""
    metric = metric_of(rule.metric)
    assert metric is not None  # the rule was parsed
    values = tuple([series for figures in side if (series := metric.values(figures)) is not None] for side in sides)
    base, new = values
    if len(base) < len(sides[0]) or len(new) < len(sides[1]):
        where = "on both sides" if not base and not new else "in every recording"
        return _unknown(rule, metric, values, f"it was not recorded {where}")
    if metric.kind == "damage":
        return _damage(rule, sides, values)
    for difference in unlike:
        if difference.forbids in ("all", "across") or (difference.forbids == "host" and metric.is_of_host):
            return _unknown(rule, metric, values, difference.text)
    if metric.kind == "list":
        return _listed(rule, metric, sides, values)
    if metric.kind == "tail":
        return _tail(rule, metric, sides, values)
    if metric.kind == "most" or (metric.kind == "count" and _is_plain(values)):
        return _exact(rule, metric, values)
    return _shifted(rule, metric, values, typical_step(sides[0]))


def _shifted(rule: GateRule, metric: Metric, values: Sequence[list[Sequence[float]]], step: float) -> JudgedRule:
    base, new = values
    typical = _typical(base)
    if metric.kind == "ratio" and not any(each for side in values for series in side for each in series):
        return _unknown(rule, metric, values, "nothing of this name was recorded")
    relative = metric.kind == "ratio" and all(each > 0 for side in values for series in side for each in series)
    whole = step if metric.kind == "part" else typical or 0.0
    scale = Scale(relative, metric.between if relative else metric.between * whole)
    estimate = shift(base, new, scale)
    limit = rule.limit if rule.relative or not whole else rule.limit / whole
    threshold = rule.limit * whole if rule.relative else rule.limit
    bound = math.log1p(limit) if relative else threshold
    outcome = verdict(estimate, bound)
    return JudgedRule(
        rule=rule,
        unit=metric.unit,
        base=typical,
        new=_typical(new),
        scale="relative" if relative else "absolute",
        change=_plain(estimate.shift, relative),
        lower=_plain(estimate.lower, relative),
        upper=_plain(estimate.upper, relative),
        detectable=_plain(detectable(estimate), relative),
        needed=needed(estimate, bound) if outcome == "inconclusive" and bound > 0 else None,
        test="recordings" if estimate.unit == "recording" else "steps",
        counts=(estimate.base, estimate.new),
        threshold=threshold,
        verdict=outcome,
        reason=_why(estimate) if outcome == "unknown" else None,
    )


def _why(found: Shift) -> str:
    return _too_few(found.base, found.new)


def _too_few(base: int, new: int) -> str:
    fewest = min(base, new)
    return (
        f"{fewest or 'no'} step{'' if fewest == 1 else 's'} on a side: {LEAST_VALUES} steps, or {LEAST_RECORDINGS} "
        "recordings on each side, are the least for a verdict"
    )


def _exact(rule: GateRule, metric: Metric, values: Sequence[list[Sequence[float]]]) -> JudgedRule:
    """Compare what does not vary, where any difference is a fact: of peaks the largest of a side, of counts the
    mean.
    """
    if not all(series for side in values for series in side):
        return _unknown(rule, metric, values, "there are no steps")
    of = max if metric.kind == "most" else _mean
    base, new = (float(of([each for series in side for each in series])) for side in values)
    threshold = rule.limit * base if rule.relative else rule.limit
    rise = new - base
    outcome: Verdict = "unchanged"
    if rise > threshold:
        outcome = "regressed"
    elif rise < -threshold:
        outcome = "improved"
    relative = rule.relative and base > 0
    change = rise / base if relative else rise
    return JudgedRule(
        rule=rule,
        unit=metric.unit,
        base=base,
        new=new,
        scale="relative" if relative else "absolute",
        change=change,
        lower=change,
        upper=change,
        detectable=0.0,
        needed=None,
        test="exact",
        counts=_counts(values),
        threshold=threshold,
        verdict=outcome,
        reason=None,
    )


def _tail(rule: GateRule, metric: Metric, sides: Sides, values: Sequence[list[Sequence[float]]]) -> JudgedRule:
    """Test for more slow steps than chance makes of the same share."""
    cases = [sum(map(slow_steps, side)) for side in sides]
    counts = _counts(values)
    if not min(counts):
        return _unknown(rule, metric, values, "there are no steps")
    outcome: Verdict = "unchanged"
    if fisher_rise((cases[0], counts[0]), (cases[1], counts[1])) < LEVEL:
        outcome = "regressed"
    elif fisher_rise((cases[1], counts[1]), (cases[0], counts[0])) < LEVEL:
        outcome = "improved"
    return JudgedRule(
        rule=rule,
        unit="count",
        base=float(cases[0]),
        new=float(cases[1]),
        scale="absolute",
        change=float(cases[1] - cases[0]),
        lower=None,
        upper=None,
        detectable=None,
        needed=None,
        test="cases",
        counts=counts,
        threshold=None,
        verdict=outcome,
        reason=None,
    )


def _listed(rule: GateRule, metric: Metric, sides: Sides, values: Sequence[list[Sequence[float]]]) -> JudgedRule:
    """Judge the name that became slower by most: base, new and change are its own."""
    counts = _counts(values)
    if min(counts) < LEAST_VALUES:
        return _unknown(rule, metric, values, _too_few(*counts))
    names = moved_names("kernel" if metric.key.startswith("kernel") else "operator", *sides)
    tested = [
        (each, each.change or 0.0, each.change if rule.relative else each.change_ns)
        for each in names
        if each.verdict in ("slower", "faster") and each.change is not None
    ]
    over = [(each, part) for each, part, amount in tested if part > 0 and (amount or 0.0) >= rule.limit]
    under = [each for each, part, amount in tested if part < 0 and -(amount or 0.0) >= rule.limit]
    worst = max(over, key=lambda found: found[0].change_ns)[0] if over else None
    return JudgedRule(
        rule=rule,
        unit="ns",
        base=worst.base_ns if worst else None,
        new=worst.new_ns if worst else None,
        scale="relative",
        change=worst.change if worst else None,
        lower=worst.lower if worst else None,
        upper=worst.upper if worst else None,
        detectable=None,
        needed=None,
        test="steps",
        counts=counts,
        threshold=None,
        verdict="regressed" if over else "improved" if under else "unchanged",
        reason=None,
    )


def _damage(rule: GateRule, sides: Sides, values: Sequence[list[Sequence[float]]]) -> JudgedRule:
    """Count notes on either side: numbers of a damaged recording say nothing."""
    base, new = (sum(sum(series) for series in side) for side in values)
    notes = [note for side in sides for each in side for note in each.notes if note.severity == "error"]
    return JudgedRule(
        rule=rule,
        unit="count",
        base=base,
        new=new,
        scale="absolute",
        change=new - base,
        lower=None,
        upper=None,
        detectable=None,
        needed=None,
        test="exact",
        counts=_counts(values),
        threshold=0.0,
        verdict="unknown" if notes else "unchanged",
        reason=f"a recording is damaged: {notes[0].text}" if notes else None,
    )


def _unknown(rule: GateRule, metric: Metric, values: Sequence[list[Sequence[float]]], reason: str) -> JudgedRule:
    base, new = values
    return JudgedRule(
        rule=rule,
        unit=metric.unit,
        base=_typical(base),
        new=_typical(new),
        scale="absolute",
        change=None,
        lower=None,
        upper=None,
        detectable=None,
        needed=None,
        test="steps",
        counts=_counts(values),
        threshold=None,
        verdict="unknown",
        reason=reason,
    )


def _is_plain(values: Sequence[list[Sequence[float]]]) -> bool:
    """Return whether counts need no test: the baseline never varies, and the new side does neither, or only goes one
    way.
    """
    base, new = ([each for series in side for each in series] for side in values)
    if not base or not new or min(base) < max(base):
        return False
    return min(new) >= base[0] or max(new) <= base[0]


def _typical(side: Sequence[Sequence[float]]) -> float | None:
    medians = [median_of(series) for series in side if len(series)]
    return median_of(medians) if medians else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _counts(values: Sequence[list[Sequence[float]]]) -> tuple[int, int]:
    base, new = (sum(map(len, side)) for side in values)
    return base, new


def _plain(value: float | None, relative: bool) -> float | None:
    return math.expm1(value) if relative and value is not None else value


#: of milliseconds, microseconds and nanoseconds: what is shown in them, from how many ns on
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))

#: the step, by verdict
_SURE = {
    "regressed": "Significantly longer.",
    "improved": "Significantly shorter.",
    "unchanged": "Not slower.",
    "inconclusive": "Inconclusive with these steps.",
    "unknown": "Too few steps for a verdict: four on each side are needed.",
}


def verdict_word(verdict: Verdict, is_time: bool = True) -> str:
    """Return a verdict as people read it: `unchanged` rules out a relevant increase, and says nothing of less."""
    if verdict != "unchanged":
        return verdict
    return "not slower" if is_time else "not more"


def sentence(answer: ChangeAnswer) -> str:
    """Say what changed, such as `Steps are 12.1 ms slower (+6.2 %, a typical step takes 4.9 to 7.4 % more): …`."""
    delta, before = answer.delta_ns, answer.baseline.step_ns
    if delta is None or not before:
        return "A side has no steps, so no mean step can be compared."
    if not delta:
        return "Steps take as long as before, to the nanosecond."
    found = [f"{100 * delta / before:+.1f} %"]
    if answer.step is not None and answer.step.low is not None and answer.step.high is not None:
        found.append(f"a typical step takes {between(answer.step.low, answer.step.high)}")
    told = f"Steps are {duration(abs(delta))} {'slower' if delta > 0 else 'faster'} ({', '.join(found)})"
    return f"{told}: {because(answer.headline)}" if answer.headline else f"{told}."


def between(low: float, high: float) -> str:
    """Return the interval of a relative change in words.

    >>> between(0.049, 0.074), between(-0.524, -0.278), between(-0.012, 0.034), between(0.05, 0.0501)
    ('4.9 to 7.4 % more', '27.8 to 52.4 % less', '1.2 % less to 3.4 % more', '5.0 % more')
    """
    least, most = (f"{100 * abs(bound):.1f}" for bound in (low, high))
    if low < 0 < high:
        return f"{least} % less to {most} % more"
    if low < 0:
        least, most = most, least
    return f"{least if least == most else f'{least} to {most}'} % {'less' if low < 0 else 'more'}"


def because(headline: Headline) -> str:
    """Return the clause that names the largest contributor."""
    part = part_name(headline.cause)
    cause = f"most of it {part if part == 'Python' else part[0].lower() + part[1:]} ({_signed(headline.cause_ns)})"
    if headline.kind is None or headline.delta_ns is None:
        return f"{cause}."
    name = headline.exp_label or headline.label or ""
    subject = f"`{name}` of `{headline.operator}`" if headline.is_kernel and headline.operator else f"`{name}`"
    more = headline.delta_ns > 0
    if headline.kind == "replaced":
        event = f"`{headline.operator or name}` runs `{headline.exp_label}` in place of `{headline.label}`"
    elif headline.kind == "calls":
        event = f"{'more' if more else 'fewer'} calls of {subject}"
    elif headline.kind == "speed":
        event = f"{subject} is {'slower' if more else 'faster'}"
    else:
        event = f"{subject} is {headline.kind}"
    return f"{cause}; {event} ({_signed(headline.delta_ns)})."


def sureness(answer: ChangeAnswer) -> str:
    """Return a clause that says how certain the change of the step is."""
    if answer.step is None:
        return _SURE["unknown"]
    if any(each.forbids == "all" for each in answer.differences):
        return "Both sides are too different for a verdict."
    told = _SURE[answer.step.verdict]
    if answer.step.detectable is None or answer.step.verdict in ("regressed", "improved"):
        return told
    return f"{told} Such steps show changes from {100 * answer.step.detectable:.1f} % on."


def what_happened(work: ChangedWork) -> str:
    """Say what most of the change of some work is: `slower`, `fewer calls`, `new`, …."""
    more = work.delta_ns > 0
    if not work.delta_ns and work.kind in ("calls", "speed"):
        return "unchanged"
    if work.kind == "calls":
        return "more calls" if more else "fewer calls"
    if work.kind == "speed":
        return work.verdict if work.verdict in ("unchanged", "unclear") else "slower" if more else "faster"
    return work.kind


def duration(ns: float) -> str:
    """Format a duration with three significant digits.

    >>> duration(12_345_678), duration(999), duration(0)
    ('12.3 ms', '999 ns', '0 ns')
    """
    size, unit = next((each for each in _UNITS if abs(ns) >= each[0]), _UNITS[-1])
    value = ns / size
    decimals = 0 if size == 1 else max(0, 3 - len(str(int(abs(value)))))
    return f"{value:.{decimals}f} {unit}"


def _signed(ns: float) -> str:
    return f"{'+' if ns > 0 else '-' if ns < 0 else ''}{duration(abs(ns))}"
