"""Typed events, chunk by chunk → columns, row group by row group."""

from __future__ import annotations

import contextlib
import math
import struct
from collections.abc import Sequence
from itertools import compress
from typing import Any, cast

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.trace.column_buffers import (
    Codes,
    Number,
    Numbers,
    Texts,
    getter,
    integers,
    pack_floats,
    unpack_floats,
)
from torch_tb_profiler.trace.decode import NO_ARGS, AnyEvent, Args
from torch_tb_profiler.trace.notes import Note, Notes, Severity
from torch_tb_profiler.trace.schema import (
    Category,
    Chunks,
    Collectives,
    DeviceWork,
    Events,
    Flows,
    Launches,
    Memory,
    Operators,
    Phase,
    PythonFrames,
    Table,
)
from torch_tb_profiler.trace.store import Header, Track
from torch_tb_profiler.trace.table_writer import Described, Sink
from torch_tb_profiler.trace.vocabulary import (
    MEMORY_EVENT_NAME,
    category_of,
    is_annotation_name,
    phase_of,
)

Columns = dict[str, npt.NDArray[Any]]

# which table, beside Events, takes the arguments of an event; metadata goes to the tracks
_ROOMS: tuple[type[Table] | None, ...] = (None, Operators, Launches, DeviceWork, PythonFrames, Memory, Flows)
_METADATA_ROOM = len(_ROOMS)
_ROOM_OF_CATEGORY = dict.fromkeys(Category, 0) | {Category.METADATA: _METADATA_ROOM}
for _room, _categories in {
    Operators: (Category.OPERATOR, Category.USER_ANNOTATION),
    Launches: (Category.RUNTIME, Category.DRIVER),
    DeviceWork: (
        Category.KERNEL,
        Category.MEMCPY,
        Category.MEMSET,
        Category.GPU_USER_ANNOTATION,
        Category.SYNC,
    ),
    PythonFrames: (Category.PYTHON_FUNCTION,),
    Memory: (Category.MEMORY,),
    Flows: (Category.FLOW_LAUNCH, Category.FLOW_FORWARD_BACKWARD),
}.items():
    _ROOM_OF_CATEGORY |= dict.fromkeys(_categories, _ROOMS.index(_room))
#: one byte for each room → one for each room that says whether it is this one
_ONLY = [bytes(int(room == wanted) for room in range(256)) for wanted in range(_METADATA_ROOM + 1)]

# what is the same in many events: phase, category, room, name, track
_HEAD = struct.Struct("<BBBii")
_HEADS = np.dtype([("phase", "u1"), ("category", "u1"), ("room", "u1"), ("name", "<i4"), ("track", "<i4")])
_ROOM_AT = 2
_Key = tuple[str, str | None, str | None, int | str | None, int | str | None]

# a pid below this names a device, not a process, on device tracks
_MAX_DEVICE_NUMBER = 4096

# -1 written as an unsigned number: synchronisation of no stream in particular
_NO_STREAM = 2**32 - 1

#: events that gather before they are handed on
ROW_GROUP = 1 << 17

_call_stacks = getter("call_stack")
_collectives = getter("collective")


