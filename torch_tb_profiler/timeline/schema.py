"""What of a timeline is kept on disk: tables of a column file beside that of the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch_tb_profiler.trace.schema import Int32, Int64, Table, UInt8, column


@dataclass(frozen=True)
class LaneOfRow(Table):
    """Parallel to `events`."""

    table_name: ClassVar[str] = "lane_of_row"
    lane: Int32 = column("i4", "index into lanes, -1", "see `lanes`; -1: not drawn")


@dataclass(frozen=True)
class Lanes(Table):
    """One line of slices that do not overlap; lanes of a band of a track follow one another, the outermost first."""

    table_name: ClassVar[str] = "lanes"
    track: Int32 = column("i4", "index into Trace.tracks", "events.track")
    band: UInt8 = column("u1", "Band", "events.category")
    depth: Int32 = column("i4", "number of lanes of the band above it", "nesting and overlap")


@dataclass(frozen=True)
class BusyTracks(Table):
    """Parallel to `Trace.tracks`."""

    table_name: ClassVar[str] = "busy_tracks"
    busy: Int64 = column("i8", "ns", "time in which at least one slice ran")


@dataclass(frozen=True)
class Cells(Table):
    """Levels one after the other, the finest first; in each, by lane and time. One slice is a cell of count 1.

    Cells of a lane do not overlap.
    """

    table_name: ClassVar[str] = "cells"
    start: Int64 = column("i8", "ns", "of the first slice")
    length: Int64 = column("i8", "ns", "to the end of the last slice")
    idle: Int64 = column("i8", "ns", "of the length, in which no slice ran")
    count: Int32 = column("i4", "slices", "")
    longest: Int32 = column("i4", "row", "of the longest slice, of equals the first")


@dataclass(frozen=True)
class CellBounds(Table):
    """Where the cells of each lane of each stored level begin; in a level the lanes, then its end."""

    table_name: ClassVar[str] = "cell_bounds"
    level: Int32 = column("i4", "level", "")
    first: Int64 = column("i8", "index into cells", "")
