"""One trace in memory: its header, strings, tracks and tables; and the writer that fills it while a file is read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any, Protocol, TypeVar
from weakref import ref

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Bool, Int32, Int64, UInt8
from torch_tb_profiler.trace.notes import Note
from torch_tb_profiler.trace.schema import (
    TRACE_TABLES,
    Chunks,
    Collectives,
    CounterValues,
    DeviceWork,
    EventPhase,
    Events,
    Flows,
    Launches,
    MemoryEvents,
    OperatorRanges,
    PythonFrames,
    Syncs,
    TraceTable,
)
from torch_tb_profiler.trace.times import Overruns, Pairs, as_complete, overruns, pairs_of

T = TypeVar("T", bound=TraceTable)


class StringTable(Sequence[str]):
    """The distinct texts of a trace; columns hold their codes. Code 0 is the empty string."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._codes: dict[str, int] | None = None
        #: by the identities of columns
        self._used: dict[int, tuple[ref[Int32 | Int64], Int32]] = {}

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, code: Any) -> Any:
        return self._texts[code]

    def texts(self, codes: Int32 | Int64) -> list[str]:
        """Return the texts of a column."""
        return list(map(self._texts.__getitem__, codes.tolist()))

    def code(self, text: str) -> int:
        """Return the code of a text, or -1 when the trace does not contain it."""
        if self._codes is None:
            self._codes = {t: c for c, t in enumerate(self._texts)}
        return self._codes.get(text, -1)

    def where(self, wanted: Callable[[str], object], codes: Int32 | Int64 | None = None) -> Bool:
        """Return a mask over codes: where `wanted(text)` is true. `codes`: a column; only its texts are tested."""
        mask = np.zeros(len(self._texts), dtype=np.bool_)
        used = range(len(self._texts)) if codes is None else self._used_in(codes).tolist()
        for code in used:
            mask[code] = bool(wanted(self._texts[code]))
        return mask

    def _used_in(self, codes: Int32 | Int64) -> Int32:
        """Return the different codes of a column, ascending; cached while it lives: rules ask for the same few."""
        key, known = id(codes), self._used
        kept = known.get(key)
        if kept is not None and kept[0]() is codes:
            return kept[1]
        used = np.flatnonzero(np.bincount(codes)).astype(np.int32)
        known[key] = ref(codes, lambda _: known.pop(key, None)), used
        return used


class Track(msgspec.Struct, frozen=True):
    """A lane of events: a host thread or a device stream, as `pid` and `tid` name it."""

    pid: int | str
    tid: int | str
    process_name: str = ""
    process_labels: str = ""
    thread_name: str = ""
    sort_index: int = 0


class Header(msgspec.Struct, frozen=True, dict=True):
    """The top level of the file, all keys except traceEvents."""

    raw: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def base_time_ns(self) -> int | None:
        """`baseTimeNanoseconds`: what `ts` is relative to, ns since the epoch; None in files before 2024.

        A number that no clock shows (146 years and more) is none.
        """
        value = self.raw.get("baseTimeNanoseconds")
        return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**62 else None

    @cached_property
    def devices(self) -> list[dict[str, Any]]:
        """`deviceProperties`, one entry per device of the machine, used or not."""
        value = self.raw.get("deviceProperties")
        return [d for d in value if isinstance(d, dict)] if isinstance(value, list) else []

    def device(self, number: int) -> dict[str, Any] | None:
        """Return the properties of a device by its `id`, else by its place in the list.

        On ROCm work has the number of the device in the machine, and the list those that the process sees: where these
        are alike, any of them.
        """
        devices = self.devices
        if number in self._device_by_id:
            return self._device_by_id[number]
        if 0 <= number < len(devices):
            return devices[number]
        return devices[0] if number >= 0 and self._is_alike_rocm else None

    @cached_property
    def _device_by_id(self) -> dict[int, dict[str, Any]]:
        """The first of each id."""
        return {d["id"]: d for d in reversed(self.devices) if isinstance(d.get("id"), int | float)}

    @cached_property
    def _is_alike_rocm(self) -> bool:
        alike = {str({**d, "id": None}) for d in self.devices}
        return len(alike) == 1 and str(self.devices[0].get("name")).startswith("AMD")

    @property
    def distributed(self) -> dict[str, Any]:
        """`distributedInfo`: backend, rank, world_size, process groups; empty if absent."""
        value = self.raw.get("distributedInfo")
        return value if isinstance(value, dict) else {}

    @property
    def options(self) -> dict[str, bool]:
        """The profiler options that change what is in the file."""
        names = ("record_shapes", "with_stack", "profile_memory", "with_modules", "with_flops")
        return {name: bool(self.raw.get(name)) for name in names}


class TraceInfo(msgspec.Struct, frozen=True):
    """A trace without its tables, once it has been read to the end.

    first_ns  the start of its first event, to be subtracted from all starts that were written
    """

    header: Header
    strings: list[str]
    tracks: Sequence[Track]
    origin_ns: int
    first_ns: int
    notes: Sequence[Note]
    text_bytes: int


