"""Calls of the device's API: who made them, what launches cost the host, how long work and queues waited."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.question import NoParameters
from torch_tb_profiler.analysis.result import Result, column, fact, result_question
from torch_tb_profiler.analysis.shared.distribution import distribution
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


class ApiCalls(Result, group="api_calls"):
    """A row per function and caller, by total time, descending."""

    name: tuple[str, ...] = column("Call", "Function of the device's runtime or driver API.")
    caller: tuple[str, ...] = column(
        "Caller",
        "The innermost operator around the call, otherwise the innermost annotation; empty if there is neither.",
    )
    by_operator: Bool = column("By an operator", "Whether the caller is an operator.", hidden=True)
    calls: Int64 = column(
        "Calls",
        "How often it was called. A call inside another call of the API is part of that call.",
    )
    total_ns: Int64 = column(
        "Total",
        "Σ durations within the caller. Long calls wait for the device, for memory, or for room in its queue.",
        total=True,
    )
    mean_ns: Float64 = column("Average", "Total ÷ calls.")
    max_ns: Int64 = column("Longest", "The longest call.")
    longest_row: Int64 = column("Longest call", "Number of the longest call's event in the file.", hidden=True)


def api_calls(model: Model) -> ApiCalls:
    """Sum calls by name and caller, without those inside other calls of the API, which are parts of those."""
    trace, tree, links = model.trace, model.tree, model.launch_links
    rows, strings = model.launches.row, model.trace.strings
    # a call inside another one has no time of its own
    call = np.flatnonzero((links.duration > 0) | (trace.events.duration[rows] <= 0))
    call = call[descending(links.duration[call])]
    node = np.where(links.operator_node[call] >= 0, links.operator_node[call], links.node[call])
    caller = np.where(node >= 0, tree.name[node], -1) if len(tree) else np.full(len(call), -1)
    operator = links.operator_node[call] >= 0
    groups = group([trace.events.name[rows[call]], caller, operator.astype(np.int8)])
    total, calls = groups.sum(links.duration[call]), groups.count()

    order = descending(
        total,
        lambda group: (
            strings[int(trace.events.name[rows[call[groups.first[group]]]])],
            "" if (code := int(caller[groups.first[group]])) < 0 else strings[code],
        ),
    )
    first = groups.first[order]
    longest = rows[call[first]]
    return ApiCalls(
        name=tuple(strings[code] for code in trace.events.name[longest].tolist()),
        caller=tuple(strings[code] if code >= 0 else "" for code in caller[first].tolist()),
        by_operator=operator[first],
        calls=calls[order],
        total_ns=total[order],
        mean_ns=(total / np.maximum(calls, 1))[order],
        max_ns=links.duration[call[first]],
        longest_row=longest.astype(np.int64),
    )


API_CALLS = result_question(
    "api_calls",
    "Calls of the device's API, by function and caller",
    api_calls,
    answer=ApiCalls,
    view="operators",
    precompute=(NoParameters(),),
    report=({},),
)


#: a call of the device's API that takes longer is slow
SLOW_CALL_NS = 50_000
#: work that waits longer for the device is late
LONG_DELAY_NS = 100_000

LaunchGrouping = Literal["api", "operator"]


class Launched(msgspec.Struct, frozen=True):
    """One entry per call that started device work, in the order of the calls' rows; parallel arrays, times in ns.

    launch       index into Model.launches
    first        index into Model.device_work: the piece that began first
    pieces       how many pieces it started; more than one for a graph
    kernels      how many of them are kernels
    host_ns      duration of the call
    device_ns    Σ durations of what it started
    delay_ns     start of the first piece − end of the call; 0 when it began before the call returned
    """

    launch: Int64
    first: Int64
    pieces: Int64
    kernels: Int64
    host_ns: Int64
    device_ns: Int64
    delay_ns: Int64

    def __len__(self) -> int:
        return len(self.launch)


class LaunchStats(Result):
    """Launches grouped, by host time, descending; parallel columns, times in ns."""

    name: tuple[str, ...] = column("Name", "The call, or the innermost operator around it; empty outside operators.")
    calls: Int64 = column("Calls", "Calls that started device work.")
    pieces: Int64 = column("Pieces", "Kernels, copies and fills that they started.")
    host_ns: Int64 = column("Host", "Σ durations of the calls.")
    host_mean_ns: Float64 = column("Host mean", "Mean duration of a call.")
    host_median_ns: Float64 = column("Host median", "Median duration of a call.")
    host_p99_ns: Float64 = column("Host p99", "99th percentile of the durations of calls.")
    host_max_ns: Float64 = column("Host max", "Longest call.")
    device_ns: Int64 = column("Device", "Σ durations of the work they started.")
    delay_mean_ns: Float64 = column("Delay mean", "Mean time from the end of the call to the start of its first work.")
    delay_median_ns: Float64 = column("Delay median", "Median of the same.")
    delay_p99_ns: Float64 = column("Delay p99", "99th percentile of the same.")
    delay_max_ns: Float64 = column("Delay max", "Longest of the same.")
    short: Int64 = column("Short", "Calls that took longer than the one piece of work they started.")
    slow: Int64 = column("Slow", "Calls longer than 50 µs.")
    late: Int64 = column("Late", "Calls whose work waited longer than 100 µs.")

    group_by: LaunchGrouping = fact("what makes a row")


@cached
def launched(model: Model) -> Launched:
    """Join calls with the work they started, whatever the call is named."""
    work, events = model.device_work, model.trace.events
    started = np.flatnonzero(model.device_links.launch >= 0)
    row = work.row[started]
    # each group led by the piece that began first
    rank = inverse(np.lexsort((events.start[row], model.device_links.launch[started])))
    groups = group([model.device_links.launch[started]], rank)
    lead = groups.first
    launch = model.device_links.launch[started][lead].astype(np.int64)
    call = model.launches.row[launch]
    return Launched(
        launch=launch,
        first=started[lead],
        pieces=groups.count(),
        kernels=groups.sum(model.device_category[started] == Category.KERNEL),
        host_ns=np.maximum(events.duration[call], 0),
        device_ns=groups.sum(np.maximum(events.duration[row], 0)),
        delay_ns=np.maximum(events.start[row][lead] - events.end[call], 0),
    )


def launch_stats(
    model: Model,
    group_by: LaunchGrouping = "api",
    slow_call_ns: int = SLOW_CALL_NS,
    long_delay_ns: int = LONG_DELAY_NS,
) -> LaunchStats:
    """Sum launches by the name of the call, or by the operator that made it."""
    launches, trace = launched(model), model.trace
    name: Int32
    if group_by == "api":
        name = trace.events.name[model.launches.row[launches.launch]]
    else:
        node = model.launch_links.operator_node[launches.launch]
        name = np.zeros(len(launches), np.int32)
        name[node >= 0] = model.tree.name[node[node >= 0]]
    groups = group([name])
    host, delay = distribution(groups, launches.host_ns), distribution(groups, launches.delay_ns)
    short = (launches.pieces == 1) & (launches.device_ns < launches.host_ns) & (launches.host_ns <= slow_call_ns)
    order = descending(host.sum, lambda at: trace.strings[int(name[groups.first[at]])])
    return LaunchStats(
        group_by=group_by,
        name=tuple(trace.strings[code] for code in name[groups.first][order].tolist()),
        calls=host.count[order],
        pieces=groups.sum(launches.pieces)[order],
        host_ns=host.sum[order],
        host_mean_ns=host.mean[order],
        host_median_ns=host.p50[order],
        host_p99_ns=host.p99[order],
        host_max_ns=host.max[order],
        device_ns=groups.sum(launches.device_ns)[order],
        delay_mean_ns=delay.mean[order],
        delay_median_ns=delay.p50[order],
        delay_p99_ns=delay.p99[order],
        delay_max_ns=delay.max[order],
        short=groups.sum(short)[order],
        slow=groups.sum(launches.host_ns > slow_call_ns)[order],
        late=groups.sum(launches.delay_ns > long_delay_ns)[order],
    )


#: launches that a CUDA stream takes before the next one blocks its caller
FULL_QUEUE = 1024


class StreamQueue(msgspec.Struct, frozen=True):
    """Of one stream: `length` pieces of work wait on [start_ns, end_ns), zero elsewhere.

    A piece waits from the start of the call that launches it until it begins; all pieces of a graph from the
    start of its launch. `pieces` counts those that waited at all.
    """

    device: int
    stream: int
    start_ns: Int64
    end_ns: Int64
    length: Int64
    pieces: int
    first_launch_ns: int
    last_start_ns: int

    def time_at_least(self, length: int) -> int:
        """Return for how long this many or more were waiting, ns."""
        kept = self.length >= length
        return int((self.end_ns[kept] - self.start_ns[kept]).sum())


class QueueLengths(Result):
    """One row per device and stream with a known launch."""

    device: Int64 = column("Device", "Number of the device.", unit=None)
    stream: Int64 = column("Stream", "Number of the stream.", unit=None)
    pieces: Int64 = column("Pieces", "Kernels, copies and fills with a known launch.")
    max_length: Int64 = column("Max length", "Most that waited at the same time.")
    mean_length: Float64 = column(
        "Mean length", "Over time, from the first launch for the stream to the start of its last piece."
    )
    waiting_ns: Int64 = column("Waiting", "Time with at least one waiting.")
    full_ns: Int64 = column("Full", f"Time with {FULL_QUEUE:,} or more waiting: the host could not launch more.")


@cached
def stream_queues(model: Model) -> tuple[StreamQueue, ...]:
    """Return the queue of every stream that was launched to, by device and stream, without work whose launch is
    unknown.
    """
    work, events = model.device_work, model.trace.events
    known = np.flatnonzero(model.is_work & (model.device_links.launch >= 0))
    begin = events.start[model.launches.row[model.device_links.launch[known]]]
    end = events.start[work.row[known]]
    device, stream = work.device[known], work.stream[known]
    groups = group([device, stream])
    queues = []
    for lane in np.split(np.argsort(groups.inverse, kind="stable"), np.cumsum(groups.count())[:-1]):
        if not len(lane):
            continue
        waiting = intervals.step_function(begin[lane], end[lane], np.ones(len(lane)))
        queues.append(
            StreamQueue(
                device=int(device[lane[0]]),
                stream=int(stream[lane[0]]),
                start_ns=waiting.start,
                end_ns=waiting.end,
                length=np.rint(waiting.value).astype(np.int64),
                pieces=int(np.count_nonzero(end[lane] > begin[lane])),
                first_launch_ns=int(begin[lane].min()),
                last_start_ns=int(end[lane].max()),
            )
        )
    return tuple(sorted(queues, key=lambda q: (q.device, q.stream)))


def queue_lengths(model: Model, full: int = FULL_QUEUE) -> QueueLengths:
    """Return the queues in numbers."""
    queues = stream_queues(model)
    area = [int((q.length * (q.end_ns - q.start_ns)).sum()) for q in queues]
    span = [max(q.last_start_ns - q.first_launch_ns, 1) for q in queues]
    return QueueLengths(
        device=np.array([q.device for q in queues], np.int64),
        stream=np.array([q.stream for q in queues], np.int64),
        pieces=np.array([q.pieces for q in queues], np.int64),
        max_length=np.array([q.length.max(initial=0) for q in queues], np.int64),
        mean_length=np.array(area, np.float64) / np.array(span, np.float64),
        waiting_ns=np.array([q.time_at_least(1) for q in queues], np.int64),
        full_ns=np.array([q.time_at_least(full) for q in queues], np.int64),
    )
