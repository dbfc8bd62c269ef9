"""A graph with changes: how long its edges are, and when its nodes come."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec
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
from torch_tb_profiler.analysis.replay.effects import NOTHING, Effect, OnHost, scale_host, scale_work, without_waits
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.host_pieces import HostPieces
from torch_tb_profiler.analysis.replay.one_time import without_one_time_gain
from torch_tb_profiler.analysis.replay.pinned_copies import pinned_copies
from torch_tb_profiler.analysis.replay.regions import fused, graphed, merged_collectives
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.trace import Trace


class Scenario(msgspec.Struct, frozen=True, dict=True):
    """Host times, durations and edges after some changes. What was before the first step is never changed.

    lane_times   shape (lane edges, labels), ns
    lag          shape (edges,), ns: beside host time and the duration of the source
    dropped      edges that are no longer there
    effects      what the changes do
    """

    graph: Graph
    lane_times: Float64
    lag: Int64
    dropped: Int64
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
            if each.instead is not None:
                found[each.item] = each.instead
        for each in work:
            if each.cap is not None:
                np.minimum.at(found, each.item, each.cap)
        for each in work:
            if each.less:
                found[each.item] -= each.less
        counts = self.graph.items.start >= self.graph.work_since
        return np.where(counts, np.maximum(found, 0), duration)

    @cached_property
    def length(self) -> Int64:
        """Shape (edges,), ns: host time or duration, without the lag."""
        graph = self.graph
        on_host = any(effect.host or effect.labels is not None for effect in self.effects)
        on_lanes = np.rint(self.lane_times.sum(axis=1)).astype(np.int64) if on_host else graph.on_lanes
        works = any(effect.work for effect in self.effects)
        return graph.length(on_lanes, np.rint(self.duration).astype(np.int64) if works else graph.items.duration)

    @cached_property
    def delay(self) -> Int64:
        """Shape (edges,), ns: how much later the target is than the source."""
        if self.as_recorded:
            return self.graph.delay
        found: Int64 = np.maximum(self.length + self.lag, 0)
        return found

    @cached_property
    def kept(self) -> Bool:
        """Shape (edges,): edges that are still there."""
        found = np.ones(len(self.graph.source), np.bool_)
        found[self.dropped] = False
        return found

    @property
    def as_recorded(self) -> bool:
        """Whether nothing is changed."""
        return not self.effects

    @cached_property
    def time(self) -> Int64:
        """Shape (nodes,), ns from the root: when each node comes."""
        return self.graph.solved if self._as_solved else self.graph.solver.times(self.delay, self.dropped)

    @cached_property
    def step_ns(self) -> Int64:
        """Shape (steps,), ns: how long each step takes."""
        graph = self.graph
        if self._as_solved:
            found: Int64 = np.diff(graph.solved[graph.ends])
        else:
            found = np.diff(graph.solver.times(self.delay, self.dropped, graph.ends))
        return found

    @cached_property
    def settled_ns(self) -> Int64:
        """Shape (steps,), ns: the same without what is gained once (`one_time.py`): what is told of steps."""
        if self._as_solved:
            return self.step_ns
        return without_one_time_gain(self.graph, self.delay, self.dropped, self.step_ns)

    @cached_property
    def _as_solved(self) -> bool:
        """Whether every node comes as without changes: the changes find nothing to change."""
        return self.as_recorded or (not len(self.dropped) and np.array_equal(self.delay, self.graph.delay))

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
    lag = graph.lag
    limits = [each for effect in effects for each in effect.lags]
    if limits:
        lag = lag.copy()
        for each in limits:
            lag[each.edge] = np.minimum(lag[each.edge], each.most)
        lag = np.where(graph.time[graph.target] > graph.since, lag, graph.lag)
    dropped = np.concatenate([NOTHING, *(effect.dropped for effect in effects)])
    return Scenario(graph, _lane_times(graph, effects), lag, dropped, tuple(effects))


def _lane_times(graph: Graph, effects: Sequence[Effect]) -> Float64:
    parts = [each for effect in effects for each in effect.host if len(each.pieces)]
    labels = [effect.labels for effect in effects if effect.labels is not None]
    found = graph.lane_times.astype(np.float64)
    if parts:
        found = np.maximum(found - _saved(graph, parts), 0)
    if labels:
        factors = np.prod(labels, axis=0)
        found = np.where(graph.lane_counts[:, None], found * factors, found)
    return found


def _saved(graph: Graph, parts: Sequence[OnHost]) -> Float64:
    """Host time that parts save, ns, as `lane_times`; where parts overlap their factors multiply."""
    found = np.zeros(graph.lane_times.shape)
    flat = found.reshape(-1)
    times = np.zeros(flat.size if len(parts) > 1 else 0, np.int8)
    for part in parts:
        place, saved = part.saved
        flat[place] += saved
        if len(parts) > 1:
            times[place] += 1
    if not (times > 1).any():
        return found
    shared = [each.pieces.take(times[each.pieces.place] > 1) for each in parts]
    factor = np.concatenate([each.factor[times[each.pieces.place] > 1] for each in parts])
    place, saved = _saved_by_several(shared, factor)
    flat[times > 1] = np.bincount(place, saved, minlength=flat.size)[times > 1]
    return found


def _saved_by_several(pieces: Sequence[HostPieces], factor: Float64) -> tuple[Int64, Float64]:
    """What pieces of host time save, each with its factor, ns, and where it counts; factors of overlaps multiply."""
    place, start, end = (np.concatenate([getattr(each, name) for each in pieces]) for name in ("place", "start", "end"))
    # cut at every start and end; what has begun and not ended counts
    at, where = np.concatenate((start, end)), np.concatenate((place, place))
    free = (factor == 0).astype(np.int64)
    log = np.log(np.where(free, 1.0, factor))
    order = np.lexsort((at, where))
    at, where = at[order], where[order]
    logs = np.cumsum(np.concatenate((log, -log))[order])
    is_free = np.cumsum(np.concatenate((free, -free))[order]) > 0
    length = np.append(at[1:] - at[:-1], 0)
    length[:-1][where[1:] != where[:-1]] = 0
    return where, length * (1 - np.where(is_free, 0.0, np.exp(logs)))
