"""Puts the graph of a trace together."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.replay.calibrate import calibrate
from torch_tb_profiler.analysis.replay.edges import Edge, Edges, edges, joined
from torch_tb_profiler.analysis.replay.graph import Calibration, Graph, Node
from torch_tb_profiler.analysis.replay.host_pieces import host_pieces
from torch_tb_profiler.analysis.replay.host_time import HostTime, host_time
from torch_tb_profiler.analysis.replay.host_waits import HostWait, blocking_copies, full_queue, synchronizations
from torch_tb_profiler.analysis.replay.inputs import Calls, Items, calls_of, items_of, main_lane
from torch_tb_profiler.analysis.replay.lags import CLEAR_NS, Lags, launch_and_gap, previous_on_stream, wake_of
from torch_tb_profiler.analysis.replay.stream_edges import Launched, coincidences, stream_waits
from torch_tb_profiler.analysis.replay.stretches import Stretches, merged
from torch_tb_profiler.analysis.replay.thread_edges import HandOvers, HostCollectives, hand_overs, host_collectives
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.steps import Steps
from torch_tb_profiler.model.steps.launched import launched_in


class _Facts(msgspec.Struct, frozen=True):
    """All that edges are made of."""

    items: Items
    calls: Calls
    launched: Launched
    previous: Int64
    host: HostTime
    main: int
    lags: Lags
    syncs: HostWait
    blocked: Int64
    copies: HostWait
    held: HostWait
    wakes: HandOvers
    collectives: HostCollectives
    waits: Stretches
    steps: Steps


@remembered
def graph_of(model: Model) -> Graph:
    """The graph of the whole trace, whichever steps are selected."""
    whole = model if model.selected is None else Model(model.trace, model.step_choice, model.structure)
    facts = _facts(whole)
    points = _Points(facts)
    batches = [*_host_edges(facts, points), *_device_edges(whole, facts, points), *_step_edges(whole, facts, points)]
    return _Numbered(facts, points, joined(batches), _steps_of_items(whole, facts)).graph()


def _facts(model: Model) -> _Facts:
    trace, steps = model.trace, model.steps
    items = items_of(model)
    calls = calls_of(model)
    previous = previous_on_stream(items)
    launch, gap = launch_and_gap(items, calls, previous)
    copies = blocking_copies(trace, items, calls)
    if len(copies.call):
        # they are launched at once, and wait from then on
        release = calls.release.copy()
        earliest = np.minimum(calls.start[copies.call] + launch, items.start[copies.item])
        release[copies.call] = np.maximum(earliest, calls.start[copies.call])
        calls = replace(calls, release=release)
        copies = replace(copies, since=release[copies.call])
    launched = Launched.of(items, calls)
    syncs, blocked = synchronizations(trace, items, calls, launched)
    held = full_queue(items, calls, launched)
    launches = np.zeros(len(trace.events), np.bool_)
    launches[calls.row[calls.release >= 0]] = True
    main = main_lane(model)
    host = host_time(trace, launches, (main, int(steps.host_start[0])) if main >= 0 and len(steps) else None)
    wakes = hand_overs(model, host, calls, main)
    collectives = host_collectives(model, host, items, main)
    known = wakes.wait_from >= 0
    waits = merged(
        np.concatenate(
            (
                calls.lane[blocked],
                calls.lane[copies.call],
                calls.lane[held.call],
                wakes.to_lane[known],
                collectives.ended_lane,
            )
        ),
        np.concatenate(
            (
                calls.start[blocked],
                copies.since,
                held.since,
                wakes.wait_from[known],
                collectives.ended_from,
            )
        ),
        np.concatenate(
            (
                calls.end[blocked],
                calls.end[copies.call],
                calls.end[held.call],
                wakes.to_time[known],
                collectives.ended_to,
            )
        ),
    )
    ended = np.concatenate((syncs.item, copies.item))
    returned = np.concatenate((calls.end[syncs.call], calls.end[copies.call]))
    begun = np.concatenate((calls.start[syncs.call], calls.start[copies.call]))
    late = (returned - items.end[ended])[items.end[ended] > begun]
    lags = Lags(launch, gap, wake_of(late))
    return _Facts(
        items,
        calls,
        launched,
        previous,
        host,
        main,
        lags,
        syncs,
        blocked,
        copies,
        held,
        wakes,
        collectives,
        waits,
        steps,
    )


class _Points:
    """The moments of host threads that edges begin or end at; one node for each moment."""

    def __init__(self, facts: _Facts) -> None:
        calls, wakes, host = facts.calls, facts.wakes, facts.collectives
        self._lanes: list[Int64] = []
        self._times: list[Int64] = []
        self._size = 0
        releasing = np.flatnonzero(calls.release >= 0)
        release = self._add(calls.lane[releasing], calls.release[releasing])
        ends = [self._add(calls.lane[c], calls.end[c]) for c in (facts.syncs.call, facts.copies.call, facts.held.call)]
        wake_from = self._add(wakes.from_lane, wakes.from_time)
        wake_to = self._add(wakes.to_lane, wakes.to_time)
        called = self._add(host.called_lane, host.called_time)
        ended_from = self._add(host.ended_lane, host.ended_from)
        ended_to = self._add(host.ended_lane, host.ended_to)
        n = len(facts.steps) if facts.main >= 0 else 0
        main = np.full(n, facts.main)
        mark_start, mark_end = (self._add(main, times[:n]) for times in (facts.steps.host_start, facts.steps.host_end))
        idle = wakes.wait_from >= 0
        self._add(wakes.to_lane[idle], wakes.wait_from[idle])
        lane, time = np.concatenate(self._lanes), np.concatenate(self._times)
        times, rank = distinct_places(time)
        # lane and time in one number
        keys, number = distinct_places(lane * max(len(times), 1) + rank)
        self.lane, self.time = keys // max(len(times), 1), times[keys % max(len(times), 1)]
        #: numbers of points by call, -1 for calls that started nothing
        self.release = np.full(len(calls), -1, np.int64)
        self.release[releasing] = number[release]
        self.sync_end, self.copy_end, self.held_end = (number[place] for place in ends)
        self.wake_from, self.wake_to = number[wake_from], number[wake_to]
        self.called, self.ended_from, self.ended_to = number[called], number[ended_from], number[ended_to]
        self.mark_start, self.mark_end = number[mark_start], number[mark_end]

    def __len__(self) -> int:
        return len(self.lane)

    def _add(self, lane: Int64, time: Int64) -> slice:
        self._lanes.append(np.asarray(lane, np.int64))
        self._times.append(np.asarray(time, np.int64))
        self._size += len(lane)
        return slice(self._size - len(lane), self._size)


def _host_edges(facts: _Facts, points: _Points) -> list[Edges]:
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


def _device_edges(model: Model, facts: _Facts, points: _Points) -> list[Edges]:
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


def _steps_of_items(model: Model, facts: _Facts) -> Int64:
    """Shape (items,): the step that launched each, -1 for none."""
    steps, items = facts.steps, facts.items
    work, step = launched_in(model.trace, model.structure.device_links, steps.host_start, steps.host_end)
    of_work = np.full(len(model.trace.device_work) + 1, -1, np.int64)
    of_work[work] = step
    of_work[-1] = -1
    return of_work[items.work]


def _step_edges(model: Model, facts: _Facts, points: _Points) -> list[Edges]:
    steps, items = facts.steps, facts.items
    n, first = len(steps), len(points)
    if not n:
        return []
    ends = first + len(items) + np.arange(n + 1)
    step = _steps_of_items(model, facts)
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

    def __init__(self, facts: _Facts, points: _Points, found: Edges, item_step: Int64) -> None:
        self._facts, self._points, self._found, self._item_step = facts, points, found, item_step

    def graph(self) -> Graph:
        facts, points, found = self._facts, self._points, self._found
        items, steps = facts.items, facts.steps
        ends = np.append(steps.start[:1], steps.end)
        time = np.concatenate((points.time, items.start, ends))
        time = np.append(time, time.min() if len(time) else 0)
        sizes = (len(points), len(items), len(ends), 1)
        kind = np.repeat(np.array([Node.POINT, Node.ITEM, Node.STEP_END, Node.ROOT], np.int8), sizes)
        reference = np.concatenate((points.lane, np.arange(len(items)), np.arange(len(ends)), [0]))
        order = np.lexsort((np.arange(len(time)), kind, time))
        number = np.empty(len(time), np.int64)
        number[order] = np.arange(len(time))
        # a source of -1 is the root, which is last
        forward = number[found.source] < number[found.target]
        early = int(np.count_nonzero(~forward & (found.kind == Edge.LAUNCH)))
        kept = np.flatnonzero(forward)
        reached = np.zeros(len(time), np.bool_)
        reached[found.target[kept]] = True
        reached[-1] = True
        alone = np.flatnonzero(~reached)
        found = joined([found.take(kept), edges(Edge.ROOT, np.full(len(alone), -1), alone, 0)])
        found = found.take(np.argsort(number[found.target], kind="stable"))
        lane_edges = np.flatnonzero(found.kind == Edge.LANE)
        lane_row = np.full(len(found), -1, np.int64)
        lane_row[lane_edges] = np.arange(len(lane_edges))
        lane_from, lane_to = found.source[lane_edges], found.target[lane_edges]
        pieces = host_pieces(facts.host, facts.waits, points.lane, points.time, lane_from)
        lane_times = pieces.sums(len(lane_edges))
        item = np.where(found.from_end, found.source - len(points), -1)
        length = np.zeros(len(found), np.int64)
        length[lane_edges] = lane_times.sum(axis=1)
        length[item >= 0] = items.duration[item[item >= 0]]
        source, target = number[found.source], number[found.target]
        lag = found.lag.copy()
        fixed = found.kind == Edge.ROOT
        lag[fixed] = time[found.target[fixed]] - time[-1]
        made = calibrate(time[order], source, target, found.kind, lag, length, facts.lags)
        main = facts.main >= 0 and len(steps)
        return Graph(
            time=time[order],
            kind=kind[order],
            reference=reference[order],
            source=source,
            target=target,
            edge=found.kind,
            lag=made.lag,
            unexplained=made.unexplained,
            item=item,
            lane_row=lane_row,
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
            lags=facts.lags,
            steps=steps,
            main=facts.main,
            calibration=Calibration(made.over, made.under, int(np.count_nonzero(~forward)), early),
        )
