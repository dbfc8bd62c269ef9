"""The graph of a trace: its nodes in time order, and its edges, which explain every recorded time.

Edges are collected in batches, then calibrated to give exactly the recorded times: the cause that came last carries the
recorded delay.
"""

from __future__ import annotations

from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.host_time import HostSegments, HostTime, LaneSpans
from torch_tb_profiler.analysis.replay.launched_work import RuntimeCalls, WorkItems
from torch_tb_profiler.analysis.replay.solve import Solver
from torch_tb_profiler.analysis.replay.stream_edges import Latencies
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.model.steps import Steps
from torch_tb_profiler.spill import spilled_property


class Edge(IntEnum):
    """Why the target of an edge cannot come earlier."""

    LANE = 0  # the thread has to get there
    LAUNCH = 1  # the work has to be launched
    STREAM = 2  # the stream runs one piece after the other
    STREAM_WAIT = 3  # the stream waits for an event of another
    COINCIDENCE = 4  # it began when work of another stream ended, long after everything known
    SYNC = 5  # the call waits for the device
    BLOCKING_COPY = 6  # the call returns when its copy is done
    FULL_QUEUE = 7  # the call waits for a place in the launch queue
    HAND_OVER = 8  # one thread wakes another
    HOST_COLLECTIVE = 9  # a collective on the host: from its call, or back to who waits for it
    STEP_END = 10  # the step ends with the last of its work
    ROOT = 11  # nothing known comes before: the recorded time
    MEET = 12  # a collective begins when its last rank is there


class Edges(msgspec.Struct, frozen=True):
    """Parallel, shape (edges,).

    source, target   points, then items, then step ends, as numbered by who makes them
    kind             an Edge
    lag              ns: how much later the target is than the source, or than its end, beside host time
    from_end         the source is a work item, and its duration counts
    """

    source: Int64
    target: Int64
    kind: Int8
    lag: Int64
    from_end: Bool

    def __len__(self) -> int:
        return len(self.source)

    def take(self, chosen: Int64) -> Edges:
        """Select some of them."""
        return Edges(
            self.source[chosen], self.target[chosen], self.kind[chosen], self.lag[chosen], self.from_end[chosen]
        )


def edges_of_kind(kind: Edge, source: Int64, target: Int64, lag: Int64 | int, from_end: bool = False) -> Edges:
    """Make edges of one kind."""
    n = len(source)
    return Edges(
        np.asarray(source, np.int64),
        np.asarray(target, np.int64),
        np.full(n, kind, np.int8),
        np.broadcast_to(np.asarray(lag, np.int64), (n,)).copy(),
        np.full(n, from_end, np.bool_),
    )


def joined_edges(batches: list[Edges]) -> Edges:
    """Concatenate batches of edges."""
    return Edges(
        np.concatenate([b.source for b in batches]),
        np.concatenate([b.target for b in batches]),
        np.concatenate([b.kind for b in batches]),
        np.concatenate([b.lag for b in batches]),
        np.concatenate([b.from_end for b in batches]),
    )


class GraphNode(IntEnum):
    """What a node is. Of nodes at one time, those of a lower number come first."""

    ROOT = 0  # the beginning of the recording
    POINT = 1  # a moment of a host thread
    ITEM = 2  # the start of a work item
    MEET = 3  # all ranks of a collective have come
    STEP_END = 4  # the end of the period of a step


#: edges that a change can take away
DROPPABLE = (Edge.SYNC, Edge.BLOCKING_COPY, Edge.FULL_QUEUE)


class Calibration(msgspec.Struct, frozen=True):
    """What had to be done to make the graph give the recorded times.

    over      edges whose delay was lowered: something did not wait for what it should have
    under     nodes later than all that is known of them, by something that the trace does not show
    dropped   edges left out because their source is not before their target
    early     work items that began before the call that launched them
    """

    over: int
    under: int
    dropped: int
    early: int


