"""What changed between two traces: the step taken apart, and the names that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction as Exact
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, Definition, Ns, NsMean, TraceMeta
from torch_tb_profiler.analysis.change.change import (
    BUSY_THRESHOLD,
    STEP_THRESHOLD,
    Changed,
    ChangedFigure,
    Recording,
    bounds_of_cause,
    changed,
    judged,
    recording,
)
from torch_tb_profiler.analysis.change.figures import RecordingDifference, RecordingFigures, differences
from torch_tb_profiler.analysis.change.matching import How
from torch_tb_profiler.analysis.change.name_lists import CallsMean, ChangedNames, ListVerdict
from torch_tb_profiler.analysis.change.parts import (
    Headline,
    Kind,
    StepChange,
    WorkChange,
    headline,
    label_of,
    main_operator,
    rounded,
)
from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.analysis.result import column, columns_field

#: rows of work in one answer, unless asked otherwise
ROWS = 200
MOST_ROWS = 5_000
#: names that one row lists
_MOST_NAMES = 20


class HowManyRows(msgspec.Struct, frozen=True):
    """How much is listed."""

    limit: Annotated[int, Meta(description="Rows of work, the largest changes.", ge=1, le=MOST_ROWS)] = ROWS


class ChangeSide(msgspec.Struct, frozen=True, kw_only=True):
    """One side.

    recordings  how many
    steps       how many steps count, of all recordings
    left_out    how many first steps do not: one of each recording where four or more remain
    step_ns     the mean step; null without steps
    """

    recordings: Count
    steps: Count
    left_out: Count
    step_ns: NsMean | None


class ChangedCause(msgspec.Struct, frozen=True, kw_only=True):
    """A cause of the waterfall on both sides, of a mean step.

    cause      its id
    before_ns  in the baseline
    exp_ns     in the experiment
    delta_ns   experiment − baseline; of all causes they add up to the change of the step
    low_ns     lower bound of the 95 % interval of the change in a typical step; null with fewer than four steps
    high_ns    upper bound; where 0 is between both the change is within the noise
    """

    cause: str
    before_ns: NsMean
    exp_ns: NsMean
    delta_ns: Ns
    low_ns: NsMean | None
    high_ns: NsMean | None


class ChangedWork(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel, or host time of an operator, on both sides, of a mean step; a side may have nothing.

    label          what to call it in the baseline: short name of the kernel with most time, or the operator; empty if
                   there is nothing
    operator       the outermost operator that most of the work belongs to, in the baseline; of host time the operator.
                   Empty where there is nothing
    kind           the larger part of the change: calls (another number of them), speed (other durations), new, gone (on
                   one side only) or replaced (other work in its place)
    delta_ns       experiment − baseline, per mean step: only time that nothing else hides
    verdict        for kernels with one name on both sides and no other row, otherwise empty. Slower, faster: the
                   durations per step changed by more than 2 %, at a false discovery rate of 5 %. Unchanged: the 95 %
                   interval is within ± 2 %. Unclear: neither. Not tested: fewer than four steps
    before_ns      per mean step of the baseline: only time that nothing else hides
    exp_ns         per mean step of the experiment: only time that nothing else hides
    calls          calls per mean step of the baseline
    exp_calls      calls per mean step of the experiment
    calls_ns       the part of the change that comes from more or fewer calls
    speed_ns       the part of the change that comes from slower or faster calls
    full_ns        Σ durations in a mean step of the baseline, whether something else ran at the same time or not
    exp_full_ns    Σ durations in a mean step of the experiment, whether something else ran at the same time or not
    how            how both sides were found to be the same work: name, place (the same kernel of a call of the same
                   operator), launch (names that differ by configuration alone), renamed, parent; empty if one side
                   has nothing
    causes         the causes of the waterfall that the work contributes to, on either side
    exp_operator   `operator` in the experiment
    kernels        names in the baseline, at most 20; empty of host time, and where there is nothing
    exp_kernels    the same in the experiment
    exp_label      `label` in the experiment
    names          how many names are put together on the side that has more
    """

    label: Annotated[str | None, column("Name")]
    operator: Annotated[str | None, column("Operator")]
    kind: Annotated[Kind, column("What happened")]
    delta_ns: Annotated[Ns, column("Δ")]
    verdict: Annotated[ListVerdict | None, column("Verdict")]
    before_ns: Annotated[NsMean, column("Baseline")]
    exp_ns: Annotated[NsMean, column("Experiment")]
    calls: Annotated[CallsMean, column("Baseline calls", hidden=True)]
    exp_calls: Annotated[CallsMean, column("Experiment calls", hidden=True)]
    calls_ns: Annotated[Ns, column("Δ by calls", hidden=True)]
    speed_ns: Annotated[Ns, column("Δ by speed", hidden=True)]
    full_ns: Annotated[NsMean, column("Baseline, hidden or not", hidden=True)]
    exp_full_ns: Annotated[NsMean, column("Experiment, hidden or not", hidden=True)]
    how: Annotated[How | None, column("Matched by", hidden=True)]
    causes: Annotated[Sequence[str], column("Cause", hidden=True)]
    exp_operator: str | None
    kernels: Sequence[str]
    exp_kernels: Sequence[str]
    exp_label: str | None
    names: Count


