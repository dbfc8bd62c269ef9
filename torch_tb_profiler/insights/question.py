"""The question about the whole trace on one page: steps, their parts, devices, and advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from torch_tb_profiler.analysis.answer import Answer, Count, Definition, MeanNs, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.device_use import DeviceSummary, DeviceUse, StepUse, device_summary, step_use
from torch_tb_profiler.analysis.overview import OVERVIEW as COLUMNS
from torch_tb_profiler.analysis.overview import (
    AverageStep,
    KindFigures,
    StepTimes,
    TopKernel,
    TopOperator,
    kind_figures,
    overview,
)
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.analysis.result import column, columns_field
from torch_tb_profiler.analysis.step_kinds import step_kinds
from torch_tb_profiler.analysis.waterfall import Part, average, waterfall
from torch_tb_profiler.insights.bound import Bound
from torch_tb_profiler.insights.findings import NotEvaluated, diagnosis
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.steps import RULES


class StepUses(Answer, frozen=True, kw_only=True):
    """What devices did in each step, mean over the devices that ran kernels. Not a partition: parts overlap.

    busy_ns                   a kernel, copy or fill ran
    computing_ns              a compute kernel ran
    communicating_ns          a communication kernel ran; null if communication is only known from calls on the host
    exposed_communication_ns  a communication kernel ran and no compute kernel; null likewise
    """

    busy_ns: Sequence[MeanNs]
    computing_ns: Sequence[MeanNs]
    communicating_ns: Sequence[MeanNs] | None
    exposed_communication_ns: Sequence[MeanNs] | None


class NamedSteps(Answer, frozen=True, kw_only=True):
    """Which steps there are, as parallel lists.

    names        the number of the step from its mark, otherwise counted from 0
    labels       the annotation that marks the step
    start_ns     time since the start of the trace
    duration_ns  the period of the step: from the end of the previous step to its own end, which is that of its mark on
                 the host or, if later, that of the last device work it launched
    """

    names: Annotated[Sequence[str], column("Step")]
    labels: Annotated[Sequence[str], column("Annotation")]
    start_ns: Annotated[Sequence[Ns], column("Start")]
    duration_ns: Annotated[Sequence[Ns], column("Duration")]


class StepParts(NamedSteps, frozen=True, kw_only=True):
    """The steps and how each is shared out, as parallel lists.

    rule         by which the steps were found
    rules        that can be asked for
    kinds        what the steps of each kind take, where steps run unlike programs: means over all are over several
                 programs; empty where all are of one kind
    kind         of each step the position of its kind in `kinds`; empty where all are of one kind
    categories   that the trace can have, by priority
    category_ns  of each step by category; they add up to duration_ns
    use          what devices did in each step; null if none ran kernels
    columns      what the columns of names, labels, starts and durations are
    """

    rule: str
    rules: Sequence[str]
    kinds: Sequence[KindFigures]
    kind: Sequence[Count]
    categories: Sequence[str]
    category_ns: Mapping[str, Sequence[Ns]]
    use: StepUses | None
    columns: Sequence[Definition] = columns_field("steps", NamedSteps)


class OverviewAnswer(Answer, frozen=True, kw_only=True):
    """The trace on one page.

    meta           which trace
    steps          each step and its parts
    average        of the steps
    bound          what bounds the steps, by replay
    waterfall      where the time of the average step went; the parts add up to the mean of the steps exactly
    not_looked_at  causes of the parts of the waterfall of 5 % of the step and more that no finding is about
    together_ns    what all findings with a saving save of the average step together; null without any
    checked        ids of the rules that were applied and found nothing
    not_evaluated  rules that need something that was not recorded
    muted          ids of rules that are not shown
    devices        those that ran kernels
    device         all of these together
    workers        how many the run has
    findings       causes, each the one that saves most beyond those before it; what has no number comes first where it
                   explains the bound, else by the part of the step that it takes; then warnings
    top_operators  those with most self time
    top_kernels    those with most time
    definitions    what each number means, by its key
    """

    meta: TraceMeta
    steps: StepParts
    average: AverageStep
    devices: Sequence[DeviceUse]
    device: DeviceSummary
    workers: Count
    bound: Bound
    waterfall: Sequence[Part]
    findings: Sequence[Finding]
    together_ns: MeanNs | None
    not_looked_at: Sequence[str]
    checked: Sequence[str]
    not_evaluated: Sequence[NotEvaluated]
    muted: Sequence[str]
    top_operators: Sequence[TopOperator]
    top_kernels: Sequence[TopKernel]
    definitions: Mapping[str, str]


def _overview(subject: Subject, _: NoParameters) -> OverviewAnswer:
    answer = overview(subject.model)
    causes = diagnosis(subject.model)
    return OverviewAnswer(
        meta=TraceMeta(**subject.about("overview")),
        steps=_steps(subject.model, answer.steps),
        average=answer.average,
        devices=answer.devices,
        device=device_summary(subject.model),
        workers=subject.workers,
        bound=causes.bound,
        waterfall=average(waterfall(subject.model)),
        findings=causes.findings,
        together_ns=causes.together_ns,
        not_looked_at=causes.not_looked_at,
        checked=causes.checked,
        not_evaluated=causes.not_evaluated,
        muted=causes.muted,
        top_operators=answer.top_operators,
        top_kernels=answer.top_kernels,
        definitions={key: defined.help for key, defined in COLUMNS.items()},
    )


def _steps(model: Model, steps: StepTimes) -> StepParts:
    use, kinds = step_use(model), step_kinds(model)
    return StepParts(
        rule=steps.rule,
        rules=list(RULES),
        labels=steps.labels,
        names=steps.names,
        kinds=kind_figures(model),
        kind=plain(kinds.of) if kinds.are_several else [],
        start_ns=plain(steps.start_ns),
        duration_ns=plain(steps.duration_ns),
        categories=steps.categories,
        category_ns={category: plain(ns) for category, ns in steps.category_ns.items()},
        use=None if use is None else _use(use),
    )


def _use(use: StepUse) -> StepUses:
    exposed, communicating = use.exposed_communication_ns, use.communicating_ns
    return StepUses(
        busy_ns=plain(use.busy_ns),
        computing_ns=plain(use.computing_ns),
        communicating_ns=None if communicating is None else plain(communicating),
        exposed_communication_ns=None if exposed is None else plain(exposed),
    )


OVERVIEW = Question(
    name="overview",
    summary="Steps, their parts, and advice",
    compute=_overview,
    of_run=True,
    isolated=diagnosis,
    precompute=(NoParameters(),),
    report=({},),
)
