"""The question about the whole trace on one page: steps, their parts, devices, and advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_tb_profiler.analysis.answer import Answer, Count, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.overview.columns import OVERVIEW as COLUMNS
from torch_tb_profiler.analysis.overview.overview import (
    AverageStep,
    StepTimes,
    TopKernel,
    Verdict,
    overview,
    step_gpu_busy,
)
from torch_tb_profiler.analysis.question import NoParameters, Subject, TraceQuestion
from torch_tb_profiler.analysis.utilization import DeviceUse
from torch_tb_profiler.insights.findings import findings
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.steps import RULES


class StepParts(Answer, frozen=True, kw_only=True):
    """The steps and how each is shared out, as parallel lists.

    rule         by which the steps were found
    rules        that can be asked for
    labels       annotations that mark the steps
    names        of the steps
    start_ns     since the start of the trace
    duration_ns  how long each lasts
    categories   that the trace can have, by priority
    category_ns  of each step by category; they add up to duration_ns
    gpu_busy_ns  time of each step in which a kernel ran on any device; null without kernels
    """

    rule: str
    rules: Sequence[str]
    labels: Sequence[str]
    names: Sequence[str]
    start_ns: Sequence[Ns]
    duration_ns: Sequence[Ns]
    categories: Sequence[str]
    category_ns: Mapping[str, Sequence[Ns]]
    gpu_busy_ns: Sequence[Ns] | None


class LargestOperator(Answer, frozen=True, kw_only=True):
    """An operator that took much time.

    name            of the operator
    host_self_ns    time on the host less that of operators below it
    device_self_ns  time of device work that it launched itself, null where no device was recorded
    calls           how often it ran
    """

    name: str
    host_self_ns: Ns
    device_self_ns: Ns | None
    calls: Count


class OverviewAnswer(Answer, frozen=True, kw_only=True):
    """The trace on one page.

    meta           which trace
    steps          each step and its parts
    average        of the steps
    verdict        null when the steps have no length
    devices        those that ran kernels
    workers        how many the run has
    findings       the most severe first
    top_operators  those with most self time
    top_kernels    those with most time
    definitions    what each number means, by its key
    """

    meta: TraceMeta
    steps: StepParts
    average: AverageStep
    verdict: Verdict | None
    devices: Sequence[DeviceUse]
    workers: Count
    findings: Sequence[Finding]
    top_operators: Sequence[LargestOperator]
    top_kernels: Sequence[TopKernel]
    definitions: Mapping[str, str]


def _overview(subject: Subject, _: NoParameters) -> OverviewAnswer:
    found = overview(subject.model)
    has_device = found.device_type == "GPU"
    return OverviewAnswer(
        meta=TraceMeta(**subject.about("overview")),
        steps=_steps(subject.model, found.steps),
        average=found.average,
        verdict=found.verdict,
        devices=found.devices,
        workers=subject.workers,
        findings=findings(subject.model),
        top_operators=[
            LargestOperator(
                name=top.name,
                host_self_ns=top.host_self_ns,
                device_self_ns=top.device_self_ns if has_device else None,
                calls=top.calls,
            )
            for top in found.top_operators
        ],
        top_kernels=found.top_kernels,
        definitions={key: defined.help for key, defined in COLUMNS.items()},
    )


def _steps(model: Model, steps: StepTimes) -> StepParts:
    busy = step_gpu_busy(model)
    return StepParts(
        rule=steps.rule,
        rules=list(RULES),
        labels=steps.labels,
        names=steps.names,
        start_ns=plain(steps.start_ns),
        duration_ns=plain(steps.duration_ns),
        categories=steps.categories,
        category_ns={category: plain(ns) for category, ns in steps.category_ns.items()},
        gpu_busy_ns=None if busy is None else plain(busy),
    )


OVERVIEW = TraceQuestion(
    name="overview",
    summary="Steps, their parts, and advice",
    answer=OverviewAnswer,
    compute=_overview,
    of_run=True,
    first=(NoParameters(),),
    report=({},),
)
