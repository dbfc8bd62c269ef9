"""Which API call started each piece of device work.

The call has the same `correlation`. Only in a file in which no call or no device work has one, as torch writes them for
ROCm, the ends of a flow (`ac2g`) name the two by their thread and time; what is left belongs to the call with the same
`External id`. In other files that id says nothing: in those of 2022-23 it repeats the correlation.

A call that launches a kernel starts one. roctracer gives several kernels the correlation of one call (kineto#1416): it
started the one that it names, else the one with its `External id`. The others belong to calls that started nothing, as
far as the order tells; where nothing else tells which one is its own, the call and those start them in their order.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run, distinct_places, isin, one_of
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lookup import LaneIndex, find, take_known
from torch_tb_profiler.arrays.nesting import last_started
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, UInt8
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.event_names import STARTS_WORK
from torch_tb_profiler.model.processes import Processes, processes_of
from torch_tb_profiler.trace import Category, EventPhase, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK


class LaunchEvidence(IntEnum):
    """How the launch of device work is known."""

    NONE = 0
    CORRELATION = 1
    FLOW = 2  # an arrow from the call to the work
    EXTERNAL_ID = 3  # of the call, else of the operator
    ORDER = 4  # the call that alone started nothing, where another one has the work's correlation, too
    AMBIGUOUS = 5  # several calls may have started it: no launch
    FLOW_ONLY = 6  # only a flow leads to a call, in a file that has correlations: no launch


class LaunchOfWork(msgspec.Struct, frozen=True):
    """launch: shape (device work,), index into `Trace.launches`, -1; link: shape (device work,), LaunchEvidence.

    operator    shape (device work,): row of the operator with the same `External id`, where no call has it; -1
    processes   of a file that has several
    """

    launch: Int32
    link: UInt8
    operator: Int32
    processes: Processes | None


def launch_of_work(trace: Trace) -> LaunchOfWork:
    """Join kernels, copies and sets with their launches; annotations of devices and synchronization have none."""
    work, launches = trace.device_work, trace.launches
    is_work = one_of(trace.events.category[work.row], DEVICE_WORK)
    has = np.where(is_work, work.correlation, -1)
    none = np.full(len(work), -1, np.int32)
    if (has > 0).any() and ((launches.correlation > 0).any() or not len(launches)):
        launch, processes = _joined(trace, launches.correlation, has)
        launch, link = _without_ambiguous(launch, LaunchEvidence.CORRELATION)
        link[_with_flow(trace, np.flatnonzero(is_work & (link == LaunchEvidence.NONE)))] = LaunchEvidence.FLOW_ONLY
        return LaunchOfWork(launch, link, none, processes)
    flow_of_launch, flow_of_work = flow_ids(trace)
    launch, processes = _joined(trace, flow_of_launch, np.where(is_work, flow_of_work, -1))
    launch, link = _without_ambiguous(launch, LaunchEvidence.FLOW)
    name = trace.events.name[launches.row]
    # an `External id` is on all calls of an operator
    starts = trace.strings.where(STARTS_WORK.search, name)[name] if len(launches) else np.empty(0, np.bool_)
    left = is_work & (link == LaunchEvidence.NONE)
    external_id = np.where(starts, launches.external_id, -1)
    by_id, several = _joined(trace, external_id, np.where(left, work.external_id, -1), unique=False)
    by_id, link_by_id = _without_ambiguous(by_id, LaunchEvidence.EXTERNAL_ID)
    launch, link = np.where(left, by_id, launch), np.where(left, link_by_id, link)
    operator = np.where(left & (link == LaunchEvidence.NONE), _operator_of(trace), none)
    link[operator >= 0] = LaunchEvidence.EXTERNAL_ID
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
    """Select pieces of work at which a flow ends that begins at a call."""
    events, flows, work, launches = trace.events, trace.flows, trace.device_work, trace.launches
    if not len(pieces) or not len(launches):
        return pieces[:0]
    arrow = events.category[flows.row] == Category.FLOW_LAUNCH
    phase, start = events.phase[flows.row], events.start[flows.row]
    ends = np.flatnonzero(arrow & (phase == EventPhase.FLOW_END) & isin(start, events.start[work.row[pieces]]))
    at = _same_moment(trace, work.row[pieces], flows.row[ends])
    ends, at = ends[at >= 0], at[at >= 0]
    begins = np.flatnonzero(arrow & (phase == EventPhase.FLOW_START) & isin(flows.id, flows.id[ends]))
    calls = launches.row[isin(events.start[launches.row], start[begins])]
    begins = begins[_same_moment(trace, calls, flows.row[begins]) >= 0]
    return pieces[at[isin(flows.id[ends], flows.id[begins])]]


def _same_moment(trace: Trace, rows: Int32, ends: Int32) -> Int64:
    """Shape (ends,): the place in `rows` of the event that begins on the same track at the same time; -1 for none.

    Of several each end has its own, in their order; ends that are too many have none.
    """
    events = trace.events
    both = np.concatenate([rows, ends])
    moment = group([events.track[both], events.start[both]]).inverse if len(both) else np.empty(0, np.int64)
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


def _without_ambiguous(launch: Int32, known: LaunchEvidence) -> tuple[Int32, UInt8]:
    """Split the result of `_joined` into launches and how they are known."""
    link = np.where(
        launch >= 0, known, np.where(launch == _AMBIGUOUS, LaunchEvidence.AMBIGUOUS, LaunchEvidence.NONE)
    ).astype(np.uint8)
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
        shared_id = (id_of_work > 0) & isin(id_of_work, id_of_launch[usable])
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
    """Choose the call that started each piece of work whose id several calls have.

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
    place = group([work.device[several[mine]], work.stream[several[mine]]]).inverse
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


