"""Questions about the program: time by phase, micro-batches, optimizers; compiled code, graphs that devices replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, InlineTable, Ns, NsMean, TraceMeta
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.compiled_code import (
    RegionTotals,
    compilations,
    eager_operators,
    generated_kernels,
    region_totals,
    regions,
)
from torch_tb_profiler.analysis.program.graphs import (
    captures,
    graph_nodes,
    graphs,
    longest_gaps,
    outside_graphs,
    outside_ns,
)
from torch_tb_profiler.analysis.program.kinds import CODE, PhaseEvidence, PhaseName, ProgramPhase, name_of
from torch_tb_profiler.analysis.program.micro_batches import micro_batches, optimizers
from torch_tb_profiler.analysis.program.phases import (
    PhaseAtPeak,
    PhaseTimes,
    phase_amounts,
    phase_times,
    phases,
    phases_at_peak,
)
from torch_tb_profiler.analysis.question import NoParameters, NotFound, Question, Subject
from torch_tb_profiler.analysis.shared.backward_links import LINKS, Link, backward_times
from torch_tb_profiler.analysis.shared.device_roles import share
from torch_tb_profiler.arrays.grouping import apportion, descending
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model

#: pieces of one answer, unless asked otherwise
PAGE = 20
LARGEST_PAGE = 1_000


class WhichPhase(msgspec.Struct, frozen=True):
    """Of which phase the intervals are listed."""

    phase: Annotated[PhaseName | None, Meta(description="A phase: its longest intervals are listed.")] = None
    limit: Annotated[int, Meta(description="Intervals of the answer.", ge=1, le=LARGEST_PAGE)] = PAGE


class PhaseMean(msgspec.Struct, frozen=True, kw_only=True):
    """A phase of the average step.

    name         which one
    host_ns      time of the main thread, mean over the steps
    device_ns    Σ durations of the device work that the phase launched, mean over the steps
    exposed_ns   its part of the step: over all phases they add up to the mean step time exactly
    inferred_ns  the part of `host_ns` that no range, frame or autograd node marks
    """

    name: PhaseName
    host_ns: NsMean
    device_ns: NsMean
    exposed_ns: NsMean
    inferred_ns: NsMean


class PhaseRow(PhaseMean, frozen=True, kw_only=True):
    """A phase of the average step, with everything known about it.

    name              which one
    host_ns           time of the main thread, mean over the steps
    device_ns         Σ durations of the device work that the phase launched, mean over the steps
    exposed_ns        its part of the step: over all phases they add up to the mean step time exactly
    inferred_ns       the part of `host_ns` that no range, frame or autograd node marks
    communication_ns  the part of `exposed_ns` in which a collective runs and no compute kernel
    allocated_bytes   Σ of its allocations over all steps; null if none were recorded
    flops             number of FLOP of its operators over all steps; null if none are known
    """

    communication_ns: NsMean
    allocated_bytes: Bytes | None
    flops: Count | None


class StepPhases(Answer, frozen=True, kw_only=True):
    """Time of each step by phase; parallel to the steps.

    host     of the main thread: adds up to the mark of the step exactly
    device   Σ durations of device work
    exposed  of the step: adds up to its period exactly
    """

    host: Mapping[str, Sequence[Ns]]
    device: Mapping[str, Sequence[Ns]]
    exposed: Mapping[str, Sequence[Ns]]


class Recomputation(Answer, frozen=True, kw_only=True):
    """Computing again in the backward pass what was not kept: shares of the backward pass with it; null without one.

    host     of the time of the main thread
    device   of the device time
    exposed  of the exposed time
    """

    host: Fraction | None
    device: Fraction | None
    exposed: Fraction | None


class BackwardShare(Answer, frozen=True, kw_only=True):
    """A part of the time of autograd nodes.

    link    linked: it is known which operator they are the backward of; otherwise why not: script (TorchScript),
            no_number (none was recorded), no_forward (it is not in the trace)
    host    part of their host time, 0…1; null without any
    device  part of the time of the device work that they launched, 0…1; null without any
    """

    link: Link
    host: Fraction | None
    device: Fraction | None


class Stretch(Answer, frozen=True, kw_only=True):
    """An interval of the main thread in one phase.

    step         name of the step that it begins in; null outside steps
    start_ns     since the start of the trace
    duration_ns  how long it lasts
    evidence     how the phase is known
    """

    step: str | None
    start_ns: Ns
    duration_ns: Ns
    evidence: str


class PhasesAnswer(Answer, frozen=True, kw_only=True):
    """What the steps did.

    meta            which trace
    main_thread     name of the thread that runs the program; null without one
    steps           names of the steps
    step_ns         their periods
    host_ns         how long the marks of the steps last on the host
    phases          of the average step; those that occur
    step_phases     of each step
    inferred        part of the host time whose phase no mark says, 0…1; null without host time
    recompute       computing again what was not kept
    backward        whether backward is linked to its forward; empty without a backward pass
    micro_batches   a row for each backward pass
    per_step        how many backward passes each step has
    optimizers      by class and turn in the step
    peaks           of the memory of each device, in the whole trace; empty if none was recorded
    stretches       the longest of the phase that was asked for; empty without one
    """

    meta: TraceMeta
    main_thread: str | None
    steps: Sequence[str]
    step_ns: Sequence[Ns]
    host_ns: Sequence[Ns]
    phases: Sequence[PhaseRow]
    step_phases: StepPhases
    inferred: Fraction | None
    recompute: Recomputation
    backward: Sequence[BackwardShare]
    micro_batches: InlineTable
    per_step: Sequence[Count]
    optimizers: InlineTable
    peaks: Sequence[PhaseAtPeak]
    stretches: Sequence[Stretch]


def _phases(subject: Subject, params: WhichPhase) -> PhasesAnswer:
    model = subject.model
    times, amounts, steps = phase_times(model), phase_amounts(model), model.steps
    passes = micro_batches(model)
    communication = times.communication_ns.sum(axis=0) / max(len(steps), 1)
    main = phases(model).main
    thread = model.trace.tracks[main] if main >= 0 else None
    return PhasesAnswer(
        meta=TraceMeta(**subject.about("overview")),
        main_thread=None if thread is None else thread.thread_name or f"{thread.tid}",
        steps=steps.names,
        step_ns=(steps.end - steps.start).tolist(),
        host_ns=(steps.host_end - steps.host_start).tolist(),
        phases=[
            PhaseRow(
                **msgspec.structs.asdict(mean),
                communication_ns=float(exposed),
                allocated_bytes=_amount(amounts.allocated_bytes, ProgramPhase(mean.name)),
                flops=_amount(amounts.flops, ProgramPhase(mean.name)),
            )
            for mean, exposed in zip(phase_means(model), communication, strict=True)
        ],
        step_phases=StepPhases(
            host=_by_phase(times, times.host_ns),
            device=_by_phase(times, times.device_ns),
            exposed=_by_phase(times, times.exposed_ns),
        ),
        inferred=share(int(times.inferred_ns.sum()), int(times.host_ns.sum())),
        recompute=recompute_shares(model),
        backward=_backward(model),
        micro_batches=passes.as_columns(),
        per_step=np.bincount(passes.step, minlength=len(steps)).tolist(),
        optimizers=optimizers(model).as_columns(),
        peaks=phases_at_peak(model),
        stretches=[] if params.phase is None else _stretches(model, ProgramPhase(params.phase), params.limit),
    )


@cached
def phase_means(model: Model) -> tuple[PhaseMean, ...]:
    """Return the phases of the average step; exposed times are whole ns, and the largest takes the rest of the mean."""
    times, steps = phase_times(model), model.steps
    count = len(steps)
    if not count:
        return ()
    exposed = _adding_up(times.exposed_ns.sum(axis=0), float((steps.end - steps.start).mean()))
    host, device, inferred = (
        (column.sum(axis=0) / count).tolist() for column in (times.host_ns, times.device_ns, times.inferred_ns)
    )
    return tuple(
        PhaseMean(name=name_of(name), host_ns=h, device_ns=d, exposed_ns=e, inferred_ns=i)
        for name, h, d, e, i in zip(times.phases, host, device, exposed, inferred, strict=True)
    )


def recompute_shares(model: Model) -> Recomputation:
    times = phase_times(model)

    def part(column: Int64) -> float | None:
        again = times.of(ProgramPhase.RECOMPUTE, column)
        return share(again, again + times.of(ProgramPhase.BACKWARD, column))

    return Recomputation(host=part(times.host_ns), device=part(times.device_ns), exposed=part(times.exposed_ns))


def _backward(model: Model) -> list[BackwardShare]:
    times = backward_times(model)
    host, device = int(times.host.sum()), int(times.device.sum())
    return [
        BackwardShare(link=link, host=share(int(times.host[at]), host), device=share(int(times.device[at]), device))
        for at, link in enumerate(LINKS)
        if times.host[at] or times.device[at]
    ]


def _adding_up(total: Int64, mean: float) -> list[float]:
    """Divide a mean in proportion to sums, into parts that add up to it exactly, in any order."""
    if not total.any():
        return [0.0] * len(total)
    parts: list[float] = list(apportion(total, int(mean)))
    parts[int(np.argmax(total))] += mean - int(mean)
    return parts


def _amount(amounts: Mapping[ProgramPhase, int] | None, phase: ProgramPhase) -> int | None:
    return None if amounts is None else amounts.get(phase, 0)


def _by_phase(times: PhaseTimes, column: Int64) -> dict[str, list[int]]:
    return {phase.value: column[:, at].tolist() for at, phase in enumerate(times.phases)}


def _stretches(model: Model, phase: ProgramPhase, limit: int) -> list[Stretch]:
    """Return the intervals of a phase that begin in the steps, the longest first."""
    segments, steps = phases(model).segments, model.steps
    step = np.searchsorted(steps.host_start, segments.start, side="right") - 1
    inside = (step >= 0) & (segments.start < np.append(steps.host_end, 0)[step])
    place = np.flatnonzero(inside & (segments.phase == CODE[phase]))
    length = segments.end[place] - segments.start[place]
    return [
        Stretch(
            step=steps.names[int(step[each])],
            start_ns=int(segments.start[each]),
            duration_ns=int(segments.end[each] - segments.start[each]),
            evidence=PhaseEvidence(int(segments.evidence[each])).name.lower(),
        )
        for each in place[descending(length)[:limit]].tolist()
    ]


PROGRAM_PHASES = Question(
    name="phases",
    summary="What the steps did: time by phase, micro-batches, optimizers",
    compute=_phases,
    precompute=(WhichPhase(),),
    more="Phases, and how they are found: docs/views/program.md.",
    report=({},),
)


class CompiledAnswer(Answer, frozen=True, kw_only=True):
    """What torch.compile did.

    meta          which trace
    totals        over all regions; null if neither a region nor a compilation was recorded
    regions       a row for each compiled code
    compilations  a row for each compilation
    kernels       a row for each kernel that Inductor generated
    eager         a row for each operator outside compiled code; empty if nothing compiled runs
    """

    meta: TraceMeta
    totals: RegionTotals | None
    regions: InlineTable
    compilations: InlineTable
    kernels: InlineTable
    eager: InlineTable


def _compiled(subject: Subject, _: NoParameters) -> CompiledAnswer:
    model = subject.model
    table, made = regions(model), compilations(model)
    return CompiledAnswer(
        meta=TraceMeta(**subject.about("overview")),
        totals=region_totals(model) if len(table) or len(made) else None,
        regions=table.as_columns(),
        compilations=made.as_columns(),
        kernels=generated_kernels(model).as_columns(),
        eager=eager_operators(model).as_columns(),
    )


class WhichGraph(msgspec.Struct, frozen=True):
    """Of which graph the nodes are listed, and how many gaps."""

    graph: Annotated[Annotated[int, Meta(ge=0)] | None, Meta(description="`graph` of a row: its nodes are listed.")] = (
        None
    )
    limit: Annotated[int, Meta(description="Gaps of the answer.", ge=1, le=LARGEST_PAGE)] = PAGE


class GraphsAnswer(Answer, frozen=True, kw_only=True):
    """What devices replayed of graphs (CUDA and HIP).

    meta         which trace
    replayed_ns  Σ durations of device work in replays, in the steps that are chosen
    outside_ns   the same of all other device work
    graphs       a row for each graph that was replayed
    captures     a row for each capture, in the whole recording
    outside      a row for each name of device work that ran in no replay; empty if nothing was replayed
    nodes        of the graph that was asked for; null without one
    gaps         the longest times for which a device waits in and after the replays of that graph; without one, of all
                 graphs
    gap_count    how many such gaps there are
    """

    meta: TraceMeta
    replayed_ns: Ns
    outside_ns: Ns
    graphs: InlineTable
    captures: InlineTable
    outside: InlineTable
    nodes: InlineTable | None
    gaps: InlineTable
    gap_count: Count


def _graphs(subject: Subject, params: WhichGraph) -> GraphsAnswer:
    model = subject.model
    table = graphs(model)
    nodes = None
    if params.graph is not None:
        nodes = graph_nodes(model, params.graph)
        if nodes is None:
            raise NotFound(f"there is no graph {params.graph}")
    replayed, outside = outside_ns(model)
    gaps, count = longest_gaps(model, params.graph, params.limit)
    return GraphsAnswer(
        meta=TraceMeta(**subject.about("overview")),
        replayed_ns=replayed,
        outside_ns=outside,
        graphs=table.as_columns(),
        captures=captures(model).as_columns(),
        outside=outside_graphs(model).as_columns(),
        nodes=None if nodes is None else nodes.as_columns(),
        gaps=gaps.as_columns(),
        gap_count=count,
    )


PROGRAM_COMPILED = Question(
    name="compiled",
    summary="What torch.compile did: regions, graph breaks, compilations, generated kernels",
    compute=_compiled,
    precompute=(NoParameters(),),
    more="What the numbers are: docs/views/program.md.",
    report=({},),
)

PROGRAM_GRAPHS = Question(
    name="graphs",
    summary="Graphs that devices replay: captures, replays, nodes, gaps inside and between",
    compute=_graphs,
    precompute=(WhichGraph(),),
    more="What the numbers are: docs/views/program.md.",
    report=({},),
)
