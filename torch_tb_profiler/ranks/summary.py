"""Summary of one rank for the questions about all ranks: a few columns instead of its trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import msgspec
import numpy as np
from msgspec import structs

from torch_tb_profiler.arrays.types import Int8, Int32, Int64
from torch_tb_profiler.codec import convert
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication import KINDS, ProcessGroup
from torch_tb_profiler.ranks.matching.operations import CalledOperations, TimedOperations
from torch_tb_profiler.ranks.summary_columns import ALGORITHMS, collect_columns
from torch_tb_profiler.trace.column_file import ColumnFileError, NamedTables, StoredTables, encode_tables
from torch_tb_profiler.trace.schema import TraceTable, column


class RankSteps(TraceTable):
    """The steps of a rank, ns; -1 where the trace does not say."""

    table_name: ClassVar[str] = "steps"
    start: Int64 = column("ns", "since the start of the trace")
    end: Int64 = column("ns")
    compute: Int64 = column("ns", "computing without communicating")
    hidden: Int64 = column("ns", "computing and communicating")
    exposed: Int64 = column("ns", "communicating without computing")
    input: Int64 = column("ns", "waiting for the next batch")
    host: Int64 = column("ns", "operators on the host")
    allocator: Int64 = column("ns", "calls that allocate or free memory of the device")
    memory: Int64 = column("bytes", "most memory in use")
    kernels: Int64 = column("count", "kernels but those of communication")
    program: Int64 = column("", "made of its sequence of collectives, see summary_columns; 0 without any")


class RankCalls(TraceTable):
    """The collectives of a rank, in the order of its calls."""

    table_name: ClassVar[str] = "calls"
    group: Int32 = column("index into groups")
    name: Int32 = column("index into names")
    kind: Int8 = column("index into KINDS")
    dtype: Int32 = column("index into dtypes; 0 is unknown")
    step: Int32 = column("index into steps, -1")
    sequence: Int64 = column("Seq, -1")
    identity: Int64 = column("made of the Comms Id, -1")
    peer: Int32 = column("number of the other rank, -1")
    in_bytes: Int64 = column("bytes, -1")
    out_bytes: Int64 = column("bytes, -1")
    duration: Int64 = column("ns, -1", "Σ of its ranges")
    own: Int64 = column("ns, -1", "what the rank did since the collective before, see summary_columns")
    algorithm: Int8 = column("index into ALGORITHMS", "name of the kernel")


class RankPlaces(TraceTable):
    """Where the collectives of `RankCalls` are in the trace."""

    table_name: ClassVar[str] = "places"
    row: Int32 = column("its first kernel, else its call; -1")
    host_start: Int64 = column("ns, -1", "the call on the host")
    start: Int64 = column("ns, -1", "its first range")
    gaps: Int64 = column("ns", "end of its last range − start − duration")


class RankWork(TraceTable):
    """What a rank did apart from collectives, by name and step; parts below 0.1 % of a step are together, unnamed."""

    table_name: ClassVar[str] = "work"
    on_device: Int8 = column("0 or 1", "kernels; else operators on the host, their self time")
    name: Int32 = column("index into work_names; 0 is the unnamed rest")
    step: Int32 = column("index into steps")
    calls: Int64 = column("count")
    ns: Int64 = column("ns", "Σ")
    blocks: Int64 = column("count", "Σ blocks of the grids; 0 where not recorded")
    operator: Int32 = column("index into work_names", "the operator that launched a kernel; 0 for none and others")


class RankRanges(TraceTable):
    """The ranges that the program of a rank names, by name and step; times of calls that are in none of their name."""

    table_name: ClassVar[str] = "ranges"
    name: Int32 = column("index into range_names")
    step: Int32 = column("index into steps")
    calls: Int64 = column("count")
    host: Int64 = column("ns", "Σ")
    device: Int64 = column("ns", "Σ of what was launched inside")
    exposed: Int64 = column("ns", "see `analysis.program.ranges.RangeTable`")


class RankHead(msgspec.Struct, frozen=True, kw_only=True):
    """Who a rank is. None and empty if the trace does not contain it.

    worker      name of the trace
    rank        number of the rank
    world       ranks of the job
    host        name of the host
    backend     library of collectives
    device      name of the device that did most
    device_ids  numbers of the devices that did some work
    versions    of torch, CUDA and NCCL, by name
    origin_ns   since the epoch: what the times are relative to
    first_ns    first event, since the origin
    last_ns     end of the last event
    events      how many
    steps       names
    groups      process groups that it used, and those that its trace lists
    names       of collectives
    dtypes      element types; the first is unknown
    work_names  of kernels and operators; the first is the unnamed rest
    range_names of ranges, the longest first
    ranges_left names of ranges that are left out, shorter than these
    damage      kinds of the notes that say that events of the file are missing or wrong
    """

    worker: str
    rank: int | None
    world: int | None
    host: str
    backend: str
    device: str | None
    device_ids: tuple[int, ...]
    versions: dict[str, str]
    origin_ns: int
    first_ns: int
    last_ns: int
    events: int
    steps: tuple[str, ...]
    groups: tuple[ProcessGroup, ...]
    names: tuple[str, ...]
    dtypes: tuple[str, ...]
    work_names: tuple[str, ...]
    range_names: tuple[str, ...] = ()
    ranges_left: int = 0
    damage: tuple[str, ...] = ()


Tables = Mapping[type[TraceTable], TraceTable]


@dataclass(frozen=True)
class RankSummary:
    """One rank: about 60 bytes for each collective. What was decoded has each table when it is asked for."""

    head: RankHead
    tables: Tables = field(repr=False)

    @property
    def steps(self) -> RankSteps:
        return cast(RankSteps, self.tables[RankSteps])

    @property
    def calls(self) -> RankCalls:
        return cast(RankCalls, self.tables[RankCalls])

    @property
    def places(self) -> RankPlaces:
        return cast(RankPlaces, self.tables[RankPlaces])

    @property
    def work(self) -> RankWork:
        return cast(RankWork, self.tables[RankWork])

    @property
    def ranges(self) -> RankRanges:
        return cast(RankRanges, self.tables[RankRanges])

    @property
    def size(self) -> int:
        """Approximate size of the summary, bytes."""
        return 4000 + sum(values.nbytes for kind in TABLES for values in self.tables[kind].columns().values())

    @property
    def called(self) -> CalledOperations:
        """The collectives, to be matched by number."""
        return CalledOperations(**self._columns())

    @property
    def timed(self) -> TimedOperations:
        """The collectives, with when they ran."""
        of, places = self.calls, self.places
        end = np.where(of.duration >= 0, places.start + of.duration + places.gaps, -1)
        return TimedOperations(start=places.start, end=end, **self._columns())

    def _columns(self) -> dict[str, Any]:
        of, head = self.calls, self.head
        columns = {name: getattr(of, name).astype(np.int64, copy=False) for name in _CALLED}
        return columns | {
            "number": -1 if head.rank is None else head.rank,
            "groups": head.groups,
            "names": head.names,
            "dtypes": head.dtypes,
            "steps": head.steps,
        }


def summarize(model: Model, worker: str) -> RankSummary:
    """Summarize a trace with all of its steps for the reduction over ranks."""
    head, tables = collect_columns(model, worker)
    return summary_of_tables(RankHead(**head), tables)


def summary_of_tables(head: RankHead, tables: Mapping[str, dict[str, Any]]) -> RankSummary:
    """Make a summary from columns by the name of their table."""
    return RankSummary(head, {kind: kind.from_columns(tables[kind.table_name]) for kind in TABLES})


def encode_summary(summary: RankSummary) -> bytes:
    """Make a column file. The same summary gives the same columns; packed bytes may differ."""
    tables = {kind.table_name: _narrow(summary.tables[kind].columns()) for kind in TABLES}
    return encode_tables(NamedTables({"head": msgspec.to_builtins(summary.head)}, [], tables))


def decode_summary(content: bytes) -> RankSummary:
    """Read a column file. Raises ColumnFileError, now or when a table is read; ValueError for another file."""
    found = StoredTables(content)
    try:
        head = convert(found.header.get("head"), RankHead)
    except msgspec.ValidationError as error:
        raise ValueError(f"no summary of a rank: {error}") from None
    if any(names != found.columns_of(table) or not found.is_parallel(table) for table, names in _STORED.items()):
        raise ValueError("no summary of a rank: it has other columns")
    return RankSummary(head, _Stored(found, head))


def write_summary(summary: RankSummary, path: Path) -> None:
    """Write a column file. Raises OSError."""
    path.write_bytes(encode_summary(summary))


def read_summary(path: Path) -> RankSummary:
    """Read a column file. Raises OSError, ColumnFileError and ValueError."""
    return decode_summary(path.read_bytes())


def with_worker(summary: RankSummary, worker: str) -> RankSummary:
    """Copy a summary under another worker's name."""
    return replace(summary, head=structs.replace(summary.head, worker=worker))


