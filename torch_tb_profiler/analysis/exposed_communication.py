"""How much of each operation of communication is exposed, in which phase it was called, and why it was not hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.api_calls import LONG_DELAY_NS
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.kinds import CODE, ProgramPhase
from torch_tb_profiler.analysis.program.phases import phases
from torch_tb_profiler.analysis.shared.device_roles import computing_spans, device_spans
from torch_tb_profiler.analysis.shared.kernel_use import is_compute
from torch_tb_profiler.arrays.grouping import each_value, sums_at
from torch_tb_profiler.arrays.intervals import Coverage, union_of
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.model import Model

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
