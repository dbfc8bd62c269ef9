"""Graphs that devices replay: nodes aligned over replays, gaps inside and between, what runs outside, captures."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import Groups, descending, greatest_at, group, least_at, sums_at
from torch_tb_profiler.arrays.intervals import Coverage, union
from torch_tb_profiler.arrays.lookup import LaneIndex, place_of_running_maximum, take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import ROUNDING_NS
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.model.owners import OwnerKind, annotated_owner
from torch_tb_profiler.model.owners.graphs import captured_calls, replays_of
from torch_tb_profiler.trace import Category


class ReplayedNodes(msgspec.Struct, frozen=True):
    """All nodes that ran, replay by replay.

    work, replay, place  shape (nodes,): index into Trace.device_work, which replay, position within it
    graph_of             shape (replays,): number of the graph
    """

    work: Int64
    replay: Int64
    place: Int64
    graph_of: Int64

    @property
    def graph(self) -> Int64:
        return self.graph_of[self.replay]


@cached
def replayed_nodes(model: Model) -> ReplayedNodes:
    """Return the replays that were launched in the chosen steps."""
    inside = model.in_steps
    replays = replays_of(model.trace, model.structure.device_links)
    first = np.flatnonzero(begins_run(replays.replay))
    count = np.diff(np.append(first, len(replays.work)))
    sequence = replays.graphs()
    rows = np.zeros(len(model.trace.events), np.bool_)
    rows[inside.device_work.row] = True
    kept = rows[model.trace.device_work.row]
    whole = kept[replays.work[first]] if len(first) else np.zeros(0, np.bool_)
    chosen = np.repeat(whole, count)
    place = np.arange(len(replays.work)) - np.repeat(first, count)
    replay = np.cumsum(begins_run(replays.replay[chosen])) - 1 if chosen.any() else np.empty(0, np.int64)
    return ReplayedNodes(replays.work[chosen], replay.astype(np.int64), place[chosen], sequence[whole])


class GraphGaps(msgspec.Struct, frozen=True):
    """Gaps of the replays of the steps that are chosen; parallel.

    inside         whether no node of the replay runs then, between two of its nodes; else from the end of the replay to
                   the next one of any graph on the device, which may take no time
    replay         index into `ReplayedNodes.graph_of`: in which replay, or behind which one
    start          ns
    duration       ns
    after, before  event of the node that ends where the gap begins, and of the one that begins where it ends
    """

    inside: Bool
    replay: Int64
    start: Int64
    duration: Int64
    after: Int64
    before: Int64


@cached
def graph_gaps(model: Model) -> GraphGaps:
    nodes, work = replayed_nodes(model), model.trace.device_work
    events, replays = model.trace.events, len(nodes.graph_of)
    if not replays:
        none = np.empty(0, np.int64)
        return GraphGaps(np.empty(0, np.bool_), none, none, none, none, none)
    row = work.row[nodes.work].astype(np.int64)
    order = np.lexsort((events.start[row], nodes.replay))
    row, replay = row[order], nodes.replay[order]
    start, end = events.start[row], events.end[row]
    lead = np.flatnonzero(begins_run(replay))
    first, last = least_at(replay, start, replays), greatest_at(replay, end, replays)
    # on an axis on which replays follow one another, so that the latest end of a replay is never that of another one
    base = np.append(0, np.cumsum(last - first + 1)[:-1])
    latest = place_of_running_maximum(end - first[replay] + base[replay])
    place = np.flatnonzero(~begins_run(replay))
    place = place[start[place] > end[latest[place - 1]]]
    # the next replay on the device; it may begin before the end of this one
    device = work.device[nodes.work[order]][lead]
    turn = np.lexsort((first, device))
    same = device[turn][1:] == device[turn][:-1]
    this, following = turn[:-1][same], turn[1:][same]
    closing = latest[np.append(lead[1:], len(row)) - 1]
    opened = np.concatenate([end[latest[place - 1]], last[this]])
    return GraphGaps(
        inside=np.arange(len(place) + len(this)) < len(place),
        replay=np.concatenate([replay[place], this]).astype(np.int64),
        start=opened,
        duration=np.maximum(np.concatenate([start[place], first[following]]) - opened, 0),
        after=np.concatenate([row[latest[place - 1]], row[closing[this]]]),
        before=np.concatenate([row[place], row[lead[following]]]),
    )


class GapTable(Result, group="graph_gaps"):
    """One row per gap longer than rounding, the longest first."""

    where: tuple[str, ...] = column("Where", "inside a replay, or between one and the next on the device.")
    graph: Int64 = column("Graph", "Number of the graph that the gap is in, or after.", unit=None)
    duration_ns: Int64 = column("Gap", "Time in which no node of the replay runs, or of any replay.")
    after: tuple[str, ...] = column("After", "The node that ends where the gap begins.")
    before: tuple[str, ...] = column("Before", "The node that begins where the gap ends.")
    short_after: tuple[str, ...] = column(
        "After, short",
        "The name without parameters and most template arguments, as in the GPU Kernel view.",
        hidden=True,
    )
    short_before: tuple[str, ...] = column(
        "Before, short",
        "The name without parameters and most template arguments, as in the GPU Kernel view.",
        hidden=True,
    )
    start_ns: Int64 = column("Begins", "Since the start of the trace.", hidden=True)
    row: Int64 = column("Node", "Event of the node that begins where the gap ends.", unit=None, hidden=True)


def longest_gaps(model: Model, graph: int | None, limit: int) -> tuple[GapTable, int]:
    """Return the longest gaps in the replays of one or all graphs and behind them, and how many there are."""
    gaps, events, strings = graph_gaps(model), model.trace.events, model.trace.strings
    of = replayed_nodes(model).graph_of[gaps.replay]
    chosen = np.flatnonzero((gaps.duration > ROUNDING_NS) & (True if graph is None else of == graph))
    top = chosen[descending(gaps.duration[chosen])[:limit]]
    after, before = (strings.texts(events.name[nodes[top]]) for nodes in (gaps.after, gaps.before))
    table = GapTable(
        where=tuple("inside" if inside else "between" for inside in gaps.inside[top].tolist()),
        graph=of[top].astype(np.int64),
        duration_ns=gaps.duration[top],
        after=tuple(after),
        before=tuple(before),
        short_after=tuple(map(short_name, after)),
        short_before=tuple(map(short_name, before)),
        start_ns=gaps.start[top],
        row=gaps.before[top],
    )
    return table, len(chosen)


_UNNAMED = "(capture)"


class GraphTable(Result, group="graphs"):
    """One row per graph: replays that run the same sequence of nodes. By device time, descending. Times in ns."""

    graph: Int64 = column("Graph", "Number of the graph: replays that run the same nodes in order.", unit=None)
    replays: Int64 = column("Replays", "How often it was replayed in the steps.")
    nodes: Int64 = column("Nodes", "Kernels, copies and fills of one replay.")
    device_ns: Int64 = column("Device", "Σ durations of all nodes that ran.")
    span_ns: Float64 = column("Replay", "Mean time from the first node to the end of the last.")
    inside_ns: Float64 = column("Gaps inside", "Mean time of a replay in which none of its nodes runs.")
    between_ns: Int64 = column(
        "To the next", "Σ from its end to the next replay of any graph on the device.", missing_below_zero=True
    )
    row: Int64 = column("Launch", "Event of the call that launched its first replay.", unit=None, hidden=True)
    start_ns: Int64 = column("Begins", "When its first replay began on the device.", hidden=True)


class GraphNodes(Result, group="graph_nodes"):
    """The nodes of one graph, in their order."""

    position: Int64 = column("Node", "Its place in the graph.", unit=None)
    mean_ns: Float64 = column("Mean", "Mean duration over the replays.")
    spread: Float64 = column("Spread", "Standard deviation ÷ mean over the replays.", unit="fraction")
    share: Float64 = column("Share", "Part of the time of all nodes.")
    owner: tuple[str | None, ...] = column("Belongs to", "Operator of its capture, otherwise what replayed it.")
    name: tuple[str, ...] = column("Kernel", "Name of the kernel, copy or fill.")
    short_name: tuple[str, ...] = column(
        "Short name", "The name without parameters and most template arguments, as in the GPU Kernel view."
    )
    row: Int64 = column("First run", "Event of its first run.", unit=None, hidden=True)


class CaptureTable(Result, group="captures"):
    """One row per capture, in the order of time."""

    name: tuple[str, ...] = column("Captured in", "The range around the capture.")
    calls: Int64 = column("Calls", "Calls that became nodes of the graph.")
    start_ns: Int64 = column("Begins", "When the first of these was made.")
    row: Int64 = column("First call", "Event of that.", unit=None, hidden=True)


@cached
def graphs(model: Model) -> GraphTable:
    nodes = replayed_nodes(model)
    events = model.trace.events
    row = model.trace.device_work.row[nodes.work]
    replays = len(nodes.graph_of)
    first, last = (
        least_at(nodes.replay, events.start[row], replays),
        greatest_at(nodes.replay, events.end[row], replays),
    )
    gaps = graph_gaps(model)
    numbers = np.unique(nodes.graph_of)
    place = np.searchsorted(numbers, nodes.graph_of)
    count = np.bincount(place, minlength=len(numbers)).astype(np.int64)
    total = sums_at(place[nodes.replay], np.maximum(events.duration[row], 0), len(numbers))
    spans = sums_at(place, last - first, len(numbers))
    inside = gaps.inside
    idle = sums_at(place[gaps.replay[inside]], gaps.duration[inside], len(numbers))
    between = sums_at(place[gaps.replay[~inside]], gaps.duration[~inside], len(numbers))
    followed = np.bincount(place[gaps.replay[~inside]], minlength=len(numbers)) > 0
    lead = np.array([int(np.flatnonzero(place == at)[0]) for at in range(len(numbers))], np.int64)
    leading = np.flatnonzero(begins_run(nodes.replay))
    order = descending(total)
    launch = model.structure.device_links.launch[nodes.work[leading[lead]]] if replays else lead
    call = take_known(model.trace.launches.row, launch)
    return GraphTable(
        graph=numbers[order],
        replays=count[order],
        nodes=(np.bincount(place[nodes.replay], minlength=len(numbers)) // np.maximum(count, 1))[order],
        device_ns=total[order],
        span_ns=(spans / np.maximum(count, 1))[order],
        inside_ns=(idle / np.maximum(count, 1))[order],
        between_ns=np.where(followed, between, -1)[order],
        row=call.astype(np.int64)[order],
        start_ns=first[lead][order],
    )


def graph_nodes(model: Model, graph: int) -> GraphNodes | None:
    """Return the nodes of one graph; None if it does not exist."""
    found = replayed_nodes(model)
    mine = np.flatnonzero(found.graph == graph)
    if not len(mine):
        return None
    trace = model.trace
    work, place = found.work[mine], found.place[mine]
    row = trace.device_work.row[work]
    duration = np.maximum(trace.events.duration[row], 0)
    count = int(place.max()) + 1
    replays = np.bincount(place, minlength=count)
    mean = sums_at(place, duration, count) / replays
    squares = np.bincount(place, (duration - mean[place]) ** 2, count) / replays
    lead = np.array(work[:count])
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.where(mean > 0, np.sqrt(squares) / mean, 0.0)
    owners = model.structure.owners
    owner = owners.row[lead]
    annotated = np.where(owners.how[lead] == OwnerKind.ANNOTATED, trace.device_work.annotation[lead], 0)
    total = float(mean.sum())
    names = trace.strings.texts(trace.events.name[trace.device_work.row[lead]])
    return GraphNodes(
        position=np.arange(count),
        name=tuple(names),
        short_name=tuple(map(short_name, names)),
        mean_ns=mean,
        spread=spread,
        share=mean / total if total else np.zeros(count),
        owner=tuple(
            annotated_owner(annotation) or (trace.strings[int(trace.events.name[each])] if each >= 0 else None)
            for annotation, each in zip(trace.strings.texts(annotated), owner.tolist(), strict=True)
        ),
        row=trace.device_work.row[lead].astype(np.int64),
    )


@cached
def captures(model: Model) -> CaptureTable:
    """Return the captures of the whole trace: graphs are captured before the steps."""
    trace, structure = model.trace, model.structure
    captured = captured_calls(trace, structure.device_links)
    first = np.flatnonzero(begins_run(captured.capture))
    call = captured.call[first]
    node = structure.launch_links.node[call]
    tree = structure.tree
    annotation = tree.category == Category.USER_ANNOTATION
    around = nearest(tree.parent, annotation, node) if len(tree) else node
    row = trace.launches.row[call]
    return CaptureTable(
        name=tuple(trace.strings[int(tree.name[each])] if each >= 0 else _UNNAMED for each in around.tolist()),
        calls=np.diff(np.append(first, len(captured.call))).astype(np.int64),
        start_ns=trace.events.start[row],
        row=row.astype(np.int64),
    )


def outside_ns(model: Model) -> tuple[int, int]:
    """Return device time in replays and outside them, Σ durations in ns, of the chosen steps."""
    inside = model.in_steps
    rows = inside.device_work.row[inside.is_work]
    every = int(np.maximum(model.trace.events.duration[rows], 0).sum())
    replayed = int(
        np.maximum(model.trace.events.duration[model.trace.device_work.row[replayed_nodes(model).work]], 0).sum()
    )
    return replayed, every - replayed


def replayed_rows(model: Model) -> Bool:
    """Return which device activities belong to replays launched in the chosen steps, shape (events,)."""
    found = np.zeros(len(model.trace.events), np.bool_)
    found[model.trace.device_work.row[replayed_nodes(model).work]] = True
    return found


class OutsideGraphs(Result, group="outside_graphs"):
    """Device work that no graph replayed, by name, by time, descending."""

    owner: tuple[str | None, ...] = column("Belongs to", "Operator that launched most of it; empty if unknown.")
    calls: Int64 = column("Calls", "How often it ran in the steps outside replays.")
    total_ns: Int64 = column("Total", "Σ durations of these.")
    replayed: Int64 = column("In replays", "How often work of the same name ran in replays.")
    name: tuple[str, ...] = column("Work", "Name of the kernel, copy or fill.")
    short_name: tuple[str, ...] = column(
        "Short name", "The name without parameters and most template arguments, as in the GPU Kernel view."
    )
    row: Int64 = column("First run", "Event of the first of these.", unit=None, hidden=True)


@cached
def outside_graphs(model: Model) -> OutsideGraphs:
    """Return what runs outside graphs in the chosen steps; nothing if nothing is replayed in them."""
    inside, events = model.in_steps, model.trace.events
    in_replay = replayed_rows(model)
    rows = inside.device_work.row
    work = np.flatnonzero(inside.is_work & ~in_replay[rows]) if in_replay.any() else np.empty(0, np.int64)
    row = rows[work]
    groups = group([events.name[row].astype(np.int64)])
    total = groups.sum(np.maximum(events.duration[row], 0))
    order = descending(total)
    again = np.bincount(events.name[in_replay], minlength=len(model.trace.strings))
    place = np.full(len(events), -1, np.int64)
    place[model.trace.device_work.row] = np.arange(len(model.trace.device_work))
    owner = model.structure.owners.row[place[row]]
    usual = _longest(groups, np.where(owner >= 0, events.name[owner], -1), np.maximum(events.duration[row], 0))
    first = row[groups.first[order]]
    names = model.trace.strings.texts(events.name[first])
    return OutsideGraphs(
        name=tuple(names),
        short_name=tuple(map(short_name, names)),
        owner=tuple(model.trace.strings[code] if code >= 0 else None for code in usual[order].tolist()),
        calls=groups.count()[order],
        total_ns=total[order],
        replayed=again[events.name[first]].astype(np.int64),
        row=first.astype(np.int64),
    )


def _longest(groups: Groups, value: Int64, weight: Int64) -> Int64:
    """Return the value of each group with the largest sum of weights."""
    pairs = group([groups.inverse, value.astype(np.int64)])
    order = descending(pairs.sum(weight))
    of, least = groups.inverse[pairs.first[order]], np.full(len(groups), len(order), np.int64)
    np.minimum.at(least, of, np.arange(len(order)))
    found: Int64 = value[pairs.first[order]][least].astype(np.int64)
    return found


_BEGIN, _END = lazy_pattern(r"\w+StreamBeginCapture"), lazy_pattern(r"\w+StreamEndCapture")


class CaptureSpans(msgspec.Struct, frozen=True):
    """Captures of the whole trace; parallel. Times in ns.

    track   index into Trace.tracks
    row     the call that begins it
    """

    track: Int32
    start: Int64
    end: Int64
    row: Int64

    def at(self, track: Int32, time: Int64) -> Bool:
        """Return whether each thread captures at each time: the last capture that began until then ends last."""
        last = LaneIndex(self.track, self.start).last(track, time)
        return (last >= 0) & (time < np.append(self.end, 0)[last])

    def during(self, start: Int64, end: Int64) -> Int64:
        """Return for how long of each interval any thread captures, ns."""
        return Coverage(union(self.start, self.end)).between(start, end)


@cached
def capture_spans(model: Model) -> CaptureSpans:
    """Return the captures: from a call that begins one to the next that ends one, on one thread."""
    events, row = model.trace.events, model.trace.launches.row
    names = model.trace.strings

    def called(name: Callable[[str], object]) -> Int64:
        return row[names.where(name, events.name[row])[events.name[row]]].astype(np.int64)

    begins, ends = called(_BEGIN.match), called(_END.match)
    last = LaneIndex(events.track[ends], events.start[ends]).first(events.track[begins], events.start[begins])
    first, last = begins[last >= 0], ends[last[last >= 0]]
    return CaptureSpans(events.track[first].astype(np.int32), events.start[first], events.end[last], first)
