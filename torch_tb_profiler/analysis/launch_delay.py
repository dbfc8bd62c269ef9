"""Calls that launched device work: what they cost the host, and how long the work waited."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.shared.distribution import distribution
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.types import Float64, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

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
    """Launches by the name of the call, or by the operator that made it."""
    found, trace = launched(model), model.trace
    name: Int32
    if group_by == "api":
        name = trace.events.name[model.launches.row[found.launch]]
    else:
        node = model.launch_links.operator_node[found.launch]
        name = np.zeros(len(found), np.int32)
        name[node >= 0] = model.tree.name[node[node >= 0]]
    groups = group([name])
    host, delay = distribution(groups, found.host_ns), distribution(groups, found.delay_ns)
    short = (found.pieces == 1) & (found.device_ns < found.host_ns) & (found.host_ns <= slow_call_ns)
    order = descending(host.sum, lambda at: trace.strings[int(name[groups.first[at]])])
    return LaunchStats(
        group_by=group_by,
        name=tuple(trace.strings[code] for code in name[groups.first][order].tolist()),
        calls=host.count[order],
        pieces=groups.sum(found.pieces)[order],
        host_ns=host.sum[order],
        host_mean_ns=host.mean[order],
        host_median_ns=host.p50[order],
        host_p99_ns=host.p99[order],
        host_max_ns=host.max[order],
        device_ns=groups.sum(found.device_ns)[order],
        delay_mean_ns=delay.mean[order],
        delay_median_ns=delay.p50[order],
        delay_p99_ns=delay.p99[order],
        delay_max_ns=delay.max[order],
        short=groups.sum(short)[order],
        slow=groups.sum(found.host_ns > slow_call_ns)[order],
        late=groups.sum(found.delay_ns > long_delay_ns)[order],
    )
