"""Graphs that devices replay: how often, the gaps inside and between, and their nodes aligned over all replays."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.graph_gaps import graph_gaps
from torch_tb_profiler.analysis.program.replay_nodes import replayed_nodes
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import descending, greatest_at, least_at, sums_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.model.owners import OwnerKind, annotated_owner
from torch_tb_profiler.model.owners.graphs import captured_calls
from torch_tb_profiler.trace import Category

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
    found = replayed_nodes(model)
    events = model.trace.events
    row = model.trace.device_work.row[found.work]
    replays = len(found.graph_of)
    first, last = (
        least_at(found.replay, events.start[row], replays),
        greatest_at(found.replay, events.end[row], replays),
    )
    gaps = graph_gaps(model)
    numbers = np.unique(found.graph_of)
    place = np.searchsorted(numbers, found.graph_of)
    count = np.bincount(place, minlength=len(numbers)).astype(np.int64)
    total = sums_at(place[found.replay], np.maximum(events.duration[row], 0), len(numbers))
    spans = sums_at(place, last - first, len(numbers))
    inside = gaps.inside
    idle = sums_at(place[gaps.replay[inside]], gaps.duration[inside], len(numbers))
    between = sums_at(place[gaps.replay[~inside]], gaps.duration[~inside], len(numbers))
    followed = np.bincount(place[gaps.replay[~inside]], minlength=len(numbers)) > 0
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
        between_ns=np.where(followed, between, -1)[order],
        row=call.astype(np.int64)[order],
        start_ns=first[lead][order],
    )


def graph_nodes(model: Model, graph: int) -> GraphNodes | None:
    """The nodes of one graph; None of one that there is not."""
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
    """Device time in replays and outside them, Σ durations in ns, of the steps that are chosen."""
    inside = model.in_steps
    rows = inside.device_work.row[inside.is_work]
    every = int(np.maximum(model.trace.events.duration[rows], 0).sum())
    replayed = int(
        np.maximum(model.trace.events.duration[model.trace.device_work.row[replayed_nodes(model).work]], 0).sum()
    )
    return replayed, every - replayed


def replayed_rows(model: Model) -> Bool:
    """Shape (events,): device work of replays that were launched in the steps that are chosen."""
    found = np.zeros(len(model.trace.events), np.bool_)
    found[model.trace.device_work.row[replayed_nodes(model).work]] = True
    return found
