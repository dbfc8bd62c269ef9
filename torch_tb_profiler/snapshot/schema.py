"""Every table and column of a memory snapshot. Conventions as in `trace.schema`.

Tables
    records      what the allocator did, by device, in the order in which it did
    segments     memory that the allocator held when the snapshot was taken
    blocks       what the segments were cut into
    stacks       distinct stacks; `stack` columns are rows of this table, -1 where none was recorded
    stack_frames the frames of all stacks one after the other, innermost first
    frames       distinct frames
    contexts     distinct combinations of what a record says besides
    annotations  ranges that the program named

Sizes of records are what was requested; those of blocks what was taken of a segment. `origin_ns` of the trace is the
Unix time that times count from.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from torch_tb_profiler.arrays.types import Int32, Int64, UInt8
from torch_tb_profiler.trace.schema import STRING, TraceTable, column


class Action(IntEnum):
    """What a record says."""

    OTHER = 0
    ALLOC = 1
    FREE_REQUESTED = 2
    FREE_COMPLETED = 3
    SEGMENT_ALLOC = 4
    SEGMENT_FREE = 5
    SEGMENT_MAP = 6
    SEGMENT_UNMAP = 7
    OOM = 8
    SNAPSHOT = 9
    ANNOTATE = 10


class BlockState(IntEnum):
    """What a block is used for."""

    INACTIVE = 0
    ACTIVE = 1
    PENDING_FREE = 2  # released, but another stream still uses it


#: of Records.time where none was recorded
NO_TIME = -(2**63)
#: of Records.address: an oom that does not say what the device had free
NO_DEVICE_FREE = -1


class Records(TraceTable):
    """One row per record."""

    table_name: ClassVar[str] = "snapshot_records"
    device: Int32 = column("device number", "place in device_traces", follows=True)
    action: UInt8 = column("Action", "action")
    address: Int64 = column("address", "addr; of an oom device_free: bytes that the device had free, -1 unknown")
    bytes: Int64 = column("bytes", "size: requested; of segments what they are; of an oom the request, rounded")
    stream: Int64 = column("stream", "a number or a pointer")
    time: Int64 = column("ns from Trace.origin_ns", "time_us; NO_TIME before torch 2.2", missing=NO_TIME, follows=True)
    stack: Int32 = column("row of stacks", "frames")
    context: Int32 = column("row of contexts")


class Contexts(TraceTable):
    """What records say besides; -1 and the empty string where they say nothing."""

    table_name: ClassVar[str] = "snapshot_contexts"
    compiled: Int32 = column(STRING, "compile_context, since 2.8")
    metadata: Int32 = column(STRING, "user_metadata, since 2.10")
    pool_a: Int64 = column("id", "pool_id, since 2.12")
    pool_b: Int64 = column("id")


class SnapshotSegments(TraceTable):
    """Memory of the device that the allocator held at the end, by device and address."""

    table_name: ClassVar[str] = "snapshot_segments"
    device: Int32 = column("device number")
    address: Int64 = column("address")
    bytes: Int64 = column("bytes", "total_size")
    allocated: Int64 = column("bytes", "allocated_size")
    active: Int64 = column("bytes", "active_size")
    stream: Int64 = column("stream")
    is_small: UInt8 = column("bool", "segment_type is small")
    is_expandable: UInt8 = column("bool", "since 2.1")
    pool_a: Int64 = column("id", "segment_pool_id, since 2.1; 0 before", missing=0)
    pool_b: Int64 = column("id", missing=0)
    stack: Int32 = column("row of stacks", "frames, since 2.1")


class SnapshotBlocks(TraceTable):
    """What segments were cut into at the end, by segment and address."""

    table_name: ClassVar[str] = "snapshot_blocks"
    segment: Int32 = column("row of segments", follows=True)
    address: Int64 = column("address", "before 2.1 from the sizes of the blocks before")
    bytes: Int64 = column("bytes", "size")
    requested: Int64 = column("bytes", "requested_size; of inactive blocks out of date, -1 where it is missing")
    state: UInt8 = column("BlockState", "state")
    stack: Int32 = column("row of stacks", "frames, before 2.1 of the newest entry of history")


class StackRanges(TraceTable):
    """Stack i has the rows start[i] … start[i] + depth[i] - 1 of stack_frames."""

    table_name: ClassVar[str] = "snapshot_stacks"
    start: Int64 = column("row of stack_frames", follows=True)
    depth: Int32 = column("frames")


class StackFrames(TraceTable):
    """Innermost first."""

    table_name: ClassVar[str] = "snapshot_stack_frames"
    frame: Int32 = column("row of frames")


class Frames(TraceTable):
    """Distinct frames."""

    table_name: ClassVar[str] = "snapshot_frames"
    name: Int32 = column(STRING, "name")
    file: Int32 = column(STRING, "filename; ?? of C++ frames without one")
    line: Int32 = column("line", "0 where unknown", missing=0)


class Annotations(TraceTable):
    """Ranges of external_annotations, of all threads of the process, by start; since 2.5."""

    table_name: ClassVar[str] = "snapshot_annotations"
    name: Int32 = column(STRING, "name")
    start: Int64 = column("ns from Trace.origin_ns", missing=NO_TIME)
    end: Int64 = column("ns from Trace.origin_ns", "NO_TIME of a range that had not ended", missing=NO_TIME)


SNAPSHOT_TABLES: tuple[type[TraceTable], ...] = (
    Records,
    Contexts,
    SnapshotSegments,
    SnapshotBlocks,
    StackRanges,
    StackFrames,
    Frames,
    Annotations,
)
