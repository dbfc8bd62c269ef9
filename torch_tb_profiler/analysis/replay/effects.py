"""What a change does to a graph: which host time, work and edges it makes shorter, and where in host time that is."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.changes import ScaleHost, ScaleWork, Within, WithoutWaits
from torch_tb_profiler.analysis.replay.graph import Edge, Graph, GraphNode
from torch_tb_profiler.analysis.replay.host_time import (
    LABELS,
    HostSegments,
    Label,
    LaneSpans,
    lane_intersection,
    lane_union,
)
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.arrays.lookup import find
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.model.event_names import NN_MODULE, SYNCHRONIZE
from torch_tb_profiler.model.modules import LIGHTNING_MODULE, module_name
from torch_tb_profiler.trace import Category, Trace


def spans_within(trace: Trace, graph: Graph, within: Within) -> LaneSpans | None:
    """Return the spans in which all of `within` holds; None for everywhere. Raises ValueError for rows of no event."""
    parts: list[LaneSpans] = []
    if within.operator is not None:
        nesting = graph.host.nesting
        at = np.flatnonzero(trace.events.name[graph.host.row] == trace.strings.code(within.operator))
        parts.append(lane_union(nesting.lane[at].astype(np.int64), nesting.start[at], nesting.end[at]))
    if within.module is not None:
        parts.append(spans_of_rows(trace, calls_of_module(trace, within.module)))
    if within.frame is not None:
        rows = trace.python_frames.row
        parts.append(spans_of_rows(trace, rows[trace.events.name[rows] == trace.strings.code(within.frame)]))
    if within.rows is not None:
        parts.append(spans_of_rows(trace, checked_rows(trace, within.rows)))
    if within.intervals is not None:
        lane, start, end = np.array(within.intervals, np.int64).reshape(-1, 3).T
        parts.append(lane_union(lane, start, end))
    if within.start is not None or within.end is not None or within.thread is not None:
        lanes = np.arange(graph.host.lanes) if within.thread is None else np.array([within.thread])
        limits = np.iinfo(np.int64)
        low = limits.min if within.start is None else within.start
        high = limits.max if within.end is None else within.end
        parts.append(lane_union(lanes, np.full(len(lanes), low), np.full(len(lanes), high)))
    if not parts:
        return None
    held = parts[0]
    for part in parts[1:]:
        held = lane_intersection(held, part)
    return held


def spans_of_rows(trace: Trace, rows: Int64) -> LaneSpans:
    """Return the spans of events, on their threads."""
    events = trace.events
    return lane_union(events.track[rows].astype(np.int64), events.start[rows], events.end[rows])


def checked_rows(trace: Trace, rows: tuple[int, ...]) -> Int64:
    """Return rows of events as an array. Raises ValueError for a row that no event has."""
    found = np.array(rows, np.int64)
    if len(found) and not 0 <= int(found.min()) <= int(found.max()) < len(trace.events):
        raise ValueError(f"rows are from 0 to {len(trace.events) - 1}")
    return found


def calls_of_module(trace: Trace, name: str) -> Int64:
    """Return the rows of a module's calls; `name` is that of the event, with or without its prefix."""
    events = trace.events
    rows = np.concatenate((trace.python_frames.row, trace.operators.row)).astype(np.int64)
    prefixes = (NN_MODULE, LIGHTNING_MODULE)

    def wanted(text: str) -> bool:
        return text.startswith(prefixes) and name in (text, module_name(text))

    return rows[trace.strings.where(wanted, events.name[rows])[events.name[rows]]]


def items_of_rows(graph: Graph, rows: Int64) -> Int64:
    """Return shape (rows,): the work item of each event, -1 for none."""
    order = np.argsort(graph.items.row, kind="stable")
    place = find(graph.items.row[order], rows)
    found: Int64 = np.append(order, -1)[place]
    return found


def innermost_operators(trace: Trace, graph: Graph, calls: Int64) -> Int64:
    """Return shape (calls,): the position in `Graph.host` of the operator around each call, -1 for none.

    calls   indexes into RuntimeCalls
    """
    host = graph.host
    is_operator: Bool = trace.events.category[host.row] == Category.OPERATOR
    order = np.argsort(host.row, kind="stable")
    place = np.append(order, -1)[find(host.row[order], graph.calls.row[calls])]
    return nearest(host.nesting.parent, is_operator, place).astype(np.int64)


NO_EDGES = np.empty(0, np.int64)
_DROPPED: dict[str, tuple[Edge, ...]] = {
    "sync": (Edge.SYNC, Edge.BLOCKING_COPY),
    "copies": (Edge.BLOCKING_COPY,),
    "queue": (Edge.FULL_QUEUE,),
}


class HostEffect(msgspec.Struct, frozen=True, dict=True):
    """Pieces of host time, each × its factor; parallel."""

    segments: HostSegments
    factor: Float64

    @cached_property
    def saved(self) -> tuple[Int64, Float64]:
        """Where in Graph.lane_times something is saved, row after row, and how much, ns."""
        order = stable_order(self.segments.place)
        place = self.segments.place[order]
        begins = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
        saved = ((self.segments.end - self.segments.start) * (1 - self.factor))[order]
        return place[begins], np.add.reduceat(saved, begins)


