"""What pinned memory does to copies from and to pageable memory."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Direction, Pinned
from torch_tb_profiler.analysis.replay.edges import Edge
from torch_tb_profiler.analysis.replay.effects import Effect, OnHost, OnWork, edges_into, on_host
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.inputs import Work
from torch_tb_profiler.analysis.replay.labels import Label
from torch_tb_profiler.analysis.replay.stretches import Stretches, merged
from torch_tb_profiler.analysis.replay.where import innermost_operators, items_of_rows, known_rows
from torch_tb_profiler.arrays.distinct import among, distinct
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64
from torch_tb_profiler.trace import Trace

#: what reads a value of the device at once: it has to wait, whatever the memory is
READS_AT_ONCE = "aten::_local_scalar_dense"
#: ns: the rate of a shorter copy is not exact, above all where times are whole microseconds
CLEAR_RATE_NS = 10_000
#: calls that a usual time needs
FEWEST = 5
DIRECTIONS: tuple[Direction, ...] = ("HtoD", "DtoH")
_WORDS: dict[Direction, tuple[str, ...]] = {"HtoD": ("HtoD", "HostToDevice"), "DtoH": ("DtoH", "DeviceToHost")}


def pinned_copies(trace: Trace, graph: Graph, change: Pinned) -> Effect:
    """Copies of pageable memory as if it were pinned, without blocking."""
    items = graph.items
    code = trace.events.name[items.row]
    pageable: Bool = trace.strings.where(lambda name: "Pageable" in name, code)[code]
    chosen = (items.kind == Work.COPY) & (items.call >= 0) & (items.start >= graph.work_since) & pageable
    if change.rows is not None:
        of_rows = np.zeros(len(items), np.bool_)
        found = items_of_rows(graph, known_rows(trace, change.rows))
        of_rows[found[found >= 0]] = True
        chosen &= of_rows
    work: list[OnWork] = []
    host: list[OnHost] = []
    dropped: list[Int64] = []
    notes: list[str] = []
    for name in DIRECTIONS:
        item = (
            np.flatnonzero(chosen & _goes(trace, code, name))
            if change.direction in (None, name)
            else np.empty(0, np.int64)
        )
        if not len(item):
            continue
        operator = innermost_operators(trace, graph, items.call[item])
        reads = trace.events.name[graph.host.row[operator]] == trace.strings.code(READS_AT_ONCE)
        item, operator = item[~reads | (operator < 0)], operator[~reads | (operator < 0)]
        shortest = _at_best_rate(trace, graph, name, item, change.rate)
        if shortest is None:
            if len(item):
                notes.append("No pinned copy was seen: these copies take as long as they did.")
        else:
            work.append(OnWork(item, cap=shortest))
        syncs, inside = _own_syncs(graph, item, operator)
        dropped += [np.flatnonzero((graph.edge == Edge.BLOCKING_COPY) & among(graph.item, item)), syncs]
        host += [on_host(graph, inside, 0.0, (Label.BLOCKING,)), _calls(trace, graph, distinct(items.call[item]))]
    edges = np.concatenate(dropped) if dropped else np.empty(0, np.int64)
    return Effect(host=tuple(host), work=tuple(work), dropped=edges, notes=tuple(notes))


def _goes(trace: Trace, code: Int32, direction: Direction) -> Bool:
    words = _WORDS[direction]
    found: Bool = trace.strings.where(lambda name: any(word in name for word in words), code)[code]
    return found


def best_pinned_rate(trace: Trace, graph: Graph, direction: Direction) -> float | None:
    """The best rate of a pinned copy of a trace, bytes per ns; None without one.

    Of copies in this direction; a link is as fast in the other, whose copies count where there are none.
    """
    items, work = graph.items, trace.device_work
    for each in (direction, *(other for other in DIRECTIONS if other != direction)):
        like = _pinned(trace, graph, each)
        long = like[(items.duration[like] >= CLEAR_RATE_NS) & (work.bytes[items.work[like]] > 0)]
        if len(long):
            return float((work.bytes[items.work[long]] / items.duration[long]).max())
    return None


def _pinned(trace: Trace, graph: Graph, direction: Direction) -> Int64:
    """The pinned copies of one direction."""
    items = graph.items
    code = trace.events.name[items.row]
    is_pinned = trace.strings.where(lambda name: "Pinned" in name, code)[code] & (items.kind == Work.COPY)
    return np.flatnonzero(is_pinned & _goes(trace, code, direction))


def _at_best_rate(trace: Trace, graph: Graph, direction: Direction, item: Int64, rate: float | None) -> Int64 | None:
    """Shape (items,), ns, at the rate that is given, or the best of a pinned copy; None: unknown."""
    items, work = graph.items, trace.device_work
    like = _pinned(trace, graph, direction)
    if rate is None:
        rate = best_pinned_rate(trace, graph, direction)
        if rate is None:
            return None
    size = work.bytes[items.work[item]]
    # no faster than the fastest pinned copy of at most as many bytes
    by_size = like[np.argsort(work.bytes[items.work[like]], kind="stable")]
    fastest = np.append(np.minimum.accumulate(items.duration[by_size]), 0)
    least = fastest[np.searchsorted(work.bytes[items.work[by_size]], size, side="right") - 1]
    return np.where(size > 0, np.maximum(np.ceil(size / rate).astype(np.int64), least), items.duration[item])


def _own_syncs(graph: Graph, item: Int64, operator: Int64) -> tuple[Int64, Stretches]:
    """Edges to calls that wait for one of the copies in its own operator, and the stretches of these operators."""
    nesting = graph.host.nesting
    edges = edges_into(graph, (Edge.SYNC,), None)
    of = np.full(len(graph.items), -1, np.int64)
    of[item] = operator
    around = of[graph.item[edges]]
    edges, around = edges[around >= 0], around[around >= 0]
    target = graph.target[edges]
    own = graph.reference[target] == nesting.lane[around]
    own &= (nesting.start[around] < graph.time[target]) & (graph.time[target] <= nesting.end[around])
    edges, around = edges[own], around[own]
    return edges, merged(nesting.lane[around], nesting.start[around], nesting.end[around])


def _calls(trace: Trace, graph: Graph, call: Int64) -> OnHost:
    """The calls take what asynchronous ones usually do, when that is less."""
    calls = graph.calls
    blocked = np.zeros(len(calls), np.bool_)
    blocked[graph.items.call[graph.item[graph.edge == Edge.BLOCKING_COPY]]] = True
    own = np.where(blocked, calls.release, calls.end) - calls.start
    factor: Float64 = np.minimum(_usual(trace, graph, blocked) / np.maximum(own[call], 1), 1.0)
    lane, start, end = calls.lane[call], calls.start[call], calls.end[call]
    order = np.lexsort((start, lane))
    lane, start, end, factor = lane[order], start[order], end[order], factor[order]
    return on_host(graph, Stretches(lane, start, end), factor)


def _usual(trace: Trace, graph: Graph, blocked: Bool) -> float:
    """ns: the median of asynchronous copies' calls that did not block, else of all calls that started something."""
    items, calls = graph.items, graph.calls
    started = (calls.release >= 0) & ~blocked
    first = calls.first_item
    code = trace.events.name[items.row]
    is_pageable = trace.strings.where(lambda name: "Pageable" in name, code)[code]
    copies = started & (np.append(items.kind, -1)[first] == Work.COPY) & ~np.append(is_pageable, True)[first]
    for chosen in (copies, started):
        if np.count_nonzero(chosen) >= FEWEST:
            return median((calls.end - calls.start)[chosen])
    return float("inf")
