"""A graph with changes: how long its edges are, and when its nodes come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, ScaleHost, ScaleWork, check
from torch_tb_profiler.analysis.replay.edges import Edge
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.host_time import LABELS, worked
from torch_tb_profiler.analysis.replay.inputs import Work
from torch_tb_profiler.analysis.replay.labels import Label
from torch_tb_profiler.analysis.replay.solve import solve
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.trace import Trace

_DROPPED: dict[str, tuple[Edge, ...]] = {
    "sync": (Edge.SYNC, Edge.BLOCKING_COPY),
    "copies": (Edge.BLOCKING_COPY,),
    "queue": (Edge.FULL_QUEUE,),
}


@dataclass(frozen=True)
class Scenario:
    """Host times, durations and edges after some changes. What was before the first step is never changed.

    lane_times   shape (lane edges, labels), ns
    duration     shape (items,), ns
    kept         shape (edges,): edges that are still there
    """

    graph: Graph
    lane_times: Float64
    duration: Float64
    kept: Bool

    @cached_property
    def length(self) -> Int64:
        """Shape (edges,), ns: host time or duration, without the lag."""
        graph = self.graph
        found = np.zeros(len(graph.source), np.int64)
        of_lane, of_item = graph.lane_row >= 0, graph.item >= 0
        found[of_lane] = np.rint(self.lane_times.sum(axis=1)).astype(np.int64)[graph.lane_row[of_lane]]
        found[of_item] = np.rint(self.duration).astype(np.int64)[graph.item[of_item]]
        return found

    @cached_property
    def delay(self) -> Int64:
        """Shape (edges,), ns: how much later the target is than the source."""
        found: Int64 = np.maximum(self.length + self.graph.lag, 0)
        return found

    @cached_property
    def time(self) -> Int64:
        """Shape (nodes,), ns from the root: when each node comes."""
        graph = self.graph
        if self.kept.all():
            return solve(graph.nodes, *graph.links, self.delay)
        kept = np.flatnonzero(self.kept)
        return solve(graph.nodes, graph.source[kept].tolist(), graph.target[kept].tolist(), self.delay[kept])

    @property
    def as_recorded(self) -> bool:
        """Whether nothing is changed."""
        graph = self.graph
        return (
            bool(self.kept.all())
            and np.array_equal(self.duration, graph.items.duration)
            and np.array_equal(self.lane_times, graph.lane_times)
        )

    @property
    def step_ns(self) -> Int64:
        """Shape (steps,), ns: how long each step takes."""
        found: Int64 = np.diff(self.time[self.graph.ends])
        return found


def unchanged(graph: Graph) -> Scenario:
    """The graph as it was recorded."""
    return Scenario(
        graph,
        graph.lane_times.astype(np.float64),
        graph.items.duration.astype(np.float64),
        np.ones(len(graph.source), np.bool_),
    )


def changed(trace: Trace, graph: Graph, changes: Sequence[Change]) -> Scenario:
    """The graph after all of some changes. Raises ValueError for a factor that is no number."""
    base = unchanged(graph)
    since = int(graph.steps.host_start[0]) if len(graph.steps) else 0
    later = graph.point_time[graph.lane_to] > since
    lane_times, duration, kept = base.lane_times.copy(), base.duration.copy(), base.kept.copy()
    for change in changes:
        check(change)
        if isinstance(change, ScaleHost):
            _scale_host(trace, graph, change, lane_times)
        elif isinstance(change, ScaleWork):
            duration[_work(trace, graph, change)] *= change.factor
        else:
            point = graph.reference  # of targets that are points: the track
            dropped = np.isin(graph.edge, _DROPPED[change.waits]) & (graph.time[graph.target] > since)
            if change.operator is not None:
                dropped &= _inside(trace, graph, change.operator, point[graph.target], graph.time[graph.target])
            kept &= ~dropped
            if change.waits == "sync":
                _scale_host(trace, graph, ScaleHost(0, "blocking", change.operator), lane_times)
    lane_times = np.where(later[:, None], lane_times, base.lane_times)
    duration = np.where(graph.items.start >= since, duration, base.duration)
    return Scenario(graph, lane_times, duration, kept)


def _scale_host(trace: Trace, graph: Graph, change: ScaleHost, lane_times: Float64) -> None:
    chosen = (
        slice(None) if change.label is None else slice(Label[change.label.upper()], Label[change.label.upper()] + 1)
    )
    if change.operator is None and change.start is None and change.end is None and change.thread is None:
        lane_times[:, chosen] *= change.factor
        return
    only = None if change.operator is None else _pieces_inside(trace, graph, change.operator)
    time = graph.point_time
    if change.start is not None or change.end is not None:
        low = change.start if change.start is not None else np.iinfo(np.int64).min
        high = change.end if change.end is not None else np.iinfo(np.int64).max
        time = np.clip(time, low, high)
    within = worked(graph.host, graph.waits, graph.point_lane, time, only)
    part = np.zeros((len(graph.lane_from), LABELS))
    part[:, chosen] = (within[graph.lane_to] - within[graph.lane_from])[:, chosen]
    if change.thread is not None:
        part[graph.point_lane[graph.lane_to] != change.thread] = 0
    # of what earlier changes left
    recorded = graph.lane_times
    left = np.divide(lane_times, recorded, out=np.ones_like(lane_times), where=recorded > 0)
    lane_times -= part * left * (1 - change.factor)


def _pieces_inside(trace: Trace, graph: Graph, name: str) -> Bool:
    """Shape (pieces of host time,): inside a range of a name."""
    host = graph.host
    wanted = trace.events.name[host.row] == trace.strings.code(name)
    inside = nearest(host.nesting.parent, wanted, np.arange(len(host.row), dtype=np.int64)) >= 0
    found: Bool = np.append(inside, False)[host.node]
    return found


def _inside(trace: Trace, graph: Graph, name: str, lane: Int64, time: Int64) -> Bool:
    """Whether the piece of host time that ends at each time is inside a range of a name."""
    place = graph.host.place(np.clip(lane, 0, graph.host.lanes - 1), time - 1)
    found: Bool = (place >= 0) & np.append(_pieces_inside(trace, graph, name), False)[place]
    return found


def _work(trace: Trace, graph: Graph, change: ScaleWork) -> Bool:
    items = graph.items
    if change.work == "kernels":
        chosen = (items.kind == Work.KERNEL) & ~items.is_communication
    elif change.work == "copies":
        chosen = (items.kind == Work.COPY) | (items.kind == Work.SET)
    elif change.work == "collectives":
        chosen = items.is_communication
    else:
        chosen = np.ones(len(items), np.bool_)
    if change.name is not None:
        chosen = chosen & (trace.events.name[items.row] == trace.strings.code(change.name))
    found: Bool = chosen
    return found
