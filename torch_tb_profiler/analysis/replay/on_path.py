"""The critical path as recorded, computed once per model, and the operators, kernels, functions and modules on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.analysis.answer import Count, Ns
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import Edge, Graph, GraphNode
from torch_tb_profiler.analysis.replay.host_time import Label, LaneSpans
from torch_tb_profiler.analysis.replay.path import CriticalPath, PathSegments, critical_path, slack_of_rows
from torch_tb_profiler.analysis.replay.quality import Quality, quality_of
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.analysis.result import column
from torch_tb_profiler.arrays.distinct import distinct, isin, one_of
from torch_tb_profiler.arrays.grouping import each_value, group, sums_at
from torch_tb_profiler.arrays.intervals import Coverage, union
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.ranges import positions
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.event_names import NN_MODULE, is_own_code
from torch_tb_profiler.model.kernel_names.short import short_name
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
    row = _frame_parents(model, lane, time, row, part)
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


def _frame_parents(model: Model, lane: Int64, time: Int64, row: Int64, part: Int8) -> Int64:
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


OnPathKind = Literal["operator", "annotation", "kernel", "copy", "communication", "function", "module"]
_ON_DEVICES = frozenset({"kernel", "copy", "communication"})


class OnPath(msgspec.Struct, frozen=True):
    """What the path spends on an operator, a kernel, a function or a module, in all steps together.

    name        name of the operator, kernel, function or module
    short_name  for a kernel, copy or communication, its short name; otherwise the name
    what        operator, annotation, kernel, copy, communication, function or module
    total_ns    time on the path: on the host and on devices
    host_ns     its own host time on the path, without what it calls
    device_ns   device work on the path that belongs to it
    calls       how many of its calls, or pieces of device work, are on the path
    all_calls   how many calls, or pieces of device work, there are in the steps
    slack_ns    how much later a piece of work could run, or how much longer the host could take for a call, without
                delaying the end of any step; median over all of them; empty if unknown
    """

    name: Annotated[str, column("Name")]
    short_name: str
    what: Annotated[OnPathKind, column("Kind")]
    total_ns: Annotated[Ns, column("On the path")]
    host_ns: Annotated[Ns, column("Host")]
    device_ns: Annotated[Ns, column("Device")]
    calls: Annotated[Count, column("Calls on the path")]
    all_calls: Annotated[Count, column("Calls")]
    slack_ns: Annotated[Ns | None, column("Slack")]


class NamesOnPath(msgspec.Struct, frozen=True):
    """The names on the path, each list by time on the path, the longest first."""

    operators: tuple[OnPath, ...]
    kernels: tuple[OnPath, ...]
    functions: tuple[OnPath, ...]
    modules: tuple[OnPath, ...]


def names_on_path(model: Model, steps: Sequence[int]) -> NamesOnPath:
    """List what the path of some steps, by index, runs through. `model`: of the whole trace."""
    graph = graph_of(model)
    if not len(steps):
        return NamesOnPath((), (), (), ())
    pieces = recorded_slices(model)
    chosen = isin(pieces.step, np.array(steps, np.int64))
    host = _HostTime.of(pieces, chosen)
    ran = np.flatnonzero(chosen & (pieces.item >= 0))
    item, device_ns = pieces.item[ran], (pieces.end - pieces.start)[ran]
    slack = slack_of_rows(model)
    window = int(graph.steps.host_start[min(steps)]), int(graph.steps.host_end[max(steps)])
    device = _Device(item, device_ns, model, graph)
    functions, modules = _frames(model, host, device, slack, window)
    return NamesOnPath(
        operators=_operators(model, host, device, slack, window),
        kernels=_kernels(device, slack, steps),
        functions=functions,
        modules=modules,
    )


class _HostTime(msgspec.Struct, frozen=True):
    """How much of an interval of a thread is on the path."""

    of_track: dict[int, Coverage]

    @classmethod
    def of(cls, pieces: PathSlices, chosen: Bool) -> _HostTime:
        worked = np.flatnonzero(chosen & (pieces.part < Label.UNEXPLAINED))
        track = pieces.track[worked]
        found = {}
        for on, at in each_value(track):
            mine = worked[at]
            found[on] = Coverage(union(pieces.start[mine], pieces.end[mine]))
        return cls(found)

    def inside(self, tree: CallTree | FrameTree) -> Int64:
        """Return shape (nodes,), ns: time on the path inside each node, without its children."""
        total = np.zeros(len(tree), np.int64)
        for on, mine in each_value(tree.track):
            if coverage := self.of_track.get(on):
                total[mine] = coverage.between(tree.start[mine], tree.end[mine])
        inner = np.flatnonzero(tree.parent >= 0)
        found: Int64 = total - sums_at(tree.parent[inner], total[inner], len(tree))
        return found


class _Device(msgspec.Struct, frozen=True):
    """Work items on the path, with their time."""

    item: Int64
    ns: Int64
    model: Model
    graph: Graph

    def owner_rows(self) -> Int64:
        """Return the event that each belongs to: an operator, an annotation or a frame; -1 for none."""
        work = self.graph.items.work[self.item]
        found: Int64 = take_known(self.model.structure.owners.row, work).astype(np.int64)
        return found

    def frames(self) -> Int64:
        """Return the position in the frame tree of the innermost frame around the launch of each, -1 for none."""
        call = self.graph.items.call[self.item]
        found = np.full(len(call), -1, np.int64)
        known = np.flatnonzero(call >= 0)
        calls = self.graph.calls
        track = calls.lane[call[known]].astype(np.int32)
        if len(self.model.structure.frames):
            found[known] = self.model.structure.frame_nesting.innermost(track, calls.start[call[known]])
        return found


def _operators(
    model: Model, host: _HostTime, device: _Device, slack: Int64, window: tuple[int, int]
) -> tuple[OnPath, ...]:
    """List operators and annotations, but not the marks of steps."""
    trace, tree = model.trace, model.structure.tree
    if not len(tree):
        return ()
    ns = host.inside(tree)
    marks = [code for label in graph_of(model).steps.labels if (code := trace.strings.code(label)) >= 0]
    mine = np.flatnonzero(~isin(tree.name, marks))
    mine = mine[(tree.start[mine] >= window[0]) & (tree.start[mine] < window[1])]
    owner = device.owner_rows()
    of_tree = np.full(len(trace.events), -1, np.int64)
    of_tree[tree.row[mine]] = np.arange(len(mine))
    at = take_known(of_tree, owner)
    of_device = sums_at(at[at >= 0], device.ns[at >= 0], len(mine))
    kinds: dict[bool, OnPathKind] = {True: "operator", False: "annotation"}
    found: list[OnPath] = []
    for is_operator, kind in kinds.items():
        some = np.flatnonzero(tree.is_operator[mine] == is_operator)
        spare = slack[tree.row[mine[some]]]
        found += _by_name(model, kind, tree.name[mine[some]], (ns[mine[some]], of_device[some]), spare)
    return _longest(found)


def _frames(
    model: Model, host: _HostTime, device: _Device, slack: Int64, window: tuple[int, int]
) -> tuple[tuple[OnPath, ...], tuple[OnPath, ...]]:
    """List Python functions (of the user's own code where there is any around) and modules."""
    strings, tree = model.trace.strings, model.structure.frames
    if not len(tree):
        return (), ()
    ns, launched = host.inside(tree), device.frames()
    of_device = sums_at(launched[launched >= 0], device.ns[launched >= 0], len(tree))
    everything = np.arange(len(tree), dtype=np.int64)
    own = nearest(tree.parent, strings.where(is_own_code, tree.name)[tree.name], everything)
    is_module = strings.where(lambda name: name.startswith(NN_MODULE), tree.name)[tree.name]
    of_function = np.where(own >= 0, own, np.where(is_module, -1, everything))
    of_module = nearest(tree.parent, is_module, everything)
    by_kind = []
    kinds: tuple[tuple[OnPathKind, Int64], ...] = (("function", of_function), ("module", of_module.astype(np.int64)))
    for kind, holder in kinds:
        known = np.flatnonzero(holder >= 0)
        held = sums_at(holder[known], ns[known], len(tree))
        held_device = sums_at(holder[known], of_device[known], len(tree))
        mine = distinct(holder[known])
        mine = mine[(tree.end[mine] > window[0]) & (tree.start[mine] < window[1])]
        spare = slack[tree.row[mine]]
        by_kind.append(_longest(_by_name(model, kind, tree.name[mine], (held[mine], held_device[mine]), spare)))
    return by_kind[0], by_kind[1]


def _kernels(device: _Device, slack: Int64, steps: Sequence[int]) -> tuple[OnPath, ...]:
    model, graph = device.model, device.graph
    items, events = graph.items, model.trace.events
    if not len(items):
        return ()
    on_path = sums_at(device.item, device.ns, len(items))
    mine = np.flatnonzero(isin(graph.item_step, np.array(steps)) | (on_path > 0))
    category = events.category[items.row[mine]]
    is_copy = (category == Category.MEMCPY) | (category == Category.MEMSET)
    kinds: tuple[tuple[OnPathKind, Bool], ...] = (
        ("communication", items.is_communication[mine]),
        ("copy", is_copy & ~items.is_communication[mine]),
        ("kernel", ~is_copy & ~items.is_communication[mine]),
    )
    found: list[OnPath] = []
    for kind, chosen in kinds:
        some = mine[chosen]
        nothing = np.zeros(len(some), np.int64)
        found += _by_name(model, kind, events.name[items.row[some]], (nothing, on_path[some]), slack[items.row[some]])
    return _longest(found)


def _by_name(model: Model, what: OnPathKind, name: Int32, ns: tuple[Int64, Int64], slack: Int64) -> list[OnPath]:
    """Make a row for each name that is on the path. ns: on it, of the host and of devices."""
    if not len(name):
        return []
    host, device = ns
    groups = group([name])
    host_ns, device_ns = groups.sum(host), groups.sum(device)
    on_path, calls = groups.sum((host + device > 0).astype(np.int64)), groups.count()
    order = np.lexsort((slack, groups.inverse))
    begins = np.searchsorted(groups.inverse[order], np.arange(len(groups) + 1))
    rows = []
    for number in np.flatnonzero(on_path > 0).tolist():
        known = slack[order[begins[number] : begins[number + 1]]]
        known = known[known >= 0]
        text = model.trace.strings[int(name[groups.first[number]])]
        rows.append(
            OnPath(
                name=text,
                short_name=short_name(text) if what in _ON_DEVICES else text,
                what=what,
                total_ns=int(host_ns[number] + device_ns[number]),
                host_ns=int(host_ns[number]),
                device_ns=int(device_ns[number]),
                calls=int(on_path[number]),
                all_calls=int(calls[number]),
                slack_ns=int(median(known)) if len(known) else None,
            )
        )
    return rows


def _longest(found: list[OnPath]) -> tuple[OnPath, ...]:
    return tuple(sorted(found, key=lambda each: (-each.total_ns, each.name)))