class ChangeAnswer(Answer, frozen=True, kw_only=True):
    """What changed between two sides, of one recording or more each.

    meta        a trace of the baseline
    exp         a trace of the experiment
    baseline    the steps of the baseline
    experiment  those of the experiment
    delta_ns    change of the mean step; null without steps on a side
    step        the step, judged; null without steps on a side
    busy        time in which any kernel, copy or fill ran, judged; null if a side has none
    differences  differences between the sides, and what cannot be judged because of them
    headline    the largest contributor; null if nothing moved with the step
    causes      the largest change first; the changes add up to delta_ns exactly
    kinds       change of all work by kind; with unnamed_ns they add up to delta_ns exactly
    unnamed_ns  change of causes without kernels or operators, such as waiting for data
    work_known  false where a recording was saved as a baseline, without what each kernel has of the step: `unnamed_ns`
                is then the whole change, and `work` is empty
    work        kernels and operators, the largest change first
    columns     what the columns of `work` are
    left_out    how many more there are
    left_out_ns  Σ of their changes: with those of `work` and unnamed_ns they add up to delta_ns exactly
    operators   each by name
    kernels     each by name
    """

    meta: TraceMeta
    exp: TraceMeta
    baseline: ChangeSide
    experiment: ChangeSide
    delta_ns: Ns | None
    step: ChangedFigure | None
    busy: ChangedFigure | None
    differences: Sequence[RecordingDifference]
    headline: Headline | None
    causes: Sequence[ChangedCause]
    kinds: Mapping[str, Ns]
    unnamed_ns: Ns
    work_known: bool
    work: Sequence[ChangedWork]
    columns: Sequence[Definition] = columns_field("changed_work", ChangedWork)
    left_out: Count
    left_out_ns: Ns
    operators: ChangedNames
    kernels: ChangedNames


def change_answer(compared: Changed, meta: TraceMeta, exp: TraceMeta, limit: int = ROWS) -> ChangeAnswer:
    """Make the answer of a comparison. meta, exp: a trace of each side."""
    parts = compared.parts
    figures = [recording.figures for recording in compared.before], [recording.figures for recording in compared.after]
    unlike = differences(*figures)
    delta = None if parts is None else round(parts.change)
    work, left_out = _work(compared, parts, limit) if parts else ([], (0, 0))
    kinds, unnamed = _kinds(parts) if parts else ({}, 0)
    causes = _causes(parts, *figures) if parts else []
    return ChangeAnswer(
        meta=meta,
        exp=exp,
        baseline=_side(compared.before),
        experiment=_side(compared.after),
        delta_ns=delta,
        step=_judged(figures, unlike, "step_time", STEP_THRESHOLD),
        busy=_judged(figures, unlike, "device_busy", BUSY_THRESHOLD),
        differences=unlike,
        headline=_headline(parts, causes) if parts else None,
        causes=causes,
        kinds=kinds,
        unnamed_ns=unnamed,
        work_known=all(recording.has_work for recording in (*compared.before, *compared.after)),
        work=work,
        left_out=left_out[0],
        left_out_ns=left_out[1],
        operators=compared.operators,
        kernels=compared.kernels,
    )


def _side(recordings: Sequence[Recording]) -> ChangeSide:
    steps = [ns for each in recordings for ns in each.step_ns]
    return ChangeSide(
        recordings=len(recordings),
        steps=len(steps),
        left_out=sum(each.figures.first_kept for each in recordings),
        step_ns=sum(steps) / len(steps) if steps else None,
    )


def _judged(
    figures: tuple[Sequence[RecordingFigures], Sequence[RecordingFigures]],
    unlike: Sequence[RecordingDifference],
    key: str,
    threshold: float,
) -> ChangedFigure | None:
    """Judge a metric, without a verdict where a difference between the sides forbids any."""
    found = judged(*figures, key, threshold)
    if found is None or all(each.forbids != "all" for each in unlike):
        return found
    return msgspec.structs.replace(found, low=None, high=None, detectable=None, verdict="unknown")


