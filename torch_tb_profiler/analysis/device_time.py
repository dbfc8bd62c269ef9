"""How the time of each device and rank splits into computing, communicating, copying, idle; exposed communication."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.api_calls import LONG_DELAY_NS
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.kinds import CODE, ProgramPhase
from torch_tb_profiler.analysis.program.phases import phases
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.shared.device_roles import (
    BUSY,
    COMMUNICATING,
    COMPUTING,
    COMPUTING_ALONE,
    EXPOSED_COMMUNICATION,
    EXPOSED_COPY,
    Quantity,
    Role,
    computing_spans,
    device_spans,
    idle_ns,
    rank_spans,
    work_by_device,
)
from torch_tb_profiler.analysis.shared.kernel_use import is_compute
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import isin
from torch_tb_profiler.arrays.grouping import each_value, sums_at
from torch_tb_profiler.arrays.intervals import Coverage, union_of
from torch_tb_profiler.arrays.lookup import window_of
from torch_tb_profiler.arrays.types import Bool, Float64, Int8, Int32, Int64
from torch_tb_profiler.model import Model

#: work: from the first to the last piece of work of the device; steps: every step
Window = Literal["work", "steps"]

_COMPUTE, _COMMUNICATION, _COPY = (1 << role for role in Role)


class DeviceTime(Result):
    """One row per device and window.

    The eight columns from `compute_only_ns` to `idle_ns` exclude each other and add up to `window_ns` exactly: what
    was going on at each moment, over all streams of the device.
    """

    device: Int64 = column("Device", "Number of the device.", unit=None)
    step: tuple[str, ...] = column("Step", 'Name of the step; empty for the window "work".')
    start_ns: Int64 = column("Start", "From the start of the trace.")
    window_ns: Int64 = column("Window", "Length of the window.")
    compute_only_ns: Int64 = column("Compute only", "Compute kernels ran, nothing else did.")
    communication_only_ns: Int64 = column("Communication only", "Communication kernels ran, nothing else did.")
    copy_only_ns: Int64 = column("Copy only", "Copies or fills ran, nothing else did.")
    compute_communication_ns: Int64 = column(
        "Compute communication", "Compute and communication kernels ran, no copies."
    )
    compute_copy_ns: Int64 = column("Compute copy", "Compute kernels and copies ran, no communication.")
    communication_copy_ns: Int64 = column(
        "Communication copy", "Communication kernels and copies ran, no compute kernels."
    )
    compute_communication_copy_ns: Int64 = column("Compute communication copy", "All three ran.")
    idle_ns: Int64 = column("Idle", "Nothing ran.")

    def to_columns(self) -> dict[str, object]:
        return {
            **super().to_columns(),
            "busy_ns": self.busy_ns,
            "computing_ns": self.computing_ns,
            "communicating_ns": self.communicating_ns,
            "exposed_communication_ns": self.exposed_communication_ns,
            "overlap": self.overlap,
        }

    def of(self, quantity: Quantity) -> Int64:
        """Return the ns of a quantity: Σ of the exclusive columns that count to it."""
        columns = {
            _COMPUTE: self.compute_only_ns,
            _COMMUNICATION: self.communication_only_ns,
            _COPY: self.copy_only_ns,
            _COMPUTE | _COMMUNICATION: self.compute_communication_ns,
            _COMPUTE | _COPY: self.compute_copy_ns,
            _COMMUNICATION | _COPY: self.communication_copy_ns,
            _COMPUTE | _COMMUNICATION | _COPY: self.compute_communication_copy_ns,
        }
        total: Int64 = np.sum([ns for running, ns in columns.items() if quantity.counts(running)], axis=0)
        return total

    @cached_property
    def busy_ns(self) -> Int64:
        """Device busy: at least one kernel, copy or fill ran; window − idle."""
        return self.of(BUSY)

    @cached_property
    def computing_ns(self) -> Int64:
        """Computing: at least one compute kernel ran."""
        return self.of(COMPUTING)

    @cached_property
    def communicating_ns(self) -> Int64:
        """Communicating: at least one communication kernel ran."""
        return self.of(COMMUNICATING)

    @property
    def hidden_communication_ns(self) -> Int64:
        """Communication while a compute kernel ran."""
        return self.communicating_ns - self.exposed_communication_ns

    @cached_property
    def exposed_communication_ns(self) -> Int64:
        """Communication while no compute kernel ran."""
        return self.of(EXPOSED_COMMUNICATION)

    @property
    def exposed_copy_ns(self) -> Int64:
        """Copies and fills while no kernel ran. Computing + exposed communication + this + idle = window."""
        return self.of(EXPOSED_COPY)

    @property
    def overlap(self) -> Float64:
        """Hidden communication ÷ communication, 0…1; NaN without communication."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.hidden_communication_ns / self.communicating_ns
        return np.where(self.communicating_ns > 0, share, np.nan)


