"""Where the columns go while a trace is read: into memory, or into a column file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.trace.notes import Note
from torch_tb_profiler.trace.schema import TRACE_TABLES, Events, Phase, Table
from torch_tb_profiler.trace.store import Header, Strings, Trace, Track


class Sink(Protocol):
    def add(self, kind: type[Table], columns: dict[str, npt.NDArray[Any]]) -> None:
        """Take the next rows of a table."""


@dataclass(frozen=True)
class Described:
    """What is known of a trace, beside its tables, once it has been read to the end.

    first_ns  the start of its first event, which all starts are still to be reduced by
    """

    header: Header
    strings: list[str]
    tracks: Sequence[Track]
    origin_ns: int
    first_ns: int
    notes: Sequence[Note]
    text_bytes: int


class MemorySink:
    def __init__(self) -> None:
        self._pieces: dict[type[Table], list[dict[str, npt.NDArray[Any]]]] = {kind: [] for kind in TRACE_TABLES}

    def add(self, kind: type[Table], columns: dict[str, npt.NDArray[Any]]) -> None:
        self._pieces[kind].append(kind.from_columns(columns).columns())

    def trace(self, described: Described) -> Trace:
        tables: list[Table] = []
        for kind in TRACE_TABLES:
            table = kind.concatenate(self._pieces.pop(kind))
            tables.append(from_first_event(table, described.first_ns) if isinstance(table, Events) else table)
        return Trace.of_tables(
            tables,
            Strings(described.strings),
            described.tracks,
            described.header,
            described.origin_ns,
            described.notes,
            described.text_bytes,
        )


def from_first_event(events: Events, first_ns: int) -> Events:
    """Starts relative to the first event; those of metadata, which has no time, are 0."""
    start = np.where(events.phase == Phase.METADATA, 0, events.start - first_ns)
    return Events.from_columns({**events.columns(), "start": start})
