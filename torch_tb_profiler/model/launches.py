"""Join device work with the API call that launched it, the operator that made the call, and the time of the call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.grouping import group, least_at
from torch_tb_profiler.arrays.lookup import LaneCoverage, take_known, window_of
from torch_tb_profiler.arrays.nesting import Nesting, last_started, nearest, nest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, UInt8
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.model.communication import is_communication_work
from torch_tb_profiler.model.launch_of_work import LaunchEvidence, LaunchOfWork
from torch_tb_profiler.model.processes import Processes
from torch_tb_profiler.trace import Note, Trace, note
from torch_tb_profiler.trace.schema import DEVICE_WORK, TraceTable, column


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
    links = LaunchLinks(node=node, operator_node=operator_node, duration=duration)
    inside_ns = _operators_during(tree, nesting, track, start, links)
    return LaunchLinks(node=node, operator_node=operator_node, duration=duration - inside_ns)


def _operators_during(tree: CallTree, nesting: Nesting, track: Int32, start: Int64, links: LaunchLinks) -> Int64:
    """Return the ns of each call that belong to operators that begin during it, as when times are rounded."""
    operator_node, duration = links.operator_node, links.duration
    inside_ns = np.zeros(len(start), np.int64)
    last = last_started(nesting.lane, nesting.start, track, start + np.maximum(duration - 1, 0))
    calls = np.flatnonzero(last > last_started(nesting.lane, nesting.start, track, start))
    if not len(calls):
        return inside_ns
    operators = np.flatnonzero(tree.is_operator)
    caller = nearest(tree.parent, tree.is_operator, tree.parent[operators])

    def lane(node: Int32, on: Int32) -> Int64:
        """Return the lane of what is directly inside one operator, or on one thread outside of all."""
        return np.where(node >= 0, node, len(tree) + on.astype(np.int64))

    since = start[calls]
    coverage = LaneCoverage(lane(caller, tree.track[operators]), tree.start[operators], tree.end[operators])
    inside_ns[calls] = coverage.between(lane(operator_node[calls], track[calls]), since, since + duration[calls])
    return inside_ns


def device_links(trace: Trace, tree: CallTree, links: LaunchLinks, known: LaunchOfWork) -> DeviceLinks:
    """Place the launch of every kernel, copy and set in the call tree."""
    launch_row = take_known(trace.launches.row, known.launch)
    node, operator_node = take_known(links.node, known.launch), take_known(links.operator_node, known.launch)
    without_call = np.flatnonzero(known.operator >= 0)
    if len(without_call):
        place = np.full(len(trace.events), -1, np.int32)
        place[tree.row] = np.arange(len(tree), dtype=np.int32)
        launch_row[without_call] = known.operator[without_call]
        node[without_call] = operator_node[without_call] = place[launch_row[without_call]]
    launched_in = take_known(tree.name, operator_node, missing=0)
    is_communication = is_communication_work(trace, launched_in)
    return DeviceLinks(known.launch, known.link, launch_row, node, operator_node, is_communication)


_TOUCHES = ("operators", "kernels")


def link_notes(
    links: DeviceLinks, is_work: Bool, correlation: Int64, calls_recorded: bool, processes: Processes | None
) -> Iterator[Note]:
    """links, is_work, correlation: parallel; processes: of the whole trace."""
    count = np.bincount(links.link[is_work], minlength=len(LaunchEvidence))
    matched, unowned = int(count[LaunchEvidence.ORDER]), int(count[LaunchEvidence.AMBIGUOUS])
    if processes is not None:
        yield note(
            "merged_processes",
            "warning" if processes.collide else "info",
            touches=("overview", *_TOUCHES),
            values={"processes": processes.count, "collide": processes.collide, "unowned": unowned},
        )
    elif matched or unowned:
        yield note(
            "shared_correlation", "info", matched + unowned, _TOUCHES, values={"matched": matched, "unowned": unowned}
        )
    flow, external = int(count[LaunchEvidence.FLOW]), int(count[LaunchEvidence.EXTERNAL_ID])
    if flow or external:
        yield note(
            "linked_without_correlation",
            "info",
            flow + external,
            _TOUCHES,
            values={"flow": flow, "external_id": external},
        )
    without = is_work & (links.link == LaunchEvidence.NONE)
    unnamed = calls_recorded & without & (correlation <= 0)
    if unjoined := int(np.count_nonzero(unnamed)) + int(count[LaunchEvidence.FLOW_ONLY]):
        yield note("no_correlation", "info", unjoined, _TOUCHES)
    if unlaunched := int(np.count_nonzero(without & ~unnamed)):
        yield note("no_launch", "info", unlaunched, _TOUCHES, values={"calls_recorded": calls_recorded})


_NEVER = int(np.iinfo(np.int64).max)


def launched_before(trace: Trace, links: DeviceLinks) -> Bool:
    """Shape (device work,): the kernels, copies and sets whose launch is missing because recording began after it.

    A stream runs its work in the order of the launches, so this is what has no launch in the trace and began before
    all work of its stream that has one. On a stream where no work has a launch, what began before all work of the
    device that has one. Where no work of the device has a launch, launches were not recorded, and nothing is known.
    """
    work, start = trace.device_work, trace.events.start[trace.device_work.row]
    is_work = one_of(trace.events.category[work.row], DEVICE_WORK)
    orphan: Bool = is_work & (links.launch < 0) & (links.link == LaunchEvidence.NONE)
    if not orphan.any():
        return orphan
    known = np.flatnonzero(is_work & (links.launch >= 0))
    streams, devices = group([work.device, work.stream]), group([work.device])
    first_of_stream = np.full(len(streams), _NEVER)
    first_of_device = np.full(len(devices), -_NEVER)
    for first, groups in ((first_of_stream, streams), (first_of_device, devices)):
        there = distinct(groups.inverse[known])
        first[there] = least_at(groups.inverse[known], start[known], len(groups))[there]
    limit = first_of_stream[streams.inverse]
    limit = np.where(limit == _NEVER, first_of_device[devices.inverse], limit)
    before: Bool = orphan & (start < limit)
    return before


def is_work(trace: Trace) -> Bool:
    """Shape (device work,): kernels, copies and sets; false for annotations and synchronization."""
    return one_of(trace.events.category[trace.device_work.row], DEVICE_WORK)


def launched_in(trace: Trace, device: DeviceLinks, start: Int64, end: Int64) -> tuple[Int64, Int64]:
    """Find what was launched in some windows of the host: positions in `Trace.device_work`, and the window of each.

    start, end   shape (windows,), ascending; of two neighbours the first may end 1 ns after the second begins
    Returns two arrays of one shape.
    """
    launched = np.flatnonzero(is_work(trace) & (device.launch_row >= 0))
    call = device.launch_row[launched]
    window = window_of(start, end, trace.events.start[call], trace.events.end[call])
    inside = window >= 0
    return launched[inside], window[inside]
