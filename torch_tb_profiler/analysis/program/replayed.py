"""Graphs that devices replay: how often, the gaps inside and between, and their nodes aligned over all replays."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import descending, greatest_at, least_at, sums_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.owners.graphs import captured_calls, replays_of
from torch_tb_profiler.trace import Category

_UNNAMED = "(capture)"


@dataclass(frozen=True)
class GraphTable(Tabular):
    """One row per graph: replays that run the same sequence of nodes. By device time, descending. Times in ns.

    Keys, units and definitions of the columns: `columns.GRAPHS`.
    """

    graph: Int64
    replays: Int64
    nodes: Int64
    device_ns: Int64
    span_ns: Float64
    inside_ns: Float64
    between_ns: Int64
    row: Int64
    start_ns: Int64

    missing_below_zero = ("between_ns",)

    def __len__(self) -> int:
        return len(self.graph)


@dataclass(frozen=True)
class GraphNodes(Tabular):
    """The nodes of one graph, in their order. Keys, units and definitions of the columns: `columns.GRAPH_NODES`."""

    position: Int64
    name: tuple[str, ...]
    mean_ns: Float64
    spread: Float64
    share: Float64
    owner: tuple[str | None, ...]
    row: Int64

    def __len__(self) -> int:
        return len(self.position)


@dataclass(frozen=True)
class CaptureTable(Tabular):
    """One row per capture, in the order of time. Keys, units and definitions of the columns: `columns.CAPTURES`."""

    name: tuple[str, ...]
    calls: Int64
    start_ns: Int64
    row: Int64

    def __len__(self) -> int:
        return len(self.name)


class _Replayed(msgspec.Struct, frozen=True):
    """All nodes that ran, replay by replay.

    work, graph, place   shape (nodes,): index into Trace.device_work, number of the graph, position within the replay
    replay               shape (nodes,)
    graph_of             shape (replays,)
    """

    work: Int64
    replay: Int64
    place: Int64
    graph_of: Int64

    @property
    def graph(self) -> Int64:
        return self.graph_of[self.replay]


@remembered
def _replayed(model: Model) -> _Replayed:
    """Of the steps that are chosen: replays that were launched in them."""
    inside = model.in_steps
    found = replays_of(model.trace, model.structure.device_links)
    first = np.flatnonzero(begins_run(found.replay))
    count = np.diff(np.append(first, len(found.work)))
    sequence = found.graphs()
    rows = np.zeros(len(model.trace.events), np.bool_)
    rows[inside.device_work.row] = True
    kept = rows[model.trace.device_work.row]
    whole = kept[found.work[first]] if len(first) else np.zeros(0, np.bool_)
    chosen = np.repeat(whole, count)
    place = np.arange(len(found.work)) - np.repeat(first, count)
    replay = np.cumsum(begins_run(found.replay[chosen])) - 1 if chosen.any() else np.empty(0, np.int64)
    return _Replayed(found.work[chosen], replay.astype(np.int64), place[chosen], sequence[whole])


@remembered
def graphs(model: Model) -> GraphTable:
    found = _replayed(model)
    events = model.trace.events
    row = model.trace.device_work.row[found.work]
    start, end = events.start[row], events.end[row]
    replays = len(found.graph_of)
    first, last = least_at(found.replay, start, replays), greatest_at(found.replay, end, replays)
    # per replay: when none of its own nodes runs; replays of a stream do not overlap, those of several may
    running = np.array(
        [
            intervals.total(intervals.union(start[mine], end[mine]))
            for mine in np.split(np.arange(len(row)), np.flatnonzero(begins_run(found.replay))[1:])
        ],
        np.int64,
    )[:replays]
    device = model.trace.device_work.device[found.work[np.flatnonzero(begins_run(found.replay))]] if replays else first
    gap = np.full(replays, -1, np.int64)
    order = np.lexsort((first, device))
    same = device[order][1:] == device[order][:-1]
    gap[order[:-1][same]] = np.maximum(first[order][1:] - last[order][:-1], 0)[same]
    numbers = np.unique(found.graph_of)
    place = np.searchsorted(numbers, found.graph_of)
    count = np.bincount(place, minlength=len(numbers)).astype(np.int64)
    total = sums_at(place[found.replay], np.maximum(events.duration[row], 0), len(numbers))
    spans = sums_at(place, last - first, len(numbers))
    idle = sums_at(place, (last - first) - running, len(numbers))
    followed = gap >= 0
    gaps = sums_at(place[followed], gap[followed], len(numbers))
    has_gap = np.bincount(place[followed], minlength=len(numbers)) > 0
    lead = np.array([int(np.flatnonzero(place == at)[0]) for at in range(len(numbers))], np.int64)
    leading = np.flatnonzero(begins_run(found.replay))
    order = descending(total)
    launch = model.structure.device_links.launch[found.work[leading[lead]]] if replays else lead
    call = take_known(model.trace.launches.row, launch)
    return GraphTable(
        graph=numbers[order],
        replays=count[order],
        nodes=(np.bincount(place[found.replay], minlength=len(numbers)) // np.maximum(count, 1))[order],
        device_ns=total[order],
        span_ns=(spans / np.maximum(count, 1))[order],
        inside_ns=(idle / np.maximum(count, 1))[order],
        between_ns=np.where(has_gap, gaps, -1)[order],
        row=call.astype(np.int64)[order],
        start_ns=first[lead][order],
    )


def graph_nodes(model: Model, graph: int) -> GraphNodes | None:
    """The nodes of one graph; None of one that there is not."""
    found = _replayed(model)
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
    total = float(mean.sum())
    return GraphNodes(
        position=np.arange(count),
        name=tuple(trace.strings.texts(trace.events.name[trace.device_work.row[lead]])),
        mean_ns=mean,
        spread=spread,
        share=mean / total if total else np.zeros(count),
        owner=tuple(trace.strings[int(trace.events.name[each])] if each >= 0 else None for each in owner.tolist()),
        row=trace.device_work.row[lead].astype(np.int64),
    )


@remembered
def captures(model: Model) -> CaptureTable:
    """Captures of the whole trace: graphs are captured before the steps."""
    trace, structure = model.trace, model.structure
    found = captured_calls(trace, structure.device_links)
    first = np.flatnonzero(begins_run(found.capture))
    call = found.call[first]
    node = structure.launch_links.node[call]
    tree = structure.tree
    annotation = tree.category == Category.USER_ANNOTATION
    around = nearest(tree.parent, annotation, node) if len(tree) else node
    row = trace.launches.row[call]
    return CaptureTable(
        name=tuple(trace.strings[int(tree.name[each])] if each >= 0 else _UNNAMED for each in around.tolist()),
        calls=np.diff(np.append(first, len(found.call))).astype(np.int64),
        start_ns=trace.events.start[row],
        row=row.astype(np.int64),
    )


def outside_ns(model: Model) -> tuple[int, int]:
    """Device time in replays and outside of them, Σ durations in ns, of the steps that are chosen."""
    inside = model.in_steps
    rows = inside.device_work.row[inside.is_work]
    every = int(np.maximum(model.trace.events.duration[rows], 0).sum())
    replayed = int(np.maximum(model.trace.events.duration[model.trace.device_work.row[_replayed(model).work]], 0).sum())
    return replayed, every - replayed


def replayed_rows(model: Model) -> Bool:
    """Shape (events,): device work of replays that were launched in the steps that are chosen."""
    found = np.zeros(len(model.trace.events), np.bool_)
    found[model.trace.device_work.row[_replayed(model).work]] = True
    return found