def device_time(model: Model, window: Window = "work") -> DeviceTime:
    """Share out the time of every device that did some work, by number; -1 is work that names no device."""
    return _device_time(model, window)


@cached
def _device_time(model: Model, window: Window) -> DeviceTime:
    work, events = model.device_work, model.trace.events
    rows: list[list[Int64]] = []
    devices: list[int] = []
    steps: list[str] = []
    for device, chosen in work_by_device(model).items():
        if window == "steps":
            start, end, names = model.steps.start, model.steps.end, model.steps.names
        else:
            row = work.row[chosen]
            start, end, names = events.start[row].min(keepdims=True), events.end[row].max(keepdims=True), ("",)
        parts = intervals.overlay(device_spans(model, chosen))
        members = [Coverage(parts.of(m)).between(start, end) for m in range(1, 1 << len(Role))]
        length = end - start
        rows.append([start, length, *members, idle_ns(length, np.sum(members, axis=0))])
        devices += [device] * len(names)
        steps += names
    columns = [np.concatenate(c) for c in zip(*rows, strict=True)] or [np.empty(0, np.int64)] * (2 + (1 << len(Role)))
    by_member = dict(enumerate(columns[2:-1], start=1))
    return DeviceTime(
        device=np.array(devices, np.int64),
        step=tuple(steps),
        start_ns=columns[0],
        window_ns=columns[1],
        compute_only_ns=by_member[_COMPUTE],
        communication_only_ns=by_member[_COMMUNICATION],
        copy_only_ns=by_member[_COPY],
        compute_communication_ns=by_member[_COMPUTE | _COMMUNICATION],
        compute_copy_ns=by_member[_COMPUTE | _COPY],
        communication_copy_ns=by_member[_COMMUNICATION | _COPY],
        compute_communication_copy_ns=by_member[_COMPUTE | _COMMUNICATION | _COPY],
        idle_ns=columns[-1],
    )


class StepOverlap(Result, group="overlap"):
    """A row per step, in ns; the four columns add up to `duration_ns` exactly."""

    names: tuple[str, ...] = fact("of the steps")
    duration_ns: Int64 = fact("of each step, its length")
    computation_ns: Int64 = column(
        "Computation",
        "Time of the step in which a compute kernel ran on a device and no communication. In a trace without compute "
        "kernels: an operator computed on the host; calls of communication and hooks of autograd do not.",
    )
    overlap_ns: Int64 = column(
        "Overlapping", "Time of the step in which computation and communication ran at the same time."
    )
    communication_only_ns: Int64 = column(
        "Communication",
        "Time of the step in which communication ran and no computation, on any device of the rank. Communication "
        "is its kernels, or, for libraries without kernels (gloo, MPI), the calls on the host.",
    )
    other_ns: Int64 = column(
        "Other",
        "Time of the step with neither of them. Computation + Overlapping + Communication + Other = step time, "
        "exactly.",
    )


