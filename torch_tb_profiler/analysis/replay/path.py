"""The critical path of each step, and how much later every slice could be without a step ending later (slack)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import PREFERENCE, Edge, Graph, GraphNode, binding_of
from torch_tb_profiler.analysis.replay.host_time import Label
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.analysis.replay.scenario import Scenario, unchanged
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.lookup import bounds_of
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import least_in
from torch_tb_profiler.arrays.types import Int8, Int64
from torch_tb_profiler.model import Model

#: what time on the path is spent on; the first are those of Label
PARTS = (
    *(label.name.lower() for label in Label),
    "compute",
    "communication",
    "copy",
    "launch_latency",
    "device_gap",
    "dependency",
    "wake_up",
    "hand_over",
    "fixed",
)
#: edges whose segments are found together
_TOGETHER = 8_192
_PART = {name: number for number, name in enumerate(PARTS)}
_OF_EDGE = {
    Edge.LAUNCH: "launch_latency",
    Edge.STREAM: "device_gap",
    Edge.STREAM_WAIT: "dependency",
    Edge.COINCIDENCE: "dependency",
    Edge.SYNC: "wake_up",
    Edge.BLOCKING_COPY: "wake_up",
    Edge.FULL_QUEUE: "wake_up",
    Edge.HAND_OVER: "hand_over",
    Edge.HOST_COLLECTIVE: "hand_over",
    Edge.STEP_END: "fixed",
    Edge.ROOT: "fixed",
    Edge.MEET: "dependency",
}


class PathSegments(msgspec.Struct, frozen=True):
    """Pieces of the path, from the end of each step back to its beginning. Parallel, shape (segments,).

    step            index of the step
    start, end      ns from the root, in the scenario
    part            index into PARTS
    edge            position of the edge in the graph
    item            the work item that ran, as a row of its event; -1 for other parts
    """

    step: Int64
    start: Int64
    end: Int64
    part: Int8
    edge: Int64
    item: Int64

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True)
class CriticalPath:
    """The critical path of the steps of one trace.

    names         of the steps
    step_ns       shape (steps,), ns: how long each takes, and what its path adds up to exactly
    composition   shape (steps, len(PARTS)), ns: what the path is spent on
    parts         the names of the columns of `composition`
    unexplained   share of the time of the steps that nothing in the trace explains: the quality of all answers
    """

    names: tuple[str, ...]
    step_ns: Int64
    composition: Int64
    parts: tuple[str, ...] = field(repr=False)
    unexplained: float | None
    find_segments: Callable[[], PathSegments] = field(repr=False, compare=False)

    @cached_property
    def segments(self) -> PathSegments:
        """The segments; those of host time have one for each label, in no order within the edge."""
        return self.find_segments()

    def share(self, *parts: str) -> float | None:
        """Return the share of the steps' time that the path spends on some parts; None without any time."""
        total = int(self.step_ns.sum())
        chosen = [self.parts.index(part) for part in parts]
        return int(self.composition[:, chosen].sum()) / total if total else None


def critical_path(scenario: Scenario, steps: Sequence[int] | None = None) -> CriticalPath:
    """Find the path of all steps of a graph, or of some, by index."""
    graph, time = scenario.graph, scenario.time
    kept = np.flatnonzero(scenario.kept)
    arrival = time[graph.source[kept]] + scenario.delay[kept]
    binding = kept[binding_of(graph.target[kept], arrival, PREFERENCE[graph.edge[kept]])]
    cause = np.full(graph.nodes, -1, np.int64)
    cause[graph.target[binding]] = binding
    chosen = range(len(graph.steps)) if steps is None else steps
    walked = _walk(graph, time, cause, list(chosen))
    composition = _composition(scenario, len(graph.steps), *walked)[list(chosen)]
    step_ns = np.diff(time[graph.ends])[list(chosen)]
    total = int(step_ns.sum())
    unknown = int(composition[:, [_PART["unexplained"], _PART["fixed"]]].sum())
    return CriticalPath(
        names=tuple(graph.steps.names[k] for k in chosen),
        step_ns=step_ns,
        composition=composition,
        parts=PARTS,
        unexplained=unknown / total if total else None,
        find_segments=lambda: _segments(scenario, *walked),
    )


