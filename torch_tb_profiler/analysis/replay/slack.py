"""How much later each slice of a trace could have been without any step ending later."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import Graph, Node
from torch_tb_profiler.analysis.replay.path import slack_of
from torch_tb_profiler.analysis.replay.scenario import Scenario, unchanged
from torch_tb_profiler.arrays.lookup import bounds_of
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import least_in
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model

#: of what the graph knows nothing of
UNKNOWN = -1


def slack_of_rows(model: Model) -> Int64:
    """Shape (events,), ns: the slack of each slice of the whole trace; UNKNOWN where the graph does not have it.

    A piece of work on a device has that of its start. A slice of a host thread (a call, an operator, an annotation, a
    Python frame) has the least of all its moments: 0 as soon as one of them is critical. Between two nodes of a thread
    the slack of a moment is that of the next node and the time that the thread waits until then. Slices of threads
    without a node, annotations on devices, and events without length have none.
    """
    graph = graph_of(model)
    base = unchanged(graph)
    slack = slack_of(base)
    found = _of_threads(model, graph, base, slack)
    rows, of_items = graph.items.row, slack[graph.item_nodes]
    on_device = graph.items.work >= 0
    found[rows[on_device]] = of_items[on_device]
    on_host = rows[~on_device]
    known = found[on_host]
    found[on_host] = np.where(known == UNKNOWN, of_items[~on_device], np.minimum(known, of_items[~on_device]))
    return found


def _of_threads(model: Model, graph: Graph, base: Scenario, slack: Int64) -> Int64:
    events, tracks = model.trace.events, len(model.trace.tracks)
    found = np.full(len(events), UNKNOWN, np.int64)
    nodes = np.flatnonzero(graph.kind == Node.POINT)
    nodes = nodes[stable_order(graph.reference[nodes])]
    of_node = bounds_of(graph.reference[nodes], tracks)
    rows = np.flatnonzero(events.duration >= 0)
    rows = rows[stable_order(events.track[rows])]
    of_row = bounds_of(events.track[rows], tracks)
    waits = graph.waits
    of_wait = bounds_of(waits.lane, tracks)
    spare = _spare(base)
    last = int(graph.time.max(initial=0))
    for track in np.flatnonzero((np.diff(of_node) > 0) & (np.diff(of_row) > 0)).tolist():
        own, at = rows[of_row[track] : of_row[track + 1]], nodes[of_node[track] : of_node[track + 1]]
        time, of_moment = graph.time[at], slack[at]
        start = events.start[own]
        end = start + events.duration[own]
        after = np.searchsorted(time, end, side="right")
        inner = least_in(of_moment, np.searchsorted(time, start, side="left"), after)
        behind = np.minimum(after, len(at) - 1)
        low, high = of_wait[track], of_wait[track + 1]
        waited = _waited(waits.start[low:high], waits.end[low:high], end, time[behind])
        tail = np.where(after < len(at), of_moment[behind] + np.minimum(waited, spare[at[behind]]), last - end)
        found[own] = np.maximum(np.minimum(inner, tail), 0)
    return found


def _spare(base: Scenario) -> Int64:
    """Shape (nodes,), ns: how long a thread stood still on the way to each node; 0 for all others."""
    graph = base.graph
    lanes = np.flatnonzero(graph.lane_row >= 0)
    spare = np.zeros(graph.nodes, np.int64)
    target = graph.target[lanes]
    spare[target] = base.time[target] - base.time[graph.source[lanes]] - base.delay[lanes]
    return spare


def _waited(start: Int64, end: Int64, since: Int64, until: Int64) -> Int64:
    """ns of disjoint ascending waits that lie in each of [since, until); 0 where it is empty.

    >>> _waited(np.array([2, 8]), np.array([5, 9]), np.array([3, 6]), np.array([9, 7])).tolist()
    [3, 0]
    """
    if not len(start):
        return np.zeros(len(since), np.int64)
    before = np.cumsum(end - start) - (end - start)

    def by(time: Int64) -> Int64:
        at = np.maximum(np.searchsorted(start, time, side="right") - 1, 0)
        spent: Int64 = before[at] + np.clip(time - start[at], 0, (end - start)[at])
        return spent

    waited: Int64 = np.maximum(by(until) - by(since), 0)
    return waited
