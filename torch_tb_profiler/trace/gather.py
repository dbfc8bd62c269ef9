"""Typed events, chunk by chunk → what becomes their rows, gathered in buffers.

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

from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.trace.arguments import Arguments
from torch_tb_profiler.trace.column_buffers import Codes, TextCodes, getter
from torch_tb_profiler.trace.counter_events import counter_values
from torch_tb_profiler.trace.events import NO_ARGS, Event, attribute
from torch_tb_profiler.trace.python_exporter import BARE_NAMES, graph_nodes, named, replays_graphs
from torch_tb_profiler.trace.raw_events import RawEvents
from torch_tb_profiler.trace.schema import (
    TRACE_TABLES,
    Category,
    Collectives,
    DeviceWork,
    Flows,
    Operators,
    Phase,
    Syncs,
    Table,
)
from torch_tb_profiler.trace.times import Times
from torch_tb_profiler.trace.tracks import Described, Tracks, number_or_text
from torch_tb_profiler.trace.vocabulary import INSTANTS, WAITS, category_of, is_annotation_name, phase_of

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
_COUNTER = int(Phase.COUNTER)  # the first byte of such a head
_Key = tuple[str, str | None, str | None, int | str | None, int | str | None]

# Tables with a second row for some of the events that have one in another table: those in which the first column with a
# source has a value; and what tables these have their first row in.
SECOND: tuple[tuple[type[Table], tuple[type[Table], ...], Callable[..., Any]], ...] = (
    (Collectives, (Operators, DeviceWork), getter(attribute(Collectives.schema()[1].source[0]))),
    (Syncs, (DeviceWork,), getter(attribute(Syncs.schema()[1].source[0]))),
)


class Gathered(msgspec.Struct, array_like=True):
    """What some chunks hold, for `Gatherer.put`; texts and tracks by numbers of the one that gathered it.

    events: how many
    texts: those that were not in the chunks before, by their numbers, which follow
    chunks: offset, length and first event of each that has some
    arguments: of each table that has some, in the order of `TABLES`
    second: events and arguments of each table of `SECOND`
    """

    events: int
    texts: list[str]
    tracks: Described
    chunks: list[tuple[int, int, int]]
    heads: bytes
    times: list[bytes]
    counters: list[tuple[int, int, float]]
    flow_ids: bytes
    arguments: list[list[list[bytes]]]
    second: list[tuple[list[int], list[list[bytes]]]]


class Numbering:
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
        self._tracks = Tracks()
        self._times = Times()
        self._head_of = Codes(self._new_head, lambda key: 256 + len(key[2] or ""))
        self._heads: list[bytes] = []
        self._chunks: list[tuple[int, int, int]] = []
        self._counters: list[tuple[int, int, float]] = []
        self._arguments = {kind: Arguments(kind, self._strings.code) for kind in TABLES if kind and kind is not Flows}
        self._flow_ids: list[bytes] = []
        self._second = [Arguments(kind, self._strings.code) for kind, _, _ in SECOND]
        self._second_rows: list[list[int]] = [[] for _ in SECOND]
        #: whether an event so far has a name that its arguments complete
        self._has_bare_names = False

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

    def packed(self) -> Gathered:
        """All that was gathered since this was last called, as events from 0 on."""
        gathered = Gathered(
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

    def put(self, gathered: Gathered, numbering: Numbering) -> None:
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