class Collector:
    """Takes the events of a file in order and hands their columns on, a row group at a time."""

    def __init__(self, sink: Sink) -> None:
        self.count = 0
        self._sink = sink
        self._handed_on = 0
        self._first: int | None = None
        self._strings: list[str] = [""]
        self._string_codes: dict[str | None, int] = {"": 0, None: 0}
        self._track_keys: list[tuple[int | str, int | str]] = []
        self._track_codes: dict[tuple[int | str | None, int | str | None], int] = {}
        self._track_args: dict[int, dict[str, Any]] = {}
        self._process_args: dict[int | str, dict[str, Any]] = {}
        self._origin_us: int | None = None
        self._missing_time = 0
        self._missing_duration = 0
        self._negative = 0
        self._head_of = Codes(self._new_head, lambda key: 256 + len(key[2] or ""))
        self._heads: list[bytes] = []
        self._starts: list[bytes] = []
        self._exact_starts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]] = []
        self._durations: list[bytes] = []
        self._chunks: list[tuple[int, int, int]] = []
        self._flow_ids: list[npt.NDArray[np.int64]] = []
        self._operators = _Arguments(
            Numbers("external_id", "external_id_2021", "sequence", "forward_thread"),
            self._texts("input_dims", "input_dims_2021", "input_type", "input_strides", "concrete_inputs"),
        )
        self._call_stacks: list[bytes] = []
        self._launches = _Arguments(Numbers("correlation", "external_id", "external_id_2021"))
        self._device_work = _Arguments(
            Numbers(
                "correlation",
                "external_id",
                "external_id_2021",
                "device",
                Number("stream", texts=True),
                "registers",
                "shared_memory",
                Number("blocks_per_sm", real=True),
                Number("occupancy", real=True),
                "bytes",
                Number("bandwidth", real=True),
                "graph_id",
                "graph_node_id",
            ),
            self._texts("grid", "block"),
        )
        self._python_frames = _Arguments(Numbers("python_id", "parent_id", "module_id"))
        self._memory = _Arguments(
            Numbers(
                "address",
                Number("memory_bytes", missing=0),
                "total_allocated",
                "total_reserved",
                "device_type",
                "device_id",
            )
        )
        self._collectives = _Arguments(
            Numbers("group_size", "in_elements", "out_elements", "collective_sequence"), self._texts("group_ranks")
        )
        self._collective_rows: list[int] = []
        self._collective_strings: list[tuple[int, ...]] = []

    # codes --------------------------------------------------------------------------------------------------

    def _string(self, text: str | None) -> int:
        code = self._string_codes.get(text)
        if code is None:
            code = self._string_codes[text] = len(self._strings)
            self._strings.append(cast(str, text))
        return code

    def _texts(self, *names: str) -> Texts:
        return Texts(lambda raw: self._string(raw.decode(errors="replace")), *names)

    def _new_head(self, key: _Key) -> bytes:
        ph, cat, name, pid, tid = key
        phase = phase_of(ph)
        category = category_of(phase, cat or "")
        if phase == Phase.INSTANT and name == MEMORY_EVENT_NAME:
            category = Category.MEMORY
        elif category == Category.OPERATOR and is_annotation_name(name or ""):
            # as files of 2021 write annotations
            category = Category.USER_ANNOTATION
        return _HEAD.pack(phase, category, _ROOM_OF_CATEGORY[category], self._string(name), self._track(pid, tid))

    def _track(self, pid: int | str | None, tid: int | str | None) -> int:
        key = (_number_or_text(pid), _number_or_text(tid))
        code = self._track_codes.get(key)
        if code is None:
            code = self._track_codes[key] = len(self._track_keys)
            self._track_keys.append(key)
        return code

    # gathering, chunk by chunk ------------------------------------------------------------------------------

    def add(self, events: list[AnyEvent], offset: int, length: int) -> None:
        """Take the events of one chunk, whose text is `length` bytes at `offset`."""
        if not events:
            return
        first_row = self.count
        self.count += len(events)
        self._chunks.append((offset, length, first_row))
        head_of = self._head_of
        heads = b"".join([head_of[e.ph, e.cat, e.name, e.pid, e.tid] for e in events])
        self._heads.append(heads)
        starts: list[Any] = [e.ts for e in events]
        if isinstance(starts[0], msgspec.Raw):
            self._exact_starts.append(exact_ns(starts))
        else:
            self._starts.append(pack_floats(starts))
        self._durations.append(pack_floats([e.dur for e in events]))
        self._add_arguments(events, first_row, heads[_ROOM_AT :: _HEAD.size])
        if self.count - self._handed_on >= ROW_GROUP:
            self._hand_on()

    def _add_arguments(self, events: Sequence[AnyEvent], first_row: int, rooms: bytes) -> None:
        """`rooms`: one byte for each event."""

        def select(room: type[Table]) -> list[Args]:
            wanted = _ROOMS.index(room)
            if wanted not in rooms:
                return []
            return [event.args or NO_ARGS for event in compress(events, rooms.translate(_ONLY[wanted]))]

        if args := select(Operators):
            self._operators.add(args)
            self._add_call_stacks(args)
            self._add_collectives(args, Operators, rooms, first_row)
        if args := select(Launches):
            self._launches.add(args)
        if args := select(DeviceWork):
            self._device_work.add(args)
            self._add_collectives(args, DeviceWork, rooms, first_row)
        if args := select(PythonFrames):
            self._python_frames.add(args)
        if args := select(Memory):
            self._memory.add(args)
        if (flows := _ROOMS.index(Flows)) in rooms:
            self._flow_ids.append(_flow_ids([event.id for event in compress(events, rooms.translate(_ONLY[flows]))]))
        if _METADATA_ROOM in rooms:
            for event in compress(events, rooms.translate(_ONLY[_METADATA_ROOM])):
                self._name_track(event)

    def _add_call_stacks(self, args: Sequence[Args]) -> None:
        if any(_call_stacks(args)):
            codes = [self._string(a.call_stack) for a in args]
            self._call_stacks.append(struct.pack(f"<{len(codes)}i", *codes))
        else:
            self._call_stacks.append(bytes(4 * len(args)))

    def _add_collectives(self, args: Sequence[Args], room: type[Table], rooms: bytes, first_row: int) -> None:
        if not any(_collectives(args)):
            return
        rows = [row for row, found in enumerate(rooms, first_row) if found == _ROOMS.index(room)]
        chosen = [(row, a) for row, a in zip(rows, args, strict=True) if a.collective]
        self._collective_rows += [row for row, _ in chosen]
        self._collectives.add([a for _, a in chosen])
        self._collective_strings += [
            tuple(map(self._string, (a.collective, a.dtype, a.group, a.group_description))) for _, a in chosen
        ]

    def _name_track(self, event: AnyEvent) -> None:
        args = event.args or NO_ARGS
        value: Any = None
        if event.name in ("process_name", "thread_name"):
            value = _raw_value(args.name)
        elif event.name == "process_labels":
            value = _raw_value(args.labels)
        elif event.name in ("process_sort_index", "thread_sort_index"):
            value = args.sort_index
        if value is None or value == "":
            return
        track = self._track(event.pid, event.tid)
        if event.name is not None and event.name.startswith("process_"):
            self._process_args.setdefault(self._track_keys[track][0], {})[event.name] = value
        else:
            self._track_args.setdefault(track, {})[str(event.name)] = value

    # handing on, row group by row group ---------------------------------------------------------------------

    def _hand_on(self) -> None:
        """Give the sink what has gathered: memory stays the same however long the file is."""
        first_row, self._handed_on = self._handed_on, self.count
        heads = np.frombuffer(b"".join(self._heads), dtype=_HEADS)
        self._heads.clear()
        rooms = heads["room"].copy()

        def rows(room: type[Table]) -> npt.NDArray[np.int64]:
            return np.flatnonzero(rooms == _ROOMS.index(room))

        self._sink.add(Events, self._events(heads))
        chunks = np.array(self._chunks, dtype=np.int64).reshape(-1, 3)
        self._chunks.clear()
        self._sink.add(Chunks, {"offset": chunks[:, 0], "length": chunks[:, 1], "first_row": chunks[:, 2]})

        found = rows(Operators)
        if len(found):
            columns = self._operators.take()
            dims_2021 = columns.pop("input_dims_2021")
            columns["input_dims"] = np.where(columns["input_dims"] == 0, dims_2021, columns["input_dims"])
            columns["call_stack"] = np.frombuffer(b"".join(self._call_stacks), dtype="<i4")
            self._call_stacks.clear()
            self._sink.add(Operators, {"row": found + first_row, **_external_id(columns)})
        found = rows(Launches)
        if len(found):
            self._sink.add(Launches, {"row": found + first_row, **_external_id(self._launches.take())})
        found = rows(DeviceWork)
        if len(found):
            columns = self._device_work.take()
            columns["stream"][columns["stream"] == _NO_STREAM] = -1
            device, track = columns["device"], heads["track"][found]
            columns["device"] = np.where(device < 0, self._devices_of_tracks()[track], device)
            self._sink.add(DeviceWork, {"row": found + first_row, **_external_id(columns)})
        found = rows(PythonFrames)
        if len(found):
            self._sink.add(PythonFrames, {"row": found + first_row, **self._python_frames.take()})
        found = rows(Memory)
        if len(found):
            columns = self._memory.take()
            columns["bytes"] = columns.pop("memory_bytes")
            columns["device"] = columns.pop("device_id")
            self._sink.add(Memory, {"row": found + first_row, **columns})
        found = rows(Flows)
        if len(found):
            self._sink.add(Flows, {"row": found + first_row, "id": np.concatenate(self._flow_ids)})
            self._flow_ids.clear()
        if self._collective_rows:
            columns = self._collectives.take()
            columns["sequence"] = columns.pop("collective_sequence")
            strings = np.array(self._collective_strings, dtype=np.int32).T
            columns |= zip(("name", "dtype", "group", "group_description"), strings, strict=True)
            columns["row"] = np.array(self._collective_rows)
            # those of operators and of device work, chunk by chunk
            order = np.argsort(columns["row"], kind="stable")
            self._sink.add(Collectives, {name: values[order] for name, values in columns.items()})
            self._collective_rows.clear()
            self._collective_strings.clear()

    def _events(self, heads: npt.NDArray[Any]) -> Columns:
        phase, category = heads["phase"].copy(), heads["category"].copy()
        timed = phase != Phase.METADATA
        start, missing = self._take_starts(timed)
        durations = unpack_floats(self._durations)
        self._durations.clear()
        duration = integers(durations * 1000.0)
        complete = phase == Phase.COMPLETE
        self._missing_time += int(np.count_nonzero(missing & complete))
        self._missing_duration += int(np.count_nonzero(complete & ~np.isfinite(durations)))
        self._negative += int(np.count_nonzero(complete & (durations < 0)))
        duration[complete & (duration < 0)] = 0
        duration[~complete] = -1
        shown = complete | (category == Category.MEMORY)
        if shown.any():
            first = int(start[shown].min())
            self._first = first if self._first is None else min(first, self._first)
        return {
            "phase": phase,
            "category": category,
            "name": heads["name"],
            "track": heads["track"],
            "start": start,
            "duration": duration,
        }

    def _take_starts(self, timed: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """ns from the whole microsecond of the first event that is `timed`, and which are missing (they are 0)."""
        if self._exact_starts:
            ns = np.concatenate([ns for ns, _ in self._exact_starts])
            missing = np.concatenate([missing for _, missing in self._exact_starts])
            self._exact_starts.clear()
            known = np.flatnonzero(timed & ~missing)
            if self._origin_us is None and len(known):
                self._origin_us = int(ns[known[0]]) // 1000
            return np.where(missing, 0, ns - (self._origin_us or 0) * 1000), missing
        us = unpack_floats(self._starts)
        self._starts.clear()
        missing = ~np.isfinite(us)
        known = np.flatnonzero(timed & ~missing)
        if self._origin_us is None and len(known):
            self._origin_us = math.floor(us[known[0]])
        # exact: both are below 2^53 and the difference is small, so ns are recovered to the last digit
        return integers((us - float(self._origin_us or 0)) * 1000.0, missing=0), missing

    def _devices_of_tracks(self) -> npt.NDArray[np.int64]:
        pids = [pid for pid, _ in self._track_keys]
        return np.array([p if isinstance(p, int) and 0 <= p < _MAX_DEVICE_NUMBER else -1 for p in pids], dtype=np.int64)

    # the end ------------------------------------------------------------------------------------------------

    def finish(self, header: Header, notes: Notes, text_bytes: int) -> Described:
        """Hand on the rest, and say what the trace is."""
        if self.count > self._handed_on:
            self._hand_on()
        for count, kind, severity, text in (
            (self._missing_time, "missing_time", "error", "without a start time were placed near the first event"),
            (self._missing_duration, "missing_duration", "warning", "without a duration count as 0 long"),
            (self._negative, "negative_duration", "warning", "with a negative duration count as 0 long"),
        ):
            if count:
                notes.add(
                    Note(
                        kind,
                        cast(Severity, severity),
                        f"Events {text}.",
                        count=count,
                        touches=("overview", "operators", "kernels"),
                    )
                )
        first = self._first or 0
        origin = (self._origin_us or 0) * 1000 + first + (header.base_time_ns or 0)
        return Described(header, self._strings, self._tracks(), origin, first, tuple(notes), text_bytes)

    def _tracks(self) -> list[Track]:
        tracks = []
        for code, (pid, tid) in enumerate(self._track_keys):
            of_process = self._process_args.get(pid, {})
            of_thread = self._track_args.get(code, {})
            sort_index = of_thread.get("thread_sort_index", 0)
            tracks.append(
                Track(
                    pid,
                    tid,
                    str(of_process.get("process_name", "")),
                    str(of_process.get("process_labels", "")),
                    str(of_thread.get("thread_name", "")),
                    int(sort_index) if isinstance(sort_index, float) and math.isfinite(sort_index) else 0,
                )
            )
        return tracks


class _Arguments:
    """The arguments of the events of one table."""

    def __init__(self, numbers: Numbers, texts: Texts | None = None) -> None:
        self._numbers = numbers
        self._texts = texts

    def add(self, args: Sequence[Args]) -> None:
        self._numbers.add(args)
        if self._texts:
            self._texts.add(args)

    def take(self) -> Columns:
        """All that was added since this was last called."""
        return {**self._numbers.take(), **(self._texts.take() if self._texts else {})}


def _external_id(columns: Columns) -> Columns:
    """The same columns with both spellings of that id in one."""
    old = columns.pop("external_id_2021")
    return {**columns, "external_id": np.where(columns["external_id"] == -1, old, columns["external_id"])}


def exact_ns(texts: Sequence[msgspec.Raw]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Nanoseconds of decimal numbers of microseconds, from their text, and which are no such number (they are 0)."""
    joined = b"\n".join(texts) + b"\n"
    found = _equally_long_ns(np.frombuffer(joined, np.uint8), len(texts))
    if found is not None:
        return found, np.zeros(len(texts), dtype=np.bool_)
    each = [_exact_ns(text) for text in joined[:-1].split(b"\n")]
    return np.array([ns or 0 for ns in each], dtype=np.int64), np.array([ns is None for ns in each], dtype=np.bool_)


def _equally_long_ns(codes: npt.NDArray[np.uint8], count: int) -> npt.NDArray[np.int64] | None:
    """The same for texts of the same length with three decimals, each with a newline behind it; else None."""
    width, rest = divmod(len(codes), count)
    whole = width - 5  # digits before the point
    if rest or not 0 < whole <= 15:
        return None
    table = codes.reshape(count, width)
    digits = np.delete(table, (whole, width - 1), axis=1) - np.uint8(ord("0"))
    if (digits > 9).any() or (table[:, whole] != ord(".")).any() or (table[:, -1] != ord("\n")).any():
        return None
    return digits @ 10 ** np.arange(whole + 2, -1, -1, dtype=np.int64)


def _exact_ns(text: bytes) -> int | None:
    text = text.strip().strip(b'"')
    try:
        if b"e" in text.lower():
            ns = round(float(text) * 1000)
        else:
            whole, _, fraction = text.partition(b".")
            sign = -1 if whole.startswith(b"-") else 1
            ns = int(whole) * 1000 + sign * int(fraction[:3].ljust(3, b"0"))
    except (ValueError, OverflowError):
        return None
    return ns if abs(ns) < 2**62 else None


def _flow_ids(ids: Sequence[int | str | None]) -> npt.NDArray[np.int64]:
    if set(map(type, ids)) == {int}:
        with contextlib.suppress(OverflowError):
            return np.array(ids, dtype=np.int64)
    numbers = map(_number_or_text, ids)
    return np.array([n if isinstance(n, int) and abs(n) < 2**63 else -1 for n in numbers], dtype=np.int64)


def _number_or_text(value: int | str | None) -> int | str:
    """pid, tid and flow ids: numbers written as text are the numbers they spell."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = value.strip()
        if text.lstrip("-").isdigit() and text.isascii():
            return int(text)
        return text
    return value


def _raw_value(raw: msgspec.Raw) -> Any:
    return msgspec.json.decode(raw) if bytes(raw) else None
