"""Which API call started which device work, and which operator made the call.

The one rule: a kernel, copy or set belongs to the API call (runtime or driver) with its `correlation`; the call
belongs to the innermost operator that contains its start on the same thread. `External id` is not used: in files
of 2022-23 it repeats the correlation.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.moments import covered
from torch_tb_profiler.arrays.nesting import Nesting, last_started, nearest, nest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.model.communication_events import is_communication_work
from torch_tb_profiler.trace import Category, Note, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK, Table, column


class LaunchLinks(Table):
    """Parallel to `Trace.launches`."""

    table_name: ClassVar[str] = "launch_links"
    node: Int32 = column("position in the call tree, -1", "innermost operator or annotation around the start")
    operator_node: Int32 = column("position in the call tree, -1", "innermost operator around the start")
    duration: Int64 = column(
        "ns", "of the call inside its node, without operators that begin in it; 0 for a call inside another API call"
    )


class DeviceLinks(Table):
    """Parallel to `Trace.device_work`."""

    table_name: ClassVar[str] = "device_links"
    launch: Int32 = column("index into Trace.launches, -1", "same correlation; -1: launched before the window")
    node: Int32 = column("position in the call tree, -1", "of the launch")
    operator_node: Int32 = column("position in the call tree, -1", "of the launch; -1: unattributed")
    is_communication: Bool = column("kernel of a collective", "see communication")


def launch_links(trace: Trace, tree: CallTree, nesting: Nesting) -> LaunchLinks:
    """Place every API call in the call tree."""
    events = trace.events
    rows = trace.launches.row
    track, start, end = events.track[rows], events.start[rows], events.end[rows]
    node = nesting.innermost(track, start)
    operator_node = nearest(tree.parent, tree.is_operator, node)
    # a driver call inside a runtime call is part of it
    calls = nest(track, start, end, np.zeros(len(rows), dtype=np.int32))
    nested = np.zeros(len(rows), dtype=np.bool_)
    nested[calls.order] = calls.parent >= 0
    limit = np.where(node >= 0, tree.end[node], end) if len(tree) else end
    duration = np.where(nested, 0, np.minimum(end, limit) - start)
    duration -= _operators_during(tree, nesting, track, operator_node, start, duration)
    return LaunchLinks(node=node, operator_node=operator_node, duration=duration)


def _operators_during(
    tree: CallTree, nesting: Nesting, track: Int32, operator_node: Int32, start: Int64, duration: Int64
) -> Int64:
    """ns of each call in which operators run that begin during it, as when times are rounded: these have it.

    operator_node   around the start of the call
    """
    found = np.zeros(len(start), np.int64)
    last = last_started(nesting.lane, nesting.start, track, start + np.maximum(duration - 1, 0))
    calls = np.flatnonzero(last > last_started(nesting.lane, nesting.start, track, start))
    if not len(calls):
        return found
    operators = np.flatnonzero(tree.is_operator)
    caller = nearest(tree.parent, tree.is_operator, tree.parent[operators])

    def lane(node: Int32, on: Int32) -> Int64:
        """Those directly inside an operator, or on a thread inside none, follow one another."""
        return np.where(node >= 0, node, len(tree) + on.astype(np.int64))

    since = start[calls]
    found[calls] = covered(
        lane(caller, tree.track[operators]),
        tree.start[operators],
        tree.end[operators],
        lane(operator_node[calls], track[calls]),
        since,
        since + duration[calls],
    )
    return found


def device_links(trace: Trace, tree: CallTree, links: LaunchLinks) -> DeviceLinks:
    """Find the launch of every kernel, copy and set."""
    work = trace.device_work
    category = trace.events.category[work.row]
    launch = _launch_of(trace)
    is_work = one_of(category, DEVICE_WORK)
    launch[~is_work] = -1
    if len(links):
        node = np.where(launch >= 0, links.node[launch], -1).astype(np.int32)
        operator_node = np.where(launch >= 0, links.operator_node[launch], -1).astype(np.int32)
    else:
        node = np.full(len(work), -1, dtype=np.int32)
        operator_node = node.copy()
    launched_in = np.where(operator_node >= 0, tree.name[operator_node], 0) if len(tree) else np.zeros_like(node)
    return DeviceLinks(launch, node, operator_node, is_communication_work(trace, launched_in))


def no_launch_note(without_launch: int, calls_recorded: bool) -> list[Note]:
    """without_launch: how many kernels, copies and sets have none; calls_recorded: whether the trace has API calls."""
    if not without_launch:
        return []
    if calls_recorded:
        why = (
            "Kernels and copies whose launch is not in the trace, while that of others is: they were started before "
            "recording began, or the record of their launch was lost."
        )
        remedy = "torch.cuda.synchronize() before the recording, or schedule(wait=1, warmup=1, active=3)"
    else:
        why = "Kernels and copies without a launch: calls of the device API were not recorded."
        remedy = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"
    return [
        Note(
            "no_launch",
            "info",
            f"{why} Their time is in the totals but belongs to no operator.",
            count=without_launch,
            touches=("operators", "kernels"),
            remedy=remedy,
            values={"calls_recorded": calls_recorded},
        )
    ]


def _launch_of(trace: Trace) -> Int32:
    """For each piece of device work the latest API call of its correlation that had begun, else the first one.

    A correlation normally belongs to one call; when a driver call is nested in a runtime call both carry it, and
    the runtime call, which the program made, is taken.
    """
    work, launches, events = trace.device_work, trace.launches, trace.events
    found = np.full(len(work), -1, dtype=np.int32)
    usable = np.flatnonzero(launches.correlation > 0)
    if not len(usable) or not len(work):
        return found
    is_driver = events.category[launches.row[usable]] == Category.DRIVER
    order = usable[np.lexsort((is_driver, events.start[launches.row[usable]], launches.correlation[usable]))]
    keys = launches.correlation[order]
    first = np.searchsorted(keys, work.correlation, side="left")
    after = np.searchsorted(keys, work.correlation, side="right")
    known = (after > first) & (work.correlation > 0)
    single = known & (after == first + 1)
    found[single] = order[first[single]]
    for i in np.flatnonzero(known & ~single).tolist():
        group = order[first[i] : after[i]]
        began = group[events.start[launches.row[group]] <= events.start[work.row[i]]]
        runtime = began[events.category[launches.row[began]] == Category.RUNTIME]
        found[i] = runtime[-1] if len(runtime) else began[-1] if len(began) else group[0]
    return found
