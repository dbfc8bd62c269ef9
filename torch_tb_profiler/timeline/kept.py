"""A timeline on disk: what of it costs more to compute than to read. The rest is made of the columns of its trace."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from torch_tb_profiler.timeline.lanes import Placed
from torch_tb_profiler.timeline.levels import Items
from torch_tb_profiler.timeline.links import Links
from torch_tb_profiler.timeline.schema import (
    BusyTracks,
    CellBounds,
    Cells,
    CounterBins,
    LaneOfRow,
    Lanes,
    MemoryPoints,
    Partners,
    WorkLinks,
)
from torch_tb_profiler.timeline.series import Counter, Counters, Kind
from torch_tb_profiler.timeline.summary import Summary
from torch_tb_profiler.timeline.timeline import Bounded, Timeline, bounded, slices_of
from torch_tb_profiler.trace import Trace, column_file
from torch_tb_profiler.trace.schema import Table

#: raised when what is kept, or its meaning, changes; part of the version that browsers cache tiles by
VERSION = 1

#: rows of a table written together: the fewer, the closer a block is to its values
_PIECE = 131_072


class _Head(msgspec.Struct):
    version: int
    events: int
    loose: int
    counters: list[tuple[Kind, str, int]]
    counter_level: int
    summary: Summary


def write(timeline: Timeline, path: Path) -> None:
    """Raises OSError."""
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


def _tables(timeline: Timeline) -> list[Table]:
    placed = timeline.placed
    links = timeline.links
    tables: list[Table] = [LaneOfRow(placed.of_row), placed.lanes, placed.busy, links.work, links.partners]
    tables += [timeline.counters.bins, timeline.counters.memory]
    done = 0
    for level, held in sorted(timeline.levels.items()):
        if not level:
            continue
        items = held.items
        length = items.end - items.start
        tables.append(Cells(items.start, length, items.idle, items.count, items.longest))
        tables.append(CellBounds(np.full(len(held.first), level, np.int32), held.first + done))
        done += len(items)
    return tables


def read(path: Path, trace: Trace) -> Timeline:
    """Raises OSError and ColumnFileError."""
    tables = column_file.open_tables(path)
    head = _head(tables)
    if head.events != len(trace.events):
        raise column_file.ColumnFileError("belongs to another trace")
    placed = Placed(tables.table(Lanes), tables.table(LaneOfRow).lane, tables.table(BusyTracks))
    lanes = len(placed.lanes)
    levels = {0: bounded(slices_of(trace, placed.of_row), lanes), **_levels(tables, lanes)}
    links = Links(tables.table(WorkLinks), tables.table(Partners), head.loose)
    counters = Counters(
        tuple(Counter(*counter) for counter in head.counters),
        head.counter_level,
        tables.table(CounterBins),
        tables.table(MemoryPoints),
    )
    return Timeline(trace, placed, levels, links, head.summary, counters)


def read_summary(path: Path) -> Summary:
    """Without the rest. Raises OSError and ColumnFileError."""
    return _head(column_file.open_tables(path)).summary


def _head(tables: column_file.Tables) -> _Head:
    if tables.header.get("version") != VERSION:
        raise column_file.ColumnFileError("is a timeline of another version")
    try:
        return msgspec.convert(tables.header, _Head)
    except msgspec.ValidationError as error:
        raise column_file.ColumnFileError(str(error)) from None


def _levels(tables: column_file.Tables, lanes: int) -> dict[int, Bounded]:
    cells, bounds = tables.table(Cells), tables.table(CellBounds)
    found = {}
    for level in np.unique(bounds.level).tolist():
        first = bounds.first[bounds.level == level]
        low, high = int(first[0]), int(first[-1])
        start = cells.start[low:high]
        items = Items(
            np.repeat(np.arange(lanes, dtype=np.int32), np.diff(first)),
            start,
            start + cells.length[low:high],
            cells.idle[low:high],
            cells.count[low:high],
            cells.longest[low:high],
        )
        found[level] = Bounded(items, first - low)
    return found
