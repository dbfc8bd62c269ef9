"""Everything that the edges of a graph are made of, and the moments of host threads that they connect."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.replay.host_time import HostTime, LaneSpans, host_time, lane_union
from torch_tb_profiler.analysis.replay.host_waits import (
    HostWait,
    SilentWait,
    blocking_copies,
    full_queue,
    synchronizations,
    unrecorded_waits,
)
from torch_tb_profiler.analysis.replay.launched_work import RuntimeCalls, WorkItems, runtime_calls, work_items
from torch_tb_profiler.analysis.replay.stream_edges import (
    Latencies,
    LaunchOrder,
    launch_and_gap,
    previous_on_stream,
    wake_of,
)
from torch_tb_profiler.analysis.replay.thread_edges import (
    HandOvers,
    HostCollectives,
    hand_overs,
    host_collectives,
    silent_spans,
)
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.analysis.step_kinds import step_kinds
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.steps import Steps


class GraphInputs(msgspec.Struct, frozen=True):
    """All that the edges of a graph are made of."""

    items: WorkItems
    calls: RuntimeCalls
    launched: LaunchOrder
    previous: Int64
    host: HostTime
    main: int
    latencies: Latencies
    syncs: HostWait
    blocked: Int64
    copies: HostWait
    held: HostWait
    wakes: HandOvers
    collectives: HostCollectives
    waits: LaneSpans
    silent: LaneSpans
    silent_waits: SilentWait
    steps: Steps
    step_kind: Int64


def graph_inputs(model: Model) -> GraphInputs:
    """Collect them for the whole trace."""
    trace, steps = model.trace, model.steps
    items = work_items(model)
    calls = runtime_calls(model)
    previous = previous_on_stream(items)
    launch, gap = launch_and_gap(items, calls, previous)
    copies = blocking_copies(trace, items, calls)
    if len(copies.call):
        # they are launched at once, and wait from then on
        release = calls.release.copy()
        earliest = np.minimum(calls.start[copies.call] + launch, items.start[copies.item])
        release[copies.call] = np.maximum(earliest, calls.start[copies.call])
        calls = replace(calls, release=release)
        copies = replace(copies, since=release[copies.call])
    launched = LaunchOrder.of(items, calls)
    syncs, blocked = synchronizations(trace, items, calls, launched)
    held = full_queue(items, calls, launched)
    launches = np.zeros(len(trace.events), np.bool_)
    launches[calls.row[calls.release >= 0]] = True
    main = main_lane(model)
    host = host_time(trace, launches, (main, int(steps.host_start[0])) if main >= 0 and len(steps) else None)
    wakes = hand_overs(model, host, calls, main)
    collectives = host_collectives(model, host, items, main)
    silent = silent_spans(model, host)
    silent_waits = unrecorded_waits(silent, items, launched)
    known = wakes.wait_from >= 0
    waits = lane_union(
        *map(
            np.concatenate,
            zip(
                (calls.lane[blocked], calls.start[blocked], calls.end[blocked]),
                (calls.lane[copies.call], copies.since, calls.end[copies.call]),
                (calls.lane[held.call], held.since, calls.end[held.call]),
                (wakes.to_lane[known], wakes.wait_from[known], wakes.to_time[known]),
                (collectives.ended_lane, collectives.ended_from, collectives.ended_to),
                (silent_waits.lane, silent_waits.start, silent_waits.end),
                strict=True,
            ),
        )
    )
    ended = np.concatenate((syncs.item, copies.item))
    returned = np.concatenate((calls.end[syncs.call], calls.end[copies.call]))
    begun = np.concatenate((calls.start[syncs.call], calls.start[copies.call]))
    late = (returned - items.end[ended])[items.end[ended] > begun]
    latencies = Latencies(launch, gap, wake_of(late))
    return GraphInputs(
        items,
        calls,
        launched,
        previous,
        host,
        main,
        latencies,
        syncs,
        blocked,
        copies,
        held,
        wakes,
        collectives,
        waits,
        silent,
        silent_waits,
        steps,
        step_kinds(model).of,
    )


class HostPoints:
    """The moments of host threads that edges begin or end at; one node for each moment."""

    def __init__(self, inputs: GraphInputs) -> None:
        calls, wakes, host = inputs.calls, inputs.wakes, inputs.collectives
        self._lanes: list[Int64] = []
        self._times: list[Int64] = []
        self._size = 0
        releasing = np.flatnonzero(calls.release >= 0)
        release = self._add(calls.lane[releasing], calls.release[releasing])
        ends = [
            self._add(calls.lane[c], calls.end[c]) for c in (inputs.syncs.call, inputs.copies.call, inputs.held.call)
        ]
        wake_from = self._add(wakes.from_lane, wakes.from_time)
        wake_to = self._add(wakes.to_lane, wakes.to_time)
        called = self._add(host.called_lane, host.called_time)
        ended_from = self._add(host.ended_lane, host.ended_from)
        ended_to = self._add(host.ended_lane, host.ended_to)
        n = len(inputs.steps) if inputs.main >= 0 else 0
        mark_start = self._add(np.full(n, inputs.main), inputs.steps.host_start[:n])
        end_lane, end_time = _ends(inputs, n)
        mark_end = self._add(end_lane, end_time)
        # what is known of a thread that ends a step begins with its first event
        self._add(end_lane, inputs.host.start[inputs.host.first[end_lane]])
        silent_end = self._add(inputs.silent_waits.lane, inputs.silent_waits.end)
        idle = wakes.wait_from >= 0
        self._add(wakes.to_lane[idle], wakes.wait_from[idle])
        lane, time = np.concatenate(self._lanes), np.concatenate(self._times)
        times, rank = distinct_places(time)
        # lane and time in one number
        keys, number = distinct_places(lane * max(len(times), 1) + rank)
        self.lane, self.time = keys // max(len(times), 1), times[keys % max(len(times), 1)]
        #: numbers of points by call, -1 for calls that started nothing
        self.release = np.full(len(calls), -1, np.int64)
        self.release[releasing] = number[release]
        self.sync_end, self.copy_end, self.held_end = (number[place] for place in ends)
        self.wake_from, self.wake_to = number[wake_from], number[wake_to]
        self.called, self.ended_from, self.ended_to = number[called], number[ended_from], number[ended_to]
        self.silent_end = number[silent_end]
        self.mark_start, self.mark_end = number[mark_start], number[mark_end]

    def __len__(self) -> int:
        return len(self.lane)

    def _add(self, lane: Int64, time: Int64) -> slice:
        self._lanes.append(np.asarray(lane, np.int64))
        self._times.append(np.asarray(time, np.int64))
        self._size += len(lane)
        return slice(self._size - len(lane), self._size)


def _ends(inputs: GraphInputs, steps: int) -> tuple[Int64, Int64]:
    """Return shape (steps,): the thread and the moment that end each step on the host.

    The main thread ends a step as long as it goes on afterwards. After its last event its silence has no length: the
    thread whose event is the last of the step ends it.
    """
    host, end = inputs.host, inputs.steps.host_end[:steps]
    lane, time = np.full(steps, inputs.main), end.copy()
    if steps and len(host.start):
        late = np.flatnonzero(end > host.boundaries(inputs.main).max(initial=-1))
        order = np.lexsort((host.lane == inputs.main, host.start))
        place = np.searchsorted(host.start[order], end[late], side="right") - 1
        late, last = late[place >= 0], order[place[place >= 0]]
        lane[late], time[late] = host.lane[last], host.start[last]
    return lane, time