def _walk(graph: Graph, time: Int64, cause: Int64, chosen: list[int]) -> tuple[Int64, Int64, Int64]:
    """Return the edges of the path with their step, and the time from which they count, ns."""
    # the last one stands for "no cause": it is before every floor; as views, because a path meets only some nodes
    times, causes = np.append(time, -1).data, np.append(graph.source, -1)[cause].data
    ends = graph.ends.tolist()
    edges: list[int] = []
    counts = []
    add = edges.append
    for k in chosen:
        floor, node, before = times[ends[k]], ends[k + 1], len(edges)
        while times[node] > floor:
            add(node)
            node = causes[node]
        counts.append(len(edges) - before)
    step, edge = np.repeat(np.array(chosen, np.int64), counts), cause[np.array(edges, np.int64)]
    known = edge >= 0
    step, edge = step[known], edge[known]
    return step, edge, np.maximum(time[graph.source[edge]], time[graph.ends[step]])


def _composition(scenario: Scenario, steps: int, step: Int64, edge: Int64, since: Int64) -> Int64:
    """Return what the edges of each step spend their time on: shape (steps, len(PARTS)), ns."""
    of_item = _part_of_items(scenario.graph)
    found = np.zeros((steps, len(PARTS)), np.int64)
    for some in _some(len(step)):
        lengths = _lengths(scenario, of_item, edge[some], since[some])
        begins = np.flatnonzero(begins_run(step[some]))
        if len(begins):
            found[step[some][begins]] += np.add.reduceat(lengths, begins, axis=0)
    return found


def _some(edges: int) -> list[slice]:
    """Split edges into slices: their tables are wide."""
    return [slice(at, at + _TOGETHER) for at in range(0, max(edges, 1), _TOGETHER)]


def _segments(scenario: Scenario, step: Int64, edge: Int64, since: Int64) -> PathSegments:
    """Cut each edge into what its time is spent on. A piece before `since` belongs to the step before."""
    of_item = _part_of_items(scenario.graph)
    found = [
        _some_segments(scenario, step[some], edge[some], _lengths(scenario, of_item, edge[some], since[some]))
        for some in _some(len(step))
    ]
    return PathSegments(
        *(np.concatenate([getattr(each, name) for each in found]) for name in PathSegments.__struct_fields__)
    )


def _lengths(scenario: Scenario, of_item: Int64, edge: Int64, since: Int64) -> Int64:
    """Return what the time of each edge is spent on, from `since` on: shape (edges, len(PARTS)), ns.

    of_item   shape (items,): the part of each work item
    """
    graph, time = scenario.graph, scenario.time
    end = time[graph.target[edge]]
    item, row = graph.item[edge], graph.lane_row[edge]
    lag_part = np.array([_PART[_OF_EDGE.get(Edge(kind), "unexplained")] for kind in Edge], np.int8)[graph.edge[edge]]
    lengths = np.zeros((len(edge), len(PARTS)), np.int64)
    on_item = np.flatnonzero(item >= 0)
    full = end - time[graph.source[edge]]
    lengths[on_item, of_item[item[on_item]]] = np.minimum(scenario.length[edge[on_item]], full[on_item])
    lanes = np.flatnonzero(row >= 0)
    of_lane = np.rint(scenario.lane_times[row[lanes]]).astype(np.int64)
    lengths[lanes, : len(Label)] = of_lane
    rest = full - lengths.sum(axis=1)
    # rounding of scaled host time
    largest = np.argmax(of_lane, axis=1) if len(lanes) else lanes
    lengths[lanes, largest] += np.minimum(rest[lanes], 0)
    rest = full - lengths.sum(axis=1)
    unknown = np.minimum(graph.unexplained[edge], rest)
    unknown[lanes] = rest[lanes]
    lengths[:, _PART["unexplained"]] += unknown
    lengths[np.arange(len(edge)), lag_part] += rest - unknown
    # time before the step ended goes first to what came first: the work, then the lag; of host time what was spent
    # then, or after changes, where nobody knows when it was, a share of each
    over = since - time[graph.source[edge]]
    cuts = np.flatnonzero(over > 0)
    if scenario.as_recorded and (row[cuts] >= 0).any():
        exact = cuts[row[cuts] >= 0]
        lane = graph.reference[graph.target[edge[exact]]]
        begin = time[graph.source[edge[exact]]] + graph.origin_ns
        spent = graph.host_segments.spent(lane, begin, since[exact] + graph.origin_ns)
        lengths[exact, : len(Label)] -= spent
        lengths[exact, _PART["unexplained"]] -= over[exact] - spent.sum(axis=1)
        cuts = cuts[row[cuts] < 0]
    for cut in cuts.tolist():
        lengths[cut] = _cut(lengths[cut], int(over[cut]), bool(row[cut] >= 0))
    return lengths