_ONE_KERNEL = lazy_pattern(r"(?:cuda|hip|cu)\w{0,40}Launch\w{0,40}Kernel(?!\w*MultiDevice)")


def one_kernel_each(trace: Trace, known: LaunchOfWork, is_outer: Bool) -> LaunchOfWork:
    """Leave at most one kernel to each call that launches one.

    is_outer   shape (launches,): calls that are not inside another one
    """
    events, launches, work = trace.events, trace.launches, trace.device_work
    by_own_id = one_of(known.link, (LaunchEvidence.CORRELATION, LaunchEvidence.FLOW))
    kernels = np.flatnonzero(by_own_id & (events.category[work.row] == Category.KERNEL))
    started = np.bincount(known.launch[kernels], minlength=len(launches))
    if not (started > 1).any():
        return known
    name = events.name[launches.row]
    starts_one = trace.strings.where(_ONE_KERNEL.match, name)[name]
    shared = kernels[((started > 1) & starts_one)[known.launch[kernels]]]
    if not len(shared):
        return known
    call, row = known.launch[shared], work.row[shared]
    named = events.name[row] == launches.kernel[call]
    same_id = (work.external_id[shared] > 0) & (work.external_id[shared] == launches.external_id[call])
    order = np.lexsort((events.start[row], ~same_id, ~named, call))
    shared, call, row = shared[order], call[order], row[order]
    leads = begins_run(call)
    kept = shared[leads][np.cumsum(leads) - 1]
    extra = np.flatnonzero(~leads)
    alike = (work.device[shared] == work.device[kept]) & (work.stream[shared] == work.stream[kept])
    alike &= events.name[row] == events.name[work.row[kept]]

    free = np.flatnonzero(starts_one & is_outer & (started == 0) & (launches.correlation > 0))
    free = free[~_captured(trace, free)]
    launch, link = known.launch.copy(), known.link.copy()
    pieces = shared[extra]
    chosen = _in_order(trace, pieces, known.launch[pieces], free, known)
    launch[pieces] = np.where(chosen >= 0, chosen, np.where(alike[extra], launch[pieces], -1))
    link[pieces] = np.where(
        chosen >= 0, LaunchEvidence.ORDER, np.where(alike[extra], link[pieces], LaunchEvidence.AMBIGUOUS)
    )
    # whose own kernel nothing but the order tells, and whose others all have a call
    by_order = np.ones(len(launches), np.bool_)
    by_order[call[leads & (named[order] | same_id[order])]] = False
    by_order[call[extra[chosen < 0]]] = False
    open_, anchor = shared[by_order[call]], call[by_order[call]]
    calls = launch[open_]
    launch[open_] = calls[np.lexsort((events.start[launches.row[calls]], anchor))]
    link[open_] = np.where(launch[open_] == anchor, known.link[open_], LaunchEvidence.ORDER)
    return msgspec.structs.replace(known, launch=launch, link=link)


