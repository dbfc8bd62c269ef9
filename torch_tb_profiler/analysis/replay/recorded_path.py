"""The critical path as recorded, computed once per model, and as slices of one lane, each with its event."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import Edge, Graph, GraphNode
from torch_tb_profiler.analysis.replay.host_time import Label
from torch_tb_profiler.analysis.replay.lane_spans import LaneSpans
from torch_tb_profiler.analysis.replay.path import CriticalPath, PathSegments, critical_path
from torch_tb_profiler.analysis.replay.quality import Quality, quality_of
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.ranges import positions
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: what waits ends with the call, and the call is what was running until then
_OF_CALLS = (Edge.SYNC, Edge.BLOCKING_COPY, Edge.FULL_QUEUE)


class PathSlices(msgspec.Struct, frozen=True):
    """Disjoint, in order of time; from the first step to the last one they leave no gap. Parallel, shape (pieces,).

    start, end   ns, as in the trace
    part         index into PARTS
    edge         an Edge: why what comes behind could not come earlier
    row          the event that runs, else the one that waited; -1 where there is none
    step         index of the step
    track        of host time the thread, of work the stream; -1 for what lies between
    item         of work its place in Graph.items, -1 for all else
    """

    start: Int64
    end: Int64
    part: Int8
    edge: Int8
    row: Int64
    step: Int64
    track: Int64
    item: Int64

    def __len__(self) -> int:
        return len(self.start)

    def take(self, chosen: Int64) -> PathSlices:
        """Select some of them."""
        return PathSlices(*(values[chosen] for values in asdict(self).values()))


def path_slices(model: Model, path: CriticalPath) -> PathSlices:
    """Lay the path of the unchanged graph out in time.

    Host time is cut where the innermost event changes: `PathSegments` have one sum for each label, which lies nowhere.
    """
    graph, segments = graph_of(model), path.segments
    on_host = graph.lane_row[segments.edge] >= 0
    found = [
        _on_devices(model, graph, segments, np.flatnonzero(~on_host)),
        _on_threads(model, graph, segments, on_host),
    ]
    both = PathSlices(
        *(np.concatenate(columns) for columns in zip(*(asdict(each).values() for each in found), strict=True))
    )
    return both.take(np.flatnonzero(both.end > both.start)).take(np.argsort(both.start[both.end > both.start]))


def _on_devices(model: Model, graph: Graph, segments: PathSegments, chosen: Int64) -> PathSlices:
    """Make the slices of work, and of what lies between work and what it held up."""
    edge, part = segments.edge[chosen], segments.part[chosen]
    kind, target = graph.edge[edge], graph.target[edge]
    row = np.full(len(chosen), -1, np.int64)
    is_item, is_point = graph.kind[target] == GraphNode.ITEM, graph.kind[target] == GraphNode.POINT
    row[is_item] = graph.items.row[graph.reference[target[is_item]]]
    time = graph.time[target[is_point]] - one_of(kind[is_point], _OF_CALLS)
    row[is_point] = _running(graph, graph.reference[target[is_point]], time)
    is_work = segments.item[chosen] >= 0
    row = np.where(is_work, segments.item[chosen], row)
    track = np.where(is_work, take_known(model.trace.events.track.astype(np.int64), row), -1)
    start, end = segments.start[chosen] + graph.origin_ns, segments.end[chosen] + graph.origin_ns
    return PathSlices(
        start, end, part, kind, row, segments.step[chosen], track, np.where(is_work, graph.item[edge], -1)
    )


def _running(graph: Graph, lane: Int64, time: Int64) -> Int64:
    """Return the rows of the innermost operator, annotation or call of each thread at a time, -1 for none."""
    host = graph.host
    place = host.place(lane, time)
    place[(place >= 0) & (take_known(host.start, place, 0) > time)] = -1
    node = take_known(host.node, place)
    return take_known(host.row.astype(np.int64), node)


def _on_threads(model: Model, graph: Graph, segments: PathSegments, on_host: Bool) -> PathSlices:
    """Cut host time where the innermost event changes and where the thread stands still."""
    host, origin = graph.host, graph.origin_ns
    at = np.flatnonzero(on_host)
    edge, step = segments.edge[at], segments.step[at]
    begins = np.flatnonzero(np.append(True, (edge[1:] != edge[:-1]) | (step[1:] != step[:-1]))[: len(at)])
    if not len(begins):
        nothing = np.empty(0, np.int64)
        return PathSlices(nothing, nothing, nothing.astype(np.int8), nothing.astype(np.int8), *[nothing] * 4)
    low = np.minimum.reduceat(segments.start[at], begins) + origin
    high = np.maximum.reduceat(segments.end[at], begins) + origin
    lane = graph.point_lane[graph.lane_from[graph.lane_row[edge[begins]]]]
    spans, time = _cuts(graph, lane, low, high)
    lane, high = lane[spans], high[spans]
    end = np.where(np.append(spans[1:] == spans[:-1], False), np.append(time[1:], 0), high)
    place = host.place(lane, time)
    known = (place >= 0) & (take_known(host.start, place, 0) <= time)
    known &= ~_inside(graph.waits, lane, time) & ~_inside(graph.silent, lane, time)
    part = np.where(known, take_known(host.label, place, Label.PYTHON), Label.UNEXPLAINED).astype(np.int8)
    row = np.where(known, take_known(host.row.astype(np.int64), take_known(host.node, place)), -1)
    row = _frames(model, lane, time, row, part)
    kept = np.flatnonzero(np.append(True, (spans[1:] != spans[:-1]) | (part[1:] != part[:-1]) | (row[1:] != row[:-1])))
    last = np.append(kept[1:], len(end)) - 1
    of = spans[kept]
    why, step = np.full(len(kept), Edge.LANE, np.int8), step[begins[of]]
    nothing = np.full(len(kept), -1, np.int64)
    return PathSlices(time[kept], end[last], part[kept], why, row[kept], step, lane[kept].astype(np.int64), nothing)


def _cuts(graph: Graph, lane: Int64, low: Int64, high: Int64) -> tuple[Int64, Int64]:
    """Find where slices of the spans [low, high) of threads begin: the span and the time, by span, then by time."""
    span, time = [np.arange(len(lane))], [low]
    for on, mine in each_value(lane):
        moments_of = [graph.host.boundaries(on)]
        for lane_spans in (graph.waits, graph.silent):
            first, after = np.searchsorted(lane_spans.lane, [on, on + 1])
            moments_of += [lane_spans.start[first:after], lane_spans.end[first:after]]
        for moments in moments_of:
            begin = np.searchsorted(moments, low[mine], side="right")
            ends = np.maximum(np.searchsorted(moments, high[mine], side="left"), begin)
            span.append(np.repeat(mine, ends - begin))
            time.append(moments[positions(begin, ends)])
    of, when = np.concatenate(span), np.concatenate(time)
    order = np.lexsort((when, of))
    of, when = of[order], when[order]
    different = np.flatnonzero(np.append(True, (of[1:] != of[:-1]) | (when[1:] != when[:-1])))
    return of[different], when[different]


def _inside(lane_spans: LaneSpans, lane: Int64, time: Int64) -> Bool:
    """Return whether each thread is in one of some spans at a time."""
    place = lane_spans.before(lane, time + 1)
    found: Bool = (place >= 0) & (time < np.append(lane_spans.end, 0)[place])
    return found


def _frames(model: Model, lane: Int64, time: Int64, row: Int64, part: Int8) -> Int64:
    """Give Python time to the innermost frame, where frames were recorded."""
    frames, nesting = model.structure.frames, model.structure.frame_nesting
    if not len(frames):
        return row
    annotation = take_known(model.trace.events.category, row, 0) == Category.USER_ANNOTATION
    at = np.flatnonzero((part == Label.PYTHON) & ((row < 0) | annotation))
    frame = nesting.innermost(lane[at].astype(np.int32), time[at])
    found = row.copy()
    found[at] = np.where(frame >= 0, take_known(frames.row.astype(np.int64), frame), row[at])
    return found


@cached
def recorded_path(model: Model) -> CriticalPath:
    """Find the critical path of all steps of a trace, without changes."""
    return critical_path(unchanged(graph_of(model)))


@cached
def recorded_quality(model: Model) -> Quality:
    """Judge how far the replay of a trace can be trusted."""
    return quality_of(model, graph_of(model), recorded_path(model))


@cached
def recorded_slices(model: Model) -> PathSlices:
    """Return the path of all steps in time; its lengths by step and part are the composition of the path."""
    return path_slices(model, recorded_path(model))
