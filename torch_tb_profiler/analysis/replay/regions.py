"""What a CUDA graph of a region, a fusion of kernels and one collective for several do."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Fused, Graphed, MergedCollectives
from torch_tb_profiler.analysis.replay.edges import Edge
from torch_tb_profiler.analysis.replay.effects import Effect, OnHost, OnLags, OnWork, edges_into, on_host
from torch_tb_profiler.analysis.replay.graph import Graph, Node
from torch_tb_profiler.analysis.replay.host_time import LABELS
from torch_tb_profiler.analysis.replay.labels import Label
from torch_tb_profiler.analysis.replay.stretches import Stretches, less, merged
from torch_tb_profiler.analysis.replay.where import innermost_operators, items_of_rows, known_rows
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.order import median, percentile
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.trace import Category, Trace

#: ns: between kernels of one CUDA graph
GAP_IN_GRAPH_NS = 1_000
#: what a graph or a fusion has no more of
_GONE = (Label.PYTHON, Label.OPERATOR, Label.LAUNCH, Label.API)
_LAUNCHING = (Label.OPERATOR, Label.LAUNCH, Label.API)
#: percent of the pieces of operators and of calls that are no longer than one takes that is like the others
_USUAL = 90


def graphed(trace: Trace, graph: Graph, change: Graphed) -> Effect:
    """Each region keeps its first launch alone."""
    lane, start, end = _regions(trace, graph, change)
    region, on, since, until = _woken(graph, lane, start, end)
    stretches = Stretches(on, since, until)
    calls, items = graph.calls, graph.items
    # a launch that begins with its region is in it
    place = stretches.before(calls.lane, calls.start + 1)
    within = (place >= 0) & (calls.start < np.append(until, 0)[place]) & (calls.release >= 0)
    of_call = np.where(within, np.append(region, -1)[place], -1)
    launches = np.flatnonzero(of_call >= 0)
    launches = launches[np.lexsort((calls.start[launches], of_call[launches]))]
    begins = np.append(True, of_call[launches[1:]] != of_call[launches[:-1]])
    first = launches[begins] if len(launches) else launches
    is_first = np.zeros(len(calls) + 1, np.bool_)
    is_first[first] = True
    gone = less(merged(on, since, until), merged(calls.lane[first], calls.start[first], calls.end[first]))
    of_item = np.append(of_call, -1)[items.call]
    target = graph.reference[graph.target]
    into_item = graph.kind[graph.target] == Node.ITEM
    target = np.where(into_item, target, 0)
    mine = into_item & (np.append(of_item, -1)[target] >= 0) if len(items) else into_item
    source = np.append(of_item, -1)[graph.item]
    inside = mine & (source >= 0) & (source == np.append(of_item, -1)[target])
    follows = inside & np.isin(graph.edge, (Edge.STREAM, Edge.STREAM_WAIT))
    later = mine & (graph.edge == Edge.LAUNCH) & ~is_first[np.append(items.call, -1)[target]]
    wakes = edges_into(graph, (Edge.HAND_OVER,), stretches)
    return Effect(
        host=(on_host(graph, gone, 0.0, _GONE),),
        lags=(
            OnLags(np.flatnonzero(later), 0),
            OnLags(np.flatnonzero(follows), min(graph.lags.gap, GAP_IN_GRAPH_NS)),
            OnLags(wakes, 0),
        ),
        dropped=edges_into(graph, (Edge.FULL_QUEUE,), stretches),
    )


def _regions(trace: Trace, graph: Graph, change: Graphed) -> tuple[Int64, Int64, Int64]:
    """Lane, start and end of each region; those that overlap on a thread are one, those that touch are not."""
    lanes, starts, ends = [], [], []
    if change.rows is not None:
        rows, events = known_rows(trace, change.rows), trace.events
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
    one_less = merged(lane[kept], start[kept], end[kept] - 1)
    return one_less.lane, one_less.start, one_less.end + 1


def _woken(graph: Graph, lane: Int64, start: Int64, end: Int64) -> tuple[Int64, Int64, Int64, Int64]:
    """Regions with the threads that they wake: the region, lane, start and end of each stretch, by lane and start."""
    wakes = np.flatnonzero(graph.edge == Edge.HAND_OVER)
    woken, by = graph.target[wakes], graph.source[wakes]
    place = Stretches(lane, start, end).before(graph.reference[by], graph.time[by] + 1)
    into = (place >= 0) & (graph.time[woken] < np.append(end, 0)[place])
    into &= graph.reference[woken] != np.append(lane, -1)[place]
    pairs = np.unique(np.stack((place[into], graph.reference[woken[into]]), axis=1), axis=0)
    region = np.concatenate((np.arange(len(lane)), pairs[:, 0]))
    on = np.concatenate((lane, pairs[:, 1]))
    order = np.lexsort((start[region], on))
    region, on = region[order], on[order]
    return region, on, start[region], end[region]


def fused(trace: Trace, graph: Graph, change: Fused) -> Effect:
    """All kernels of a group but the last are gone, and the last takes the target."""
    last, others, of_last = _last_of_groups(trace, graph, change.groups)
    target = np.array(change.target_ns, np.int64)[of_last]
    gone = OnWork(others, cap=np.zeros(len(others), np.int64))
    work = (OnWork(last, instead=target), gone)
    return Effect(host=_launches_of(trace, graph, others), work=work, lags=_lags(graph, others))


def merged_collectives(trace: Trace, graph: Graph, change: MergedCollectives) -> Effect:
    """All collectives of a group but the last are without their fixed time and their launch."""
    _, others, _ = _last_of_groups(trace, graph, change.groups)
    return Effect(
        host=_launches_of(trace, graph, others),
        work=(OnWork(others, less=change.alpha_ns),),
        lags=_lags(graph, others),
    )


def _last_of_groups(trace: Trace, graph: Graph, groups: tuple[tuple[int, ...], ...]) -> tuple[Int64, Int64, Int64]:
    """The piece of work of each group that begins last, all others, and the group of each of the last."""
    rows = known_rows(trace, tuple(row for rows in groups for row in rows))
    of = np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])
    item = items_of_rows(graph, rows)
    of, item = of[item >= 0], item[item >= 0]
    order = np.lexsort((item, of))  # items are by start
    of, item = of[order], item[order]
    is_last = np.append(of[1:] != of[:-1], True)[: len(of)]
    return item[is_last], item[~is_last], of[is_last]


def _lags(graph: Graph, gone: Int64) -> tuple[OnLags]:
    """Work that is gone needs neither a launch nor a gap."""
    is_gone = np.zeros(len(graph.items) + 1, np.bool_)
    is_gone[gone] = True
    into_item = graph.kind[graph.target] == Node.ITEM
    into_gone = into_item & is_gone[np.where(into_item, graph.reference[graph.target], -1)]
    edges = np.flatnonzero(into_gone & np.isin(graph.edge, (Edge.LAUNCH, Edge.STREAM, Edge.STREAM_WAIT)))
    return (OnLags(edges, 0),)


def _launches_of(trace: Trace, graph: Graph, gone: Int64) -> tuple[OnHost, ...]:
    """The host time of launches of nothing but work that is gone, and of operators around nothing but those."""
    items, calls, host = graph.items, graph.calls, graph.host
    known = np.flatnonzero(items.call >= 0)
    is_gone = np.zeros(len(items), np.bool_)
    is_gone[gone] = True
    started = np.bincount(items.call[known], minlength=len(calls))
    call_gone = np.bincount(items.call[known[is_gone[known]]], minlength=len(calls))
    call = np.flatnonzero((started > 0) & (started == call_gone))
    if not len(call):
        return ()
    # how many pieces of work were started up to a moment of a thread, and how many of them are gone
    order = np.lexsort((calls.start, calls.lane))
    in_lane = Stretches(calls.lane[order], calls.start[order], calls.start[order])
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
    stretches = merged(
        np.concatenate((calls.lane[call], nesting.lane[nodes])),
        np.concatenate((calls.start[call], nesting.start[nodes])),
        np.concatenate((calls.end[call], nesting.end[nodes])),
    )
    return (_as_usual(graph, on_host(graph, stretches, 0.0, _LAUNCHING)),)


def _as_usual(graph: Graph, gone: OnHost) -> OnHost:
    """The same without what happens once: of a piece that takes longer than its like the rest stays, as it may load a
    kernel, or set up a library, for which the next launch has to wait then.
    """
    calls, pieces = graph.calls, graph.pieces
    most = np.zeros(LABELS)
    for label in (Label.OPERATOR, Label.API):
        of_label = pieces.label == label
        most[label] = percentile((pieces.end - pieces.start)[of_label], _USUAL) if of_label.any() else 0
    most[Label.LAUNCH] = median((calls.end - calls.start)[calls.release >= 0])
    length = gone.pieces.end - gone.pieces.start
    stays = np.maximum(length - most[gone.pieces.label], 0) / np.maximum(length, 1)
    return OnHost(gone.pieces, np.maximum(gone.factor, stays))
