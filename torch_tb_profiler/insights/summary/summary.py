"""A trace in a few stable numbers, for people, tests and programs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, Ns, NsMean, Row
from torch_tb_profiler.analysis.capture import capture
from torch_tb_profiler.analysis.device_use import DeviceSummary, device_summary
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.shared.kernel_use import Occupancy
from torch_tb_profiler.analysis.shared.owners import OwnerShares, owner_shares
from torch_tb_profiler.analysis.waterfall import Part, average, waterfall
from torch_tb_profiler.insights.bound import BoundKind
from torch_tb_profiler.insights.findings import diagnosis
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.model.steps import Steps
from torch_tb_profiler.trace import Note

#: parts of the average step in the text
MOST_PARTS = 6


class SummaryTrace(msgspec.Struct, frozen=True, kw_only=True):
    """Which trace, and how much was recorded.

    run          name of the run
    worker       name of the process that was recorded
    span         which recording of the worker it is
    file_bytes   size of the file as stored
    events       how many events the file has
    duration_ns  from the first event to the end of the last
    devices      names of the devices that did some work, by number; null where the file does not name one
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
    """

    rule: str
    count: Count
    median_ns: NsMean | None
    mean_ns: NsMean | None
    names: Sequence[str]
    period_ns: Sequence[Ns]


class SummaryTensorCores(msgspec.Struct, frozen=True, kw_only=True):
    """Parts of the time of compute kernels, 0…1, that add up to 1; null without compute kernels.

    yes      of kernels known to use tensor cores
    no       of kernels known not to
    unknown  of kernels of which it is not known
    """

    yes: Fraction | None
    no: Fraction | None
    unknown: Fraction | None


class SummaryDevice(msgspec.Struct, frozen=True, kw_only=True):
    """How devices were used. The first four are shares of the step time over all steps, 0…1: means over the devices
    that ran kernels; null where the trace does not say.

    busy                   a kernel, copy or fill ran
    computing              a compute kernel ran
    communicating          a communication kernel ran
    exposed_communication  one ran and no compute kernel
    tensor_cores           of compute kernels
    occupancy              of compute kernels, weighted by duration
    """

    busy: Fraction | None
    computing: Fraction | None
    communicating: Fraction | None
    exposed_communication: Fraction | None
    tensor_cores: SummaryTensorCores
    occupancy: Occupancy


class SummaryOwners(msgspec.Struct, frozen=True, kw_only=True):
    """Whether device work has an owner: shares of the device time, 0…1, that add up to 1; null without device time.

    linked    follows from a launch that was recorded
    inferred  was launched before the recording; its like in the recording has an owner
    unowned   neither
    """

    linked: Fraction | None
    inferred: Fraction | None
    unowned: Fraction | None


class SummarySaving(msgspec.Struct, frozen=True, kw_only=True):
    """What removing a cause would save of the average step, by replay. Null where that is refused.

    alone_ns         when nothing else is changed
    after_others_ns  beyond the findings before this one
    low_ns, high_ns  an interval of it; null with fewer than two steps
    bound            the most that any remedy can save
    refused          why there is no number; null where there is one
    """

    alone_ns: NsMean | None
    after_others_ns: NsMean | None
    low_ns: NsMean | None
    high_ns: NsMean | None
    bound: bool
    refused: str | None


class SummaryEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """One place in the trace where a finding can be seen.

    row          number of the event
    name         of the event
    start_ns     since the start of the trace
    duration_ns  of the event
    step         name of the step that it begins in; null outside of the steps
    """

    row: Row
    name: str
    start_ns: Ns
    duration_ns: Ns
    step: str | None


class SummaryFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A cause of lost time, or a warning.

    id        name of the rule
    title     the cause in a few words
    detail    what was found
    advice    what to do
    where     where in the program; null when that cannot be told
    saving    what it costs; null of a warning
    evidence  where it can be seen, the longest first
    """

    id: str
    title: str
    detail: str
    advice: str
    where: str | None
    saving: SummarySaving | None
    evidence: Sequence[SummaryEvidence]


class SummaryAnswer(Answer, frozen=True, kw_only=True):
    """A trace in a few numbers. Every key is always there; keys are added, never changed.

    trace      which one
    steps      how long they take
    waterfall  where the time of the average step went: the parts add up to `steps.mean_ns` exactly; empty without steps
    device     how devices were used
    owners     what is known of who started device work
    bound      what bounds the steps, by replay; `unknown` where the trace does not say
    explained  which part of the steps has a cause in the trace, 0…1; null without steps
    findings   causes with the largest saving first, then those without a number, then warnings
    notes      what is wrong with the recording
    """

    trace: SummaryTrace
    steps: SummarySteps
    waterfall: Sequence[Part]
    device: SummaryDevice
    owners: SummaryOwners
    bound: BoundKind
    explained: Fraction | None
    findings: Sequence[SummaryFinding]
    notes: Sequence[Note]


def summary(subject: Subject) -> SummaryAnswer:
    """Of the steps that were chosen."""
    model = subject.model
    causes = diagnosis(model)
    return SummaryAnswer(
        trace=_trace(subject),
        steps=_steps(model.steps),
        waterfall=average(waterfall(model)),
        device=_device(device_summary(model)),
        owners=_owners(owner_shares(model)),
        bound=causes.bound.kind,
        explained=causes.bound.explained,
        findings=[_finding(each) for each in causes.findings],
        notes=subject.troubles(model),
    )


