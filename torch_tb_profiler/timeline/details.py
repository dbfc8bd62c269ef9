"""Everything about one slice."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.analysis.shared.kernel_use import blocks_per_sm, known_occupancy
from torch_tb_profiler.analysis.shared.owners import name_owner
from torch_tb_profiler.arrays.lookup import find
from torch_tb_profiler.arrays.order import median, percentile
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model.owners import MissingOwner, OwnerKind
from torch_tb_profiler.timeline.enclosing import (
    ChainLink,
    SliceReference,
    chain_of,
    enclosing,
    launch_of,
    launched_by,
    reference,
    self_time,
    work_of,
)
from torch_tb_profiler.timeline.flows import Flow, flows_of
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.tree import tree_of
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK, JSON_TEXT, TRACE_TABLES, DeviceWork, TraceColumn

MOST_LAUNCHED = 100
MOST_FLOWS = 200
HISTOGRAM_BINS = 30

MODULE = "nn.Module: "

#: what has columns of arguments
_TABLES = tuple(table for table in TRACE_TABLES if any(column.source for column in table.schema()))
#: larger integers are no numbers of JavaScript
_EXACT = 2**53


class DurationHistogram(msgspec.Struct, frozen=True):
    """Bins of equal width on a logarithmic scale.

    edges_ns  where bins begin and end: one more than counts
    counts    how many slices each bin has
    """

    edges_ns: tuple[float, ...]
    counts: tuple[int, ...]


class SameName(msgspec.Struct, frozen=True):
    """All slices of one name.

    count        how many there are
    total_ns     Σ of their durations
    mean_ns      mean duration
    min_ns       the shortest duration
    median_ns    median duration
    p95_ns       95th percentile of the durations
    max_ns       the longest duration
    longest_row  row of the longest one, of equals the first
    position     how many begin before this one
    histogram    of their durations; null if all are equally long
    """

    count: int
    total_ns: int
    mean_ns: float
    min_ns: int
    median_ns: float
    p95_ns: float
    max_ns: int
    longest_row: int
    position: int
    histogram: DurationHistogram | None


class StackFrame(msgspec.Struct, frozen=True):
    """A Python frame around a slice.

    row    number of the frame's event
    frame  file, line and function
    """

    row: int
    frame: str


class LaunchedWork(msgspec.Struct, frozen=True):
    """Device work that was started inside a slice.

    total     how many pieces of it there are
    total_ns  Σ of durations of all of it
    slices    the longest of it, at most 100
    """

    total: int
    total_ns: int
    slices: tuple[SliceReference, ...]


class Owner(msgspec.Struct, frozen=True):
    """Whom device work belongs to.

    how       operator, compiled, annotated, graph_node, annotation, module, frame, thread, inferred or none
    reason    why there is none: host_not_recorded, before_recording, no_correlation, launch_lost or
              ambiguous; null for others
    text      the owner in words
    name      only its name; null for none
    slice     the operator, annotation or frame; null for none, and for what is not drawn
    evidence  for a node of a graph, the call that captured it; for an inferred owner, the work it is like; otherwise
              null
    """

    how: str
    reason: str | None
    text: str
    name: str | None
    slice: SliceReference | None
    evidence: SliceReference | None


class Details(SliceReference, frozen=True):
    """Everything about one slice.

    track       id of the track it is on
    name_id     number of its name
    self_ns     its duration less what its children in its own band cover
    args        what the columns hold of its arguments, by the names that the file uses
    computed    of a kernel its blocks per SM and its occupancy (%) where they follow from its launch and are missing
                in the file, or impossible there; by the names that files use
    parents     the slices of its track that enclose it, outermost first
    stack       Python frames around it (of device work: around its launch), outermost first
    call_stack  frames of the argument `Call stack`, innermost first
    modules     nn.Module calls around it, outermost first
    launch      of device work the call that started it
    launched    device work that was started inside it
    operator    of device work and of API calls the innermost operator around the call
    owner       for device work, what it belongs to, and how that is known
    forward     of an operator of the backward pass those that it belongs to
    backward    of an operator of the forward pass those that belong to it
    chain       from the program to the device: what caused it and what it caused; empty if it is in no chain
    flows       arrows from it and to it, at most 200
    same_name   all slices of its name
    """

    track: int
    name_id: int
    self_ns: int
    args: dict[str, Any]
    computed: dict[str, float]
    parents: tuple[SliceReference, ...]
    stack: tuple[StackFrame, ...]
    call_stack: tuple[str, ...]
    modules: tuple[str, ...]
    launch: SliceReference | None
    launched: LaunchedWork
    operator: SliceReference | None
    owner: Owner | None
    forward: tuple[SliceReference, ...]
    backward: tuple[SliceReference, ...]
    chain: tuple[ChainLink, ...]
    flows: tuple[Flow, ...]
    same_name: SameName


def details(timeline: Timeline, row: int) -> Details:
    """Describe a row that is on a lane."""
    trace, events = timeline.trace, timeline.trace.events
    start, end = int(events.start[row]), int(events.end[row])
    parents = [parent for parent in enclosing(timeline, int(events.track[row]), start, end) if parent != row]
    launch = launch_of(timeline, row)
    is_call = events.category[row] in (Category.RUNTIME, Category.DRIVER)
    around = parents if launch is None else _around(timeline, launch)
    partners = timeline.links.partners
    work = launched_by(timeline, row) if _is_on_host(timeline, row) else np.empty(0, np.int64)
    args = arguments(trace, row)
    calls = args.get("Call stack")
    return Details(
        **asdict(reference(timeline, row)),
        track=int(tree_of(timeline).lanes.node[timeline.placed.of_row[row]]),
        name_id=int(timeline.names.number[events.name[row]]),
        self_ns=self_time(timeline, row),
        args=args,
        computed=computed(trace, row),
        parents=_references(timeline, parents),
        stack=tuple(
            StackFrame(frame, trace.strings[events.name[frame]])
            for frame in around
            if events.category[frame] == Category.PYTHON_FUNCTION
        ),
        call_stack=tuple(calls.split(";")) if isinstance(calls, str) else (),
        modules=_modules(trace, [*around, row]),
        launch=None if launch is None else reference(timeline, launch),
        launched=LaunchedWork(
            len(work), int(events.duration[work].sum()), _references(timeline, work[:MOST_LAUNCHED].tolist())
        ),
        operator=_operator(timeline, around) if launch is not None or is_call else None,
        owner=_owner(timeline, row, launch),
        forward=_references(timeline, partners.forward[partners.backward == row].tolist()),
        backward=_references(timeline, partners.backward[partners.forward == row].tolist()),
        chain=chain_of(timeline, row),
        flows=flows_of(timeline, row, MOST_FLOWS),
        same_name=same_name(timeline, row),
    )


def _is_on_host(timeline: Timeline, row: int) -> bool:
    return bool(timeline.device_of_track[timeline.trace.events.track[row]] < 0)


def _around(timeline: Timeline, row: int) -> list[int]:
    """Return the rows of what encloses a slice, and of the slice itself."""
    events = timeline.trace.events
    return enclosing(timeline, int(events.track[row]), int(events.start[row]), int(events.end[row]))


def _operator(timeline: Timeline, around: list[int]) -> SliceReference | None:
    operators = [row for row in around if timeline.trace.events.category[row] == Category.OPERATOR]
    return reference(timeline, operators[-1]) if operators else None


def _owner(timeline: Timeline, row: int, launch: int | None) -> Owner | None:
    trace, links, work = timeline.trace, timeline.links.work, work_of(timeline, row)
    if work < 0 or trace.events.category[row] not in DEVICE_WORK:
        return None
    how, why = OwnerKind(links.how[work]), MissingOwner(links.reason[work])
    launched = -1 if launch is None else int(trace.events.name[launch])
    annotation = int(trace.device_work.annotation[work])
    found = name_owner(trace, how, why, int(links.owner[work]), launched, annotation)
    told = how in (OwnerKind.GRAPH_NODE, OwnerKind.INFERRED)
    return Owner(
        how=found.how,
        reason=found.reason,
        text=found.text,
        name=found.name,
        slice=_drawn(timeline, int(links.owner[work])),
        evidence=_drawn(timeline, int(links.evidence[work])) if told else None,
    )


def _drawn(timeline: Timeline, row: int) -> SliceReference | None:
    return reference(timeline, row) if row >= 0 and timeline.placed.of_row[row] >= 0 else None


def _references(timeline: Timeline, rows: list[int]) -> tuple[SliceReference, ...]:
    return tuple(reference(timeline, row) for row in rows)


def _modules(trace: Trace, rows: list[int]) -> tuple[str, ...]:
    names = (trace.strings[trace.events.name[row]] for row in rows)
    return tuple(name.removeprefix(MODULE) for name in names if name.startswith(MODULE))


def arguments(trace: Trace, row: int) -> dict[str, Any]:
    """Return what the columns hold of an event's `args`, by the names that files use."""
    values: dict[str, Any] = {}
    for kind in _TABLES:
        table = trace.table(kind)
        rows: Int32 = getattr(table, "row")  # noqa: B009 - every one of these tables has it
        place = int(find(rows, np.array([row]))[0])
        if place < 0:
            continue
        for column in kind.schema():
            value = _argument(trace, getattr(table, column.name)[place], column) if column.source else None
            if value is not None:
                values[column.source[0]] = value
    return values


