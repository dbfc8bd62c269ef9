"""Writers of tables: what the rows of a trace are handed to while it is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Int64, UInt8
from torch_tb_profiler.trace.notes import Note
from torch_tb_profiler.trace.schema import TRACE_TABLES, Events, Phase, Table
from torch_tb_profiler.trace.store import Header, Strings, Trace, Track


class TableWriter(Protocol):
    def add(self, kind: type[Table], columns: dict[str, npt.NDArray[Any]]) -> None:
        """Append rows to a table."""


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


class MemoryWriter:
    """Keeps the tables in memory."""

    def __init__(self) -> None:
        self._pieces: dict[type[Table], list[dict[str, npt.NDArray[Any]]]] = {kind: [] for kind in TRACE_TABLES}

    def add(self, kind: type[Table], columns: dict[str, npt.NDArray[Any]]) -> None:
        self._pieces[kind].append(kind.from_columns(columns).columns())

    def trace(self, described: TraceInfo) -> Trace:
        tables: list[Table] = []
        for kind in TRACE_TABLES:
            table = kind.concatenate(self._pieces.pop(kind))
            if isinstance(table, Events):
                table = table.with_columns(start=from_first_event(table.phase, table.start, described.first_ns))
            tables.append(table)
        return Trace.of_tables(
            tables,
            Strings(described.strings),
            described.tracks,
            described.header,
            described.origin_ns,
            described.notes,
            described.text_bytes,
        )


def from_first_event(phase: UInt8, start: Int64, first_ns: int) -> Int64:
    """Starts relative to the first; those of metadata, which has no time, are 0."""
    return np.where(phase == Phase.METADATA, 0, start - first_ns)