class Graph(msgspec.Struct, frozen=True, dict=True):
    """Nodes in time order and edges by target: a source is always a lower number than its target.

    time         shape (nodes,), ns: as recorded
    kind         shape (nodes,), a Node
    reference    shape (nodes,): of a point the track, of an item its index, of a step end its step + 1 (0: where the
                 first one begins)
    source, target, edge   shape (edges,); edge is an Edge
    lag          shape (edges,), ns: beside host time and the duration of the source
    unexplained  shape (edges,), ns: the part of `lag` that nothing in the trace explains
    item         shape (edges,): the work item whose duration the edge has, -1 for none
    lane_row     shape (edges,): row of `lane_times`, -1 for edges without host time
    lane_times   shape (lane edges, labels), ns
    host_segments   what `lane_times` adds up
    lane_from, lane_to   shape (lane edges,): the points, as rows of `points`
    point_lane, point_time   shape (points,)
    step_kind    shape (steps,): the same number for steps of one kind
    ends         shape (steps + 1,): the node where the first step begins, then where each ends
    marks        shape (steps, 2): the nodes where the mark of each step begins and ends; -1 without a main thread
    """

    time: Int64
    kind: Int8
    reference: Int64
    source: Int64
    target: Int64
    edge: Int8
    lag: Int64
    unexplained: Int64
    item: Int64
    lane_row: Int64
    lane_times: Int64
    host_segments: HostSegments
    lane_from: Int64
    lane_to: Int64
    point_lane: Int64
    point_time: Int64
    ends: Int64
    marks: Int64
    items: WorkItems
    item_step: Int64
    calls: RuntimeCalls
    host: HostTime
    waits: LaneSpans
    silent: LaneSpans
    latencies: Latencies
    steps: Steps
    step_kind: Int64
    main: int
    calibration: Calibration

    @property
    def nodes(self) -> int:
        """How many there are."""
        return len(self.time)

    @property
    def origin_ns(self) -> int:
        """When the root is, ns."""
        return int(self.time[0])

    @spilled_property
    def solver(self) -> Solver:
        """Works out when nodes come."""
        return Solver.of(self.nodes, self.source, self.target, ~np.isin(self.edge, DROPPABLE))

    @spilled_property
    def delay(self) -> Int64:
        """Shape (edges,), ns: how much later the target is than the source, without changes."""
        length = self.length(self.on_lanes, self.items.duration)
        found: Int64 = np.maximum(length + self.lag, 0)
        return found

    @spilled_property
    def solved(self) -> Int64:
        """Shape (nodes,), ns from the root: when each node comes, without changes."""
        return self.solver.times(self.delay, np.empty(0, np.int64))

    @property
    def since(self) -> int:
        """ns: what was before the first step is never changed."""
        return int(self.steps.host_start[0]) if len(self.steps) else 0

    @property
    def work_since(self) -> int:
        """ns: work on devices that began before is never changed.

        A first step begins when the devices are done with what was launched earlier: were that shorter while the
        beginning stays, the step would seem to become shorter by as much.
        """
        return int(self.steps.start[0]) if len(self.steps) else 0

    @spilled_property
    def lane_counts(self) -> Bool:
        """Shape (lane edges,): edges that end after the first step has begun."""
        found: Bool = self.point_time[self.lane_to] > self.since
        return found

    def length(self, on_lanes: Int64, duration: Int64) -> Int64:
        """Return shape (edges,), ns: host time or duration, without the lag.

        on_lanes   shape (lane edges,), ns
        duration   shape (items,), ns
        """
        found = np.zeros(len(self.source), np.int64)
        of_lane, of_item = self._measured
        found[of_lane] = on_lanes[self.lane_row[of_lane]]
        found[of_item] = duration[self.item[of_item]]
        return found

    @spilled_property
    def _measured(self) -> tuple[Int64, Int64]:
        """Find the edges with host time, and those with a duration."""
        return np.flatnonzero(self.lane_row >= 0), np.flatnonzero(self.item >= 0)

    @spilled_property
    def on_lanes(self) -> Int64:
        """Shape (lane edges,), ns: host time of each, without changes."""
        found: Int64 = self.lane_times.sum(axis=1)
        return found

    @property
    def item_nodes(self) -> Int64:
        """Shape (items,): the node of each work item."""
        nodes = np.flatnonzero(self.kind == GraphNode.ITEM)
        found = np.empty(len(nodes), np.int64)
        found[self.reference[nodes]] = nodes
        return found


