"""What of a timeline is kept on disk: tables of a column file beside that of the trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch_tb_profiler.arrays.types import Float64, Int32, Int64, UInt8
from torch_tb_profiler.trace.schema import Table, column


@dataclass(frozen=True)
class LaneOfRow(Table):
    """Parallel to `events`."""

    table_name: ClassVar[str] = "lane_of_row"
    lane: Int32 = column("i4", "index into lanes, -1", "see `lanes`; -1: not drawn", follows=True)


@dataclass(frozen=True)
class Lanes(Table):
    """One line of slices that do not overlap; lanes of a band of a track follow one another, the outermost first."""

    table_name: ClassVar[str] = "lanes"
    track: Int32 = column("i4", "index into Trace.tracks", "events.track")
    band: UInt8 = column("u1", "Band", "events.category")
    depth: Int32 = column("i4", "number of lanes of the band above it", "nesting and overlap", follows=True)


@dataclass(frozen=True)
class BusyTracks(Table):
    """Parallel to `Trace.tracks`."""

    table_name: ClassVar[str] = "busy_tracks"
    busy: Int64 = column("i8", "ns", "time in which at least one slice ran")


@dataclass(frozen=True)
class Cells(Table):
    """Levels one after the other, the finest first; in each, by lane and time, as many slices as `count` says.

    The slices themselves, by lane and time, say where each cell begins and ends.
    """

    table_name: ClassVar[str] = "cells"
    level: Int32 = column("i4", "level", "", follows=True)
    count: Int32 = column("i4", "slices", "")
    longest: Int32 = column("i4", "row", "of the longest slice, of equals the first", follows=True)


@dataclass(frozen=True)
class WorkLinks(Table):
    """Parallel to `device_work`."""

    table_name: ClassVar[str] = "work_links"
    launch: Int32 = column("i4", "index into launches, -1", "model.launch_links", follows=True)
    is_communication: UInt8 = column("u1", "1 for a kernel of a collective", "model.communication")


@dataclass(frozen=True)
class CallLinks(Table):
    """Parallel to `launches`."""

    table_name: ClassVar[str] = "call_links"
    operator: Int32 = column("i4", "string", "name of the innermost operator around the call; model.launch_links")


@dataclass(frozen=True)
class Partners(Table):
    """Forward operators, and the outermost operator of the backward of each."""

    table_name: ClassVar[str] = "partners"
    forward: Int32 = column("i4", "row", "model.forward_backward", follows=True)
    backward: Int32 = column("i4", "row", "model.forward_backward", follows=True)


@dataclass(frozen=True)
class MemoryPoints(Table):
    """The memory in use, device by device; a value holds until the next of its device."""

    table_name: ClassVar[str] = "memory_points"
    device: Int32 = column("i4", "index into the list of devices with memory", "analysis.memory_curve")
    time: Int64 = column("i8", "ns", "")
    allocated: Int64 = column("i8", "bytes", "")
    reserved: Int64 = column("i8", "bytes", "")


@dataclass(frozen=True)
class MemoryPlaces(Table):
    """`MemoryPoints` on disk: the trace holds their times already."""

    table_name: ClassVar[str] = "memory_places"
    device: Int32 = column("i4", "as in memory_points", "analysis.memory_curve", follows=True)
    record: Int32 = column(
        "i4", "which memory record of the trace, in order of time, is the first at or after", "", follows=True
    )
    ahead: Int64 = column("i8", "ns from the point to that record", "")
    allocated: Int64 = column("i8", "bytes", "", follows=True)
    reserved: Int64 = column("i8", "bytes", "", follows=True)


@dataclass(frozen=True)
class CounterBins(Table):
    """Every counter in equal bins, counter by counter."""

    table_name: ClassVar[str] = "counter_bins"
    low: Float64 = column("f8", "unit of the counter", "least value in the bin; NaN outside of the trace")
    high: Float64 = column("f8", "unit of the counter", "largest value")
    last: Float64 = column("f8", "unit of the counter", "value at the end")
    mean: Float64 = column("f8", "unit of the counter", "over time")