def _finding(found: Finding) -> SummaryFinding:
    saving = found.saving
    return SummaryFinding(
        id=found.id,
        title=found.title,
        detail=found.detail,
        advice=found.advice,
        where=None if found.where is None else found.where.text,
        saving=None
        if saving is None
        else SummarySaving(
            alone_ns=saving.alone_ns,
            after_others_ns=saving.after_others_ns,
            low_ns=saving.low_ns,
            high_ns=saving.high_ns,
            bound=saving.bound,
            refused=saving.refused,
        ),
        evidence=[
            SummaryEvidence(
                row=each.row,
                name=each.name,
                start_ns=each.start_ns,
                duration_ns=each.duration_ns,
                step=each.step,
            )
            for each in found.instances
        ],
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


def _steps(steps: Steps) -> SummarySteps:
    period = steps.end - steps.start
    return SummarySteps(
        rule=steps.rule,
        count=len(steps),
        median_ns=float(np.median(period)) if len(steps) else None,
        mean_ns=float(period.mean()) if len(steps) else None,
        names=steps.names,
        period_ns=period.tolist(),
    )


def _device(found: DeviceSummary) -> SummaryDevice:
    cores = found.tensor_cores
    return SummaryDevice(
        busy=found.busy,
        computing=found.computing,
        communicating=found.communicating,
        exposed_communication=found.exposed_communication,
        tensor_cores=SummaryTensorCores(yes=None, no=None, unknown=None)
        if cores is None
        else SummaryTensorCores(yes=cores.yes, no=cores.no, unknown=cores.unknown),
        occupancy=found.occupancy,
    )


def _owners(shares: OwnerShares | None) -> SummaryOwners:
    if shares is None:
        return SummaryOwners(linked=None, inferred=None, unowned=None)
    return SummaryOwners(linked=shares.linked, inferred=shares.inferred, unowned=shares.unowned)


def as_text(found: SummaryAnswer) -> str:
    """For a terminal: a line for each thing, in English. What a trace names cannot steer the terminal."""
    lines = [_title(found.trace)]
    lines += _steps_lines(found.steps)
    lines += _waterfall_lines(found)
    if found.device.busy is not None:
        lines += _device_lines(found.device)
    owners = found.owners
    if owners.linked is not None:
        lines.append(
            f"Owners of device time: linked {_share(owners.linked)}, inferred {_share(owners.inferred)}, "
            f"without {_share(owners.unowned)}"
        )
    lines.append(_bound_line(found))
    lines += [f"  {_finding_line(each)}" for each in found.findings]
    lines += [f"{note.severity}: {note.text}" for note in found.notes]
    return "\n".join("".join(each if each.isprintable() else "\ufffd" for each in line) for line in lines)


def _bound_line(found: SummaryAnswer) -> str:
    explained = "" if found.explained is None else f", {_share(found.explained)} of the step time explained"
    return f"Bound by: {found.bound}{explained}"


def _finding_line(found: SummaryFinding) -> str:
    where = f" ({found.where})" if found.where else ""
    saving = found.saving
    if saving is None or saving.after_others_ns is None:
        return f"{found.title}{where}"
    return f"{found.title}{where}: {'at most' if saving.bound else 'about'} {_time(saving.after_others_ns)} a step"


def _title(trace: SummaryTrace) -> str:
    devices = [name or "a device without a name" for name in trace.devices]
    counted = {name: devices.count(name) for name in devices}
    named = ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counted.items())
    return f"{trace.run} · {trace.worker} · span {trace.span}: {trace.events:,} events, {_time(trace.duration_ns)}" + (
        f", {named}" if named else ", no device work"
    )


def _steps_lines(steps: SummarySteps) -> list[str]:
    if steps.median_ns is None or steps.mean_ns is None:
        return ["Steps: none found"]
    times = f"median {_time(steps.median_ns)}, mean {_time(steps.mean_ns)}"
    return [f"Steps: {steps.count} by {steps.rule}, {times}"]


def _waterfall_lines(found: SummaryAnswer) -> list[str]:
    mean = found.steps.mean_ns
    if not mean or not found.waterfall:
        return []
    largest = sorted(found.waterfall, key=lambda part: -part.ns)[:MOST_PARTS]
    rest = mean - sum(part.ns for part in largest)
    parts = [f"{part.cause} {_share(part.ns / mean)}" for part in largest]
    return ["Average step: " + ", ".join(parts + ([f"other {_share(rest / mean)}"] if rest > 0 else []))]


def _device_lines(device: SummaryDevice) -> list[str]:
    lines = [
        f"Device busy {_share(device.busy)}, computing {_share(device.computing)}, communicating "
        f"{_share(device.communicating)}, exposed communication {_share(device.exposed_communication)} of the step time"
    ]
    cores = device.tensor_cores
    if cores.yes is not None:
        lines.append(
            f"Tensor cores: yes {_share(cores.yes)}, no {_share(cores.no)}, unknown {_share(cores.unknown)} of the "
            "time of compute kernels"
        )
    warps = device.occupancy
    lines.append(f"Occupancy: mean {_share(warps.mean)}, known for {_share(warps.known_share)} of that time")
    return lines


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.1%}"


def _time(ns: float) -> str:
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= size:
            return f"{ns / size:.2f} {unit}"
    return f"{ns:.0f} ns"
