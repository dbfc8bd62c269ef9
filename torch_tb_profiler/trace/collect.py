"""Typed events, chunk by chunk → rows of the tables, row group by row group.

Chunks may be gathered by several processes: what one has `packed`, another takes with `put`, chunk after chunk in the
order of the file. Texts and tracks are then numbered as if one had gathered all, in the order in which they are first
seen.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64, UInt8
from torch_tb_profiler.trace.column_buffers import ArgumentBuffers, Columns, KeyCodes, TextCodes, getter
from torch_tb_profiler.trace.events import NO_ARGS, Event, RawEvents, attribute, counter_values
from torch_tb_profiler.trace.notes import Notes, note
from torch_tb_profiler.trace.schema import (
    TRACE_TABLES,
    Category,
    Chunks,
    Collectives,
    CounterValues,
    DeviceWork,
    EventPhase,
    Events,
    Flows,
    OperatorRanges,
    Syncs,
    TraceTable,
)
from torch_tb_profiler.trace.store import Header, TableWriter, TraceInfo
from torch_tb_profiler.trace.times import EventTimes
from torch_tb_profiler.trace.tracks import TrackDescription, TrackNumbers, number_or_text
from torch_tb_profiler.trace.vocabulary import (
    BARE_NAMES,
    INSTANTS,
    WAITS,
    category_of,
    graph_nodes,
    is_annotation_name,
    named,
    phase_of,
    replays_graphs,
)

# Which table has a row for an event beside `Events`: its number in this list. 0 is none; metadata describes tracks.
TABLES = (None, *(kind for kind in TRACE_TABLES if kind.categories))
_METADATA = len(TABLES)
_TABLE_OF_CATEGORY = (
    dict.fromkeys(Category, 0)
    | {category: i for i, kind in enumerate(TABLES) if kind for category in kind.categories}
    | {Category.METADATA: _METADATA}
)
#: numbers of tables as bytes → 1 where it is this one, for each
_IS_TABLE = [bytes(int(number == wanted) for number in range(256)) for wanted in range(_METADATA + 1)]

# what is the same in many events
_HEAD = struct.Struct("<BBBii")
HEADS = np.dtype([("phase", "u1"), ("category", "u1"), ("table", "u1"), ("name", "<i4"), ("track", "<i4")])
_TABLE_AT = 2
_COUNTER = int(EventPhase.COUNTER)  # the first byte of such a head
_Key = tuple[str, str | None, str | None, int | str | None, int | str | None]

# Tables with a second row for some of the events that have one in another table: those in which the first column with a
# source has a value; and what tables these have their first row in.
SECOND: tuple[tuple[type[TraceTable], tuple[type[TraceTable], ...], Callable[..., Any]], ...] = (
    (Collectives, (OperatorRanges, DeviceWork), getter(attribute(Collectives.schema()[1].source[0]))),
    (Syncs, (DeviceWork,), getter(attribute(Syncs.schema()[1].source[0]))),
)


class GatheredColumns(msgspec.Struct, array_like=True):
    """What some chunks hold, for `Gatherer.put`; texts and tracks by numbers of the one that gathered it.

    events: how many
    texts: those that were not in the chunks before, by their numbers, which follow
    chunks: offset, length and first event of each that has some
    arguments: of each table that has some, in the order of `TABLES`
    second: events and arguments of each table of `SECOND`
    """

    events: int
    texts: list[str]
    tracks: TrackDescription
    chunks: list[tuple[int, int, int]]
    heads: bytes
    times: list[bytes]
    counters: list[tuple[int, int, float]]
    flow_ids: bytes
    arguments: list[list[list[bytes]]]
    second: list[tuple[list[int], list[list[bytes]]]]


class NameNumbering:
    """What the numbers of another gatherer are here: of its texts an array, of its tracks a list."""

    def __init__(self) -> None:
        self.texts: Int32 = np.zeros(1, np.int32)  # the empty text is 0 everywhere
        self.tracks: list[int] = []


class Gatherer:
    """Takes the events of chunks in order.

    count: events so far
    """

    def __init__(self) -> None:
        self.count = 0
        self._strings = TextCodes()
        self._tracks = TrackNumbers()
        self._times = EventTimes()
        self._head_of = KeyCodes(self._new_head, lambda key: 256 + len(key[2] or ""))
        self._heads: list[bytes] = []
        self._chunks: list[tuple[int, int, int]] = []
        self._counters: list[tuple[int, int, float]] = []
        self._arguments = {
            kind: ArgumentBuffers(kind, self._strings.code) for kind in TABLES if kind and kind is not Flows
        }
        self._flow_ids: list[bytes] = []
        self._second = [ArgumentBuffers(kind, self._strings.code) for kind, _, _ in SECOND]
        self._second_rows: list[list[int]] = [[] for _ in SECOND]
        #: whether an event so far has a name that its arguments complete
        self._has_bare_names = False

    def _new_head(self, key: _Key) -> bytes:
        ph, cat, name, pid, tid = key
        phase = phase_of(ph)
        category = category_of(phase, cat or "")
        if phase == EventPhase.INSTANT and name in INSTANTS:
            category = INSTANTS[name]
        elif category == Category.OPERATOR and is_annotation_name(name or ""):
            # as files of 2021 write annotations
            category = Category.USER_ANNOTATION
        elif category == Category.KERNEL and name in WAITS:
            category = Category.SYNC
        self._has_bare_names |= BARE_NAMES.get(category) == name
        table = _TABLE_OF_CATEGORY[category]
        return _HEAD.pack(phase, category, table, self._strings.code(name), self._tracks.code(pid, tid))

    def add(self, events: list[Event], offset: int, length: int, text: Callable[[], bytes]) -> None:
        """Take the events of one chunk, whose text is `length` bytes at `offset`; asked for if it has counters."""
        if not events:
            return
        first_row = self.count
        self.count += len(events)
        self._chunks.append((offset, length, first_row))
        raws = RawEvents(text, len(events))
        heads = self._heads_of(events)
        if self._has_bare_names:
            events = named(events, raws)
            heads = self._heads_of(events)
        self._heads.append(heads)
        self._times.add(events)
        if _COUNTER in heads[:: _HEAD.size]:
            found = counter_values(raws, events, first_row)
            self._counters += [(row, self._strings.code(series), value) for row, series, value in found]
        self._add_arguments(events, first_row, heads[_TABLE_AT :: _HEAD.size], raws)

    def _heads_of(self, events: Sequence[Event]) -> bytes:
        head_of = self._head_of
        return b"".join([head_of[e.ph, e.cat, e.name, e.pid, e.tid] for e in events])

    def _add_arguments(self, events: Sequence[Event], first_row: int, tables: bytes, raws: RawEvents) -> None:
        """`tables`: for each event the number of its table, a byte each."""
        for number in sorted(set(tables)):
            chosen = compress(events, tables.translate(_IS_TABLE[number]))
            if number == _METADATA:
                for event in chosen:
                    self._tracks.describe(event)
                continue
            kind = TABLES[number]
            if kind is Flows:
                self._flow_ids.append(_flow_ids([event.id for event in chosen]).tobytes())
            elif kind:
                args = [event.args or NO_ARGS for event in chosen]
                if kind is DeviceWork and replays_graphs(args):
                    places = compress(range(len(events)), tables.translate(_IS_TABLE[number]))
                    args = graph_nodes(args, places, raws)
                self._arguments[kind].add(args)
                for second, (_, of, values_of) in enumerate(SECOND):
                    if kind in of and any(values := values_of(args)):
                        rows = [row for row, table in enumerate(tables, first_row) if table == number]
                        self._second_rows[second] += compress(rows, values)
                        self._second[second].add([*compress(args, values)])

    # between processes --------------------------------------------------------------------------------------

    def packed(self) -> GatheredColumns:
        """All that was gathered since this was last called, as events from 0 on."""
        gathered = GatheredColumns(
            self.count,
            self._strings.packed(),
            self._tracks.packed(),
            self._chunks,
            b"".join(self._heads),
            self._times.packed(),
            self._counters,
            b"".join(self._flow_ids),
            [arguments.packed() for arguments in self._arguments.values()],
            [(rows, arguments.packed()) for rows, arguments in zip(self._second_rows, self._second, strict=True)],
        )
        self.count = 0
        self._chunks, self._counters, self._second_rows = [], [], [[] for _ in SECOND]
        self._heads.clear()
        self._flow_ids.clear()
        return gathered

    def put(self, gathered: GatheredColumns, numbering: NameNumbering) -> None:
        """Take what another has gathered of the chunks that follow. numbering: its own, which is extended."""
        new = np.fromiter(map(self._strings.code, gathered.texts), np.int32)
        if len(new):
            numbering.texts = np.concatenate((numbering.texts, new))
        self._tracks.put(gathered.tracks, numbering.tracks)
        if not gathered.events:
            return
        texts, first_row = numbering.texts, self.count
        self.count += gathered.events
        self._chunks += [(offset, length, first_row + first) for offset, length, first in gathered.chunks]
        heads = np.frombuffer(gathered.heads, dtype=HEADS).copy()
        heads["name"] = texts[heads["name"]]
        heads["track"] = np.array(numbering.tracks, np.int32)[heads["track"]]
        self._heads.append(heads.tobytes())
        self._times.put(gathered.times)
        self._counters += [(first_row + row, int(texts[series]), value) for row, series, value in gathered.counters]
        self._flow_ids.append(gathered.flow_ids)
        for arguments, packed in zip(self._arguments.values(), gathered.arguments, strict=True):
            arguments.put(packed, texts)
        for second, (rows, packed) in enumerate(gathered.second):
            self._second_rows[second] += [first_row + row for row in rows]
            self._second[second].put(packed, texts)


def _flow_ids(ids: Sequence[int | str | None]) -> Int64:
    if set(map(type, ids)) == {int}:
        with contextlib.suppress(OverflowError):
            return np.array(ids, dtype=np.int64)
    numbers = map(number_or_text, ids)
    return np.array([n if isinstance(n, int) and abs(n) < 2**63 else -1 for n in numbers], dtype=np.int64)


#: events that are gathered before their rows are written: a step of numpy costs the same for few values as for many
ROW_GROUP = 1 << 17
#: chunks that one process decodes at once; row groups end where a batch ends, whoever has decoded it
BATCH_CHUNKS = 4
#: ids of arrows between nodes of a graph begin here, far beyond any correlation
FIRST_GRAPH_ARROW = 1 << 40


class Collector(Gatherer):
    """Takes the events of a file in order and writes their rows to a writer, a row group at a time.

    chunks_taken: so far
    """

    def __init__(self, writer: TableWriter) -> None:
        super().__init__()
        self.chunks_taken = 0
        self._writer = writer
        self._written = 0

    def add(self, events: list[Event], offset: int, length: int, text: Callable[[], bytes]) -> None:
        super().add(events, offset, length, text)
        self._took(1)

    def put_chunks(self, chunks: int, gathered: GatheredColumns, numbering: NameNumbering) -> None:
        """`put` what so many chunks hold, all of one batch."""
        self.put(gathered, numbering)
        self._took(chunks)

    def _took(self, chunks: int) -> None:
        self.chunks_taken += chunks
        if self.count - self._written >= ROW_GROUP and self.chunks_taken % BATCH_CHUNKS == 0:
            self._write()

    # writing, row group by row group ------------------------------------------------------------------------

    def _write(self) -> None:
        """Hand what was gathered to the writer: memory stays the same however long the file is."""
        first_row, self._written = self._written, self.count
        heads = np.frombuffer(b"".join(self._heads), dtype=HEADS)
        self._heads.clear()
        phase, category = heads["phase"].copy(), heads["category"].copy()
        flow_ids = np.frombuffer(b"".join(self._flow_ids), np.int64)
        self._flow_ids.clear()
        _tell_graph_arrows(category, flow_ids)
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
        for number, kind in enumerate(TABLES):
            rows = np.flatnonzero(tables == number)
            if kind and len(rows):
                columns = {"id": flow_ids} if kind is Flows else self._arguments[kind].take()
                if kind is DeviceWork:
                    self._complete_work(columns, heads["track"][rows])
                self._writer.add(kind, {"row": rows + first_row, **columns})
        for (second, _, _), arguments, numbers in zip(SECOND, self._second, self._second_rows, strict=True):
            if not numbers:
                continue
            columns = arguments.take()
            columns["row"] = np.array(numbers)
            numbers.clear()
            # those of several tables, chunk by chunk
            order = np.argsort(columns["row"], kind="stable")
            self._writer.add(second, {name: values[order] for name, values in columns.items()})

    def _complete_work(self, columns: Columns, track: Int32) -> None:
        """Return the columns that follow from the track and other columns of device work."""
        device = columns["device"]
        columns["device"] = np.where(device < 0, self._tracks.devices()[track], device)
        # Kineto may write the graph's id in the upper half of a node's
        node = columns["graph_node_id"]
        graph = node >> 32
        columns["graph_id"] = np.where((columns["graph_id"] < 0) & (graph > 0), graph, columns["graph_id"])
        columns["graph_node_id"] = np.where(node < 0, node, node & 0xFFFFFFFF)

    # the end ------------------------------------------------------------------------------------------------

    def finish(self, header: Header, notes: Notes, text_bytes: int) -> TraceInfo:
        """Write the rest, and say what the trace is."""
        if self.count > self._written:
            self._write()
        for each in self._times.notes():
            notes.add(each)
        impossible = sum(arguments.impossible for arguments in self._arguments.values())
        if impossible:
            notes.add(note("impossible_numbers", "warning", impossible, ("kernels",)))
        first = self._times.first_ns or 0
        origin = (self._times.origin_us or 0) * 1000 + first + (header.base_time_ns or 0)
        return TraceInfo(header, self._strings.texts, self._tracks.all(), origin, first, tuple(notes), text_bytes)


def _tell_graph_arrows(category: UInt8, flow_ids: Int64) -> None:
    """Arrows between nodes of a graph are written as those from launches are, with ids of their own range.

    flow_ids: of the events that have one, in their order
    """
    if flow_ids.max(initial=0) >= FIRST_GRAPH_ARROW:
        flows = np.flatnonzero(np.isin(category, Flows.categories))
        between_nodes = (flow_ids >= FIRST_GRAPH_ARROW) & (category[flows] == Category.FLOW_LAUNCH)
        category[flows[between_nodes]] = Category.FLOW_GRAPH
