"""Where in host time a change is: names, rows and windows as stretches of threads."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Within
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.stretches import Stretches, common, merged
from torch_tb_profiler.arrays.lookup import find
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.event_names import NN_MODULE
from torch_tb_profiler.model.modules import LIGHTNING_MODULE, module_name
from torch_tb_profiler.trace import Category, Trace


def stretches_of(trace: Trace, graph: Graph, within: Within) -> Stretches | None:
    """The stretches in which all of `within` holds; None for everywhere. Raises ValueError for rows of no event."""
    found: list[Stretches] = []
    if within.operator is not None:
        nesting = graph.host.nesting
        at = np.flatnonzero(trace.events.name[graph.host.row] == trace.strings.code(within.operator))
        found.append(merged(nesting.lane[at].astype(np.int64), nesting.start[at], nesting.end[at]))
    if within.module is not None:
        found.append(of_rows(trace, calls_of_module(trace, within.module)))
    if within.frame is not None:
        rows = trace.python_frames.row
        found.append(of_rows(trace, rows[trace.events.name[rows] == trace.strings.code(within.frame)]))
    if within.rows is not None:
        found.append(of_rows(trace, known_rows(trace, within.rows)))
    if within.intervals is not None:
        lane, start, end = np.array(within.intervals, np.int64).reshape(-1, 3).T
        found.append(merged(lane, start, end))
    if within.start is not None or within.end is not None or within.thread is not None:
        lanes = np.arange(graph.host.lanes) if within.thread is None else np.array([within.thread])
        limits = np.iinfo(np.int64)
        low = limits.min if within.start is None else within.start
        high = limits.max if within.end is None else within.end
        found.append(merged(lanes, np.full(len(lanes), low), np.full(len(lanes), high)))
    if not found:
        return None
    held = found[0]
    for each in found[1:]:
        held = common(held, each)
    return held


def of_rows(trace: Trace, rows: Int64) -> Stretches:
    """When some events ran, on their threads."""
    events = trace.events
    return merged(events.track[rows].astype(np.int64), events.start[rows], events.end[rows])


def known_rows(trace: Trace, rows: tuple[int, ...]) -> Int64:
    """Rows of events as an array. Raises ValueError for a row that no event has."""
    found = np.array(rows, np.int64)
    if len(found) and not 0 <= int(found.min()) <= int(found.max()) < len(trace.events):
        raise ValueError(f"rows are from 0 to {len(trace.events) - 1}")
    return found


def calls_of_module(trace: Trace, name: str) -> Int64:
    """Rows of the calls of a module, by the name of the event or without what stands before it."""
    events = trace.events
    rows = np.concatenate((trace.python_frames.row, trace.operators.row)).astype(np.int64)
    prefixes = (NN_MODULE, LIGHTNING_MODULE)

    def wanted(text: str) -> bool:
        return text.startswith(prefixes) and name in (text, module_name(text))

    return rows[trace.strings.where(wanted, events.name[rows])[events.name[rows]]]


def items_of_rows(graph: Graph, rows: Int64) -> Int64:
    """Shape (rows,): the piece of work of each event, -1 for none."""
    order = np.argsort(graph.items.row, kind="stable")
    place = find(graph.items.row[order], rows)
    found: Int64 = np.append(order, -1)[place]
    return found


def innermost_operators(trace: Trace, graph: Graph, calls: Int64) -> Int64:
    """Shape (calls,): the position in `Graph.host` of the operator around each call, -1 for none.

    calls   indexes into Calls
    """
    host = graph.host
    is_operator: Bool = trace.events.category[host.row] == Category.OPERATOR
    order = np.argsort(host.row, kind="stable")
    place = np.append(order, -1)[find(host.row[order], graph.calls.row[calls])]
    return nearest(host.nesting.parent, is_operator, place).astype(np.int64)
