"""Typed events, chunk by chunk → rows of the tables, row group by row group."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.trace.arguments import Arguments
from torch_tb_profiler.trace.column_buffers import Codes, TextCodes, getter
from torch_tb_profiler.trace.counter_events import counter_values
from torch_tb_profiler.trace.events import NO_ARGS, Event, attribute
from torch_tb_profiler.trace.notes import Note, Notes
from torch_tb_profiler.trace.schema import (
    TRACE_TABLES,
    Category,
    Chunks,
    Collectives,
    CounterValues,
    DeviceWork,
    Events,
    Flows,
    Operators,
    Phase,
    Syncs,
    Table,
)
from torch_tb_profiler.trace.store import Header
from torch_tb_profiler.trace.table_writer import TableWriter, TraceInfo
from torch_tb_profiler.trace.times import Times
from torch_tb_profiler.trace.tracks import Tracks, number_or_text
from torch_tb_profiler.trace.vocabulary import INSTANTS, WAITS, category_of, is_annotation_name, phase_of

#: events that are gathered before their rows are written: a step of numpy costs the same for few values as for many
ROW_GROUP = 1 << 17

# Which table has a row for an event beside `Events`: its number in this list. 0 is none; metadata describes tracks.
_TABLES = (None, *(kind for kind in TRACE_TABLES if kind.categories))
_METADATA = len(_TABLES)
_TABLE_OF_CATEGORY = (
    dict.fromkeys(Category, 0)
    | {category: i for i, kind in enumerate(_TABLES) if kind for category in kind.categories}
    | {Category.METADATA: _METADATA}
)
#: numbers of tables as bytes → 1 where it is this one, for each
_IS_TABLE = [bytes(int(number == wanted) for number in range(256)) for wanted in range(_METADATA + 1)]

# what is the same in many events
_HEAD = struct.Struct("<BBBii")
_HEADS = np.dtype([("phase", "u1"), ("category", "u1"), ("table", "u1"), ("name", "<i4"), ("track", "<i4")])
_TABLE_AT = 2
_COUNTER = int(Phase.COUNTER)  # the first byte of such a head
_Key = tuple[str, str | None, str | None, int | str | None, int | str | None]

# Tables with a second row for some of the events that have one in another table: those in which the first column with a
# source has a value; and what tables these have their first row in.
_SECOND: tuple[tuple[type[Table], tuple[type[Table], ...], Callable[..., Any]], ...] = (
    (Collectives, (Operators, DeviceWork), getter(attribute(Collectives.schema()[1].source[0]))),
    (Syncs, (DeviceWork,), getter(attribute(Syncs.schema()[1].source[0]))),
)


class Collector:
    """Takes the events of a file in order and writes their rows to a writer, a row group at a time.

    count: events so far
    """

    def __init__(self, writer: TableWriter) -> None:
        self.count = 0
        self._writer = writer
        self._written = 0
        self._strings = TextCodes()
        self._tracks = Tracks()
        self._times = Times()
        self._head_of = Codes(self._new_head, lambda key: 256 + len(key[2] or ""))
        self._heads: list[bytes] = []
        self._chunks: list[tuple[int, int, int]] = []
        self._counters: list[tuple[int, int, float]] = []
        self._arguments = {kind: Arguments(kind, self._strings.code) for kind in _TABLES if kind and kind is not Flows}
        self._flow_ids: list[Int64] = []
        self._second = {kind: Arguments(kind, self._strings.code) for kind, _, _ in _SECOND}
        self._second_rows: dict[type[Table], list[int]] = {kind: [] for kind, _, _ in _SECOND}

    def _new_head(self, key: _Key) -> bytes:
        ph, cat, name, pid, tid = key
        phase = phase_of(ph)
        category = category_of(phase, cat or "")
        if phase == Phase.INSTANT and name in INSTANTS:
            category = INSTANTS[name]
        elif category == Category.OPERATOR and is_annotation_name(name or ""):
            # as files of 2021 write annotations
            category = Category.USER_ANNOTATION
        elif category == Category.KERNEL and name in WAITS:
            category = Category.SYNC
        table = _TABLE_OF_CATEGORY[category]
        return _HEAD.pack(phase, category, table, self._strings.code(name), self._tracks.code(pid, tid))

    # gathering, chunk by chunk ------------------------------------------------------------------------------

    def add(self, events: list[Event], offset: int, length: int, text: Callable[[], bytes]) -> None:
        """Take the events of one chunk, whose text is `length` bytes at `offset`; asked for if it has counters."""
        if not events:
            return
        first_row = self.count
        self.count += len(events)
        self._chunks.append((offset, length, first_row))
        head_of = self._head_of
        heads = b"".join([head_of[e.ph, e.cat, e.name, e.pid, e.tid] for e in events])
        self._heads.append(heads)
        self._times.add(events)
        if _COUNTER in heads[:: _HEAD.size]:
            found = counter_values(text(), events, first_row)
            self._counters += [(row, self._strings.code(series), value) for row, series, value in found]
        self._add_arguments(events, first_row, heads[_TABLE_AT :: _HEAD.size])
        if self.count - self._written >= ROW_GROUP:
            self._write()

    def _add_arguments(self, events: Sequence[Event], first_row: int, tables: bytes) -> None:
        """`tables`: for each event the number of its table, a byte each."""
        for number in sorted(set(tables)):
            chosen = compress(events, tables.translate(_IS_TABLE[number]))
            if number == _METADATA:
                for event in chosen:
                    self._tracks.describe(event)
                continue
            kind = _TABLES[number]
            if kind is Flows:
                self._flow_ids.append(_flow_ids([event.id for event in chosen]))
            elif kind:
                args = [event.args or NO_ARGS for event in chosen]
                self._arguments[kind].add(args)
                for second, of, values_of in _SECOND:
                    if kind in of and any(values := values_of(args)):
                        rows = [row for row, table in enumerate(tables, first_row) if table == number]
                        self._second_rows[second] += compress(rows, values)
                        self._second[second].add([*compress(args, values)])

    # writing, row group by row group ------------------------------------------------------------------------

    def _write(self) -> None:
        """Hand what was gathered to the writer: memory stays the same however long the file is."""
        first_row, self._written = self._written, self.count
        heads = np.frombuffer(b"".join(self._heads), dtype=_HEADS)
        self._heads.clear()
        phase, category = heads["phase"].copy(), heads["category"].copy()
        start, duration = self._times.take(phase, category)
        self._writer.add(
            Events,
            {
                "phase": phase,
                "category": category,
                "name": heads["name"],
                "track": heads["track"],
                "start": start,
                "duration": duration,
            },
        )
        chunks = np.array(self._chunks, dtype=np.int64).reshape(-1, 3)
        self._chunks.clear()
        self._writer.add(Chunks, {"offset": chunks[:, 0], "length": chunks[:, 1], "first_row": chunks[:, 2]})
        if self._counters:
            row, series, value = zip(*self._counters, strict=True)
            self._counters.clear()
            columns = {"row": np.array(row), "series": np.array(series), "value": np.array(value, np.float64)}
            self._writer.add(CounterValues, columns)
        tables = heads["table"].copy()
        for number, kind in enumerate(_TABLES):
            rows = np.flatnonzero(tables == number)
            if kind and len(rows):
                self._write_table(kind, rows, first_row, heads["track"])
        for second, numbers in self._second_rows.items():
            if not numbers:
                continue
            columns = self._second[second].take()
            columns["row"] = np.array(numbers)
            numbers.clear()
            # those of several tables, chunk by chunk
            order = np.argsort(columns["row"], kind="stable")
            self._writer.add(second, {name: values[order] for name, values in columns.items()})

    def _write_table(self, kind: type[Table], rows: Int64, first_row: int, track: Int32) -> None:
        """`rows`: which of the events since `first_row` have a row in the table; `track`: of all of these."""
        if kind is Flows:
            columns = {"id": np.concatenate(self._flow_ids)}
            self._flow_ids.clear()
        else:
            columns = self._arguments[kind].take()
        if kind is DeviceWork:
            device = columns["device"]
            columns["device"] = np.where(device < 0, self._tracks.devices()[track[rows]], device)
        self._writer.add(kind, {"row": rows + first_row, **columns})

    # the end ------------------------------------------------------------------------------------------------

    def finish(self, header: Header, notes: Notes, text_bytes: int) -> TraceInfo:
        """Write the rest, and say what the trace is."""
        if self.count > self._written:
            self._write()
        for note in self._times.notes():
            notes.add(note)
        impossible = sum(arguments.impossible for arguments in self._arguments.values())
        if impossible:
            text = "Numbers of kernels and copies that no device can have were left out."
            notes.add(Note("impossible_numbers", "warning", text, impossible, ("kernels",)))
        first = self._times.first_ns or 0
        origin = (self._times.origin_us or 0) * 1000 + first + (header.base_time_ns or 0)
        return TraceInfo(header, self._strings.texts, self._tracks.all(), origin, first, tuple(notes), text_bytes)


def _flow_ids(ids: Sequence[int | str | None]) -> Int64:
    if set(map(type, ids)) == {int}:
        with contextlib.suppress(OverflowError):
            return np.array(ids, dtype=np.int64)
    numbers = map(number_or_text, ids)
    return np.array([n if isinstance(n, int) and abs(n) < 2**63 else -1 for n in numbers], dtype=np.int64)
