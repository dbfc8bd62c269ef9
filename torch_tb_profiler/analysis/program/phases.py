"""The phase of each moment of each thread, and how long phases take on the host, on devices and of the step."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, Ns
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import work_counts
from torch_tb_profiler.analysis.memory.records import memory_curves, memory_records
from torch_tb_profiler.analysis.program.inferred_phases import (
    BackwardPasses,
    InferredPhases,
    backward_passes,
    inferred_phases,
)
from torch_tb_profiler.analysis.program.kinds import (
    CODE,
    INFERRED,
    PHASES,
    PhaseEvidence,
    PhaseName,
    ProgramPhase,
    name_of,
)
from torch_tb_profiler.analysis.program.marks import Marks, marks
from torch_tb_profiler.analysis.shared.device_roles import EXPOSED_COMMUNICATION, all_device_spans
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.analysis.shared.operator_times import steps_of_work
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.intervals import Coverage, PriorityIntervals, Spans, priority_intervals
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.model import Model

_OTHER, _NO_LAUNCH = CODE[ProgramPhase.OTHER], CODE[ProgramPhase.NO_LAUNCH]


class PhaseSegments(msgspec.Struct, frozen=True):
    """All time of the main thread, cut wherever its phase changes. Parallel; sorted, without gaps between them.

    start, end   ns
    phase        code of the phase
    evidence     Evidence
    """

    start: Int64
    end: Int64
    phase: Int8
    evidence: Int8


class Phases(msgspec.Struct, frozen=True):
    """What is known of the phases of a trace.

    main      index into Trace.tracks: the thread that runs the program; -1 without host events
    runs      the backward passes
    segments  of the main thread, from the first mark to the last
    """

    main: int
    marks: Marks
    inferred: InferredPhases
    runs: BackwardPasses
    segments: PhaseSegments

    def at(self, track: Int32, time: Int64) -> tuple[Int8, Int8]:
        """Return the phase of some threads at some times, and its PhaseEvidence. Arrays of one shape."""
        return _at(self.main, self.marks, self.inferred, track, time)


@cached(for_good=True)
def _phases(model: Model) -> Phases:
    main = main_lane(model)
    marked = marks(model)
    runs = backward_passes(model, marked, main)
    filled = inferred_phases(model, marked, runs, main)
    return Phases(main, marked, filled, runs, _segments(main, marked, filled))


def phases(model: Model) -> Phases:
    """Return the phases of the whole trace: a choice of steps does not change what a moment is."""
    return _phases(model.whole)


def device_phase(model: Model, found: Phases) -> Int8:
    """Return the phase in which each piece of the selected work was launched, shape (device work,)."""
    launch = model.device_links.launch
    known = np.flatnonzero(launch >= 0)
    phase = np.full(len(launch), _NO_LAUNCH, np.int8)
    phase[known] = event_phase(model, found, take_known(model.launches.row, launch)[known])
    return phase


def event_phase(model: Model, found: Phases, row: Int32) -> Int8:
    """Return the phase in which each of some events of the host begins, shape (rows,)."""
    events = model.trace.events
    return found.at(events.track[row], events.start[row])[0]


def _at(main: int, marked: Marks, filled: InferredPhases, track: Int32, time: Int64) -> tuple[Int8, Int8]:
    track = track.astype(np.int32)
    mark = marked.nesting.innermost(track, time)
    phase = take_known(marked.phase, mark, _OTHER).astype(np.int8)
    evidence = take_known(marked.evidence, mark, PhaseEvidence.NONE).astype(np.int8)
    elsewhere = np.flatnonzero((mark < 0) & (track != main))
    if len(elsewhere):
        there = np.full(len(elsewhere), main, np.int32)
        phase[elsewhere], of_main = _at(main, marked, filled, there, time[elsewhere])
        evidence[elsewhere] = np.where(of_main == PhaseEvidence.NONE, PhaseEvidence.NONE, PhaseEvidence.OTHER_THREAD)
    open_ = np.flatnonzero((mark < 0) & (track == main))
    interval = filled.nesting.innermost(np.zeros(len(open_), np.int32), time[open_])
    phase[open_] = take_known(filled.phase, interval, _OTHER)
    evidence[open_] = take_known(filled.evidence, interval, PhaseEvidence.NONE)
    return phase, evidence


def _segments(main: int, marked: Marks, filled: InferredPhases) -> PhaseSegments:
    mine = marked.nesting.lane == main
    times = distinct(
        np.concatenate(
            [marked.nesting.start[mine], marked.nesting.end[mine], filled.nesting.start, filled.nesting.end]
        ).astype(np.int64)
    )
    if len(times) < 2:
        nothing, code = np.empty(0, np.int64), np.empty(0, np.int8)
        return PhaseSegments(nothing, nothing, code, code)
    start = times[:-1]
    phase, evidence = _at(main, marked, filled, np.full(len(start), main, np.int32), start)
    leads = np.flatnonzero(np.concatenate(([True], (phase[1:] != phase[:-1]) | (evidence[1:] != evidence[:-1]))))
    end = np.append(start[leads[1:]], times[-1])
    return PhaseSegments(start[leads], end, phase[leads], evidence[leads])


class PhaseTimes(msgspec.Struct, frozen=True):
    """Time of each step by phase, in ns. Shapes are (steps, phases) where nothing else is said.

    phases            those that occur, in the order of `ProgramPhase`
    host_ns           of the main thread, from the begin to the end of the step's mark: adds up to that exactly
    device_ns         Σ durations of kernels, copies and fills by the phase that launched them: adds up to the device
                      work of the step; what runs at once counts each time
    exposed_ns        of the period of the step: while devices work the phase of what was launched first of all that
                      runs, else that of the main thread: adds up to the period exactly
    inferred_ns       the part of `host_ns` that nothing marks
    communication_ns  the part of `exposed_ns` in which a collective runs and no compute kernel
    """

    phases: tuple[ProgramPhase, ...]
    host_ns: Int64
    device_ns: Int64
    exposed_ns: Int64
    inferred_ns: Int64
    communication_ns: Int64

    def of(self, phase: ProgramPhase, column: Int64) -> int:
        """Sum over the steps; 0 of a phase that does not occur."""
        return int(column[:, self.phases.index(phase)].sum()) if phase in self.phases else 0


@cached
def phase_times(model: Model) -> PhaseTimes:
    """Return the phase times of the chosen steps."""
    found, steps = phases(model), model.steps
    host = _host(found)
    inferred = _host(found, found.segments.evidence >= INFERRED)
    exposed = _exposed(model, found, host)
    communicating = EXPOSED_COMMUNICATION.spans(all_device_spans(model.whole))
    tables = [
        _between(host, steps.host_start, steps.host_end),
        _on_devices(model, found),
        _between(exposed, steps.start, steps.end),
        _between(inferred, steps.host_start, steps.host_end, rest=False),
        _between([intervals.intersection(each, communicating) for each in exposed], steps.start, steps.end, rest=False),
    ]
    used = np.flatnonzero(np.array([np.abs(table).sum(axis=0) for table in tables[:3]]).sum(axis=0))
    return PhaseTimes(tuple(PHASES[code] for code in used.tolist()), *(table[:, used] for table in tables))


class PhaseAmounts(msgspec.Struct, frozen=True):
    """What the steps that are chosen allocate and compute, by phase; None if nothing of it was recorded.

    allocated_bytes   Σ of allocations, on whatever device
    flops             FLOP of operators that begin in the steps
    """

    allocated_bytes: dict[ProgramPhase, int] | None
    flops: dict[ProgramPhase, int] | None


@cached
def phase_amounts(model: Model) -> PhaseAmounts:
    found = phases(model)
    return PhaseAmounts(_allocated(model, found), _flops(model, found))


class PhaseAtPeak(msgspec.Struct, frozen=True):
    """When most memory of a device was in use in the whole trace.

    device    which one
    phase     of the thread that allocated then
    evidence  how the phase is known
    time_ns   since the start of the trace
    bytes     in use then
    """

    device: str
    phase: PhaseName
    evidence: str
    time_ns: Ns
    bytes: Bytes


@cached
def phases_at_peak(model: Model) -> tuple[PhaseAtPeak, ...]:
    """Return the phase at the memory peak of each device with recorded memory."""
    whole, found = model.whole, phases(model)
    records, memory = memory_records(whole), model.trace.memory
    peaks = []
    for curve in memory_curves(whole).curves:
        row = memory.row[records.entry[curve.peak.position]]
        track = model.trace.events.track[row]
        phase, evidence = found.at(np.array([track], np.int32), np.array([curve.peak.time_ns], np.int64))
        peak = curve.peak
        how = PhaseEvidence(int(evidence[0])).name.lower()
        peaks.append(PhaseAtPeak(curve.device.name, name_of(PHASES[int(phase[0])]), how, peak.time_ns, peak.allocated))
    return tuple(peaks)


def _host(found: Phases, chosen: Bool | None = None) -> list[Spans]:
    """Return, by phase, when the main thread was in it. `OTHER` is what is left."""
    segments = found.segments
    wanted = np.ones(len(segments.start), np.bool_) if chosen is None else chosen
    spans = []
    for code in range(len(PHASES)):
        mine = wanted & (segments.phase == code) & (code != _OTHER)
        spans.append(intervals.union(segments.start[mine], segments.end[mine]))
    return spans


@cached
def priority_work(model: Model) -> tuple[Int64, PriorityIntervals, Spans]:
    """Return, of all work that runs at a moment, what was launched first; what has no launch comes before all else.

    Returns the positions in `Model.device_work` of the selected work, to which `PriorityIntervals.source` points; its
    segments; and when anything ran.
    """
    work = np.flatnonzero(model.is_work)
    row, launch = model.device_work.row[work], model.device_links.launch[work]
    events = model.trace.events
    called = take_known(events.start, take_known(model.launches.row, launch))
    rank = np.where(launch >= 0, called, np.iinfo(np.int64).min)
    by_priority = priority_intervals(events.start[row], events.end[row], rank)
    return work, by_priority, intervals.union(by_priority.start, by_priority.end)


def _exposed(model: Model, found: Phases, host: list[Spans]) -> list[Spans]:
    """Return, by phase, when a moment counts as its own. Of the whole trace."""
    work, by_priority, busy = priority_work(model.whole)
    phase = device_phase(model.whole, found)[work][by_priority.source]
    spans = []
    for code, alone in enumerate(host):
        mine = phase == code
        running = intervals.union(by_priority.start[mine], by_priority.end[mine])
        spans.append(intervals.union_of([intervals.subtraction(alone, busy), running]))
    return spans


def _between(spans: list[Spans], start: Int64, end: Int64, rest: bool = True) -> Int64:
    """Return the time of each step in spans of phases, shape (steps, phases); with `rest` what is left is `OTHER`."""
    found = np.stack([Coverage(each).between(start, end) for each in spans], axis=1)
    if rest:
        found[:, _OTHER] += np.maximum(end - start, 0) - found.sum(axis=1)
    return found.astype(np.int64)


def _on_devices(model: Model, found: Phases) -> Int64:
    inside = model.in_steps
    size, many = len(model.steps), len(PHASES)
    work, step = steps_of_work(model)
    if not size or not len(work):
        return np.zeros((size, many), np.int64)
    phase = device_phase(inside, found)[work]
    duration = np.maximum(model.trace.events.duration[inside.device_work.row[work]], 0)
    return sums_at(step * many + phase, duration, size * many).reshape(size, many)


def _allocated(model: Model, found: Phases) -> dict[ProgramPhase, int] | None:
    inside = model.in_steps
    row, size = inside.memory.row, inside.memory.bytes
    if not len(row) or not memory_records(model).devices:
        return None
    at = np.flatnonzero(size > 0)
    phase = event_phase(model, found, row[at])
    return _by_phase(sums_at(phase.astype(np.int64), size[at], len(PHASES)))


def _flops(model: Model, found: Phases) -> dict[ProgramPhase, int] | None:
    inside = model.in_steps
    calls = work_counts(inside).calls
    flops = np.nan_to_num(calls.numbers("flops"))
    if not flops.any():
        return None
    phase = event_phase(model, found, calls.row)
    sums = np.bincount(phase.astype(np.int64), flops, len(PHASES))
    return _by_phase(np.rint(sums).astype(np.int64))


def _by_phase(sums: Int64) -> dict[ProgramPhase, int]:
    return {phase: int(amount) for phase, amount in zip(PHASES, sums.tolist(), strict=True) if amount}
