"""Types of the answers about a snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, InlineTable, Ns, TraceMeta
from torch_tb_profiler.analysis.snapshot.findings import SnapshotFinding
from torch_tb_profiler.analysis.snapshot.layout import PoolRow
from torch_tb_profiler.analysis.snapshot.moments import Moment
from torch_tb_profiler.analysis.snapshot.oom import Oom
from torch_tb_profiler.analysis.snapshot.summary import SnapshotDevice
from torch_tb_profiler.analysis.snapshot.timeline import Axis
from torch_tb_profiler.analysis.table import TableMeta

_At = Annotated[
    str,
    Meta(
        description="After which record: start, peak, reserved_peak, oom, snapshot, end, or its number.", max_length=40
    ),
]
_Device = Annotated[int | None, Meta(description="Number of a device; without it that with most records.")]


class OfDevice(msgspec.Struct, frozen=True):
    """A device of the snapshot."""

    device: _Device = None


class AtMoment(msgspec.Struct, frozen=True):
    """A device and a moment."""

    device: _Device = None
    at: _At = "peak"


class SnapshotAnswer(Answer, frozen=True, kw_only=True):
    """A memory snapshot in a few numbers.

    meta            which snapshot
    said            the sentence: why memory ran out, otherwise the largest numbers
    devices         that have a record or a segment, the one with most records first
    device_texts    the same in words: what was most, and what is left
    inferred_texts  why memory ran out, if it did when the snapshot was taken; empty of devices with a history
    ooms            failed allocations, by device, then record
    oom_sentences   the same in words
    findings        what to change
    finding_texts   the same in words
    contradictions  how often there is what cannot be, in the records and the state at the end
    cut_off         whether the file ends too early; if so, memory in use is counted from the first record
    overflowed      whether the oldest records were overwritten; null if the file does not contain it
    settings        of the allocator
    """

    meta: TraceMeta
    said: str
    devices: Sequence[SnapshotDevice]
    device_texts: Sequence[str]
    inferred_texts: Sequence[str]
    ooms: Sequence[Oom]
    oom_sentences: Sequence[str]
    findings: Sequence[SnapshotFinding]
    finding_texts: Sequence[str]
    contradictions: Count
    cut_off: bool
    overflowed: bool | None
    settings: Mapping[str, str | int | float | bool | Mapping[str, int | str | bool]]


class ShapeColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Allocations that are drawn one by one, in the order of their births: parallel lists.

    begin       position of the first column in which each is drawn
    end         position of the first column in which it is no longer drawn
    bytes       requested
    line        position in `lines`
    born        number of the record of the allocation, -1 before the recording
    released    number of the record of the release, null if it was not released
    """

    begin: Sequence[int]
    end: Sequence[int]
    bytes: Sequence[Bytes]
    line: Sequence[int]
    born: Sequence[int]
    released: Sequence[int | None]


