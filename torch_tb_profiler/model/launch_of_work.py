"""Which API call started each piece of device work.

The call has the same `correlation`. Only in a file in which no call or no device work has one, as torch writes them for
ROCm, the ends of a flow (`ac2g`) name the two by their thread and time; what is left belongs to the call with the same
`External id`. In other files that id says nothing: in those of 2022-23 it repeats the correlation.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import among, begins_run, distinct_places, one_of
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lane_index import LaneIndex
from torch_tb_profiler.arrays.lookup import find, take_known
from torch_tb_profiler.arrays.types import Int32, Int64, UInt8
from torch_tb_profiler.model.api_call_names import STARTS
from torch_tb_profiler.model.processes import Processes, processes_of
from torch_tb_profiler.trace import Category, EventPhase, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK


class Link(IntEnum):
    """How the launch of device work is known."""

    NONE = 0
    CORRELATION = 1
    FLOW = 2  # an arrow from the call to the work
    EXTERNAL_ID = 3  # of the call, else of the operator
    ORDER = 4  # the call that alone started nothing, where another one has the work's correlation, too
    AMBIGUOUS = 5  # several calls may have started it: no launch
    FLOW_ONLY = 6  # only a flow leads to a call, in a file that has correlations: no launch


class LaunchOfWork(msgspec.Struct, frozen=True):
    """launch: shape (device work,), index into `Trace.launches`, -1; link: shape (device work,), Link.

    operator    shape (device work,): row of the operator with the same `External id`, where no call has it; -1
    processes   of a file that has several
    """

    launch: Int32
    link: UInt8
    operator: Int32
    processes: Processes | None


def launch_of_work(trace: Trace) -> LaunchOfWork:
    """Of kernels, copies and sets; annotations of devices and synchronization have none."""
    work, launches = trace.device_work, trace.launches
    is_work = one_of(trace.events.category[work.row], DEVICE_WORK)
    has = np.where(is_work, work.correlation, -1)
    none = np.full(len(work), -1, np.int32)
    if (has > 0).any() and ((launches.correlation > 0).any() or not len(launches)):
        launch, processes = _joined(trace, launches.correlation, has)
        launch, link = _without_ambiguous(launch, Link.CORRELATION)
        link[_with_flow(trace, np.flatnonzero(is_work & (link == Link.NONE)))] = Link.FLOW_ONLY
        return LaunchOfWork(launch, link, none, processes)
    flow_of_launch, flow_of_work = flow_ids(trace)
    launch, processes = _joined(trace, flow_of_launch, np.where(is_work, flow_of_work, -1))
    launch, link = _without_ambiguous(launch, Link.FLOW)
    name = trace.events.name[launches.row]
    # an `External id` is on all calls of an operator
    starts = trace.strings.where(STARTS.search, name)[name] if len(launches) else np.empty(0, np.bool_)
    left = is_work & (link == Link.NONE)
    external_id = np.where(starts, launches.external_id, -1)
    by_id, several = _joined(trace, external_id, np.where(left, work.external_id, -1), unique=False)
    by_id, link_by_id = _without_ambiguous(by_id, Link.EXTERNAL_ID)
    launch, link = np.where(left, by_id, launch), np.where(left, link_by_id, link)
    operator = np.where(left & (link == Link.NONE), _operator_of(trace), none)
    link[operator >= 0] = Link.EXTERNAL_ID
    return LaunchOfWork(launch, link, operator, processes or several)


def flow_ids(trace: Trace) -> tuple[Int64, Int64]:
    """Shapes (launches,), (device work,): the place of the id of the flow that begins or ends at each, from 1; 0.

    Its ends have the thread and the time at which the call and the work begin; of several that begin at once the first
    in the file has the first.
    """
    events, flows = trace.events, trace.flows
    used = np.flatnonzero(events.category[flows.row] == Category.FLOW_LAUNCH)
    number = distinct_places(flows.id[used])[1] + 1
    phase = events.phase[flows.row[used]]
    ids_of_ends = []
    for rows, wanted in ((trace.launches.row, EventPhase.FLOW_START), (trace.device_work.row, EventPhase.FLOW_END)):
        at = np.flatnonzero(phase == wanted)
        place = _same_moment(trace, rows, flows.row[used[at]])
        ids = np.zeros(len(rows), np.int64)
        ids[place[place >= 0]] = number[at[place >= 0]]
        ids_of_ends.append(ids)
    return ids_of_ends[0], ids_of_ends[1]


def _with_flow(trace: Trace, pieces: Int64) -> Int64:
    """Those of some pieces of work at which a flow ends that begins at a call."""
    events, flows, work, launches = trace.events, trace.flows, trace.device_work, trace.launches
    if not len(pieces) or not len(launches):
        return pieces[:0]
    arrow = events.category[flows.row] == Category.FLOW_LAUNCH
    phase, start = events.phase[flows.row], events.start[flows.row]
    ends = np.flatnonzero(arrow & (phase == EventPhase.FLOW_END) & among(start, events.start[work.row[pieces]]))
    at = _same_moment(trace, work.row[pieces], flows.row[ends])
    ends, at = ends[at >= 0], at[at >= 0]
    begins = np.flatnonzero(arrow & (phase == EventPhase.FLOW_START) & among(flows.id, flows.id[ends]))
    calls = launches.row[among(events.start[launches.row], start[begins])]
    begins = begins[_same_moment(trace, calls, flows.row[begins]) >= 0]
    return pieces[at[among(flows.id[ends], flows.id[begins])]]


def _same_moment(trace: Trace, rows: Int32, ends: Int32) -> Int64:
    """Shape (ends,): the place in `rows` of the event that begins on the same track at the same time; -1 for none.

    Of several each end has its own, in their order; ends that are too many have none.
    """
    events = trace.events
    both = np.concatenate([rows, ends])
    moment = group([events.track[both], events.start[both]]).of if len(both) else np.empty(0, np.int64)
    order = np.lexsort((both, moment[: len(both)]))
    is_end = order >= len(rows)
    first = begins_run(moment[order])
    count = np.zeros(len(order), np.int64)
    for side in (is_end, ~is_end):
        passed: Int64 = np.cumsum(side) - side
        count[side] = (passed - np.maximum.accumulate(np.where(first, passed, 0)))[side]
    size = int(count.max()) + 1 if len(count) else 1
    key = moment[order] * size + count
    place = find(key[~is_end][np.argsort(key[~is_end], kind="stable")], key[is_end])
    by_key = order[~is_end][np.argsort(key[~is_end], kind="stable")]
    place_of_end = np.full(len(ends), -1, np.int64)
    place_of_end[order[is_end] - len(rows)] = take_known(by_key, place)
    return place_of_end


def _without_ambiguous(launch: Int32, known: Link) -> tuple[Int32, UInt8]:
    """Of `_joined`: launches alone, and how they are known."""
    link = np.where(launch >= 0, known, np.where(launch == _AMBIGUOUS, Link.AMBIGUOUS, Link.NONE)).astype(np.uint8)
    return np.maximum(launch, -1), link


_AMBIGUOUS = -2


def _joined(
    trace: Trace, id_of_launch: Int64, id_of_work: Int64, unique: bool = True
) -> tuple[Int32, Processes | None]:
    """Shape (device work,): of the calls with its id the last that had begun, else the first; -1, _AMBIGUOUS.

    id_of_launch, id_of_work   not above 0 for none
    unique                     whether an id is meant to be that of one call
    An id normally belongs to one call; when a driver call is nested in a runtime call both carry it, and the runtime
    call, which the program made, is taken.
    """
    work, launches, events = trace.device_work, trace.launches, trace.events
    launch = np.full(len(work), -1, dtype=np.int32)
    usable = np.flatnonzero(id_of_launch > 0)
    if not len(usable) or not (id_of_work > 0).any():
        return launch, None
    processes = processes_of(trace, id_of_launch, id_of_work)
    if processes is not None and processes.collide:
        of_launch, of_work = processes.of_launch, processes.of_work
        shared_id = (id_of_work > 0) & among(id_of_work, id_of_launch[usable])
        launch[shared_id & (of_work < 0)] = _AMBIGUOUS
        ids = distinct_places(np.concatenate([id_of_launch, id_of_work]))[1] * processes.count + 1
        id_of_launch = np.where((id_of_launch > 0) & (of_launch >= 0), ids[: len(launches)] + of_launch, -1)
        id_of_work = np.where((id_of_work > 0) & (of_work >= 0), ids[len(launches) :] + of_work, -1)
        usable = np.flatnonzero(id_of_launch > 0)
    start = events.start[launches.row]
    is_driver = events.category[launches.row[usable]] == Category.DRIVER
    order = usable[np.lexsort((is_driver, start[usable], id_of_launch[usable]))]
    keys = id_of_launch[order]
    first = np.searchsorted(keys, id_of_work, side="left")
    after = np.searchsorted(keys, id_of_work, side="right")
    known = (after > first) & (id_of_work > 0)
    single = known & (after == first + 1)
    launch[single] = order[first[single]]
    several = np.flatnonzero(known & ~single)
    if len(several):
        launch[several] = _of_several(trace, order, keys, first[several], several, unique)
    return launch, processes


def _of_several(trace: Trace, order: Int64, keys: Int64, first: Int64, several: Int64, unique: bool) -> Int64:
    """The call that started each piece of work of which several calls have the id.

    order, keys   calls by id, then by start, and their ids
    first         shape (several,): where the calls of its id begin
    several       shape (several,): the pieces of work
    """
    events, work = trace.events, trace.device_work
    begins = np.flatnonzero(begins_run(keys))
    of = np.searchsorted(begins, np.arange(len(keys)), side="right") - 1
    is_runtime = events.category[trace.launches.row[order]] == Category.RUNTIME
    with_runtime = np.bincount(of[is_runtime], minlength=len(begins)) > 0
    kept = np.flatnonzero(is_runtime | ~with_runtime[of])
    lane, lane_of_piece = of[kept], of[first]
    start, began = events.start[trace.launches.row[order[kept]]], events.start[work.row[several]]
    moments = LaneIndex(lane, start)
    last = moments.last(lane_of_piece, began)
    earliest = moments.first(lane_of_piece, np.full(len(lane_of_piece), np.iinfo(np.int64).min // 2))
    launch = order[kept[np.where(last >= 0, last, earliest)]]

    # as many calls as pieces: each started one, in their order; on several streams only if no two calls were waiting
    calls, pieces = np.bincount(lane, minlength=len(begins)), np.bincount(lane_of_piece, minlength=len(begins))
    even = (calls == pieces) & (calls > 1)
    if not even.any():
        return launch
    mine, own = np.flatnonzero(even[lane_of_piece]), np.flatnonzero(even[lane])
    mine, own = mine[np.lexsort((began[mine], lane_of_piece[mine]))], own[np.lexsort((start[own], lane[own]))]
    pair, turn = lane[own], lane_of_piece[mine]
    late = np.bincount(turn, start[own] > began[mine], len(begins)) > 0
    apart = np.append((began[mine][:-1] < start[own][1:]) | (pair[1:] != pair[:-1]), True)
    place = group([work.device[several[mine]], work.stream[several[mine]]]).of
    moved = np.append((place[1:] != place[:-1]) & (pair[1:] == pair[:-1]), False)
    mixed = np.bincount(turn, moved & ~apart, len(begins)) > 0
    one_track = events.track[trace.launches.row[order[kept[own]]]]
    other = np.append((one_track[1:] != one_track[:-1]) & (pair[1:] == pair[:-1]), False)
    foreign = np.bincount(turn, other, len(begins)) > 0
    sure = ~(late | foreign | (mixed & unique))[turn]
    launch[mine[sure]] = order[kept[own[sure]]]
    if unique:
        launch[mine[mixed[turn]]] = _AMBIGUOUS
    return launch


def _operator_of(trace: Trace) -> Int32:
    """Shape (device work,): the row of the one operator with the same `External id`; -1 for none, or several."""
    operators, work = trace.operators, trace.device_work
    used = np.flatnonzero((operators.external_id > 0) & (trace.events.category[operators.row] == Category.OPERATOR))
    order = used[np.argsort(operators.external_id[used], kind="stable")]
    ids = operators.external_id[order]
    alone = begins_run(ids) & np.append(ids[1:] != ids[:-1], True) if len(ids) else np.empty(0, np.bool_)
    place = find(ids[alone], np.where(work.external_id > 0, work.external_id, 0))
    return take_known(operators.row[order[alone]], place)
