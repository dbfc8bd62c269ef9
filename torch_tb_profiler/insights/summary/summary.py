"""A trace in a few stable numbers, for people, tests and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import asdict

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, Ns, NsMean, plain
from torch_tb_profiler.analysis.capture import capture
from torch_tb_profiler.analysis.device_use import DeviceSummary, device_summary
from torch_tb_profiler.analysis.overview import KindFigures, kind_figures
from torch_tb_profiler.analysis.program.engine_question import EngineSummary, engine_summary
from torch_tb_profiler.analysis.program.question import PhaseMean, phase_means
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.roofline.table import RooflineTable, roofline
from torch_tb_profiler.analysis.roofline.utilization import StepFlops, step_flops
from torch_tb_profiler.analysis.shared.owners import KnownOwners, known_owners
from torch_tb_profiler.analysis.waterfall import Part, average, waterfall
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.codec import from_json
from torch_tb_profiler.insights.findings import diagnosis
from torch_tb_profiler.insights.resources import BoundKind
from torch_tb_profiler.insights.rule import Finding, FindingSaving, RunInstance
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.run.answers import RanksSummary
from torch_tb_profiler.trace import Note

#: operators that lose time
MOST_LOST = 20


class SummaryTrace(msgspec.Struct, frozen=True, kw_only=True):
    """Which trace, and how much was recorded.

    run          name of the run
    worker       name of the process that was recorded
    span         which recording of the worker it is
    file_bytes   size of the file as stored
    events       how many events the file has
    duration_ns  from the first event to the end of the last
    devices      names of the devices that did some work, by number; null if the file does not name one
    """

    run: str
    worker: str
    span: str
    file_bytes: Bytes
    events: Count
    duration_ns: Ns
    devices: Sequence[str | None]


class SummarySteps(msgspec.Struct, frozen=True, kw_only=True):
    """The steps. A period is the step time: from the end of the step before to the end of the step.

    rule       by which the steps were found
    count      how many there are
    median_ns  median of the periods; null without steps
    mean_ns    arithmetic mean of the periods; null without steps
    names      of the steps
    period_ns  of each step, in order
    kinds      what the steps of each kind take, where steps run unlike programs: the median and the mean are over
               several programs then; empty where all are of one kind
    """

    rule: str
    count: Count
    median_ns: NsMean | None
    mean_ns: NsMean | None
    names: Sequence[str]
    period_ns: Sequence[Ns]
    kinds: Sequence[KindFigures]


class SummaryFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A cause of lost time, or a warning.

    id        name of the rule
    key       name of this finding, for `candidates` and `prove`: the id, with a number from the second of one rule on
    title     the cause in a few words
    detail    what was found
    advice    what to do
    where     where in the program; null if unknown
    saving    what it costs; null of a warning
    evidence  where it can be seen, the longest first
    """

    id: str
    key: str
    title: str
    detail: str
    advice: str
    where: str | None
    saving: FindingSaving | None
    evidence: Sequence[RunInstance]


class SummaryFlops(msgspec.Struct, frozen=True, kw_only=True):
    """FLOP by the shapes of operators. Shares are parts of the time of compute kernels, copies and fills, 0…1.

    per_step         FLOP that the model needs in the average step; null if none are known
    executed         FLOP of the average step, what is computed again in the backward pass too; null like it
    coverage         of which matrix FLOP are known, also where there are none; null if nothing took time
    matrix_coverage  time with FLOP ÷ the same with that of unknown FLOP; null if there is neither
    bytes_coverage   of which bytes are known; null if nothing took time
    unknown          whose FLOP or bytes are unknown, by reason
    """

    per_step: Count | None
    executed: Count | None
    coverage: Fraction | None
    matrix_coverage: Fraction | None
    bytes_coverage: Fraction | None
    unknown: Mapping[str, Fraction]


class SummaryLost(msgspec.Struct, frozen=True, kw_only=True):
    """What the calls of an operator take longer than the least time on their device, over the whole recording.

    operator  its name
    ns        lost
    """

    operator: str
    ns: NsMean


