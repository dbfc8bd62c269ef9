"""What a change does to a graph: which host time, work and edges it makes shorter."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.changes import ScaleHost, ScaleWork, WithoutWaits
from torch_tb_profiler.analysis.replay.edges import Edge
from torch_tb_profiler.analysis.replay.graph import Graph, Node
from torch_tb_profiler.analysis.replay.host_pieces import HostPieces
from torch_tb_profiler.analysis.replay.host_time import LABELS
from torch_tb_profiler.analysis.replay.inputs import Work
from torch_tb_profiler.analysis.replay.labels import Label
from torch_tb_profiler.analysis.replay.stretches import Stretches, common, merged
from torch_tb_profiler.analysis.replay.where import items_of_rows, known_rows, of_rows, stretches_of
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.model.event_names import SYNCHRONIZE
from torch_tb_profiler.trace import Trace

NOTHING = np.empty(0, np.int64)
_DROPPED: dict[str, tuple[Edge, ...]] = {
    "sync": (Edge.SYNC, Edge.BLOCKING_COPY),
    "copies": (Edge.BLOCKING_COPY,),
    "queue": (Edge.FULL_QUEUE,),
}


class OnHost(msgspec.Struct, frozen=True, dict=True):
    """Pieces of host time, each × its factor; parallel."""

    pieces: HostPieces
    factor: Float64

    @cached_property
    def saved(self) -> tuple[Int64, Float64]:
        """Where in Graph.lane_times something is saved, row after row, and how much, ns."""
        order = stable_order(self.pieces.place)
        place = self.pieces.place[order]
        begins = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
        saved = ((self.pieces.end - self.pieces.start) * (1 - self.factor))[order]
        return place[begins], np.add.reduceat(saved, begins)


class OnWork(msgspec.Struct, frozen=True):
    """Of some pieces of work (indexes into Items): duration × factor, or what it is instead, whatever other changes
    make of it; then at most `cap` ns, then `less` ns less.
    """

    item: Int64
    factor: float = 1.0
    instead: Int64 | None = None
    cap: Int64 | None = None
    less: int = 0


class OnLags(msgspec.Struct, frozen=True):
    """Edges whose lag is at most so long, ns."""

    edge: Int64
    most: int


class Effect(msgspec.Struct, frozen=True):
    """All that a change does; effects of several changes can be put together in any order.

    labels    shape (labels,): factors of all host time of a label; None for 1
    dropped   edges that are no longer there
    notes     what could not be done, in a sentence each
    """

    labels: Float64 | None = None
    host: tuple[OnHost, ...] = ()
    work: tuple[OnWork, ...] = ()
    lags: tuple[OnLags, ...] = ()
    dropped: Int64 = msgspec.field(default_factory=lambda: NOTHING)
    notes: tuple[str, ...] = ()


def scale_host(trace: Trace, graph: Graph, change: ScaleHost) -> Effect:
    """Host time × factor."""
    stretches = stretches_of(trace, graph, change.within)
    if stretches is None:
        labels = np.ones(LABELS)
        labels[slice(None) if change.label is None else Label[change.label.upper()]] = change.factor
        return Effect(labels=labels)
    labels_of = None if change.label is None else (Label[change.label.upper()],)
    return Effect(host=(on_host(graph, stretches, change.factor, labels_of),))


def on_host(
    graph: Graph, stretches: Stretches, factor: float | Float64, labels: tuple[Label, ...] | None = None
) -> OnHost:
    """Host time in stretches × factor, one for all or one for each stretch; only of some labels."""
    pieces, of = graph.pieces.within(stretches)
    factors = np.broadcast_to(np.asarray(factor, np.float64), (len(stretches),))[of]
    chosen = graph.lane_counts[pieces.edge]
    if labels is not None:
        chosen &= np.isin(pieces.label, labels)
    return OnHost(pieces.take(chosen), factors[chosen])


def scale_work(trace: Trace, graph: Graph, change: ScaleWork) -> Effect:
    """Durations × factor, or at most the target of each."""
    items = graph.items
    if change.rows is not None:
        item = items_of_rows(graph, known_rows(trace, change.rows))
        known = np.flatnonzero(item >= 0)
        if change.name is not None:
            known = known[trace.events.name[items.row[item[known]]] == trace.strings.code(change.name)]
        cap = None if change.target_ns is None else np.array(change.target_ns, np.int64)[known]
        return Effect(work=(OnWork(item[known], change.factor, cap=cap),))
    if change.work == "kernels":
        chosen: Bool = (items.kind == Work.KERNEL) & ~items.is_communication
    elif change.work == "copies":
        chosen = (items.kind == Work.COPY) | (items.kind == Work.SET)
    elif change.work == "collectives":
        chosen = items.is_communication
    else:
        chosen = np.ones(len(items), np.bool_)
    if change.name is not None:
        chosen = chosen & (trace.events.name[items.row] == trace.strings.code(change.name))
    return Effect(work=(OnWork(np.flatnonzero(chosen), change.factor),))


def without_waits(trace: Trace, graph: Graph, change: WithoutWaits) -> Effect:
    """Edges to calls that wait are dropped; of calls that synchronize nothing is left."""
    stretches = None
    if change.operator is not None:
        stretches = stretches_of(trace, graph, ScaleHost(0, operator=change.operator).within)
    if change.rows is not None:
        chosen = of_rows(trace, known_rows(trace, change.rows))
        stretches = chosen if stretches is None else common(stretches, chosen)
    edges = edges_into(graph, _DROPPED[change.waits], stretches)
    if change.waits != "sync":
        return Effect(dropped=edges)
    if stretches is None:
        labels = np.ones(LABELS)
        labels[Label.BLOCKING] = 0
        return Effect(labels=labels, dropped=edges)
    inside = common(stretches, _waiting_calls(trace, graph))
    return Effect(host=(on_host(graph, inside, 0.0),), dropped=edges)


def _waiting_calls(trace: Trace, graph: Graph) -> Stretches:
    calls = graph.calls
    waits = trace.strings.where(SYNCHRONIZE.search, calls.name)[calls.name] & (calls.release < 0)
    return merged(calls.lane[waits], calls.start[waits], calls.end[waits])


def edges_into(graph: Graph, kinds: tuple[Edge, ...], stretches: Stretches | None) -> Int64:
    """Edges of some kinds whose target is after the first step has begun, and ends in one of some stretches."""
    found = np.flatnonzero(np.isin(graph.edge, kinds) & (graph.time[graph.target] > graph.since))
    if stretches is None:
        return found
    on_thread = graph.kind[graph.target[found]] == Node.POINT
    target = graph.target[found[on_thread]]
    into: Int64 = found[on_thread][stretches.ends_in(graph.reference[target], graph.time[target])]
    return into
