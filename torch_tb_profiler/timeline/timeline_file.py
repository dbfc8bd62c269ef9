"""Build a timeline, and keep on disk what costs more to compute than to read. The rest is in its trace."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.codec import convert
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.counters import is_whole, with_counters
from torch_tb_profiler.timeline.lanes import Placed, place
from torch_tb_profiler.timeline.links import Links, TimelineInputs, inputs_of
from torch_tb_profiler.timeline.pyramid import Bounded, PyramidItems, bounded, pyramid
from torch_tb_profiler.timeline.schema import (
    BusyTracks,
    CallLinks,
    CounterBins,
    LaneOfRow,
    Lanes,
    MemoryPlaces,
    MemoryPoints,
    Partners,
    PyramidCells,
    WorkLinks,
)
from torch_tb_profiler.timeline.series import Counter, CounterKind, TimelineCounters
from torch_tb_profiler.timeline.summary import TimelineSummary, summarize
from torch_tb_profiler.timeline.timeline import Timeline, extent_of, slices_of
from torch_tb_profiler.trace import Trace, column_file
from torch_tb_profiler.trace.schema import DeviceWork, Events, Launches, TraceTable

#: raised when what is kept, or its meaning, changes
VERSION = 5

#: rows of a table written together: the fewer, the closer a block is to its values
_PIECE = 131_072


class _Head(msgspec.Struct):
    version: int
    events: int
    loose: int
    counters: list[tuple[CounterKind, str, int]]
    counter_level: int
    summary: TimelineSummary


def write(timeline: Timeline, path: Path) -> None:
    """Write a timeline to a file. Raises OSError."""
    head = _Head(
        VERSION,
        len(timeline.trace.events),
        timeline.links.loose,
        [(counter.kind, counter.device, counter.place) for counter in timeline.counters.listed],
        timeline.counters.level,
        timeline.summary,
    )
    with column_file.Writer(path) as out:
        for table in _tables(timeline):
            columns = table.columns()
            for first in range(0, len(table), _PIECE):
                out.add(type(table), {name: values[first : first + _PIECE] for name, values in columns.items()})
        out.finish_tables(msgspec.to_builtins(head))


def _tables(timeline: Timeline) -> list[TraceTable]:
    placed = timeline.placed
    links = timeline.links
    tables: list[TraceTable] = [LaneOfRow(placed.of_row), placed.lanes, placed.busy]
    tables += [links.work, links.calls, links.partners]
    tables += [timeline.counters.bins, _places(timeline.counters.memory, timeline.trace)]
    for level, held in sorted(timeline.levels.items()):
        items = held.items
        if level:
            tables.append(PyramidCells(np.full(len(items), level, np.int32), items.count, items.longest))
    return tables


def read(path: Path, trace: Trace) -> Timeline:
    """Read a timeline from a file. Raises ColumnFileError."""
    tables = column_file.open_tables(path)
    head = _head(tables)
    if head.events != len(trace.events):
        raise column_file.ColumnFileError("belongs to another trace")
    placed = Placed(tables.table(Lanes), tables.table(LaneOfRow).lane, tables.table(BusyTracks))
    lanes = len(placed.lanes)
    slices = slices_of(trace, placed)
    if extent_of(slices) != (head.summary.begin_ns, head.summary.end_ns):
        raise column_file.ColumnFileError("has other slices")
    levels = {0: bounded(slices, lanes), **_levels(tables.table(PyramidCells), slices, lanes)}
    links = Links(tables.table(WorkLinks), tables.table(CallLinks), tables.table(Partners), head.loose)
    counters = TimelineCounters(
        tuple(Counter(*counter) for counter in head.counters),
        head.counter_level,
        tables.table(CounterBins),
        _points(tables.table(MemoryPlaces), trace),
    )
    timeline = Timeline(trace, placed, levels, links, head.summary, counters)
    if not is_whole(timeline):
        raise column_file.ColumnFileError("has counters of another trace")
    return timeline


def read_summary(path: Path) -> TimelineSummary:
    """Read the summary alone. Raises ColumnFileError."""
    return _head(column_file.open_tables(path)).summary


def is_there(path: Path) -> bool:
    """Return whether a timeline of this version was written there."""
    try:
        read_summary(path)
    except column_file.ColumnFileError:
        return False
    return True


def _head(tables: column_file.Tables) -> _Head:
    if tables.header.get("version") != VERSION:
        raise column_file.ColumnFileError("is a timeline of another version")
    try:
        return convert(tables.header, _Head)
    except msgspec.ValidationError as error:
        raise column_file.ColumnFileError(str(error)) from None


def _record_times(trace: Trace) -> Int64:
    return np.sort(trace.events.start[trace.memory.row])


def _places(memory: MemoryPoints, trace: Trace) -> MemoryPlaces:
    if not len(memory):
        return MemoryPlaces.empty()
    times = _record_times(trace)
    record = np.minimum(np.searchsorted(times, memory.time), len(times) - 1)
    return MemoryPlaces.from_columns(
        {**memory.columns(), "record": record, "ahead": times[record] - memory.time},
    )


def _points(places: MemoryPlaces, trace: Trace) -> MemoryPoints:
    if not len(places):
        return MemoryPoints.empty()
    times = _record_times(trace)
    if places.record.max() >= len(times):
        raise column_file.ColumnFileError("has memory of another trace")
    return MemoryPoints.from_columns({**places.columns(), "time": times[places.record] - places.ahead})


def _levels(cells: PyramidCells, slices: PyramidItems, lanes: int) -> dict[int, Bounded]:
    """Rebuild the cells of each level from what their slices say."""
    before = np.concatenate([[0], np.cumsum(slices.end - slices.start)])
    levels = {}
    bounds = np.flatnonzero(np.diff(cells.level, prepend=-1, append=-1))
    for low, high in pairwise(bounds.tolist()):
        count = cells.count[low:high]
        after = np.cumsum(count, dtype=np.int64)
        first = after - count
        if after[-1] != len(slices):
            raise column_file.ColumnFileError("has cells of other slices")
        start, end = slices.start[first], slices.end[after - 1]
        idle = end - start - (before[after] - before[first])
        items = PyramidItems(slices.lane[first], start, end, idle, count, cells.longest[low:high])
        levels[int(cells.level[low])] = bounded(items, lanes)
    return levels


#: tables that a timeline is made of
_NEEDED = (Events, Launches, DeviceWork)


def build(model: Model, inputs: TimelineInputs | None = None) -> Timeline:
    """Place all slices and merge them level by level.

    inputs   what is needed of the model, if that is known already

    The model is released: what it holds would be in memory beside the timeline.
    """
    inputs = inputs or inputs_of(model)
    release(model)
    return _assemble(model.trace, inputs)


def release(model: Model) -> None:
    """Free all data that a timeline does not need; it is loaded again on demand."""
    model.clear()
    model.trace.forget(but=_NEEDED)


def _assemble(trace: Trace, inputs: TimelineInputs) -> Timeline:
    placed = place(trace)
    slices = slices_of(trace, placed)
    begin, end = extent_of(slices)
    kept = pyramid(slices, trace.events.duration, begin, end)
    levels = {level: bounded(items, len(placed.lanes)) for level, items in {0: slices, **kept}.items()}
    summary = summarize(trace, inputs, placed, begin, end)
    return with_counters(Timeline(trace, placed, levels, inputs.links, summary), inputs.curves)