def _in_order(trace: Trace, pieces: Int64, anchor: Int32, free: Int64, known: LaunchOfWork) -> Int64:
    """Shape (pieces,): the free call that started each kernel, -1 where that is not sure.

    anchor   shape (pieces,): the call whose correlation each has
    free     calls that started nothing
    As many of both pair in their order. Else a kernel has the only free call between its anchor and the next one.
    """
    events, launches = trace.events, trace.launches
    nothing = np.full(len(pieces), -1, np.int64)
    if not len(free):
        return nothing
    # where calls name their kernels, only those of one name can be meant
    named = bool((launches.kernel[free] > 0).all())
    kernel_of_piece = events.name[trace.device_work.row[pieces]] if named else np.zeros(len(pieces), np.int64)
    kernel_of_free = launches.kernel[free] if named else np.zeros(len(free), np.int64)
    process_of_piece, process_of_free = np.zeros(len(pieces), np.int64), np.zeros(len(free), np.int64)
    if known.processes is not None:
        process_of_piece = known.processes.of_work[pieces]
        process_of_free = known.processes.of_launch[free]
    key = group(
        [np.concatenate([process_of_piece, process_of_free]), np.concatenate([kernel_of_piece, kernel_of_free])]
    ).inverse
    lane, lane_of_free = key[: len(pieces)], key[len(pieces) :]
    began, called = events.start[trace.device_work.row[pieces]], events.start[launches.row[free]]
    in_time, free_in_time = np.lexsort((began, lane)), np.lexsort((called, lane_of_free))
    lanes = int(key.max()) + 1
    even = np.bincount(lane, minlength=lanes) == np.bincount(lane_of_free, minlength=lanes)
    mine, own = in_time[even[lane[in_time]]], free_in_time[even[lane_of_free[free_in_time]]]
    even &= np.bincount(lane[mine], called[own] > began[mine], lanes) == 0
    sure = even[lane[mine]]
    result = nothing.copy()
    result[mine[sure]] = free[own[sure]]

    anchored = events.start[launches.row[anchor]]
    later = LaneIndex(lane, anchored).first(lane, anchored + 1)
    until = np.minimum(np.where(later >= 0, anchored[later], np.iinfo(np.int64).max - 1), began + 1)
    moments = LaneIndex(lane_of_free, called)
    only = moments.between(lane, anchored, until) == 1
    chosen = moments.first(lane, anchored)
    taken = np.bincount(chosen[only], minlength=len(free)) == 1
    open_ = np.flatnonzero(only & ~even[lane])
    open_ = open_[taken[chosen[open_]]]
    result[open_] = free[chosen[open_]]
    return result


def _captured(trace: Trace, calls: Int64) -> Bool:
    """Mark calls that become nodes of a graph: the last call of their thread around a capture begins one."""
    events, row = trace.events, trace.launches.row
    name = events.name[row]
    begins = trace.strings.where(lambda text: "StreamBeginCapture" in text, name)[name]
    ends = trace.strings.where(lambda text: "StreamEndCapture" in text, name)[name]
    marks = np.flatnonzero(begins | ends)
    marks = marks[np.lexsort((events.start[row[marks]], events.track[row[marks]]))]
    last = last_started(
        events.track[row[marks]], events.start[row[marks]], events.track[row[calls]], events.start[row[calls]]
    )
    captured: Bool = take_known(begins[marks], last, missing=0)
    return captured
