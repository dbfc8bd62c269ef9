"""Kernels that carry the correlation of a call that started another kernel, as roctracer writes them (kineto#1416).

A call that launches a kernel starts one. Of several with its correlation it started the one that it names, else the one
with its `External id`. The others belong to calls that started nothing, as far as the order tells; where nothing else
tells which one is its own, the call and those start them in their order.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run, one_of
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lane_index import LaneIndex
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import last_started
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.launch_of_work import LaunchOfWork, Link
from torch_tb_profiler.trace import Category, Trace

_ONE_KERNEL = lazy_pattern(r"(?:cuda|hip|cu)\w{0,40}Launch\w{0,40}Kernel(?!\w*MultiDevice)")


def one_kernel_each(trace: Trace, found: LaunchOfWork, is_outer: Bool) -> LaunchOfWork:
    """The same with at most one kernel for each call that launches one.

    is_outer   shape (launches,): calls that are not inside another one
    """
    events, launches, work = trace.events, trace.launches, trace.device_work
    by_own_id = one_of(found.link, (Link.CORRELATION, Link.FLOW))
    kernels = np.flatnonzero(by_own_id & (events.category[work.row] == Category.KERNEL))
    started = np.bincount(found.launch[kernels], minlength=len(launches))
    if not (started > 1).any():
        return found
    name = events.name[launches.row]
    starts_one = trace.strings.where(_ONE_KERNEL.match, name)[name]
    shared = kernels[((started > 1) & starts_one)[found.launch[kernels]]]
    if not len(shared):
        return found
    call, row = found.launch[shared], work.row[shared]
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
    launch, link = found.launch.copy(), found.link.copy()
    pieces = shared[extra]
    chosen = _in_order(trace, pieces, found.launch[pieces], free, found)
    launch[pieces] = np.where(chosen >= 0, chosen, np.where(alike[extra], launch[pieces], -1))
    link[pieces] = np.where(chosen >= 0, Link.ORDER, np.where(alike[extra], link[pieces], Link.AMBIGUOUS))
    # whose own kernel nothing but the order tells, and whose others all have a call
    by_order = np.ones(len(launches), np.bool_)
    by_order[call[leads & (named[order] | same_id[order])]] = False
    by_order[call[extra[chosen < 0]]] = False
    open_, anchor = shared[by_order[call]], call[by_order[call]]
    calls = launch[open_]
    launch[open_] = calls[np.lexsort((events.start[launches.row[calls]], anchor))]
    link[open_] = np.where(launch[open_] == anchor, found.link[open_], Link.ORDER)
    return msgspec.structs.replace(found, launch=launch, link=link)


def _in_order(trace: Trace, pieces: Int64, anchor: Int32, free: Int64, found: LaunchOfWork) -> Int64:
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
    if found.processes is not None:
        process_of_piece = found.processes.of_work[pieces]
        process_of_free = found.processes.of_launch[free]
    key = group(
        [np.concatenate([process_of_piece, process_of_free]), np.concatenate([kernel_of_piece, kernel_of_free])]
    ).of
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
    """Which calls become nodes of a graph: the last call of their thread that begins or ends a capture begins one."""
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
