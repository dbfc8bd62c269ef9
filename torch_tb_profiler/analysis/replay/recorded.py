"""The critical path as it was recorded: computed once for all questions, and cut into what ran."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import Graph, Node
from torch_tb_profiler.analysis.replay.labels import Label
from torch_tb_profiler.analysis.replay.path import PARTS, CriticalPath, Segments, critical_path
from torch_tb_profiler.analysis.replay.refusals import Quality, quality_of
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.range_sums import positions
from torch_tb_profiler.arrays.types import Int8, Int64
from torch_tb_profiler.model import Model

_UNEXPLAINED = PARTS.index("unexplained")


@remembered
def recorded_path(model: Model) -> CriticalPath:
    """The critical path of all steps of a trace, without changes."""
    return critical_path(unchanged(graph_of(model)))


@remembered
def recorded_quality(model: Model) -> Quality:
    """How far the replay of a trace can be trusted."""
    return quality_of(model.trace, graph_of(model), recorded_path(model))


@dataclass(frozen=True)
class PathPieces:
    """What was on the path, piece by piece, by step and start; the pieces of a step follow one another without a gap.

    Parallel, shape (pieces,). Host time is cut where an event begins or ends: each piece has one label and one event.

    step          index of the step
    start, end    ns since the start of the trace
    part          index into PARTS
    row           the event: the work that ran, the innermost range or call of the thread, what the delay was before;
                  -1 where there is none
    track         of host time the thread, of work on devices the stream; -1 for other parts
    item          index into the Items of the graph, -1 for all but work
    """

    step: Int64
    start: Int64
    end: Int64
    part: Int8
    row: Int64
    track: Int64
    item: Int64

    def __len__(self) -> int:
        return len(self.step)


@remembered
def path_pieces(model: Model) -> PathPieces:
    """The recorded path of all steps; its lengths by part are the composition of `recorded_path`."""
    graph, path = graph_of(model), recorded_path(model)
    found = path.segments
    on_lane = graph.lane_row[found.edge] >= 0
    host = _host_pieces(model, graph, found, np.flatnonzero(on_lane))
    other = _other_pieces(model, graph, found, np.flatnonzero(~on_lane))
    columns = [np.concatenate(pair) for pair in zip(host, other, strict=True)]
    order = np.lexsort((columns[1], columns[0]))
    step, start, end, part, row, track, item = (column[order] for column in columns)
    return PathPieces(step, start, end, part.astype(np.int8), row, track, item)


def _other_pieces(model: Model, graph: Graph, found: Segments, at: Int64) -> tuple[Int64, ...]:
    """Work on devices, and delays: one piece each."""
    events = model.trace.events
    edge = found.edge[at]
    is_work = found.item[at] >= 0
    item = np.where(is_work, graph.item[edge], -1)
    target = graph.target[edge]
    row = np.where(is_work, found.item[at], -1)
    # a delay is seen at what it delays
    before_work = np.flatnonzero(~is_work & (graph.kind[target] == Node.ITEM))
    if len(before_work):
        row[before_work] = graph.items.row[graph.reference[target[before_work]]]
    before_point = np.flatnonzero(~is_work & (graph.kind[target] == Node.POINT))
    if len(before_point):
        node = target[before_point]
        place = graph.host.place(graph.reference[node], graph.time[node] - 1)
        row[before_point] = _rows_at(graph, place)
    track = np.where(is_work, events.track[np.maximum(row, 0)].astype(np.int64), np.int64(-1))
    origin = graph.origin_ns
    part = found.part[at].astype(np.int64)
    return found.step[at], found.start[at] + origin, found.end[at] + origin, part, row, track, item


def _rows_at(graph: Graph, place: Int64) -> Int64:
    """The innermost event of pieces of host time, -1 where nothing runs."""
    host = graph.host
    node = np.where(place >= 0, np.append(host.node, -1)[place], -1)
    found: Int64 = np.append(host.row, -1)[node].astype(np.int64)
    return found


def _host_pieces(model: Model, graph: Graph, found: Segments, at: Int64) -> tuple[Int64, ...]:
    """The stretches of host threads, cut where an event begins or ends and where the thread waits."""
    if not len(at):
        nothing = np.empty(0, np.int64)
        return (nothing,) * 7
    first = np.flatnonzero(begins_run(found.step[at], found.edge[at]))
    start = np.minimum.reduceat(found.start[at], first) + graph.origin_ns
    end = np.maximum.reduceat(found.end[at], first) + graph.origin_ns
    step = found.step[at[first]]
    lane = graph.reference[graph.target[found.edge[at[first]]]]
    of, begins, ends = [], [], []
    for on in np.unique(lane).tolist():
        mine = np.flatnonzero(lane == on)
        stretch, low, high = _cut_at(_cuts(graph, on), start[mine], end[mine])
        of.append(mine[stretch])
        begins.append(low)
        ends.append(high)
    stretch, low, high = np.concatenate(of), np.concatenate(begins), np.concatenate(ends)
    on_lane = lane[stretch]
    place = graph.host.place(on_lane, low)
    known = (place >= 0) & ~_waits(graph, on_lane, low)
    known[known] = graph.host.start[place[known]] <= low[known]
    part = np.where(known, np.append(graph.host.label, 0)[place], _UNEXPLAINED)
    row = _rows_at(graph, place)
    interpreter = np.flatnonzero(part == Label.PYTHON)
    frame = _frames_around(model, on_lane[interpreter], low[interpreter], high[interpreter])
    row[interpreter] = np.where(frame >= 0, frame, row[interpreter])
    return step[stretch], low, high, part, row, on_lane, np.full(len(low), -1)


def _cuts(graph: Graph, lane: int) -> Int64:
    waits = graph.waits
    mine = waits.lane == lane
    found: Int64 = np.unique(np.concatenate((graph.host.boundaries(lane), waits.start[mine], waits.end[mine])))
    return found


def _cut_at(cuts: Int64, start: Int64, end: Int64) -> tuple[Int64, Int64, Int64]:
    """Spans cut at some times: of each piece its span, start and end.

    >>> [column.tolist() for column in _cut_at(np.array([2, 4, 9]), np.array([1, 6]), np.array([5, 8]))]
    [[0, 0, 0, 1], [1, 2, 4, 6], [2, 4, 5, 8]]
    """
    low, high = np.searchsorted(cuts, start, side="right"), np.searchsorted(cuts, end, side="left")
    high = np.maximum(high, low)
    count = high - low + 1
    of = np.repeat(np.arange(len(start)), count)
    first = np.cumsum(count) - count
    begins = np.empty(len(of), np.int64)
    inner = np.ones(len(of), np.bool_)
    inner[first] = False
    begins[first] = start
    begins[inner] = cuts[positions(low, high)]
    ends = np.append(begins[1:], 0)
    ends[first + count - 1] = end
    return of, begins, ends


def _waits(graph: Graph, lane: Int64, time: Int64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether a thread waits from each time on."""
    waits = graph.waits
    found = np.zeros(len(time), np.bool_)
    for on in np.unique(lane).tolist():
        of = np.flatnonzero(waits.lane == on)
        if not len(of):
            continue
        mine = np.flatnonzero(lane == on)
        last = np.searchsorted(waits.start[of], time[mine], side="right") - 1
        found[mine] = (last >= 0) & (time[mine] < waits.end[of[np.maximum(last, 0)]])
    return found


def _frames_around(model: Model, track: Int64, start: Int64, end: Int64) -> Int64:
    """The row of the innermost Python frame around each span of a thread, -1 for none."""
    frames = model.structure.frames
    if not len(frames):
        return np.full(len(start), -1)
    found = model.structure.frame_nesting.innermost(track.astype(np.int32), start).astype(np.int64)
    while True:
        short = np.flatnonzero(found >= 0)
        short = short[frames.end[found[short]] < end[short]]
        if not len(short):
            break
        found[short] = frames.parent[found[short]]
    rows: Int64 = np.append(frames.row, -1)[found].astype(np.int64)
    return rows
