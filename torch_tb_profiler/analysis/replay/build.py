"""Puts the graph of a trace together."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.calibrate import calibrate
from torch_tb_profiler.analysis.replay.edges import Edge, Edges, edges, joined
from torch_tb_profiler.analysis.replay.facts import Facts, facts_of
from torch_tb_profiler.analysis.replay.graph import Calibration, Graph, Node
from torch_tb_profiler.analysis.replay.host_pieces import host_pieces
from torch_tb_profiler.analysis.replay.lags import CLEAR_NS, longest_latencies
from torch_tb_profiler.analysis.replay.points import Points
from torch_tb_profiler.analysis.replay.stream_edges import coincidences, stream_waits
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.launches import launched_in
from torch_tb_profiler.spill import spilled


@cached
def graph_of(model: Model) -> Graph:
    """The graph of the whole trace, whichever steps are selected."""
    whole = model if model.selected is None else Model(model.trace, model.step_choice, model.structure)
    # what is made here is large beside the graph: each part is put aside as soon as it is there
    facts = spilled(facts_of(whole))
    points = spilled(Points(facts))
    step = spilled(_steps_of_items(whole, facts))
    batches = [
        *spilled(_host_edges(facts, points)),
        *spilled(_device_edges(whole, facts, points)),
        *spilled(_step_edges(facts, points, step)),
    ]
    found = spilled(joined(batches))
    del batches
    return _Numbered(facts, points, found, step).graph()


def _host_edges(facts: Facts, points: Points) -> list[Edges]:
    items, wakes, host, wake = facts.items, facts.wakes, facts.collectives, facts.lags.wake
    first = len(points)
    follows = np.flatnonzero(points.lane[1:] == points.lane[:-1])

    def late(item: Int64, end: Int64) -> Int64:
        found: Int64 = points.time[end] - items.end[item]
        return found

    return [
        edges(Edge.LANE, follows, follows + 1, 0),
        edges(
            Edge.SYNC,
            facts.syncs.item + first,
            points.sync_end,
            np.minimum(late(facts.syncs.item, points.sync_end), wake),
            True,
        ),
        edges(
            Edge.BLOCKING_COPY,
            facts.copies.item + first,
            points.copy_end,
            np.minimum(late(facts.copies.item, points.copy_end), wake),
            True,
        ),
        edges(
            Edge.COINCIDENCE,
            facts.silent_waits.item + first,
            points.silent_end,
            late(facts.silent_waits.item, points.silent_end),
            True,
        ),
        edges(
            Edge.FULL_QUEUE,
            facts.held.item + first,
            points.held_end,
            points.time[points.held_end] - items.start[facts.held.item],
        ),
        edges(Edge.HAND_OVER, points.wake_from, points.wake_to, wakes.to_time - wakes.from_time),
        edges(
            Edge.HOST_COLLECTIVE,
            points.called,
            host.called_item + first,
            np.minimum(items.start[host.called_item] - host.called_time, facts.lags.launch),
        ),
        edges(
            Edge.HOST_COLLECTIVE,
            host.ended_item + first,
            points.ended_to,
            late(host.ended_item, points.ended_to),
            True,
        ),
    ]


def _device_edges(model: Model, facts: Facts, points: Points) -> list[Edges]:
    items, calls, lags, previous = facts.items, facts.calls, facts.lags, facts.previous
    first = len(points)
    known = np.flatnonzero(items.call >= 0)
    release = calls.release[items.call[known]]
    behind = np.flatnonzero(previous >= 0)
    gap = items.start[behind] - items.end[previous[behind]]
    waited, waiting = stream_waits(model)
    explained = np.full(len(items), np.iinfo(np.int64).min)
    explained[known] = release + np.minimum(items.start[known] - release, lags.launch)
    explained[behind] = np.maximum(explained[behind], items.end[previous[behind]] + np.minimum(gap, lags.gap))
    np.maximum.at(
        explained, waiting, items.end[waited] + np.minimum(items.start[waiting] - items.end[waited], lags.gap)
    )
    orphans = (items.call < 0) & (explained < items.start - CLEAR_NS)
    orphans[facts.collectives.called_item] = False
    explained[orphans | (explained == np.iinfo(np.int64).min)] = np.iinfo(np.int64).max // 2
    explained[items.work < 0] = np.iinfo(np.int64).max // 2
    by_chance, late = coincidences(items, explained)
    pinned = np.flatnonzero(orphans) + first
    return [
        edges(
            Edge.LAUNCH,
            points.release[items.call[known]],
            known + first,
            np.minimum(items.start[known] - release, lags.launch),
        ),
        edges(Edge.STREAM, previous[behind] + first, behind + first, np.minimum(gap, lags.gap), True),
        edges(
            Edge.STREAM_WAIT,
            waited + first,
            waiting + first,
            np.minimum(items.start[waiting] - items.end[waited], lags.gap),
            True,
        ),
        edges(Edge.COINCIDENCE, by_chance + first, late + first, items.start[late] - items.end[by_chance], True),
        edges(Edge.ROOT, np.full(len(pinned), -1), pinned, 0),
    ]


def _steps_of_items(model: Model, facts: Facts) -> Int64:
    """Shape (items,): the step that launched each, -1 for none."""
    steps, items = facts.steps, facts.items
    work, step = launched_in(model.trace, model.structure.device_links, steps.host_start, steps.host_end)
    of_work = np.full(len(model.trace.device_work) + 1, -1, np.int64)
    of_work[work] = step
    of_work[-1] = -1
    return of_work[items.work]


def _step_edges(facts: Facts, points: Points, step: Int64) -> list[Edges]:
    """step: shape (items,): the step that launched each, -1 for none."""
    steps, items = facts.steps, facts.items
    n, first = len(steps), len(points)
    if not n:
        return []
    ends = first + len(items) + np.arange(n + 1)
    chosen = np.flatnonzero(step >= 0)
    order = chosen[np.lexsort((items.end[chosen], items.stream[chosen], step[chosen]))]
    last = np.ones(len(order), np.bool_)
    last[:-1] = (step[order[1:]] != step[order[:-1]]) | (items.stream[order[1:]] != items.stream[order[:-1]])
    order = order[last]
    found = [
        edges(Edge.STEP_END, order + first, ends[1 + step[order]], 0, True),
        edges(Edge.STEP_END, ends[:-1], ends[1:], 0),
    ]
    if facts.main >= 0:
        # what ran before the first step is as recorded in all scenarios
        found.append(edges(Edge.STEP_END, points.mark_start[:1], ends[:1], steps.start[:1] - steps.host_start[:1]))
        found.append(edges(Edge.STEP_END, points.mark_end, ends[1:], 0))
    return found


class _Numbered:
    """Nodes in time order: points, items, step ends and the root get their final numbers."""

    def __init__(self, facts: Facts, points: Points, found: Edges, item_step: Int64) -> None:
        self._facts, self._points, self._found, self._item_step = facts, points, found, item_step

    def graph(self) -> Graph:
        facts, points = self._facts, self._points
        items, steps = facts.items, facts.steps
        ends = np.append(steps.start[:1], steps.end)
        sizes = (len(points), len(items), len(ends), 1)
        time = spilled(self._times(ends))
        kind = np.repeat(np.array([Node.POINT, Node.ITEM, Node.STEP_END, Node.ROOT], np.int8), sizes)
        order = spilled(np.lexsort((np.arange(len(time)), kind, time)))
        number = spilled(inverse(order))
        dropped, early, found = self._kept(number)
        lane_edges = np.flatnonzero(found.kind == Edge.LANE)
        lane_from, lane_to = spilled((found.source[lane_edges], found.target[lane_edges]))
        pieces = spilled(host_pieces(facts.host, facts.waits, facts.silent, points.lane, points.time, lane_from))
        lane_times = spilled(pieces.sums(len(lane_edges)))
        item = spilled(np.where(found.from_end, found.source - len(points), -1))
        length = np.zeros(len(found), np.int64)
        length[lane_edges] = lane_times.sum(axis=1)
        length[item >= 0] = items.duration[item[item >= 0]]
        source, target = spilled((number[found.source], number[found.target]))
        lag = found.lag.copy()
        fixed = found.kind == Edge.ROOT
        lag[fixed] = time[found.target[fixed]] - time[-1]
        in_order = spilled(time[order])
        into_item = np.flatnonzero(np.isin(found.kind, (Edge.LAUNCH, Edge.STREAM, Edge.STREAM_WAIT)))
        latency = np.zeros(len(found), np.int64)
        longest = longest_latencies(items, facts.calls, facts.lags.launch)
        latency[into_item] = longest[found.target[into_item] - len(points)]
        made = spilled(calibrate(in_order, source, target, found.kind, lag, length))
        main = facts.main >= 0 and len(steps)
        return Graph(
            time=in_order,
            kind=kind[order],
            reference=np.concatenate((points.lane, np.arange(len(items)), np.arange(len(ends)), [0]))[order],
            source=source,
            target=target,
            edge=found.kind,
            lag=made.lag,
            unexplained=made.unexplained(found.kind, latency),
            item=item,
            lane_row=places_of(lane_edges, len(found)),
            lane_times=lane_times,
            pieces=pieces,
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
            calls=facts.calls,
            host=facts.host,
            waits=facts.waits,
            silent=facts.silent,
            lags=facts.lags,
            steps=steps,
            step_kind=facts.step_kind,
            main=facts.main,
            calibration=Calibration(
                made.over, int(np.count_nonzero(made.rest[found.kind == Edge.LANE])), dropped, early
            ),
        )

    def _times(self, ends: Int64) -> Int64:
        """Of points, items, ends of steps and the root, which is last."""
        time = np.concatenate((self._points.time, self._facts.items.start, ends))
        return np.append(time, time.min() if len(time) else 0)

    def _kept(self, number: Int64) -> tuple[int, int, Edges]:
        """How many edges were dropped, how many launches of them, and the edges by target, with one for each node.

        number   shape (nodes,): of each in time order
        """
        found = self._found
        # a source of -1 is the root, which is last
        forward = number[found.source] < number[found.target]
        early = int(np.count_nonzero(~forward & (found.kind == Edge.LAUNCH)))
        kept = np.flatnonzero(forward)
        reached = np.zeros(len(number), np.bool_)
        reached[found.target[kept]] = True
        reached[-1] = True
        alone = np.flatnonzero(~reached)
        found = spilled(joined([found.take(kept), edges(Edge.ROOT, np.full(len(alone), -1), alone, 0)]))
        by_target = np.argsort(number[found.target], kind="stable")
        return int(np.count_nonzero(~forward)), early, spilled(found.take(by_target))