class WorkEffect(msgspec.Struct, frozen=True):
    """Of some work items (indexes into WorkItems): duration × factor, or what it is instead, whatever other changes
    make of it; then at most `cap` ns, then `less` ns less.
    """

    item: Int64
    factor: float = 1.0
    instead: Int64 | None = None
    cap: Int64 | None = None
    less: int = 0


class LagEffect(msgspec.Struct, frozen=True):
    """Edges whose lag is at most so long, ns."""

    edge: Int64
    most: int


class ChangeEffect(msgspec.Struct, frozen=True):
    """All that a change does; effects of several changes can be put together in any order.

    labels    shape (labels,): factors of all host time of a label; None for 1
    dropped   edges that are no longer there
    notes     what could not be done, in a sentence each
    """

    labels: Float64 | None = None
    host: tuple[HostEffect, ...] = ()
    work: tuple[WorkEffect, ...] = ()
    lags: tuple[LagEffect, ...] = ()
    dropped: Int64 = msgspec.field(default_factory=lambda: NO_EDGES)
    notes: tuple[str, ...] = ()


def scale_host(trace: Trace, graph: Graph, change: ScaleHost) -> ChangeEffect:
    """Scale host time."""
    spans = spans_within(trace, graph, change.within)
    if spans is None:
        labels = np.ones(LABELS)
        labels[slice(None) if change.label is None else Label[change.label.upper()]] = change.factor
        return ChangeEffect(labels=labels)
    labels_of = None if change.label is None else (Label[change.label.upper()],)
    return ChangeEffect(host=(scaled_spans(graph, spans, change.factor, labels_of),))


def scaled_spans(
    graph: Graph, spans: LaneSpans, factor: float | Float64, labels: tuple[Label, ...] | None = None
) -> HostEffect:
    """Scale host time in spans by one factor, or by one per span; optionally only that of some labels."""
    segments, of = graph.host_segments.within(spans)
    factors = np.broadcast_to(np.asarray(factor, np.float64), (len(spans),))[of]
    chosen = graph.lane_counts[segments.edge]
    if labels is not None:
        chosen &= np.isin(segments.label, labels)
    return HostEffect(segments.take(chosen), factors[chosen])


def scale_work(trace: Trace, graph: Graph, change: ScaleWork) -> ChangeEffect:
    """Scale durations of work, or limit each to its target."""
    items = graph.items
    if change.rows is not None:
        item = items_of_rows(graph, checked_rows(trace, change.rows))
        known = np.flatnonzero(item >= 0)
        if change.name is not None:
            known = known[trace.events.name[items.row[item[known]]] == trace.strings.code(change.name)]
        cap = None if change.target_ns is None else np.array(change.target_ns, np.int64)[known]
        return ChangeEffect(work=(WorkEffect(item[known], change.factor, cap=cap),))
    if change.work == "kernels":
        chosen: Bool = (items.kind == WorkKind.KERNEL) & ~items.is_communication
    elif change.work == "copies":
        chosen = (items.kind == WorkKind.COPY) | (items.kind == WorkKind.SET)
    elif change.work == "collectives":
        chosen = items.is_communication
    else:
        chosen = np.ones(len(items), np.bool_)
    if change.name is not None:
        chosen = chosen & (trace.events.name[items.row] == trace.strings.code(change.name))
    return ChangeEffect(work=(WorkEffect(np.flatnonzero(chosen), change.factor),))


def without_waits(trace: Trace, graph: Graph, change: WithoutWaits) -> ChangeEffect:
    """Drop the edges to calls that wait; of calls that synchronize nothing is left."""
    spans = None
    if change.operator is not None:
        spans = spans_within(trace, graph, ScaleHost(0, operator=change.operator).within)
    if change.rows is not None:
        chosen = spans_of_rows(trace, checked_rows(trace, change.rows))
        spans = chosen if spans is None else lane_intersection(spans, chosen)
    edges = edges_into(graph, _DROPPED[change.waits], spans)
    if change.waits != "sync":
        return ChangeEffect(dropped=edges)
    if spans is None:
        labels = np.ones(LABELS)
        labels[Label.BLOCKING] = 0
        return ChangeEffect(labels=labels, dropped=edges)
    inside = lane_intersection(spans, _waiting_calls(trace, graph))
    return ChangeEffect(host=(scaled_spans(graph, inside, 0.0),), dropped=edges)


def _waiting_calls(trace: Trace, graph: Graph) -> LaneSpans:
    calls = graph.calls
    waits = trace.strings.where(SYNCHRONIZE.search, calls.name)[calls.name] & (calls.release < 0)
    return lane_union(calls.lane[waits], calls.start[waits], calls.end[waits])


def edges_into(graph: Graph, kinds: tuple[Edge, ...], spans: LaneSpans | None) -> Int64:
    """Return the edges of some kinds whose target is after the start of the first step and, if given, ends in a
    span.
    """
    found = np.flatnonzero(np.isin(graph.edge, kinds) & (graph.time[graph.target] > graph.since))
    if spans is None:
        return found
    on_thread = graph.kind[graph.target[found]] == GraphNode.POINT
    target = graph.target[found[on_thread]]
    into: Int64 = found[on_thread][spans.ends_in(graph.reference[target], graph.time[target])]
    return into