def computed(trace: Trace, row: int) -> dict[str, float]:
    """Blocks per SM and occupancy of a kernel, where they are not the recorded ones."""
    if trace.events.category[row] != Category.KERNEL:
        return {}
    work = trace.device_work.take(find(trace.device_work.row, np.array([row])))
    sources = {column.name: column.source[0] for column in DeviceWork.schema() if column.source}
    values = {
        "blocks_per_sm": (blocks_per_sm(trace, work), work.blocks_per_sm),
        "occupancy": (known_occupancy(trace, work), work.occupancy),
    }
    return {
        sources[name]: float(known[0])
        for name, (known, recorded) in values.items()
        if not np.isnan(known[0]) and known[0] != recorded[0]
    }


def _argument(trace: Trace, value: np.generic, column: TraceColumn) -> Any:
    """Return a value as Python and JSON have it; None for missing. Where 0 stands for missing it is shown."""
    if column.is_string:
        text = trace.strings[int(value)]
        return _parsed(text) if column.unit == JSON_TEXT and text else text or None
    number = value.item()
    if isinstance(number, float):
        return None if np.isnan(number) else number
    if number == column.missing == -1:
        return None
    return number if abs(number) < _EXACT else str(number)


def _parsed(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def same_name(timeline: Timeline, row: int) -> SameName:
    """Describe all slices with the name of `row`."""
    events = timeline.trace.events
    rows = timeline.rows_named(int(events.name[row]))
    duration = np.maximum(events.duration[rows], 0)
    start = events.start[rows]
    before = (start < events.start[row]) | ((start == events.start[row]) & (rows < row))
    longest = rows[np.lexsort((rows, start, -duration))[0]]
    return SameName(
        count=len(rows),
        total_ns=int(duration.sum()),
        mean_ns=float(duration.mean()),
        min_ns=int(duration.min()),
        median_ns=median(duration),
        p95_ns=percentile(duration, 95),
        max_ns=int(duration.max()),
        longest_row=int(longest),
        position=int(np.count_nonzero(before)),
        histogram=_histogram(duration),
    )


def _histogram(duration: Int64) -> DurationHistogram | None:
    low, high = int(duration.min()), int(duration.max())
    if low == high:
        return None
    edges = np.geomspace(max(low, 1), high, HISTOGRAM_BINS + 1)
    edges[0], edges[-1] = low, high
    if any(a >= b for a, b in pairwise(edges.tolist())):  # a few ns apart
        edges = np.linspace(low, high, HISTOGRAM_BINS + 1)
    return DurationHistogram(tuple(edges.tolist()), tuple(np.histogram(duration, edges)[0].tolist()))


def neighbour(timeline: Timeline, row: int, forwards: bool) -> SliceReference | None:
    """Return the next or previous slice of the same name, in the order of start and row."""
    events = timeline.trace.events
    rows = timeline.rows_named(int(events.name[row]))
    rows = rows[np.lexsort((rows, events.start[rows]))]
    place = int(np.flatnonzero(rows == row)[0]) + (1 if forwards else -1)
    return reference(timeline, int(rows[place])) if 0 <= place < len(rows) else None
