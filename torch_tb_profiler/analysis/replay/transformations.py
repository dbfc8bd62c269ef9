"""What pinned memory, a CUDA graph of a region, fused kernels and merged collectives do to a graph."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Direction, Fused, Graphed, MergedCollectives, Pinned
from torch_tb_profiler.analysis.replay.effects import (
    ChangeEffect,
    HostEffect,
    LagEffect,
    WorkEffect,
    checked_rows,
    edges_into,
    innermost_operators,
    items_of_rows,
    scaled_spans,
)
from torch_tb_profiler.analysis.replay.graph import Edge, Graph, GraphNode
from torch_tb_profiler.analysis.replay.host_time import LABELS, Label, LaneSpans, lane_subtraction, lane_union
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.order import median, percentile
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64
from torch_tb_profiler.trace import Category, Trace

#: ns: between kernels of one CUDA graph
GAP_IN_GRAPH_NS = 1_000
#: what a graph or a fusion has no more of
_GONE = (Label.PYTHON, Label.OPERATOR, Label.LAUNCH, Label.API)
_LAUNCHING = (Label.OPERATOR, Label.LAUNCH, Label.API)
#: percent of the pieces of operators and of calls that are no longer than one takes that is like the others
_USUAL = 90


def graphed(trace: Trace, graph: Graph, change: Graphed) -> ChangeEffect:
    """Keep only the first launch of each region."""
    lane, start, end = _regions(trace, graph, change)
    region, on, since, until = _woken(graph, lane, start, end)
    spans = LaneSpans(on, since, until)
    calls, items = graph.calls, graph.items
    # a launch that begins with its region is in it
    place = spans.before(calls.lane, calls.start + 1)
    within = (place >= 0) & (calls.start < np.append(until, 0)[place]) & (calls.release >= 0)
    of_call = np.where(within, np.append(region, -1)[place], -1)
    launches = np.flatnonzero(of_call >= 0)
    launches = launches[np.lexsort((calls.start[launches], of_call[launches]))]
    begins = np.append(True, of_call[launches[1:]] != of_call[launches[:-1]])
    first = launches[begins] if len(launches) else launches
    is_first = np.zeros(len(calls) + 1, np.bool_)
    is_first[first] = True
    gone = lane_subtraction(
        lane_union(on, since, until), lane_union(calls.lane[first], calls.start[first], calls.end[first])
    )
    of_item = np.append(of_call, -1)[items.call]
    target = graph.reference[graph.target]
    into_item = graph.kind[graph.target] == GraphNode.ITEM
    target = np.where(into_item, target, 0)
    mine = into_item & (np.append(of_item, -1)[target] >= 0) if len(items) else into_item
    source = np.append(of_item, -1)[graph.item]
    inside = mine & (source >= 0) & (source == np.append(of_item, -1)[target])
    follows = inside & np.isin(graph.edge, (Edge.STREAM, Edge.STREAM_WAIT))
    later = mine & (graph.edge == Edge.LAUNCH) & ~is_first[np.append(items.call, -1)[target]]
    wakes = edges_into(graph, (Edge.HAND_OVER,), spans)
    return ChangeEffect(
        host=(scaled_spans(graph, gone, 0.0, _GONE),),
        lags=(
            LagEffect(np.flatnonzero(later), 0),
            LagEffect(np.flatnonzero(follows), min(graph.latencies.gap, GAP_IN_GRAPH_NS)),
            LagEffect(wakes, 0),
        ),
        dropped=edges_into(graph, (Edge.FULL_QUEUE,), spans),
    )


def _regions(trace: Trace, graph: Graph, change: Graphed) -> tuple[Int64, Int64, Int64]:
    """Return lane, start and end of each region; those that overlap on a thread are one, those that touch are not."""
    lanes, starts, ends = [], [], []
    if change.rows is not None:
        rows, events = checked_rows(trace, change.rows), trace.events
        lanes.append(events.track[rows].astype(np.int64))
        starts.append(events.start[rows])
        ends.append(events.end[rows])
    if change.steps is not None or change.rows is None:
        n = len(graph.steps)
        chosen = np.arange(n) if change.steps is None else np.array(change.steps, np.int64)
        if len(chosen) and not 0 <= int(chosen.min()) <= int(chosen.max()) < n:
            raise ValueError(f"there are {n} steps")
        lanes.append(np.full(len(chosen), graph.main))
        starts.append(graph.steps.host_start[chosen])
        ends.append(graph.steps.host_end[chosen])
    lane, start, end = np.concatenate(lanes), np.concatenate(starts), np.concatenate(ends)
    kept = (end > start) & (lane >= 0)
    one_less = lane_union(lane[kept], start[kept], end[kept] - 1)
    return one_less.lane, one_less.start, one_less.end + 1


def _woken(graph: Graph, lane: Int64, start: Int64, end: Int64) -> tuple[Int64, Int64, Int64, Int64]:
    """Return regions with the threads that they wake: the region, lane, start and end of each span, by lane and
    start.
    """
    wakes = np.flatnonzero(graph.edge == Edge.HAND_OVER)
    woken, by = graph.target[wakes], graph.source[wakes]
    place = LaneSpans(lane, start, end).before(graph.reference[by], graph.time[by] + 1)
    into = (place >= 0) & (graph.time[woken] < np.append(end, 0)[place])
    into &= graph.reference[woken] != np.append(lane, -1)[place]
    pairs = np.unique(np.stack((place[into], graph.reference[woken[into]]), axis=1), axis=0)
    region = np.concatenate((np.arange(len(lane)), pairs[:, 0]))
    on = np.concatenate((lane, pairs[:, 1]))
    order = np.lexsort((start[region], on))
    region, on = region[order], on[order]
    return region, on, start[region], end[region]


def fused(trace: Trace, graph: Graph, change: Fused) -> ChangeEffect:
    """Remove all kernels of a group but the last, which takes the target."""
    last, others, of_last = _last_of_groups(trace, graph, change.groups)
    target = np.array(change.target_ns, np.int64)[of_last]
    gone = WorkEffect(others, cap=np.zeros(len(others), np.int64))
    work = (WorkEffect(last, instead=target), gone)
    return ChangeEffect(host=_launches_of(trace, graph, others), work=work, lags=_lags(graph, others))


def merged_collectives(trace: Trace, graph: Graph, change: MergedCollectives) -> ChangeEffect:
    """Remove the fixed time and the launch of all collectives of a group but the last."""
    _, others, _ = _last_of_groups(trace, graph, change.groups)
    return ChangeEffect(
        host=_launches_of(trace, graph, others),
        work=(WorkEffect(others, less=change.alpha_ns),),
        lags=_lags(graph, others),
    )


def _last_of_groups(trace: Trace, graph: Graph, groups: tuple[tuple[int, ...], ...]) -> tuple[Int64, Int64, Int64]:
    """Return the work item of each group that begins last, all others, and the group of each of the last."""
    rows = checked_rows(trace, tuple(row for rows in groups for row in rows))
    of = np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])
    item = items_of_rows(graph, rows)
    of, item = of[item >= 0], item[item >= 0]
    order = np.lexsort((item, of))  # items are by start
    of, item = of[order], item[order]
    is_last = np.append(of[1:] != of[:-1], True)[: len(of)]
    return item[is_last], item[~is_last], of[is_last]


def _lags(graph: Graph, gone: Int64) -> tuple[LagEffect]:
    """Remove the launch delay and the gap of removed work."""
    is_gone = np.zeros(len(graph.items) + 1, np.bool_)
    is_gone[gone] = True
    into_item = graph.kind[graph.target] == GraphNode.ITEM
    into_gone = into_item & is_gone[np.where(into_item, graph.reference[graph.target], -1)]
    edges = np.flatnonzero(into_gone & np.isin(graph.edge, (Edge.LAUNCH, Edge.STREAM, Edge.STREAM_WAIT)))
    return (LagEffect(edges, 0),)


def _launches_of(trace: Trace, graph: Graph, gone: Int64) -> tuple[HostEffect, ...]:
    """Remove the host time of launches of removed work only, and of operators that hold nothing else."""
    items, calls, host = graph.items, graph.calls, graph.host
    known = np.flatnonzero(items.call >= 0)
    is_gone = np.zeros(len(items), np.bool_)
    is_gone[gone] = True
    started = np.bincount(items.call[known], minlength=len(calls))
    call_gone = np.bincount(items.call[known[is_gone[known]]], minlength=len(calls))
    call = np.flatnonzero((started > 0) & (started == call_gone))
    if not len(call):
        return ()
    # how many work items were started up to a moment of a thread, and how many of them are gone
    order = np.lexsort((calls.start, calls.lane))
    in_lane = LaneSpans(calls.lane[order], calls.start[order], calls.start[order])
    running, running_gone = running_sums(started[order]), running_sums(call_gone[order])

    def alone(node: Int64) -> Bool:
        lane = host.nesting.lane[node].astype(np.int64)
        low, high = (in_lane.before(lane, ends[node]) + 1 for ends in (host.nesting.start, host.nesting.end))
        counts = np.searchsorted(in_lane.lane, lane)
        low, high = np.maximum(low, counts), np.maximum(high, counts)
        found: Bool = running[high] - running[low] == running_gone[high] - running_gone[low]
        return found

    is_operator = np.append(trace.events.category[host.row] == Category.OPERATOR, False)
    at = innermost_operators(trace, graph, call)
    around: list[Int64] = []
    at = distinct(at[at >= 0])
    while len(at):
        at = at[alone(at)]
        around.append(at)
        up = np.append(host.nesting.parent, -1)[at].astype(np.int64)
        at = distinct(up[is_operator[up]])
    nodes = np.concatenate(around) if around else np.empty(0, np.int64)
    nesting = host.nesting
    spans = lane_union(
        np.concatenate((calls.lane[call], nesting.lane[nodes])),
        np.concatenate((calls.start[call], nesting.start[nodes])),
        np.concatenate((calls.end[call], nesting.end[nodes])),
    )
    return (_as_usual(graph, scaled_spans(graph, spans, 0.0, _LAUNCHING)),)


def _as_usual(graph: Graph, gone: HostEffect) -> HostEffect:
    """Keep what happens only once: of a segment that takes longer than its like the rest stays, as it may load a kernel
    or set up a library, which the next launch then waits for.
    """
    calls, segments = graph.calls, graph.host_segments
    most = np.zeros(LABELS)
    for label in (Label.OPERATOR, Label.API):
        of_label = segments.label == label
        most[label] = percentile((segments.end - segments.start)[of_label], _USUAL) if of_label.any() else 0
    most[Label.LAUNCH] = median((calls.end - calls.start)[calls.release >= 0])
    length = gone.segments.end - gone.segments.start
    stays = np.maximum(length - most[gone.segments.label], 0) / np.maximum(length, 1)
    return HostEffect(gone.segments, np.maximum(gone.factor, stays))


#: what reads a value of the device at once: it has to wait, whatever the memory is
READS_AT_ONCE = "aten::_local_scalar_dense"
#: ns: the rate of a shorter copy is not exact, above all where times are whole microseconds
CLEAR_RATE_NS = 10_000
#: calls that a usual time needs
FEWEST = 5
DIRECTIONS: tuple[Direction, ...] = ("HtoD", "DtoH")
_WORDS: dict[Direction, tuple[str, ...]] = {"HtoD": ("HtoD", "HostToDevice"), "DtoH": ("DtoH", "DeviceToHost")}


def pinned_copies(trace: Trace, graph: Graph, change: Pinned) -> ChangeEffect:
    """Treat copies of pageable memory as if it were pinned, without blocking."""
    items = graph.items
    code = trace.events.name[items.row]
    pageable: Bool = trace.strings.where(lambda name: "Pageable" in name, code)[code]
    chosen = (items.kind == WorkKind.COPY) & (items.call >= 0) & (items.start >= graph.work_since) & pageable
    if change.rows is not None:
        of_rows = np.zeros(len(items), np.bool_)
        found = items_of_rows(graph, checked_rows(trace, change.rows))
        of_rows[found[found >= 0]] = True
        chosen &= of_rows
    work: list[WorkEffect] = []
    host: list[HostEffect] = []
    dropped: list[Int64] = []
    notes: list[str] = []
    for name in DIRECTIONS:
        item = (
            np.flatnonzero(chosen & _goes(trace, code, name))
            if change.direction in (None, name)
            else np.empty(0, np.int64)
        )
        if not len(item):
            continue
        operator = innermost_operators(trace, graph, items.call[item])
        reads = trace.events.name[graph.host.row[operator]] == trace.strings.code(READS_AT_ONCE)
        item, operator = item[~reads | (operator < 0)], operator[~reads | (operator < 0)]
        shortest = _at_best_rate(trace, graph, name, item, change.rate)
        if shortest is None:
            if len(item):
                notes.append("No pinned copy was seen: these copies take as long as they did.")
        else:
            work.append(WorkEffect(item, cap=shortest))
        syncs, inside = _own_syncs(graph, item, operator)
        dropped += [np.flatnonzero((graph.edge == Edge.BLOCKING_COPY) & isin(graph.item, item)), syncs]
        host += [scaled_spans(graph, inside, 0.0, (Label.BLOCKING,)), _calls(trace, graph, distinct(items.call[item]))]
    edges = np.concatenate(dropped) if dropped else np.empty(0, np.int64)
    return ChangeEffect(host=tuple(host), work=tuple(work), dropped=edges, notes=tuple(notes))


def _goes(trace: Trace, code: Int32, direction: Direction) -> Bool:
    words = _WORDS[direction]
    found: Bool = trace.strings.where(lambda name: any(word in name for word in words), code)[code]
    return found


def best_pinned_rate(trace: Trace, graph: Graph, direction: Direction) -> float | None:
    """Return the best rate of a pinned copy of a trace, bytes per ns; None without one.

    Of copies in this direction; a link is as fast in the other, whose copies count where there are none.
    """
    items, work = graph.items, trace.device_work
    for each in (direction, *(other for other in DIRECTIONS if other != direction)):
        like = _pinned(trace, graph, each)
        long = like[(items.duration[like] >= CLEAR_RATE_NS) & (work.bytes[items.work[like]] > 0)]
        if len(long):
            return float((work.bytes[items.work[long]] / items.duration[long]).max())
    return None


def _pinned(trace: Trace, graph: Graph, direction: Direction) -> Int64:
    """List the pinned copies of one direction."""
    items = graph.items
    code = trace.events.name[items.row]
    is_pinned = trace.strings.where(lambda name: "Pinned" in name, code)[code] & (items.kind == WorkKind.COPY)
    return np.flatnonzero(is_pinned & _goes(trace, code, direction))


def _at_best_rate(trace: Trace, graph: Graph, direction: Direction, item: Int64, rate: float | None) -> Int64 | None:
    """Return shape (items,), ns, at the given rate, or the best of a pinned copy; None: unknown."""
    items, work = graph.items, trace.device_work
    like = _pinned(trace, graph, direction)
    if rate is None:
        rate = best_pinned_rate(trace, graph, direction)
        if rate is None:
            return None
    size = work.bytes[items.work[item]]
    # no faster than the fastest pinned copy of at most as many bytes
    by_size = like[np.argsort(work.bytes[items.work[like]], kind="stable")]
    fastest = np.append(np.minimum.accumulate(items.duration[by_size]), 0)
    least = fastest[np.searchsorted(work.bytes[items.work[by_size]], size, side="right") - 1]
    return np.where(size > 0, np.maximum(np.ceil(size / rate).astype(np.int64), least), items.duration[item])


def _own_syncs(graph: Graph, item: Int64, operator: Int64) -> tuple[Int64, LaneSpans]:
    """Find edges to calls that wait for one of the copies in its own operator, and the spans of these operators."""
    nesting = graph.host.nesting
    edges = edges_into(graph, (Edge.SYNC,), None)
    of = np.full(len(graph.items), -1, np.int64)
    of[item] = operator
    around = of[graph.item[edges]]
    edges, around = edges[around >= 0], around[around >= 0]
    target = graph.target[edges]
    own = graph.reference[target] == nesting.lane[around]
    own &= (nesting.start[around] < graph.time[target]) & (graph.time[target] <= nesting.end[around])
    edges, around = edges[own], around[own]
    return edges, lane_union(nesting.lane[around], nesting.start[around], nesting.end[around])


def _calls(trace: Trace, graph: Graph, call: Int64) -> HostEffect:
    """Shorten the calls to what asynchronous ones usually take."""
    calls = graph.calls
    blocked = np.zeros(len(calls), np.bool_)
    blocked[graph.items.call[graph.item[graph.edge == Edge.BLOCKING_COPY]]] = True
    own = np.where(blocked, calls.release, calls.end) - calls.start
    factor: Float64 = np.minimum(_usual(trace, graph, blocked) / np.maximum(own[call], 1), 1.0)
    lane, start, end = calls.lane[call], calls.start[call], calls.end[call]
    order = np.lexsort((start, lane))
    lane, start, end, factor = lane[order], start[order], end[order], factor[order]
    return scaled_spans(graph, LaneSpans(lane, start, end), factor)


def _usual(trace: Trace, graph: Graph, blocked: Bool) -> float:
    """Return the median of asynchronous copies' calls that did not block, else of all calls that started something,
    ns.
    """
    items, calls = graph.items, graph.calls
    started = (calls.release >= 0) & ~blocked
    first = calls.first_item
    code = trace.events.name[items.row]
    is_pageable = trace.strings.where(lambda name: "Pageable" in name, code)[code]
    copies = started & (np.append(items.kind, -1)[first] == WorkKind.COPY) & ~np.append(is_pageable, True)[first]
    for chosen in (copies, started):
        if np.count_nonzero(chosen) >= FEWEST:
            return median((calls.end - calls.start)[chosen])
    return float("inf")