def decode_for_worker(content: bytes, worker: str) -> RankSummary | None:
    """Read a summary that was stored without the name of its worker; None if it is damaged."""
    try:
        return with_worker(decode_summary(content), worker)
    except (ColumnFileError, ValueError):
        return None


TABLES: tuple[type[TraceTable], ...] = (RankSteps, RankCalls, RankPlaces, RankWork, RankRanges)
#: columns of `RankCalls` that matching looks at
_CALLED = tuple(name for name in RankCalls.column_names() if name in CalledOperations.__struct_fields__)


class _Stored(Mapping[type[TraceTable], TraceTable]):
    """Tables that are decoded when they are asked for, and then kept."""

    def __init__(self, found: StoredTables, head: RankHead) -> None:
        self._found = found
        self._ends = {name: len(getattr(head, name)) for name in _LISTS} | _CONSTANTS
        self._known: dict[type[TraceTable], TraceTable] = {}

    def __getitem__(self, kind: type[TraceTable]) -> TraceTable:
        if kind not in self._known:
            stored = self._found.table(kind.table_name)
            self._known[kind] = kind.from_columns(
                {
                    name: np.cumsum(stored[f"{name}+"]) if name in _ASCENDING else stored[name]
                    for name in kind.column_names()
                }
            )
            self._check(self._known[kind])
        return self._known[kind]

    def _check(self, table: TraceTable) -> None:
        """Check that indices point to something. Raises ColumnFileError."""
        for declared in table.schema():
            if declared.unit.startswith(_INDEX) and len(table):
                name, _, missing = declared.unit.removeprefix(_INDEX).partition(",")
                values = getattr(table, declared.name)
                if values.min() < (-1 if missing else 0) or values.max() >= self._ends[name.partition(";")[0]]:
                    raise ColumnFileError(f"has impossible values of {declared.name}")

    def __iter__(self) -> Iterator[type[TraceTable]]:
        return iter(TABLES)

    def __len__(self) -> int:
        return len(TABLES)


#: prefix of the units of columns that index a list of the head, or a constant list
_INDEX = "index into "
_LISTS = ("groups", "names", "dtypes", "steps", "work_names", "range_names")
_CONSTANTS = {"KINDS": len(KINDS), "ALGORITHMS": len(ALGORITHMS)}

#: mostly ascending columns: stored as differences, which compress better
_ASCENDING = frozenset({"host_start", "row", "sequence", "start"})


#: columns of each table by its name, as they are stored
_STORED: Mapping[str, set[str]] = {
    kind.table_name: {f"{name}+" if name in _ASCENDING else name for name in kind.column_names()} for kind in TABLES
}


def _narrow(columns: dict[str, Any]) -> dict[str, Any]:
    return {
        **{name: values for name, values in columns.items() if name not in _ASCENDING},
        **{
            f"{name}+": np.diff(values.astype(np.int64), prepend=np.int64(0))
            for name, values in columns.items()
            if name in _ASCENDING
        },
    }
