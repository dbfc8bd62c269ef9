"""Puts the graph of a trace together."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.graph import (
    Calibration,
    Edge,
    Edges,
    Graph,
    GraphNode,
    calibrate,
    edges_of_kind,
    joined_edges,
)
from torch_tb_profiler.analysis.replay.graph_inputs import GraphInputs, HostPoints, graph_inputs
from torch_tb_profiler.analysis.replay.host_time import host_segments
from torch_tb_profiler.analysis.replay.stream_edges import CLEAR_NS, coincidences, longest_latencies, stream_waits
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.launches import launched_in
from torch_tb_profiler.spill import spilled


@cached
def graph_of(model: Model) -> Graph:
    """Build the graph of the whole trace, whichever steps are selected."""
    whole = model if model.selected is None else Model(model.trace, model.step_choice, model.structure)
    # parts are large beside the graph: each is spilled as soon as it is made
    inputs = spilled(graph_inputs(whole))
    points = spilled(HostPoints(inputs))
    step = spilled(_steps_of_items(whole, inputs))
    batches = [
        *spilled(_host_edges(inputs, points)),
        *spilled(_device_edges(whole, inputs, points)),
        *spilled(_step_edges(inputs, points, step)),
    ]
    found = spilled(joined_edges(batches))
    del batches
    return _GraphBuilder(inputs, points, found, step).graph()


def _host_edges(inputs: GraphInputs, points: HostPoints) -> list[Edges]:
    items, wakes, host, wake = inputs.items, inputs.wakes, inputs.collectives, inputs.latencies.wake
    first = len(points)
    follows = np.flatnonzero(points.lane[1:] == points.lane[:-1])

    def late(item: Int64, end: Int64) -> Int64:
        found: Int64 = points.time[end] - items.end[item]
        return found

    return [
        edges_of_kind(Edge.LANE, follows, follows + 1, 0),
        edges_of_kind(
            Edge.SYNC,
            inputs.syncs.item + first,
            points.sync_end,
            np.minimum(late(inputs.syncs.item, points.sync_end), wake),
            True,
        ),
        edges_of_kind(
            Edge.BLOCKING_COPY,
            inputs.copies.item + first,
            points.copy_end,
            np.minimum(late(inputs.copies.item, points.copy_end), wake),
            True,
        ),
        edges_of_kind(
            Edge.COINCIDENCE,
            inputs.silent_waits.item + first,
            points.silent_end,
            late(inputs.silent_waits.item, points.silent_end),
            True,
        ),
        edges_of_kind(
            Edge.FULL_QUEUE,
            inputs.held.item + first,
            points.held_end,
            points.time[points.held_end] - items.start[inputs.held.item],
        ),
        edges_of_kind(Edge.HAND_OVER, points.wake_from, points.wake_to, wakes.to_time - wakes.from_time),
        edges_of_kind(
            Edge.HOST_COLLECTIVE,
            points.called,
            host.called_item + first,
            np.minimum(items.start[host.called_item] - host.called_time, inputs.latencies.launch),
        ),
        edges_of_kind(
            Edge.HOST_COLLECTIVE,
            host.ended_item + first,
            points.ended_to,
            late(host.ended_item, points.ended_to),
            True,
        ),
    ]


def _device_edges(model: Model, inputs: GraphInputs, points: HostPoints) -> list[Edges]:
    items, calls, latencies, previous = inputs.items, inputs.calls, inputs.latencies, inputs.previous
    first = len(points)
    known = np.flatnonzero(items.call >= 0)
    release = calls.release[items.call[known]]
    behind = np.flatnonzero(previous >= 0)
    gap = items.start[behind] - items.end[previous[behind]]
    waited, waiting = stream_waits(model)
    explained = np.full(len(items), np.iinfo(np.int64).min)
    explained[known] = release + np.minimum(items.start[known] - release, latencies.launch)
    explained[behind] = np.maximum(explained[behind], items.end[previous[behind]] + np.minimum(gap, latencies.gap))
    np.maximum.at(
        explained, waiting, items.end[waited] + np.minimum(items.start[waiting] - items.end[waited], latencies.gap)
    )
    orphans = (items.call < 0) & (explained < items.start - CLEAR_NS)
    orphans[inputs.collectives.called_item] = False
    explained[orphans | (explained == np.iinfo(np.int64).min)] = np.iinfo(np.int64).max // 2
    explained[items.work < 0] = np.iinfo(np.int64).max // 2
    by_chance, late = coincidences(items, explained)
    pinned = np.flatnonzero(orphans) + first
    return [
        edges_of_kind(
            Edge.LAUNCH,
            points.release[items.call[known]],
            known + first,
            np.minimum(items.start[known] - release, latencies.launch),
        ),
        edges_of_kind(Edge.STREAM, previous[behind] + first, behind + first, np.minimum(gap, latencies.gap), True),
        edges_of_kind(
            Edge.STREAM_WAIT,
            waited + first,
            waiting + first,
            np.minimum(items.start[waiting] - items.end[waited], latencies.gap),
            True,
        ),
        edges_of_kind(
            Edge.COINCIDENCE, by_chance + first, late + first, items.start[late] - items.end[by_chance], True
        ),
        edges_of_kind(Edge.ROOT, np.full(len(pinned), -1), pinned, 0),
    ]


def _steps_of_items(model: Model, inputs: GraphInputs) -> Int64:
    """Return shape (items,): the step that launched each, -1 for none."""
    steps, items = inputs.steps, inputs.items
    work, step = launched_in(model.trace, model.structure.device_links, steps.host_start, steps.host_end)
    of_work = np.full(len(model.trace.device_work) + 1, -1, np.int64)
    of_work[work] = step
    of_work[-1] = -1
    return of_work[items.work]


def _step_edges(inputs: GraphInputs, points: HostPoints, step: Int64) -> list[Edges]:
    """Make the edges to the ends of the steps.

    step   shape (items,): the step that launched each, -1 for none
    """
    steps, items = inputs.steps, inputs.items
    n, first = len(steps), len(points)
    if not n:
        return []
    ends = first + len(items) + np.arange(n + 1)
    chosen = np.flatnonzero(step >= 0)
    order = chosen[np.lexsort((items.end[chosen], items.stream[chosen], step[chosen]))]
    last = np.ones(len(order), np.bool_)
    last[:-1] = (step[order[1:]] != step[order[:-1]]) | (items.stream[order[1:]] != items.stream[order[:-1]])
    order = order[last]
    batches = [
        edges_of_kind(Edge.STEP_END, order + first, ends[1 + step[order]], 0, True),
        edges_of_kind(Edge.STEP_END, ends[:-1], ends[1:], 0),
    ]
    if inputs.main >= 0:
        # what ran before the first step is as recorded in all scenarios
        batches.append(
            edges_of_kind(Edge.STEP_END, points.mark_start[:1], ends[:1], steps.start[:1] - steps.host_start[:1])
        )
        batches.append(edges_of_kind(Edge.STEP_END, points.mark_end, ends[1:], 0))
    return batches


class _GraphBuilder:
    """Nodes in time order: points, items, step ends and the root get their final numbers."""

    def __init__(self, inputs: GraphInputs, points: HostPoints, found: Edges, item_step: Int64) -> None:
        self._inputs, self._points, self._found, self._item_step = inputs, points, found, item_step

    def graph(self) -> Graph:
        inputs, points = self._inputs, self._points
        items, steps = inputs.items, inputs.steps
        ends = np.append(steps.start[:1], steps.end)
        sizes = (len(points), len(items), len(ends), 1)
        time = spilled(self._times(ends))
        kind = np.repeat(
            np.array([GraphNode.POINT, GraphNode.ITEM, GraphNode.STEP_END, GraphNode.ROOT], np.int8), sizes
        )
        order = spilled(np.lexsort((np.arange(len(time)), kind, time)))
        number = spilled(inverse(order))
        dropped, early, edges = self._kept(number)
        lane_edges = np.flatnonzero(edges.kind == Edge.LANE)
        lane_from, lane_to = spilled((edges.source[lane_edges], edges.target[lane_edges]))
        segments = spilled(host_segments(inputs.host, inputs.waits, inputs.silent, points.lane, points.time, lane_from))
        lane_times = spilled(segments.sums(len(lane_edges)))
        item = spilled(np.where(edges.from_end, edges.source - len(points), -1))
        length = np.zeros(len(edges), np.int64)
        length[lane_edges] = lane_times.sum(axis=1)
        length[item >= 0] = items.duration[item[item >= 0]]
        source, target = spilled((number[edges.source], number[edges.target]))
        lag = edges.lag.copy()
        fixed = edges.kind == Edge.ROOT
        lag[fixed] = time[edges.target[fixed]] - time[-1]
        in_order = spilled(time[order])
        into_item = np.flatnonzero(np.isin(edges.kind, (Edge.LAUNCH, Edge.STREAM, Edge.STREAM_WAIT)))
        latency = np.zeros(len(edges), np.int64)
        longest = longest_latencies(items, inputs.calls, inputs.latencies.launch)
        latency[into_item] = longest[edges.target[into_item] - len(points)]
        made = spilled(calibrate(in_order, source, target, edges.kind, lag, length))
        main = inputs.main >= 0 and len(steps)
        return Graph(
            time=in_order,
            kind=kind[order],
            reference=np.concatenate((points.lane, np.arange(len(items)), np.arange(len(ends)), [0]))[order],
            source=source,
            target=target,
            edge=edges.kind,
            lag=made.lag,
            unexplained=made.unexplained(edges.kind, latency),
            item=item,
            lane_row=places_of(lane_edges, len(edges)),
            lane_times=lane_times,
            host_segments=segments,
            lane_from=lane_from,
            lane_to=lane_to,
            point_lane=points.lane,
            point_time=points.time,
            ends=number[len(points) + len(items) + np.arange(len(ends))],
            marks=np.stack((number[points.mark_start], number[points.mark_end]), axis=1)
            if main
            else np.full((len(steps), 2), -1),
            items=items,
            item_step=self._item_step,
            calls=inputs.calls,
            host=inputs.host,
            waits=inputs.waits,
            silent=inputs.silent,
            latencies=inputs.latencies,
            steps=steps,
            step_kind=inputs.step_kind,
            main=inputs.main,
            calibration=Calibration(
                made.over, int(np.count_nonzero(made.rest[edges.kind == Edge.LANE])), dropped, early
            ),
        )

    def _times(self, ends: Int64) -> Int64:
        """Return the times of points, items, step ends and the root, which is last."""
        time = np.concatenate((self._points.time, self._inputs.items.start, ends))
        return np.append(time, time.min() if len(time) else 0)

    def _kept(self, number: Int64) -> tuple[int, int, Edges]:
        """Return the number of dropped edges, that of the launches among them, and the edges by target, one or more per
        node.

        number   shape (nodes,): of each in time order
        """
        edges = self._found
        # a source of -1 is the root, which is last
        forward = number[edges.source] < number[edges.target]
        early = int(np.count_nonzero(~forward & (edges.kind == Edge.LAUNCH)))
        kept = np.flatnonzero(forward)
        reached = np.zeros(len(number), np.bool_)
        reached[edges.target[kept]] = True
        reached[-1] = True
        alone = np.flatnonzero(~reached)
        edges = spilled(joined_edges([edges.take(kept), edges_of_kind(Edge.ROOT, np.full(len(alone), -1), alone, 0)]))
        by_target = np.argsort(number[edges.target], kind="stable")
        return int(np.count_nonzero(~forward)), early, spilled(edges.take(by_target))
