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
from torch_tb_profiler.analysis.replay.effects import (
    NO_EDGES,
    ChangeEffect,
    HostEffect,
    scale_host,
    scale_work,
    without_waits,
)
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.host_time import HostSegments
from torch_tb_profiler.analysis.replay.transformations import fused, graphed, merged_collectives, pinned_copies
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.trace import Trace

#: with fewer steps nothing shows what the others save
FEWEST = 3
#: the first step gains something once where it saves so many times as much of what is gone of it as the others do
_TIMES = 2.0
#: of the work that is gone, that the others have at least where they show what it saves
_LEAST_OF_OTHERS = 0.1


def without_one_time_gain(graph: Graph, delay: Int64, dropped: Int64, after: Int64) -> Int64:
    """Return shape (steps,), ns: the steps after changes, without a gain that only the first step has; unchanged where
    anything gets longer.

    No step is longer than before: an end that comes earlier, and is waited for by the next step, came early for
    nothing. The first saves as large a part of what is gone of it as the others do, where it saves far more.

    delay    shape (edges,), ns, after the changes
    dropped  edges that are gone
    after    shape (steps,), ns: between the ends of the steps
    """
    before: Int64 = np.diff(graph.solved[graph.ends])
    saved = before - after
    if bool((saved >= 0).all()) and (len(saved) < FEWEST or float(saved[0]) <= _TIMES * float(saved[1:].min())):
        return after
    if (delay > graph.delay).any():
        return after
    # by how much each end, and all that come after it, are earlier
    earlier = np.minimum.accumulate(np.cumsum(saved)[::-1])[::-1]
    saved = np.diff(np.maximum(earlier, 0), prepend=0)
    if len(saved) >= FEWEST and saved[0] > 0:
        saved[0] = min(int(saved[0]), _like_the_others(graph, delay, dropped, saved))
    settled: Int64 = before - saved
    return settled


def _like_the_others(graph: Graph, delay: Int64, dropped: Int64, saved: Int64) -> int:
    """Return the most that the first step saves, ns, if it gains as much of its removed time as the others do."""
    less = graph.delay - delay
    less[dropped] += 1
    edge = np.flatnonzero(less)
    ends = graph.time[graph.ends[1:]]
    step = np.minimum(np.searchsorted(ends, graph.time[graph.target[edge]]), len(ends) - 1)
    gone = sums_at(step, less[edge], len(ends))
    first, others = float(gone[0]), float(gone[1:].sum())
    if others < _LEAST_OF_OTHERS * (first + others):
        return int(saved[0])
    expected = first * float(saved[1:].sum()) / others
    return round(expected) if saved[0] > _TIMES * expected else int(saved[0])


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
    effects: tuple[ChangeEffect, ...] = ()

    @cached_property
    def duration(self) -> Float64:
        """Shape (items,), ns."""
        return self.shortened(self.graph.items.duration)

    def shortened(self, duration: Int64) -> Float64:
        """Apply the changes to durations of all work items, shape (items,), ns."""
        work = [change for effect in self.effects for change in effect.work]
        result = duration.astype(np.float64)
        for change in work:
            result[change.item] *= change.factor
        for change in work:
            if change.instead is not None:
                result[change.item] = change.instead
        for change in work:
            if change.cap is not None:
                np.minimum.at(result, change.item, change.cap)
        for change in work:
            if change.less:
                result[change.item] -= change.less
        counts = self.graph.items.start >= self.graph.work_since
        return np.where(counts, np.maximum(result, 0), duration)

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
        """Shape (steps,), ns: the same without what is gained once (`without_one_time_gain`)."""
        if self._as_solved:
            return self.step_ns
        return without_one_time_gain(self.graph, self.delay, self.dropped, self.step_ns)

    @cached_property
    def _as_solved(self) -> bool:
        """Tell whether every node keeps its time: the changes find nothing to change."""
        return self.as_recorded or (not len(self.dropped) and np.array_equal(self.delay, self.graph.delay))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the changes could not do."""
        return tuple(dict.fromkeys(note for effect in self.effects for note in effect.notes))


def unchanged(graph: Graph) -> Scenario:
    """Return the graph as recorded."""
    return apply_effects(graph, ())


def apply_changes(trace: Trace, graph: Graph, changes: Sequence[Change]) -> Scenario:
    """Return the graph after all of some changes; their order does not matter.

    Raises ValueError for what `check` refuses, for rows of no event, and for `NoStraggler`, which needs several ranks.
    """
    return apply_effects(graph, [effect_of(trace, graph, change) for change in changes])


def effect_of(trace: Trace, graph: Graph, change: Change) -> ChangeEffect:
    """Work out what a change does to a graph. Raises ValueError as `apply_changes` does."""
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


def apply_effects(graph: Graph, effects: Sequence[ChangeEffect]) -> Scenario:
    """Return the graph after some effects of changes."""
    lag = graph.lag
    limits = [each for effect in effects for each in effect.lags]
    if limits:
        lag = lag.copy()
        for each in limits:
            lag[each.edge] = np.minimum(lag[each.edge], each.most)
        lag = np.where(graph.time[graph.target] > graph.since, lag, graph.lag)
    dropped = np.concatenate([NO_EDGES, *(effect.dropped for effect in effects)])
    return Scenario(graph, _lane_times(graph, effects), lag, dropped, tuple(effects))


def _lane_times(graph: Graph, effects: Sequence[ChangeEffect]) -> Float64:
    parts = [each for effect in effects for each in effect.host if len(each.segments)]
    labels = [effect.labels for effect in effects if effect.labels is not None]
    found = graph.lane_times.astype(np.float64)
    if parts:
        found = np.maximum(found - _saved(graph, parts), 0)
    if labels:
        factors = np.prod(labels, axis=0)
        found = np.where(graph.lane_counts[:, None], found * factors, found)
    return found


def _saved(graph: Graph, parts: Sequence[HostEffect]) -> Float64:
    """Return the host time that parts save, ns, as `lane_times`; where parts overlap their factors multiply."""
    total = np.zeros(graph.lane_times.shape)
    flat = total.reshape(-1)
    times = np.zeros(flat.size if len(parts) > 1 else 0, np.int8)
    for part in parts:
        place, saved = part.saved
        flat[place] += saved
        if len(parts) > 1:
            times[place] += 1
    if not (times > 1).any():
        return total
    shared = [each.segments.take(times[each.segments.place] > 1) for each in parts]
    factor = np.concatenate([each.factor[times[each.segments.place] > 1] for each in parts])
    place, saved = _saved_by_several(shared, factor)
    flat[times > 1] = np.bincount(place, saved, minlength=flat.size)[times > 1]
    return total


def _saved_by_several(segments: Sequence[HostSegments], factor: Float64) -> tuple[Int64, Float64]:
    """Return what segments of host time save, each with its factor, ns, and where it counts; factors of overlaps
    multiply.
    """
    place, start, end = (
        np.concatenate([getattr(each, name) for each in segments]) for name in ("place", "start", "end")
    )
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
