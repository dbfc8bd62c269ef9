"""Which API call started which device work, and which operator made the call.

A kernel, copy or set belongs to the API call that started it (`launch_of_work`); the call belongs to the innermost
operator that contains its start on the same thread.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from torch_tb_profiler.arrays.lane_index import LaneCoverage
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import Nesting, last_started, nearest, nest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, UInt8
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.model.communication_events import is_communication_work
from torch_tb_profiler.model.launch_of_work import LaunchOfWork
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import TraceTable, column


class LaunchLinks(TraceTable):
    """Parallel to `Trace.launches`."""

    table_name: ClassVar[str] = "launch_links"
    node: Int32 = column("position in the call tree, -1", "innermost operator or annotation around the start")
    operator_node: Int32 = column("position in the call tree, -1", "innermost operator around the start")
    duration: Int64 = column(
        "ns", "of the call inside its node, without operators that begin in it; 0 for a call inside another API call"
    )


class DeviceLinks(TraceTable):
    """Parallel to `Trace.device_work`."""

    table_name: ClassVar[str] = "device_links"
    launch: Int32 = column("index into Trace.launches, -1", "see launch_of_work; -1: launched before the window")
    link: UInt8 = column("Link", "how the launch is known")
    launch_row: Int32 = column("row, -1", "of the launch; without one, of the operator with its External id")
    node: Int32 = column("position in the call tree, -1", "of the launch; without one, the operator")
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
    coverage = LaneCoverage(lane(caller, tree.track[operators]), tree.start[operators], tree.end[operators])
    found[calls] = coverage.between(lane(operator_node[calls], track[calls]), since, since + duration[calls])
    return found


def device_links(trace: Trace, tree: CallTree, links: LaunchLinks, found: LaunchOfWork) -> DeviceLinks:
    """Place the launch of every kernel, copy and set in the call tree."""
    launch_row = take_known(trace.launches.row, found.launch)
    node, operator_node = take_known(links.node, found.launch), take_known(links.operator_node, found.launch)
    without_call = np.flatnonzero(found.operator >= 0)
    if len(without_call):
        place = np.full(len(trace.events), -1, np.int32)
        place[tree.row] = np.arange(len(tree), dtype=np.int32)
        launch_row[without_call] = found.operator[without_call]
        node[without_call] = operator_node[without_call] = place[launch_row[without_call]]
    launched_in = take_known(tree.name, operator_node, missing=0)
    is_communication = is_communication_work(trace, launched_in)
    return DeviceLinks(found.launch, found.link, launch_row, node, operator_node, is_communication)