def binding_of(target: Int64, arrival: Int64, preference: Int64 | None = None) -> Int64:
    """Find the edge of each target that arrives last; among equal ones the preferred one.

    target       shape (edges,), ascending
    arrival      shape (edges,), ns
    preference   shape (edges,): the largest wins
    Returns shape (targets with edges,): positions of edges, by target.

    >>> binding_of(np.array([1, 1, 4]), np.array([3, 8, 0])).tolist()
    [1, 2]
    """
    if not len(target):
        return np.empty(0, np.int64)
    begins = np.flatnonzero(np.append(True, target[1:] != target[:-1]))
    count = np.diff(np.append(begins, len(target)))
    best = np.repeat(np.maximum.reduceat(arrival, begins), count)
    if preference is None:
        preference = np.zeros(len(target), np.int64)
    rank = np.where(arrival == best, preference, np.int64(-1))
    wanted = np.repeat(np.maximum.reduceat(rank, begins), count)
    hits = np.flatnonzero(rank == wanted)
    found = np.empty(len(begins), np.int64)
    group = np.repeat(np.arange(len(begins)), count)[hits]
    found[group] = hits
    return found


_AFTER_WORK = (Edge.STREAM, Edge.STREAM_WAIT, Edge.COINCIDENCE, Edge.SYNC, Edge.BLOCKING_COPY, Edge.STEP_END)
#: by Edge, of causes that arrive at the same time the highest wins: work on a device, then the same thread
PREFERENCE = np.array([2 if edge in _AFTER_WORK else int(edge == Edge.LANE) for edge in Edge], np.int64)


class Calibrated(msgspec.Struct, frozen=True):
    """What was made of the delays of edges.

    lag    shape (edges,), ns
    rest   shape (edges,), ns: how much later the target is than all its causes, at the one that came last
    over   how many delays were lowered
    """

    lag: Int64
    rest: Int64
    over: int

    def unexplained(self, edge: Int8, latency: Int64) -> Int64:
        """Return shape (edges,), ns: the part of `lag` that nothing in the trace explains.

        edge      shape (edges,), an Edge
        latency   shape (edges,), ns: the longest that a device takes to begin what is at the target
        Of a thread nobody knows what made it late, nor of a device what made it later than its latency.
        """
        on_device = np.isin(edge, (Edge.LAUNCH, Edge.STREAM, Edge.STREAM_WAIT)) & (self.rest > 0)
        on_device &= self.lag > latency
        return np.where(edge == Edge.LANE, self.rest, np.where(on_device, self.lag, 0))


def calibrate(time: Int64, source: Int64, target: Int64, edge: Int8, lag: Int64, length: Int64) -> Calibrated:
    """Correct the delays of edges.

    time                         shape (nodes,), ns, as recorded
    source, target, edge, lag    shape (edges,), by target
    length                       shape (edges,), ns: host time or duration, to which `lag` is added

    A cause after its effect has its delay lowered. Where all causes come too early, the one that came last takes
    the rest.
    """
    lag, rest = lag.copy(), np.zeros(len(lag), np.int64)
    arrival = time[source] + np.maximum(length + lag, 0)
    excess = arrival - time[target]
    over = excess > 0
    lag[over] = time[target[over]] - time[source[over]] - length[over]
    arrival = np.minimum(arrival, time[target])
    binding = binding_of(target, arrival, PREFERENCE[edge])
    rest[binding] = time[target[binding]] - arrival[binding]
    late = np.flatnonzero(rest)
    lag[late] = time[target[late]] - time[source[late]] - length[late]
    return Calibrated(lag, rest, int(np.count_nonzero(over)))
