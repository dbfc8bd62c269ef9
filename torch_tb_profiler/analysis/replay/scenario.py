"""A graph with changes: how long its edges are, and when its nodes come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torch_tb_profiler.analysis.replay.changes import (
    Change,
    Fused,
    Graphed,
    MergedCollectives,
    NoStraggler,
    Pinned,
    ScaleHost,
    ScaleWork,
    check,
)
from torch_tb_profiler.analysis.replay.effects import Effect, OnHost, scale_host, scale_work, without_waits
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.pinned_copies import pinned_copies
from torch_tb_profiler.analysis.replay.regions import fused, graphed, merged_collectives
from torch_tb_profiler.analysis.replay.solve import solve
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.trace import Trace


@dataclass(frozen=True)
class Scenario:
    """Host times, durations and edges after some changes. What was before the first step is never changed.

    lane_times   shape (lane edges, labels), ns
    lag          shape (edges,), ns: beside host time and the duration of the source
    kept         shape (edges,): edges that are still there
    effects      what the changes do
    """

    graph: Graph
    lane_times: Float64
    lag: Int64
    kept: Bool
    effects: tuple[Effect, ...] = ()

    @cached_property
    def duration(self) -> Float64:
        """Shape (items,), ns."""
        return self.shortened(self.graph.items.duration)

    def shortened(self, duration: Int64) -> Float64:
        """What the changes make of durations of all pieces of work, shape (items,), ns."""
        work = [each for effect in self.effects for each in effect.work]
        found = duration.astype(np.float64)
        for each in work:
            found[each.item] *= each.factor
        for each in work:
            if each.cap is not None:
                np.minimum.at(found, each.item, each.cap)
        for each in work:
            if each.less:
                found[each.item] -= each.less
        counts = self.graph.items.start >= self.graph.since
        return np.where(counts, np.maximum(found, 0), duration)

    @cached_property
    def length(self) -> Int64:
        """Shape (edges,), ns: host time or duration, without the lag."""
        on_lanes = np.rint(self.lane_times.sum(axis=1)).astype(np.int64)
        return self.graph.length(on_lanes, np.rint(self.duration).astype(np.int64))

    @cached_property
    def delay(self) -> Int64:
        """Shape (edges,), ns: how much later the target is than the source."""
        found: Int64 = np.maximum(self.length + self.lag, 0)
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

    @property
    def notes(self) -> tuple[str, ...]:
        """What the changes could not do."""
        return tuple(dict.fromkeys(note for effect in self.effects for note in effect.notes))


def unchanged(graph: Graph) -> Scenario:
    """The graph as it was recorded."""
    return after(graph, ())


def changed(trace: Trace, graph: Graph, changes: Sequence[Change]) -> Scenario:
    """The graph after all of some changes, in whichever order.

    Raises ValueError for what `check` refuses, for rows of no event, and for `NoStraggler`, which needs several ranks.
    """
    return after(graph, [effect_of(trace, graph, change) for change in changes])


def effect_of(trace: Trace, graph: Graph, change: Change) -> Effect:
    """What a change does to a graph. Raises ValueError as `changed` does."""
    check(change)
    match change:
        case ScaleHost():
            return scale_host(trace, graph, change)
        case ScaleWork():
            return scale_work(trace, graph, change)
        case Pinned():
            return pinned_copies(trace, graph, change)
        case Graphed():
            return graphed(trace, graph, change)
        case Fused():
            return fused(trace, graph, change)
        case MergedCollectives():
            return merged_collectives(trace, graph, change)
        case NoStraggler():
            raise ValueError("no_straggler() compares ranks: it is for several of them together")
        case _:
            return without_waits(trace, graph, change)


def after(graph: Graph, effects: Sequence[Effect]) -> Scenario:
    """The graph after some effects of changes."""
    lag, kept = graph.lag, np.ones(len(graph.source), np.bool_)
    limits = [each for effect in effects for each in effect.lags]
    if limits:
        lag = lag.copy()
        for each in limits:
            lag[each.edge] = np.minimum(lag[each.edge], each.most)
        lag = np.where(graph.time[graph.target] > graph.since, lag, graph.lag)
    for effect in effects:
        kept[effect.dropped] = False
    return Scenario(graph, _lane_times(graph, effects), lag, kept, tuple(effects))


def _lane_times(graph: Graph, effects: Sequence[Effect]) -> Float64:
    parts = [each for effect in effects for each in effect.host if len(each.pieces)]
    labels = [effect.labels for effect in effects if effect.labels is not None]
    found = graph.recorded_lanes
    if parts:
        place, saved = _saved(parts)
        found = found - np.bincount(place, saved, minlength=found.size).reshape(found.shape)
        np.maximum(found, 0, out=found)
    if labels:
        factors = np.prod(labels, axis=0)
        found = np.where(graph.lane_counts[:, None], found * factors, found)
    return found


def _saved(parts: Sequence[OnHost]) -> tuple[Int64, Float64]:
    """Host time that parts save, ns, by where it counts in `lane_times`; where parts overlap their factors multiply."""
    if len(parts) == 1:
        (part,) = parts
        return part.pieces.place, (part.pieces.end - part.pieces.start) * (1 - part.factor)
    place = np.concatenate([each.pieces.place for each in parts])
    start = np.concatenate([each.pieces.start for each in parts])
    end = np.concatenate([each.pieces.end for each in parts])
    factor = np.concatenate([each.factor for each in parts])
    order = np.lexsort((start, place))
    place, start, end, factor = place[order], start[order], end[order], factor[order]
    overlaps = (place[1:] == place[:-1]) & (start[1:] < end[:-1])
    if not overlaps.any():
        return place, (end - start) * (1 - factor)
    # cut at every start and end; what has begun and not ended counts
    at = np.concatenate((start, end))
    where = np.concatenate((place, place))
    zero = factor == 0
    log = np.log(np.where(zero, 1.0, factor))
    order = np.lexsort((at, where))
    at, where = at[order], where[order]
    logs = np.cumsum(np.concatenate((log, -log))[order])
    zeros = np.cumsum(np.concatenate((zero, zero * -1))[order])
    length = np.append(at[1:] - at[:-1], 0)
    length[:-1][where[1:] != where[:-1]] = 0
    return where, length * (1 - np.where(zeros > 0, 0.0, np.exp(logs)))