class Trace:
    """The tables of one trace file.

    A table is loaded by `load` when it is first used, and can be dropped again: from memory for a trace that was just
    read, else from the column file.
    """

    def __init__(self, info: TraceInfo, load: Callable[[type[TraceTable]], TraceTable]) -> None:
        self.header = info.header
        self.strings = StringTable(info.strings)
        self.tracks = tuple(info.tracks)
        #: ns: what `start` columns are relative to; since the epoch, or in files before 2024 since an unknown base
        self.origin_ns = info.origin_ns
        self.notes = tuple(info.notes)
        #: bytes of uncompressed JSON
        self.text_bytes = info.text_bytes
        self._load = load
        self._tables: dict[type[TraceTable], TraceTable] = {}
        self._overruns: Overruns | None = None
        self._pairs: Pairs | None = None

    def table(self, kind: type[T]) -> T:
        found = self._tables.get(kind)
        if found is None:
            found = self._load(kind)
            found = self._tables[kind] = self._read(found) if isinstance(found, Events) else found
        assert isinstance(found, kind)
        return found

    @property
    def overruns(self) -> Overruns:
        """Device work whose duration in the file is impossible; in `events` it is cut."""
        if self._overruns is None:
            _ = self.events.duration
        assert self._overruns is not None
        return self._overruns

    @property
    def pairs(self) -> Pairs:
        """Events that the file writes as two; in `events` they are complete."""
        if self._pairs is None:
            _ = self.events.phase
        assert self._pairs is not None
        return self._pairs

    def _read(self, stored: Events) -> Events:
        """Return the events put right: pairs made whole, impossible durations cut."""

        def read(name: str) -> Any:
            if name not in ("phase", "duration"):
                return getattr(stored, name)
            if self._pairs is None:
                self._pairs = pairs_of(stored)
            return getattr(as_complete(stored, self._pairs), name)

        return self._cut(Events.of_fields_read_by(frozenset(Events.declared), read))

    def _cut(self, recorded: Events) -> Events:
        def read(name: str) -> Any:
            column = getattr(recorded, name)
            if name != "duration":
                return column
            if self._overruns is None:
                self._overruns = overruns(recorded, self.device_work)
            if not len(self._overruns):
                return column
            column = column.copy()
            column[self._overruns.row] = self._overruns.duration
            return column

        return Events.of_fields_read_by(frozenset(Events.declared), read)

    def forget(self, but: Collection[type[TraceTable]] = ()) -> None:
        """Drop all tables but some; a dropped table is loaded again when it is used."""
        self._tables = {kind: table for kind, table in self._tables.items() if kind in but}

    @property
    def events(self) -> Events:
        return self.table(Events)

    @property
    def operators(self) -> OperatorRanges:
        return self.table(OperatorRanges)

    @property
    def launches(self) -> Launches:
        return self.table(Launches)

    @property
    def device_work(self) -> DeviceWork:
        return self.table(DeviceWork)

    @property
    def python_frames(self) -> PythonFrames:
        return self.table(PythonFrames)

    @property
    def memory(self) -> MemoryEvents:
        return self.table(MemoryEvents)

    @property
    def flows(self) -> Flows:
        return self.table(Flows)

    @property
    def collectives(self) -> Collectives:
        return self.table(Collectives)

    @property
    def syncs(self) -> Syncs:
        return self.table(Syncs)

    @property
    def counter_values(self) -> CounterValues:
        return self.table(CounterValues)

    @property
    def chunks(self) -> Chunks:
        return self.table(Chunks)


class TableWriter(Protocol):
    def add(self, kind: type[TraceTable], columns: dict[str, npt.NDArray[Any]]) -> None:
        """Append rows to a table."""


class MemoryWriter:
    """Keeps the tables in memory."""

    def __init__(self) -> None:
        self._pieces: dict[type[TraceTable], list[dict[str, npt.NDArray[Any]]]] = {kind: [] for kind in TRACE_TABLES}

    def add(self, kind: type[TraceTable], columns: dict[str, npt.NDArray[Any]]) -> None:
        self._pieces[kind].append(kind.from_columns(columns).columns())

    def trace(self, info: TraceInfo) -> Trace:
        held: dict[type[TraceTable], TraceTable] = {}
        for kind in TRACE_TABLES:
            table = kind.concatenate(self._pieces.pop(kind))
            if isinstance(table, Events):
                table = table.with_columns(start=from_first_event(table.phase, table.start, info.first_ns))
            held[kind] = table
        return Trace(info, held.__getitem__)


def from_first_event(phase: UInt8, start: Int64, first_ns: int) -> Int64:
    """Return starts relative to the first; 0 for metadata, which has no time."""
    return np.where(phase == EventPhase.METADATA, 0, start - first_ns)