def _some_segments(scenario: Scenario, step: Int64, edge: Int64, lengths: Int64) -> PathSegments:
    """Make the segments of some edges; `lengths` is what their time is spent on."""
    graph = scenario.graph
    item, end = graph.item[edge], scenario.time[graph.target[edge]]
    owner, part = np.nonzero(lengths[:, ::-1])
    part = len(PARTS) - 1 - part
    length = lengths[owner, part]
    before = np.cumsum(length) - length
    first = np.searchsorted(owner, owner, side="left")
    stop = end[owner] - (before - before[first])
    is_work = (part >= len(Label)) & (part < _PART["launch_latency"])
    return PathSegments(
        step=step[owner],
        start=stop - length,
        end=stop,
        part=part.astype(np.int8),
        edge=edge[owner],
        item=np.where(is_work, graph.items.row[item[owner]] if len(graph.items) else -1, -1).astype(np.int64),
    )


def _cut(lengths: Int64, over: int, share: bool) -> Int64:
    """Shorten lengths by `over` in total: each by its share, or from the first on."""
    if not share:
        until = np.cumsum(lengths)
        later: Int64 = np.maximum(until - over, 0) - np.maximum(until - lengths - over, 0)
        return later
    total = int(lengths.sum())
    # a product of two times is no int64 where they are seconds
    left = np.array([length * (total - over) // max(total, 1) for length in lengths.tolist()], np.int64)
    left[int(np.argmax(lengths))] += total - over - int(left.sum())
    found: Int64 = left
    return found


def _part_of_items(graph: Graph) -> Int64:
    items = graph.items
    part = np.full(len(items), _PART["compute"], np.int64)
    part[(items.kind == WorkKind.COPY) | (items.kind == WorkKind.SET)] = _PART["copy"]
    part[items.is_communication] = _PART["communication"]
    return part


def node_slack(scenario: Scenario) -> Int64:
    """Return shape (nodes,), ns: how much later each node could come without the end of any step moving.

    One pass from the last node to the first: the latest time of a source is the least of (latest time of target −
    delay), and of the end of a step its own. What nothing of the steps depends on has the slack until the last node.
    """
    graph, time = scenario.graph, scenario.time
    latest = np.full(graph.nodes, int(time.max(initial=0)))
    latest[graph.ends] = time[graph.ends]
    late = latest.tolist()
    kept = np.flatnonzero(scenario.kept)[::-1]
    for source, target, delay in zip(
        graph.source[kept].tolist(), graph.target[kept].tolist(), scenario.delay[kept].tolist(), strict=True
    ):
        limit = late[target] - delay
        late[source] = min(late[source], limit)
    return np.array(late, np.int64) - time


#: of what the graph knows nothing of
UNKNOWN = -1


def slack_of_rows(model: Model) -> Int64:
    """Return shape (events,), ns: the slack of each slice of the whole trace; UNKNOWN where the graph does not have it.

    A work item on a device has that of its start. A slice of a host thread (a call, an operator, an annotation, a
    Python frame) has the least of all its moments: 0 as soon as one of them is critical. Between two nodes of a thread
    the slack of a moment is that of the next node and the time that the thread waits until then. Slices of threads
    without a node, annotations on devices, and events without length have none.
    """
    graph = graph_of(model)
    base = unchanged(graph)
    slack = node_slack(base)
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
    row_slack = np.full(len(events), UNKNOWN, np.int64)
    nodes = np.flatnonzero(graph.kind == GraphNode.POINT)
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
        own, track_nodes = rows[of_row[track] : of_row[track + 1]], nodes[of_node[track] : of_node[track + 1]]
        time, of_moment = graph.time[track_nodes], slack[track_nodes]
        start = events.start[own]
        end = start + events.duration[own]
        after = np.searchsorted(time, end, side="right")
        inner = least_in(of_moment, np.searchsorted(time, start, side="left"), after)
        behind = np.minimum(after, len(track_nodes) - 1)
        low, high = of_wait[track], of_wait[track + 1]
        waited = _waited(waits.start[low:high], waits.end[low:high], end, time[behind])
        tail = np.where(
            after < len(track_nodes), of_moment[behind] + np.minimum(waited, spare[track_nodes[behind]]), last - end
        )
        row_slack[own] = np.maximum(np.minimum(inner, tail), 0)
    return row_slack


def _spare(base: Scenario) -> Int64:
    """Return shape (nodes,), ns: how long a thread stood still on the way to each node; 0 for all others."""
    graph = base.graph
    lanes = np.flatnonzero(graph.lane_row >= 0)
    spare = np.zeros(graph.nodes, np.int64)
    target = graph.target[lanes]
    spare[target] = base.time[target] - base.time[graph.source[lanes]] - base.delay[lanes]
    return spare


def _waited(start: Int64, end: Int64, since: Int64, until: Int64) -> Int64:
    """Return the time of disjoint ascending waits inside each of [since, until), ns; 0 where that is empty.

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