class SummarySkipped(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the run that the summary is not about.

    file    its name
    reason  why it was not read, or is no trace
    """

    file: str
    reason: str


class SummaryAnswer(Answer, frozen=True, kw_only=True):
    """A trace in a few numbers. Every key is always there; keys are added, never changed.

    trace      which one
    steps      how long they take
    waterfall  where the time of the average step went: the parts add up to `steps.mean_ns` exactly; empty without steps
    phases     what the average step did: `exposed_ns` of all phases adds up to `steps.mean_ns` exactly; empty without
               steps
    engine     how the program infers; null if nothing shows that it does
    device     how devices were used
    owners     what is known about what started device work
    flops      FLOP of the average step
    mfu        model FLOP utilization, 0…1; null if too little is known
    hfu        hardware FLOP utilization, 0…1; null if too little is known
    lost       the operators that lose most, at most 20; empty if peaks or shapes are unknown
    bound      what bounds the steps, by replay; `unknown` where the trace does not say
    bound_sentence  the same in words, with the reason of `unknown`
    explained  which part of the steps has a cause in the trace, 0…1; null without steps
    findings   in the order in which what they save adds up, each the one that saves most beyond those before it; what
               has no number comes first where it explains the bound, else by the part of the step that it takes; then
               warnings. Of a run these, `bound` and `explained` are of all ranks, `where` names ranks; causes in
               the program of this rank are among them
    not_looked_at  causes of the parts of `waterfall` of 5 % of the step and more that no finding is about; of a run
               those of the first rank
    notes      what is wrong with the recording; of a run, what is wrong with the ranks together is among them
    ranks      all ranks of the run; null if the question is about one of several workers
    skipped    files of the run that could not be read or are no traces; empty if the question names a worker
    """

    trace: SummaryTrace
    steps: SummarySteps
    waterfall: Sequence[Part]
    phases: Sequence[PhaseMean]
    engine: EngineSummary | None
    device: DeviceSummary
    owners: KnownOwners
    flops: SummaryFlops
    mfu: Fraction | None
    hfu: Fraction | None
    lost: Sequence[SummaryLost]
    bound: BoundKind
    bound_sentence: str
    explained: Fraction | None
    findings: Sequence[SummaryFinding]
    not_looked_at: Sequence[str]
    notes: Sequence[Note]
    ranks: RanksSummary | None = None
    skipped: Sequence[SummarySkipped] = ()


def summary(subject: Subject) -> SummaryAnswer:
    """Of the steps that were chosen."""
    model = subject.model
    causes, step = diagnosis(model), step_flops(model)
    return SummaryAnswer(
        trace=_trace(subject),
        steps=_steps(model),
        waterfall=average(waterfall(model)),
        phases=phase_means(model),
        engine=engine_summary(model),
        device=device_summary(model),
        owners=known_owners(model),
        flops=_flops(step),
        mfu=step.mfu.value,
        hfu=step.hfu.value,
        lost=_lost(roofline(model, "operator")),
        bound=causes.bound.kind,
        bound_sentence=causes.bound.sentence,
        explained=causes.bound.explained,
        findings=[_finding(each, subject.worker) for each in causes.findings],
        not_looked_at=causes.not_looked_at,
        notes=subject.warnings(model),
    )


def as_sent(found: SummaryAnswer) -> SummaryAnswer:
    """Return the same with the types that its JSON has when it is read: so all doors write the same bytes, 1.0 and not
    1.
    """
    return from_json(msgspec.json.encode(found, enc_hook=plain), SummaryAnswer)


def _finding(finding: Finding, worker: str) -> SummaryFinding:
    return SummaryFinding(
        id=finding.id,
        key=finding.key,
        title=finding.title,
        detail=finding.detail,
        advice=finding.advice,
        where=None if finding.where is None else finding.where.text,
        saving=finding.saving,
        evidence=[RunInstance(worker=worker, **asdict(each)) for each in finding.instances],
    )


def _trace(subject: Subject) -> SummaryTrace:
    recorded = capture(subject.model)
    return SummaryTrace(
        run=subject.run,
        worker=subject.worker,
        span=subject.span,
        file_bytes=subject.file_bytes,
        events=recorded.events,
        duration_ns=recorded.duration_ns,
        devices=[device.name for device in recorded.devices if device.used],
    )


def _steps(model: Model) -> SummarySteps:
    steps = model.steps
    period = steps.end - steps.start
    return SummarySteps(
        rule=steps.rule,
        count=len(steps),
        median_ns=median(period) if len(steps) else None,
        mean_ns=float(period.mean()) if len(steps) else None,
        names=steps.names,
        period_ns=period.tolist(),
        kinds=kind_figures(model),
    )


def _flops(found: StepFlops) -> SummaryFlops:
    said = found.coverage
    is_known = said is not None and bool(said.flops) and said.matrix != 0
    return SummaryFlops(
        per_step=found.per_step if is_known else None,
        executed=found.executed if is_known else None,
        coverage=said.flops if said else None,
        matrix_coverage=said.matrix if said else None,
        bytes_coverage=said.bytes if said else None,
        unknown=said.unknown if said else {},
    )


def _lost(found: RooflineTable) -> list[SummaryLost]:
    return [
        SummaryLost(operator=name, ns=ns)
        for name, ns in zip(found.name, found.lost_ns.tolist(), strict=True)
        if ns > 0  # which NaN is not
    ][:MOST_LOST]