@cached
def step_overlap(model: Model) -> StepOverlap:
    """Overlap kernels of communication with others; without kernels, with what computes on the host
    (`host_computing`).
    """
    return _between(model)


def overview_overlap(model: Model) -> StepOverlap:
    """Return the same with the steps of the old plugin's /distributed/overlap; for that alone."""
    return _between(model.of_overview())


def _between(model: Model) -> StepOverlap:
    start, end = model.steps.start, model.steps.end
    spans = rank_spans(model)
    alone, communication, exposed = (
        quantity.between(spans, start, end) for quantity in (COMPUTING_ALONE, COMMUNICATING, EXPOSED_COMMUNICATION)
    )
    length = end - start
    return StepOverlap(
        names=model.steps.names,
        duration_ns=length,
        computation_ns=alone,
        overlap_ns=communication - exposed,
        communication_only_ns=exposed,
        other_ns=length - alone - communication,
    )


def step_of_operations(model: Model) -> Int32:
    """Return the step of each operation of `model.communications`: the one in which the host called it; -1 for none.

    An operation without a call in the trace belongs to the step in which its first kernel began, unless it was launched
    before the recording.
    """
    steps, found = model.steps, model.communications
    called = found.operations.host_start >= 0
    start = found.start
    on_host = window_of(steps.host_start, steps.host_end, start)
    structure, trace = model.structure, model.trace
    earlier = structure.launched_before & structure.device_links.is_communication
    before = isin(start, trace.events.start[trace.device_work.row[earlier]])
    on_device = np.where(before, -1, window_of(steps.start, steps.end, start))
    return np.where(called, on_host, on_device).astype(np.int32)


#: why a kernel of communication was not hidden
#: overtaken      kernels that were launched later ran before it: queues of the device, or multiprocessors without room
#: asynchronous   the next kernels began before it ended: what is computed beside it is too little
#: queued         it was launched long before it began, behind other kernels
#: graph          a graph has this order
#: launched_late  the device had nothing to do when it was launched
#: awaited        what was launched next began when it had ended
Why = Literal["overtaken", "asynchronous", "queued", "graph", "launched_late", "awaited"]
#: by code; without a name where unknown: a library that runs on the host, a launch that was not recorded
WHY: tuple[Why | Literal[""], ...] = (
    "", "overtaken", "asynchronous", "queued", "graph", "launched_late", "awaited",
)  # fmt: skip
#: what a kernel is not hidden for is what explains this share of what is bare of it
_MOST = 0.5


class CommunicationKernels(msgspec.Struct, frozen=True):
    """Kernels of communication whose launch is known. Parallel, shape (n,), ns.

    start     when each begins
    bare      the part in which nothing was computed on its device
    delay     from the end of its launch to its start
    ways      how much of `bare` could have run earlier, or beside something
    is_idle   its device had computed all that was launched when it was launched itself
    in_graph  it is one of several pieces of work of one launch
    """

    start: Int64
    exposed: Int64
    delay: Int64
    ways: Mapping[Literal["overtaken", "asynchronous", "queued"], Int64]
    is_idle: Bool
    in_graph: Bool

    @property
    def why(self) -> Int8:
        """Shape (n,): the position in `WHY` of what explains most of each."""
        of = np.where(self.is_idle, WHY.index("launched_late"), WHY.index("awaited"))
        for way in reversed(tuple(self.ways)):
            of = np.where(self.ways[way] >= _MOST * np.maximum(self.exposed, 1), WHY.index(way), of)
        return np.where(self.in_graph, WHY.index("graph"), of).astype(np.int8)