def _headline(parts: StepChange, causes: Sequence[ChangedCause]) -> Headline | None:
    """Find the headline, with the number that the list of causes has."""
    found = headline(parts)
    shown = {each.cause: each.delta_ns for each in causes}
    return None if found is None else msgspec.structs.replace(found, cause_ns=shown[found.cause])


def _causes(parts: StepChange, base: Sequence[RecordingFigures], new: Sequence[RecordingFigures]) -> list[ChangedCause]:
    deltas = rounded([each.change for each in parts.causes], parts.change)
    rows = []
    for each, delta in zip(parts.causes, deltas, strict=True):
        low, high = bounds_of_cause(base, new, each.cause) or (None, None)
        rows.append(
            ChangedCause(
                cause=each.cause,
                before_ns=float(each.before),
                exp_ns=float(each.after),
                delta_ns=delta,
                low_ns=low,
                high_ns=high,
            )
        )
    return rows


def _kinds(parts: StepChange) -> tuple[dict[str, int], int]:
    """Return the change by kind, and that of what has no names; together they add up to the change of the step."""
    kinds = parts.kinds()
    *found, unnamed = rounded([*kinds.values(), parts.without_names()], parts.change)
    return dict(zip(kinds, found, strict=True)), unnamed


def _work(compared: Changed, parts: StepChange, limit: int) -> tuple[list[ChangedWork], tuple[int, int]]:
    """Return the rows, the number of others and the sum of their changes."""
    unnamed = _kinds(parts)[1]
    shown = parts.work[:limit]
    deltas = [round(work.change) for work in shown]
    others = len(parts.work) - len(shown)
    rest = round(parts.change) - unnamed - sum(deltas)
    if not others and deltas:
        deltas[0] += rest
        rest = 0
    in_rows = Counter(kernel for work in parts.work for kernel in _kernels(work))
    # of a kernel that is in several rows the test says nothing about one of them
    verdicts = {name.name: name.verdict for name in compared.kernels.names if in_rows[name.name] == 1}
    rows = [_row(work, delta, verdicts) for work, delta in zip(shown, deltas, strict=True)]
    return rows, (others, rest)


def _kernels(each: WorkChange) -> set[str]:
    return {share.kernel for share in (*each.before, *each.after) if share.kernel}


def _row(work: WorkChange, delta: int, verdicts: Mapping[str, ListVerdict]) -> ChangedWork:
    kernels, others = (sorted({share.kernel for share in side if share.kernel}) for side in (work.before, work.after))
    a, b = work.amounts
    calls_ns, speed_ns = _calls_and_speed(work, delta)
    names = max(len({(share.operator, share.kernel) for share in side}) for side in (work.before, work.after))
    return ChangedWork(
        kind=work.main_kind,
        how=work.how,
        causes=sorted({share.cause for share in (*work.before, *work.after)}),
        operator=main_operator(work.before) if work.before else None,
        exp_operator=main_operator(work.after) if work.after else None,
        kernels=kernels[:_MOST_NAMES],
        exp_kernels=others[:_MOST_NAMES],
        label=label_of(work.before),
        exp_label=label_of(work.after),
        names=names,
        calls=float(a.calls),
        exp_calls=float(b.calls),
        before_ns=float(a.exposed),
        exp_ns=float(b.exposed),
        delta_ns=delta,
        calls_ns=calls_ns,
        speed_ns=speed_ns,
        full_ns=float(a.full),
        exp_full_ns=float(b.full),
        verdict=verdicts.get(kernels[0]) if len(kernels) == 1 and kernels == others else None,
    )


def _calls_and_speed(each: WorkChange, delta: int) -> tuple[int, int]:
    """Return whole numbers that add up to the change, where it is one of calls and speed; else 0."""
    if "calls" not in each.parts:
        return 0, 0
    calls, speed = rounded([each.parts["calls"], each.parts["speed"]], Exact(delta))
    return calls, speed


def _change(left: Subject, right: Subject, params: HowManyRows) -> ChangeAnswer:
    found = changed([recording(left.model, left.run)], [recording(right.model, right.run)])
    meta, exp = (TraceMeta(**side.about("compare")) for side in (left, right))
    return change_answer(found, meta, exp, params.limit)


CHANGE = Question(
    name="compare/change",
    summary="What changed in the mean step, exactly, and which operators and kernels did",
    compute=_change,
    more="How the change is divided, and which names are paired: docs/compare-two-runs.md.",
)