class BandColumn(msgspec.Struct, frozen=True, kw_only=True):
    """Allocations that are drawn together.

    name    line of the program or size that they have in common
    blocks  how many there are in the window
    bytes   in use in each column
    """

    name: str
    blocks: Count
    bytes: Sequence[Bytes]


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Something to be seen above the allocations.

    kind      annotation, segment (allocated from the device or released), or a kind of moment
    name      of an annotation; empty for others
    position  number of the record at or before which it is
    time_ns   since the start of the recording, null without times
    count     how many are drawn as this one
    """

    kind: str
    name: str
    position: int
    time_ns: Ns | None
    count: Count


class SnapshotTimelineAnswer(Answer, frozen=True, kw_only=True):
    """Allocations stacked over time: in every column Σ shapes + Σ bands = requested.

    meta         which snapshot
    device       number of the device
    axis         what x is: ns since the start of the recording, or numbers of records
    start        where the window begins: ns or number of a record
    end          where it ends, included: ns or number of a record
    whole_start  where the recording begins: ns or number of a record
    whole_end    where it ends: ns or number of a record
    position     for each column, number of the record after which the drawn blocks are alive
    x            where each column begins: ns or number of a record
    requested    bytes in use at `position`
    lowest       least bytes in use in each column
    reserved     most bytes of segments in each column
    lines        texts that shapes point to
    shapes       allocations drawn one by one
    bands        those drawn together
    marks        moments, annotations, segments
    """

    meta: TraceMeta
    device: int
    axis: Axis
    start: int
    end: int
    whole_start: int
    whole_end: int
    position: Sequence[int]
    x: Sequence[int]
    requested: Sequence[Bytes]
    lowest: Sequence[Bytes]
    reserved: Sequence[Bytes]
    lines: Sequence[str]
    shapes: ShapeColumns
    bands: Sequence[BandColumn]
    marks: Sequence[Mark]


class SegmentColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Segments by address: parallel lists.

    address   where it is: position in the memory of the device
    bytes     size of each
    stream    id of the stream: a number or a pointer
    is_small  whether of requests up to 1 MiB
    pool      what its pool is called
    free      bytes of it that are free
    """

    address: Sequence[int]
    bytes: Sequence[Bytes]
    stream: Sequence[int]
    is_small: Sequence[bool]
    pool: Sequence[str]
    free: Sequence[Bytes]


class PieceColumns(msgspec.Struct, frozen=True, kw_only=True):
    """What segments are cut into, by segment and offset: parallel lists.

    segment  position in the segments
    offset   bytes from the beginning of the segment
    bytes    size of each
    line     position in `lines`; -1 for free memory, -2 for different pieces drawn together
    blocks   how many pieces of the allocator it stands for
    used     bytes of it that are in use
    """

    segment: Sequence[int]
    offset: Sequence[Bytes]
    bytes: Sequence[Bytes]
    line: Sequence[int]
    blocks: Sequence[int]
    used: Sequence[Bytes]


class SegmentsAnswer(Answer, frozen=True, kw_only=True):
    """The segments of a device after a record, and what is in them.

    meta           which snapshot
    moment         the record
    exact          whether the sizes of all blocks are known; otherwise rounding counts as free
    fragmentation  1 − largest / Σ of the free pieces; null if nothing is free
    pools          pools × streams × size classes
    lines          texts that pieces point to
    segments       by address
    pieces         what they are cut into
    left_out       how many segments are not in the answer, the smallest of all
    """

    meta: TraceMeta
    moment: Moment
    exact: bool
    fragmentation: Fraction | None
    pools: Sequence[PoolRow]
    lines: Sequence[str]
    segments: SegmentColumns
    pieces: PieceColumns
    left_out: Count


class AliveMeta(TableMeta, frozen=True, kw_only=True):
    """What accompanies the blocks that are alive.

    moment    the record after which it is
    since     the record that is compared with, null for none
    group_by  what makes a row
    """

    moment: Moment
    since: Moment | None
    group_by: str


class StacksOfSnapshotMeta(TraceMeta, frozen=True, kw_only=True):
    """Beside bytes by call stack.

    moment       the record after which they are in use
    root         id of the only entry that is shown, with everything below it; 0 for everything
    whole_bytes  of what is shown
    all_bytes    of all stacks
    limit_bytes  entries with less are folded together
    """

    moment: Moment
    root: int
    whole_bytes: Bytes
    all_bytes: Bytes
    limit_bytes: Bytes


class SnapshotStacksAnswer(InlineTable, frozen=True, kw_only=True):
    """Bytes in use by call stack as a tree in a table: `parent` is a row, -1 at the top.

    meta  which snapshot and moment
    """

    meta: StacksOfSnapshotMeta


__all__ = [
    "AliveMeta",
    "AtMoment",
    "BandColumn",
    "Mark",
    "OfDevice",
    "PieceColumns",
    "SegmentColumns",
    "SegmentsAnswer",
    "ShapeColumns",
    "SnapshotAnswer",
    "SnapshotStacksAnswer",
    "SnapshotTimelineAnswer",
    "StacksOfSnapshotMeta",
]
