"""The parts of a timeline that are stored: tables of a column file beside that of the trace."""

from __future__ import annotations

from typing import ClassVar

from torch_tb_profiler.arrays.types import Float64, Int32, Int64, UInt8
from torch_tb_profiler.trace.schema import TraceTable, column


class LaneOfRow(TraceTable):
    """Parallel to `events`."""

    table_name: ClassVar[str] = "lane_of_row"
    lane: Int32 = column("index into lanes, -1", "see `lanes`; -1: not drawn", follows=True)


class Lanes(TraceTable):
    """One line of slices that do not overlap; lanes of a band of a track follow one another, the outermost first."""

    table_name: ClassVar[str] = "lanes"
    track: Int32 = column("index into Trace.tracks", "events.track")
    band: UInt8 = column("Band", "events.category")
    depth: Int32 = column("number of lanes of the band above it", "nesting and overlap", follows=True)


class BusyTracks(TraceTable):
    """Parallel to `Trace.tracks`."""

    table_name: ClassVar[str] = "busy_tracks"
    busy: Int64 = column("ns", "time in which at least one slice ran")


class PyramidCells(TraceTable):
    """Levels one after the other, the finest first; in each, by lane and time, as many slices as `count` says.

    The slices themselves, by lane and time, say where each cell begins and ends.
    """

    table_name: ClassVar[str] = "cells"
    level: Int32 = column("level", follows=True)
    count: Int32 = column("slices")
    longest: Int32 = column("row", "of the longest slice, of equals the first", follows=True)


class WorkLinks(TraceTable):
    """Parallel to `device_work`."""

    table_name: ClassVar[str] = "work_links"
    launch: Int32 = column("index into launches, -1", "model.launch_links", follows=True)
    is_communication: UInt8 = column("1 for a kernel of a collective", "model.communication")
    how: UInt8 = column("How", "how the owner is known; model.owners")
    reason: UInt8 = column("Why", "why there is no owner; model.owners")
    owner: Int32 = column("row, -1", "model.owners", follows=True)
    evidence: Int32 = column("row, -1", "model.owners", follows=True)


class CallLinks(TraceTable):
    """Parallel to `launches`."""

    table_name: ClassVar[str] = "call_links"
    operator: Int32 = column("string", "name of the innermost operator around the call; model.launch_links")


class Partners(TraceTable):
    """Forward operators, and the outermost operator of the backward of each."""

    table_name: ClassVar[str] = "partners"
    forward: Int32 = column("row", "model.forward_backward", follows=True)
    backward: Int32 = column("row", "model.forward_backward", follows=True)


class MemoryPoints(TraceTable):
    """The memory in use, device by device; a value holds until the next of its device."""

    table_name: ClassVar[str] = "memory_points"
    device: Int32 = column("index into the list of devices with memory", "analysis.memory_curve")
    time: Int64 = column("ns")
    allocated: Int64 = column("bytes")
    reserved: Int64 = column("bytes")


class MemoryPlaces(TraceTable):
    """`MemoryPoints` on disk: the trace holds their times already."""

    table_name: ClassVar[str] = "memory_places"
    device: Int32 = column("as in memory_points", "analysis.memory_curve", follows=True)
    record: Int32 = column("which memory record of the trace, in order of time, is the first at or after", follows=True)
    ahead: Int64 = column("ns from the point to that record")
    allocated: Int64 = column("bytes", follows=True)
    reserved: Int64 = column("bytes", follows=True)


class CounterBins(TraceTable):
    """Every counter in equal bins, counter by counter."""

    table_name: ClassVar[str] = "counter_bins"
    low: Float64 = column("unit of the counter", "least value in the bin; NaN outside the trace")
    high: Float64 = column("unit of the counter", "largest value")
    last: Float64 = column("unit of the counter", "value at the end")
    mean: Float64 = column("unit of the counter", "over time")
