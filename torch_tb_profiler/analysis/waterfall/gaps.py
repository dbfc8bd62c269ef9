"""The gaps of devices in the steps, cut into pieces that have one cause each."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.host_waits import blocking_copies
from torch_tb_profiler.analysis.replay.launched_work import RuntimeCalls, WorkItems, runtime_calls, work_items
from torch_tb_profiler.analysis.replay.stream_edges import (
    TOLERANCE_NS,
    Coincidences,
    launch_and_gap,
    longest_latencies,
    previous_on_stream,
    stream_waits,
)
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.analysis.waterfall.causes import SLOW_LAUNCH_NS, IdleCause
from torch_tb_profiler.analysis.waterfall.host_lanes import HostLanes
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct_places, one_of
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.lookup import find, take_known
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.model import Model

#: causes that are read off a thread even where nothing says that the gap waits for it
_EVIDENT = (IdleCause.PROFILER, IdleCause.SYNC, IdleCause.ALLOCATOR, IdleCause.INPUT, IdleCause.COMPILE)
#: what a thread does between two launches
_GENERIC = (IdleCause.HOST_LAUNCH, IdleCause.HOST_API, IdleCause.HOST_OPERATOR, IdleCause.HOST_PYTHON)
_NEVER = np.iinfo(np.int64).max


class GapContext(msgspec.Struct, frozen=True):
    """What the gaps are explained by, of the whole trace."""

    items: WorkItems
    calls: RuntimeCalls
    main: int
    lanes: HostLanes
    place: Int64
    source: Int64
    latency_ns: Int64
    by_device: dict[int, Int64]
    coincidences: Coincidences

    @classmethod
    def of(cls, model: Model) -> GapContext:
        """Collect it from a whole trace.

        place        shape (device work,): the item of each, -1 for none
        source       shape (items,): what each waited for, -1 for none
        latency_ns   shape (items,)
        by_device    work of each device by start, indexes into Trace.device_work

        by_device: of each device its pieces of work, by start; indexes into Trace.device_work
        """
        trace = model.trace
        items = work_items(model)
        calls = runtime_calls(model)
        main = main_lane(model)
        copies = blocking_copies(trace, items, calls)
        on_device = np.flatnonzero(items.work >= 0)
        work = items.work[on_device]
        place = np.full(len(trace.device_work), -1, np.int64)
        place[work] = on_device
        source = np.full(len(items), -1, np.int64)
        waited_for, waiting = stream_waits(model)
        order = np.argsort(items.end[waited_for], kind="stable")
        source[waiting[order]] = waited_for[order]
        launch, _ = launch_and_gap(items, calls, previous_on_stream(items))
        return cls(
            items=items,
            calls=calls,
            main=main,
            lanes=HostLanes(model, calls, copies),
            place=place,
            source=source,
            latency_ns=longest_latencies(items, calls, launch),
            by_device={device: work[at] for device, at in each_value(trace.device_work.device[work])},
            coincidences=Coincidences(items),
        )


class GapSegments(msgspec.Struct, frozen=True):
    """Parts of gaps with one cause, by start. Parallel, shape (pieces,), times in ns.

    start, end   within one step
    cause        an `IdleCause`
    idle_ns      length of the whole gap, whatever steps it lies in, from the end of work to the start of work
    closing      index into Trace.device_work: what ended the whole gap, -1 where nothing did
    lane         index into Trace.tracks: the thread that was waited for, -1 for none
    """

    start: Int64
    end: Int64
    cause: Int8
    idle_ns: Int64
    closing: Int64
    lane: Int64

    @classmethod
    def none(cls) -> GapSegments:
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, np.empty(0, np.int8), nothing, nothing, nothing)


class _Gaps(msgspec.Struct, frozen=True):
    """Whole gaps of one device, and what explains them. Parallel, shape (gaps,), times in ns.

    start, end         within the steps
    since, until       when the device had become idle, and when it was not any more
    closing, item      what ended the gap: index into Trace.device_work, into WorkItems; -1
    lane               of the call that launched it, else the main thread
    called, released   when that call began, and when its work could begin
    known              whether it is known when the thread launched
    """

    start: Int64
    end: Int64
    since: Int64
    until: Int64
    closing: Int64
    item: Int64
    lane: Int64
    called: Int64
    released: Int64
    known: Bool


def host_segments(context: GapContext, windows: Spans) -> GapSegments:
    """Attribute windows of the main thread to causes, as if a device waited for it."""
    nothing = np.full(windows.size, -1, np.int64)
    lane = np.full(windows.size, context.main)
    never = np.full(windows.size, _NEVER)
    known = np.ones(windows.size, np.bool_)
    whole = _Gaps(windows.start, windows.end, windows.start, windows.end, nothing, nothing, lane, never, never, known)
    at = np.arange(windows.size)
    return _joined(whole, windows, [_on_host(context, whole, windows, at, relaunch=False)])


def device_segments(model: Model, context: GapContext, device: int, windows: Spans, idle: Spans) -> GapSegments:
    """Cut the gaps of one device into segments of one cause.

    windows   the steps: disjoint, ascending; they may touch
    idle      when the device had nothing to do in them
    """
    gaps = _gaps_of(model, context, device, idle)
    cut = intervals.intersection(idle, windows)
    kept = cut.end > cut.start
    cut = Spans(cut.start[kept], cut.end[kept])
    gap = np.searchsorted(idle.start, cut.start, side="right") - 1
    queued = _cause_when_queued(context, gaps)
    called = np.minimum(cut.end, gaps.called[gap])
    released = np.clip(gaps.released[gap], cut.start, cut.end)
    launched = np.maximum(cut.start, np.minimum(called, cut.end))
    slow = _is_slow(gaps)
    in_call = np.where(slow, IdleCause.SLOW_LAUNCH, IdleCause.HOST_LAUNCH)[gap]
    parts = [
        _on_host(context, gaps, Spans(cut.start, launched), gap, relaunch=True),
        (launched, np.maximum(released, launched), in_call, gap),
        (np.maximum(released, launched), cut.end, queued[gap], gap),
    ]
    return _joined(gaps, cut, parts)


_Part = tuple[Int64, Int64, Int64, Int64]


def _gaps_of(model: Model, context: GapContext, device: int, idle: Spans) -> _Gaps:
    trace, links = model.trace, model.structure.device_links
    events = trace.events
    work = context.by_device.get(device, np.empty(0, np.int64))
    row = trace.device_work.row[work]
    work = work[events.end[row] > events.start[row]]
    row = trace.device_work.row[work]
    start, end = events.start[row], events.end[row]
    busy = intervals.union(start, end)
    before = np.searchsorted(busy.end, idle.start, side="right") - 1
    since = np.where(before >= 0, np.append(busy.end, 0)[before], idle.start)
    # of what begins together, work whose launch is known
    order = np.lexsort((links.launch[work] < 0, start))
    place = np.searchsorted(start[order], idle.end, side="left")
    closing = np.append(work[order], -1)[place]
    until = np.where(closing >= 0, np.append(start[order], 0)[place], idle.end)
    item = take_known(context.place, closing)
    call = take_known(context.items.call, item)
    # what was launched before the recording was queued all the time
    earlier = take_known(model.structure.launched_before, closing, missing=0).astype(np.bool_)
    known = (call >= 0) | (closing < 0) | earlier
    without = np.where(earlier, since, np.where(closing < 0, _NEVER, until))
    called = np.where(call >= 0, take_known(context.calls.start, call), without)
    released = np.where(call >= 0, take_known(context.calls.release, call), without)
    lane = np.where(call >= 0, take_known(context.calls.lane, call), context.main)
    return _Gaps(idle.start, idle.end, since, until, closing, item, lane, called, released, known)


def _is_slow(gaps: _Gaps) -> Bool:
    slow: Bool = (gaps.closing >= 0) & gaps.known & (gaps.released - gaps.called > SLOW_LAUNCH_NS)
    return slow


def _cause_when_queued(context: GapContext, gaps: _Gaps) -> Int64:
    """Find why the work that ends each gap did not begin although it had been launched."""
    items = context.items
    begun = np.maximum(gaps.since, gaps.released)
    latency = take_known(context.latency_ns, gaps.item)
    cause = np.where(gaps.until - begun <= latency, IdleCause.LAUNCH_LATENCY, IdleCause.UNKNOWN)
    cause[(gaps.closing < 0) | ~gaps.known] = IdleCause.UNKNOWN
    call = take_known(items.call, gaps.item)
    in_graph = (call >= 0) & (take_known(context.calls.first_item, call) != gaps.item)
    cause[in_graph & (cause == IdleCause.LAUNCH_LATENCY)] = IdleCause.LAUNCH_LATENCY_GRAPH
    source = take_known(context.source, gaps.item)
    if len(context.by_device) > 1:
        # one item may end several gaps; what is known of these is the same
        closing, place = distinct_places(gaps.item)
        explained = np.empty(len(closing), np.int64)
        explained[place] = np.minimum(begun, gaps.until)
        there = closing >= 0
        ended, target = context.coincidences.of(closing[there], explained[there])
        met = find(target, gaps.item)
        source = np.where((source < 0) & (met >= 0), np.append(ended, -1)[met], source)
    # what is waited for ended when the gap began or later, and the work began when it had
    end = take_known(items.end, source)
    waited = (source >= 0) & (end >= begun - TOLERANCE_NS) & (gaps.until - end <= latency)
    dependency = np.where(
        take_known(items.is_communication.astype(np.int64), source) > 0,
        IdleCause.DEPENDENCY_COMMUNICATION,
        IdleCause.DEPENDENCY,
    )
    return np.where(waited & (cause != IdleCause.LAUNCH_LATENCY_GRAPH), dependency, cause)


def _on_host(context: GapContext, gaps: _Gaps, spans: Spans, gap: Int64, relaunch: bool) -> _Part:
    """Cut spans of gaps by what their thread did; `spans` and `gap` are parallel, ascending."""
    parts: list[_Part] = []
    start, end = spans
    lasting = np.flatnonzero(end > start)
    lanes = gaps.lane[gap[lasting]]
    for lane, at in each_value(lanes):
        mine = lasting[at]
        within = Spans(start[mine], end[mine])
        sets, causes = context.lanes.causes(lane, (int(start[mine].min()), int(end[mine].max())))
        met = [intervals.intersection(within, each) for each in sets]
        pieces = intervals.overlay([*met, within])
        lowest = np.bitwise_and(pieces.member, -pieces.member)
        rank = np.rint(np.log2(lowest)).astype(np.int64)
        cause = np.array([*causes, IdleCause.UNKNOWN], np.int64)[rank]
        of = gap[mine[np.searchsorted(within.start, pieces.start, side="right") - 1]]
        if relaunch:
            since = gaps.since[of]
            waited = context.lanes.waiting(lane, (int(since.min(initial=_NEVER)), int(since.max(initial=-_NEVER))))
            place = np.searchsorted(waited.start, since, side="right") - 1
            held = (place >= 0) & (np.append(waited.end, 0)[place] > since)
            cause[held & one_of(cause, _GENERIC)] = IdleCause.SYNC_RELAUNCH
        cause[~gaps.known[of] & ~one_of(cause, _EVIDENT)] = IdleCause.UNKNOWN
        parts.append((pieces.start, pieces.end, cause, of))
    return tuple(np.concatenate(c) for c in zip(*parts, strict=True)) if parts else (np.empty(0, np.int64),) * 4  # type: ignore[return-value]


def _joined(gaps: _Gaps, cut: Spans, parts: list[_Part]) -> GapSegments:
    """Put parts together; what touches, lies in one step and has one cause is one piece."""
    start, end, cause, gap = (np.concatenate(column) for column in zip(*parts, strict=True))
    kept = np.flatnonzero(end > start)
    if not len(kept):
        return GapSegments.none()
    order = kept[np.argsort(start[kept], kind="stable")]
    start, end, cause, gap = start[order], end[order], cause[order], gap[order]
    stretch = np.searchsorted(cut.start, start, side="right")
    begins = np.append(True, (cause[1:] != cause[:-1]) | (stretch[1:] != stretch[:-1]))
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(start)) - 1
    gap = gap[first]
    return GapSegments(
        start=start[first],
        end=end[last],
        cause=cause[first].astype(np.int8),
        idle_ns=(gaps.until - gaps.since)[gap],
        closing=gaps.closing[gap],
        lane=gaps.lane[gap],
    )