def communication_kernels(model: Model) -> CommunicationKernels:
    """Return the communication kernels of the chosen steps."""
    events, work, links = model.trace.events, model.device_work, model.device_links
    chosen = np.flatnonzero(links.is_communication & (links.launch >= 0))
    start, end = events.start[work.row[chosen]], events.end[work.row[chosen]]
    launch = links.launch[chosen]
    call = model.launches.row[launch]
    launched = events.end[call]
    next_ = np.full(len(chosen), np.iinfo(np.int64).max)
    computed, hidden, last = (np.zeros(len(chosen), np.int64) for _ in range(3))
    compute = is_compute(model)
    for device, at in each_value(work.device[chosen]):
        mine = np.flatnonzero(compute & (work.device == device))
        spans = union_of(device_spans(model, mine))
        computing = Coverage(spans)
        hidden[at] = computing.between(start[at], end[at])
        next_[at] = _next_begins(model, mine, events.start[call[at]])
        computed[at] = computing.between(np.maximum(launched[at], next_[at]), start[at])
        last[at] = computing.between(events.start[call[at]], start[at])
    bare = np.maximum(end - start - hidden, 0)
    delay = start - launched
    pieces = np.bincount(links.launch[links.launch >= 0], minlength=len(model.launches))
    return CommunicationKernels(
        start=start,
        exposed=bare,
        delay=delay,
        ways={
            "overtaken": np.minimum(computed, bare),
            "asynchronous": np.where(next_ < end, bare, 0),
            "queued": np.where(delay > LONG_DELAY_NS, np.minimum(delay, bare), 0),
        },
        is_idle=last == 0,
        in_graph=pieces[launch] > 1,
    )


def _next_begins(model: Model, kernels: Int64, called: Int64) -> Int64:
    """Shape (calls,): when that of some kernels begins which was launched next after each call; the largest number
    without one. A kernel that needs the result of a collective begins behind it.

    kernels   positions in `Model.device_work`
    called    when each call began, ns
    """
    events, work, links = model.trace.events, model.device_work, model.device_links
    kernels = kernels[links.launch[kernels] >= 0]
    at = events.start[model.launches.row[links.launch[kernels]]]
    order = np.argsort(at, kind="stable")
    begins: Int64 = np.append(events.start[work.row[kernels[order]]], np.iinfo(np.int64).max)
    return begins[np.searchsorted(at[order], called, side="right")]


class Exposure(msgspec.Struct, frozen=True):
    """By operation of `Model.communications`; parallel, shape (n,).

    exposed_ns   it ran, and nothing was computed; a moment in which several ran counts for the one that began first, so
                 that all add up to the exposed communication of the rank
    hidden_ns    it ran, and something was computed; likewise
    phase        code of the phase that called it
    why          position in `WHY`
    """

    exposed_ns: Int64
    hidden_ns: Int64
    phase: Int8
    why: Int8


@cached
def exposure(model: Model) -> Exposure:
    """Return the exposure of all operations of a trace."""
    communications = model.communications
    n, order = len(communications), np.argsort(communications.ranges.start, kind="stable")
    operation, start, end = (
        x[order] for x in (communications.ranges.operation, communications.ranges.start, communications.ranges.end)
    )
    since = np.maximum(start, np.append(start[:1], np.maximum.accumulate(end)[:-1]))
    hidden = Coverage(computing_spans(model)).between(since, end)
    why = np.zeros(n, np.int8)
    kernels = communication_kernels(model)
    at = np.searchsorted(start, kernels.start)
    known = np.flatnonzero(at < len(start))
    known = known[start[at[known]] == kernels.start[known]]
    why[operation[at[known]]] = kernels.why[known]
    called, known_phases = communications.operations.host_start, phases(model)
    phase = np.full(n, CODE[ProgramPhase.OTHER], np.int8)
    if known_phases.main >= 0:
        on_main = np.full(n, known_phases.main, np.int32)
        phase = np.where(called >= 0, known_phases.at(on_main, np.maximum(called, 0))[0], phase).astype(np.int8)
    return Exposure(
        exposed_ns=sums_at(operation, np.maximum(end - since, 0) - hidden, n),
        hidden_ns=sums_at(operation, hidden, n),
        phase=phase,
        why=why,
    )
