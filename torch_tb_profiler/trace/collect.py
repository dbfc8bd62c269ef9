"""Typed events, chunk by chunk → columns, row group by row group."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, cast

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.trace.decode import NO_ARGS, AnyEvent, Args, Event
from torch_tb_profiler.trace.notes import Note, Notes, Severity
from torch_tb_profiler.trace.schema import (
    TRACE_TABLES,
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
from torch_tb_profiler.trace.sink import Described, Sink
from torch_tb_profiler.trace.store import Header, Track
from torch_tb_profiler.trace.vocabulary import (
    MEMORY_EVENT_NAME,
    category_of,
    is_annotation_name,
    phase_of,
)

# Which arguments become which column: (column, argument). Numbers first, then texts, then raw JSON.
_OPERATOR_NUMBERS = ("external_id", "external_id_2021", "sequence", "forward_thread")
_LAUNCH_NUMBERS = ("correlation", "external_id", "external_id_2021")
_DEVICE_NUMBERS = (
    "correlation",
    "external_id",
    "external_id_2021",
    "device",
    "stream",
    "registers",
    "shared_memory",
    "blocks_per_sm",
    "occupancy",
    "bytes",
    "graph_id",
    "graph_node_id",
)
_PYTHON_NUMBERS = ("python_id", "parent_id", "module_id")
_MEMORY_NUMBERS = ("address", "memory_bytes", "total_allocated", "total_reserved", "device_type", "device_id")
_COLLECTIVE_NUMBERS = ("group_size", "in_elements", "out_elements", "collective_sequence")

# which table, beside Events, takes the arguments of an event
_ROOMS: tuple[type[Table] | None, ...] = (None, Operators, Launches, DeviceWork, PythonFrames, Memory, Flows)
_ROOM_OF_CATEGORY = np.zeros(len(Category), dtype=np.uint8)
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
    _ROOM_OF_CATEGORY[list(_categories)] = _ROOMS.index(_room)

_FLOAT_COLUMNS = {"blocks_per_sm", "occupancy"}
# a pid below this names a device, not a process, on device tracks
_MAX_DEVICE_NUMBER = 4096

# -1 written as an unsigned number: synchronisation of no stream in particular
_NO_STREAM = 2**32 - 1

#: events that gather before they are handed on
ROW_GROUP = 1 << 19

_encode = msgspec.msgpack.Encoder().encode


class _Codes(dict[Any, int]):
    """Hands out a number to each new key."""

    def __init__(self, make: Callable[[Any], int]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: Any) -> int:
        code = self[key] = self._make(key)
        return code


def floats(rows: Sequence[tuple[float | str | None, ...]], width: int) -> npt.NDArray[np.float64]:
    """Rows of floats (None = missing) as an array of shape (rows, width).

    The bytes of a MessagePack list of float tuples are an array already: one tag and eight big-endian bytes a
    number. That is faster than asking numpy to walk the objects; a None is shorter and takes the slow way.
    """
    if not rows:
        return np.empty((0, width))
    packed = _encode(rows)
    head = 1 if len(rows) < 16 else 3 if len(rows) < 65536 else 5
    if width < 16 and len(packed) == head + len(rows) * (1 + 9 * width):
        fields = [("tag", "u1")] + [pair for i in range(width) for pair in ((f"t{i}", "u1"), (f"v{i}", ">f8"))]
        table = np.frombuffer(packed, dtype=fields, offset=head)
        return np.stack([table[f"v{i}"] for i in range(width)], axis=1).astype(np.float64)
    return np.array([[_float(x) for x in row] for row in rows], dtype=np.float64)


def _float(value: float | str | None) -> float:
    try:
        return math.nan if value is None else float(value)
    except ValueError:
        return math.nan


def integers(values: npt.NDArray[np.float64], missing: int = -1) -> npt.NDArray[np.int64]:
    """Floats that hold integers, as int64; NaN and infinities become `missing`."""
    finite = np.isfinite(values) & (np.abs(values) < 2.0**63)
    out = np.full(values.shape, missing, dtype=np.int64)
    out[finite] = np.rint(values[finite]).astype(np.int64)
    return out


class Collector:
    """Takes the events of a file in order and hands their columns on, a row group at a time."""

    def __init__(self, sink: Sink) -> None:
        self.count = 0
        self._sink = sink
        self._handed_on = 0
        self._first: int | None = None
        self._annotation_codes = np.zeros(0, dtype=np.bool_)
        self._texts: list[str] = [""]
        self._text_codes = _Codes(self._new_text)
        self._text_codes[""] = 0
        self._text_codes[None] = 0
        self._raw_codes = _Codes(lambda raw: self._text_codes[raw.decode(errors="replace")])
        self._memory_name = self._text_codes[MEMORY_EVENT_NAME]
        self._kinds: list[tuple[Phase, Category]] = []
        self._kind_codes = _Codes(self._new_kind)
        self._track_keys: list[tuple[int | str, int | str]] = []
        self._track_codes = _Codes(self._new_track)
        self._track_args: dict[int, dict[str, Any]] = {}
        self._process_args: dict[int | str, dict[str, Any]] = {}
        self._origin_us: float | None = None
        self._missing_time = 0
        self._missing_duration = 0
        self._negative = 0
        self._pieces: dict[type[Table], list[dict[str, npt.NDArray[Any]]]] = {kind: [] for kind in TRACE_TABLES}

    def _new_text(self, text: str) -> int:
        self._texts.append(text)
        return len(self._texts) - 1

    def _new_kind(self, key: tuple[str, str | None]) -> int:
        ph, cat = key
        phase = phase_of(ph)
        self._kinds.append((phase, category_of(phase, cat or "")))
        return len(self._kinds) - 1

    def _new_track(self, key: tuple[int | str | None, int | str | None]) -> int:
        normal = (_number_or_text(key[0]), _number_or_text(key[1]))
        if normal != key and normal in self._track_codes:
            return self._track_codes[normal]
        self._track_keys.append(normal)
        code = len(self._track_keys) - 1
        self._track_codes[normal] = code
        return code

    def add(self, events: list[AnyEvent], offset: int, length: int) -> None:
        """Take the events of one chunk, whose text is `length` bytes at `offset`."""
        if not events:
            return
        first_row = self.count
        self.count += len(events)
        kinds = np.array([self._kind_codes[e.ph, e.cat] for e in events], dtype=np.int32)
        phases = np.array([k[0] for k in self._kinds], dtype=np.uint8)[kinds]
        categories = np.array([k[1] for k in self._kinds], dtype=np.uint8)[kinds]
        names = np.array([self._text_codes[e.name] for e in events], dtype=np.int32)
        categories[(phases == Phase.INSTANT) & (names == self._memory_name)] = Category.MEMORY
        tracks = np.array([self._track_codes[e.pid, e.tid] for e in events], dtype=np.int32)
        start, duration = self._times(events, phases)
        self._pieces[Events].append(
            {
                "phase": phases,
                "category": categories,
                "name": names,
                "track": tracks,
                "start": start,
                "duration": duration,
            }
        )
        self._pieces[Chunks].append(
            {"offset": np.array([offset]), "length": np.array([length]), "first_row": np.array([first_row])}
        )
        self._add_arguments(events, first_row, categories, tracks)
        if self.count - self._handed_on >= ROW_GROUP:
            self._hand_on()

    def _hand_on(self) -> None:
        """Give the sink what has gathered: memory stays the same however long the file is."""
        self._handed_on = self.count
        for kind, pieces in self._pieces.items():
            if not pieces:
                continue
            columns = {name: np.concatenate([p[name] for p in pieces]) for name in kind.column_names()}
            pieces.clear()
            if kind is Events:
                self._finish_events(columns)
            self._sink.add(kind, columns)

    def _finish_events(self, columns: dict[str, npt.NDArray[Any]]) -> None:
        """Annotations that 2021 files write as operators get the category they have today; the first start is kept."""
        category, names = columns["category"], columns["name"]
        known = len(self._annotation_codes)
        self._annotation_codes = np.append(
            self._annotation_codes, np.array([is_annotation_name(t) for t in self._texts[known:]], dtype=np.bool_)
        )
        category[(category == Category.OPERATOR) & self._annotation_codes[names]] = Category.USER_ANNOTATION
        timed = (columns["phase"] == Phase.COMPLETE) | (category == Category.MEMORY)
        if timed.any():
            first = int(columns["start"][timed].min())
            self._first = first if self._first is None else min(first, self._first)

    def _times(
        self, events: Sequence[AnyEvent], phases: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Start and duration in ns; starts are relative to the first event's whole microsecond for now."""
        if isinstance(events[0], Event):
            both = floats([(e.ts, e.dur) for e in events], 2)  # type: ignore[misc]
            us, dur = both[:, 0], both[:, 1]
            missing = ~np.isfinite(us)
            if self._origin_us is None:
                known = us[~missing & (phases != Phase.METADATA)]
                if len(known):
                    self._origin_us = float(np.floor(known[0]))
            # exact: both are below 2^53 and the difference is small, so ns are recovered to the last digit
            start = integers((us - (self._origin_us or 0.0)) * 1000.0, missing=0)
        else:
            texts = [exact_ns(bytes(e.ts)) for e in events]  # type: ignore[arg-type]
            missing = np.array([t is None for t in texts], dtype=np.bool_)
            if self._origin_us is None:
                first = next(
                    (t for t, p in zip(texts, phases, strict=True) if t is not None and p != Phase.METADATA),
                    0,
                )
                self._origin_us = first // 1000
            origin = int(self._origin_us) * 1000
            start = np.array([0 if t is None else t - origin for t in texts], dtype=np.int64)
            dur = floats([(e.dur,) for e in events], 1)[:, 0]
        duration = integers(dur * 1000.0)
        complete = phases == Phase.COMPLETE
        self._missing_time += int(np.count_nonzero(missing & complete))
        self._missing_duration += int(np.count_nonzero(complete & ~np.isfinite(dur)))
        negative = complete & (dur < 0)
        self._negative += int(np.count_nonzero(negative))
        duration[negative] = 0
        duration[complete & (duration < 0)] = 0
        duration[~complete] = -1
        return start, duration

    # arguments ----------------------------------------------------------------------------------------------

    def _add_arguments(
        self,
        events: Sequence[AnyEvent],
        first_row: int,
        categories: npt.NDArray[np.uint8],
        tracks: npt.NDArray[np.int32],
    ) -> None:
        rooms = _ROOM_OF_CATEGORY[categories]

        def select(room: type[Table]) -> tuple[npt.NDArray[np.int64], list[Args]]:
            where = np.flatnonzero(rooms == _ROOMS.index(room))
            return where + first_row, [events[i].args or NO_ARGS for i in where.tolist()]

        rows, args = select(Operators)
        if args:
            self._add_collectives(rows, args)
            numbers = self._numbers(args, _OPERATOR_NUMBERS)
            self._pieces[Operators].append(
                {
                    "row": rows,
                    "external_id": _either(numbers["external_id"], numbers["external_id_2021"]),
                    "sequence": numbers["sequence"],
                    "forward_thread": numbers["forward_thread"],
                    "input_dims": self._raw_texts(a.input_dims or a.input_dims_2021 for a in args),
                    "input_type": self._raw_texts(a.input_type for a in args),
                    "input_strides": self._raw_texts(a.input_strides for a in args),
                    "concrete_inputs": self._raw_texts(a.concrete_inputs for a in args),
                    "call_stack": np.array([self._text_codes[a.call_stack] for a in args], dtype=np.int32),
                }
            )
        rows, args = select(Launches)
        if args:
            numbers = self._numbers(args, _LAUNCH_NUMBERS)
            self._pieces[Launches].append(
                {
                    "row": rows,
                    "correlation": numbers["correlation"],
                    "external_id": _either(numbers["external_id"], numbers["external_id_2021"]),
                }
            )
        rows, args = select(DeviceWork)
        if args:
            self._add_collectives(rows, args)
            numbers = self._numbers(args, _DEVICE_NUMBERS)
            device = numbers["device"]
            numbers["stream"][numbers["stream"] == _NO_STREAM] = -1
            no_device = device < 0
            if no_device.any():
                device[no_device] = self._device_of_track(tracks[rows[no_device] - first_row])
            self._pieces[DeviceWork].append(
                {
                    "row": rows,
                    "external_id": _either(numbers.pop("external_id"), numbers.pop("external_id_2021")),
                    "grid": self._raw_texts(a.grid for a in args),
                    "block": self._raw_texts(a.block for a in args),
                    **numbers,
                }
            )
        rows, args = select(PythonFrames)
        if args:
            self._pieces[PythonFrames].append({"row": rows, **self._numbers(args, _PYTHON_NUMBERS)})
        rows, args = select(Memory)
        if args:
            numbers = self._numbers(args, _MEMORY_NUMBERS)
            size = floats([(a.memory_bytes,) for a in args], 1)[:, 0]
            self._pieces[Memory].append(
                {
                    "row": rows,
                    "bytes": integers(size, missing=0),
                    "device": numbers.pop("device_id"),
                    **numbers,
                }
            )
        self._add_flows(events, first_row, np.flatnonzero(rooms == _ROOMS.index(Flows)))
        for row in np.flatnonzero(categories == Category.METADATA).tolist():
            self._name_track(events[row], int(tracks[row]))

    def _numbers(self, args: list[Args], names: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
        get = attrgetter(*names)
        values = floats([get(a) for a in args], len(names))
        return {
            name: values[:, i] if name in _FLOAT_COLUMNS else integers(values[:, i]) for i, name in enumerate(names)
        }

    def _raw_texts(self, raws: Iterable[msgspec.Raw]) -> npt.NDArray[np.int32]:
        codes = self._raw_codes
        return np.array([codes[bytes(raw)] for raw in raws], dtype=np.int32)

    def _device_of_track(self, tracks: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        pids = [self._track_keys[t][0] for t in tracks.tolist()]
        return np.array([p if isinstance(p, int) and 0 <= p < _MAX_DEVICE_NUMBER else -1 for p in pids], dtype=np.int64)

    def _add_flows(self, events: Sequence[AnyEvent], first_row: int, where: npt.NDArray[np.int64]) -> None:
        if len(where):
            ids = [_number_or_text(events[i].id) for i in where.tolist()]
            numbers = [i if isinstance(i, int) and abs(i) < 2**63 else -1 for i in ids]
            self._pieces[Flows].append({"row": where + first_row, "id": np.array(numbers, dtype=np.int64)})

    def _add_collectives(self, rows: npt.NDArray[np.int64], args: list[Args]) -> None:
        where = [i for i, a in enumerate(args) if a.collective]
        if not where:
            return
        args = [args[i] for i in where]
        numbers = self._numbers(args, _COLLECTIVE_NUMBERS)
        codes = self._text_codes
        self._pieces[Collectives].append(
            {
                "row": rows[where],
                "name": np.array([codes[a.collective] for a in args]),
                "dtype": np.array([codes[a.dtype] for a in args]),
                "group": np.array([codes[a.group] for a in args]),
                "group_description": np.array([codes[a.group_description] for a in args]),
                "group_ranks": self._raw_texts(a.group_ranks for a in args),
                "group_size": numbers["group_size"],
                "in_elements": numbers["in_elements"],
                "out_elements": numbers["out_elements"],
                "sequence": numbers["collective_sequence"],
            }
        )

    def _name_track(self, event: AnyEvent, track: int) -> None:
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
        if event.name is not None and event.name.startswith("process_"):
            self._process_args.setdefault(self._track_keys[track][0], {})[event.name] = value
        else:
            self._track_args.setdefault(track, {})[str(event.name)] = value

    # the end ------------------------------------------------------------------------------------------------

    def finish(self, header: Header, notes: Notes, text_bytes: int) -> Described:
        """Hand on the rest, and say what the trace is."""
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
        origin = int(self._origin_us or 0) * 1000 + first + (header.base_time_ns or 0)
        return Described(header, self._texts, self._tracks(), origin, first, tuple(notes), text_bytes)

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


def exact_ns(text: bytes) -> int | None:
    """Nanoseconds of a decimal number of microseconds, from its text; None when it is not one."""
    text = text.strip().strip(b'"')
    try:
        if b"e" in text.lower():
            return round(float(text) * 1000)
        whole, _, fraction = text.partition(b".")
        sign = -1 if whole.startswith(b"-") else 1
        return int(whole) * 1000 + sign * int(fraction[:3].ljust(3, b"0"))
    except (ValueError, OverflowError):
        return None


def _either(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.where(one == -1, other, one)


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
