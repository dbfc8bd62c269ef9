"""The segments at a moment, and what lay in them."""

from __future__ import annotations

from bisect import bisect_right, insort

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, Count
from torch_tb_profiler.analysis.snapshot.blocks import SMALL_SEGMENT
from torch_tb_profiler.analysis.snapshot.history import History
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.snapshot.schema import Action

_TAKEN = (Action.SEGMENT_ALLOC, Action.SEGMENT_MAP)
_GIVEN = (Action.SEGMENT_FREE, Action.SEGMENT_UNMAP)


class SegmentLayout(msgspec.Struct, frozen=True):
    """Segments of one device after a record, by address, and the pieces they are cut into, by segment and address.

    position        of the record
    address … pool  of segments
    piece_segment   index of the segment
    piece_address   where the piece begins
    piece_bytes     its size
    life            index into `Lifetimes`, -1 of what is free
    exact           whether the sizes of blocks are known; else rounding is seen as free
    """

    position: int
    address: Int64
    bytes: Int64
    stream: Int64
    is_small: Bool
    is_expandable: Bool
    pool_a: Int64
    pool_b: Int64
    piece_segment: Int64
    piece_address: Int64
    piece_bytes: Int64
    life: Int64
    exact: bool

    @property
    def is_free(self) -> Bool:
        found: Bool = self.life < 0
        return found

    @property
    def free_bytes(self) -> Int64:
        """Of each segment."""
        return np.bincount(
            self.piece_segment, np.where(self.is_free, self.piece_bytes, 0), minlength=len(self.address)
        ).astype(np.int64)

    @property
    def largest_free(self) -> int:
        return int(self.piece_bytes[self.is_free].max(initial=0))


class _Segment(msgspec.Struct):
    bytes: int
    stream: int
    small: bool
    expandable: bool
    pool: tuple[int, int]


def segment_layout(history: History, position: int) -> SegmentLayout:
    """Return the segments after a record and what lay in them."""
    device, lifetimes = history.device, history.lifetimes
    segments = _segments(history, position)
    address = np.array(list(segments), np.int64)
    described = list(segments.values())
    size = np.array([part.bytes for part in described], np.int64)
    at_end = position >= history.last and not device.cut_off
    life = np.flatnonzero(lifetimes.alive(position))
    order = np.argsort(lifetimes.address[life], kind="stable")
    life = life[order]
    begin, length = lifetimes.address[life], history.blocks.bytes[life]
    segment = np.searchsorted(address, begin, "right") - 1
    inside = segment >= 0
    inside[inside] &= begin[inside] < address[segment[inside]] + size[segment[inside]]
    life, begin, length, segment = life[inside], begin[inside], length[inside], segment[inside].astype(np.int64)
    # a block ends where the next begins, whatever is thought of its size
    ends = address[segment] + size[segment]
    following = np.append(begin[1:], np.iinfo(np.int64).max)
    length = np.minimum(length, np.minimum(following, ends) - begin)
    pieces = _with_gaps((address, size), segment, begin, length, life)
    return SegmentLayout(
        position,
        address,
        size,
        np.array([part.stream for part in described], np.int64),
        np.array([part.small for part in described], np.bool_),
        np.array([part.expandable for part in described], np.bool_),
        np.array([part.pool[0] for part in described], np.int64),
        np.array([part.pool[1] for part in described], np.int64),
        *pieces,
        at_end or history.blocks.exact,
    )


def _with_gaps(
    segments: tuple[Int64, Int64], segment: Int64, begin: Int64, length: Int64, life: Int64
) -> tuple[Int64, Int64, Int64, Int64]:
    """Return blocks and what lies between them, by address: segment, begin, size, life.

    segments   address and size of each
    """
    address, size = segments
    first = np.ones(len(begin), np.bool_)
    first[1:] = segment[1:] != segment[:-1]
    before_end = np.where(first, address[segment], np.append(0, (begin + length)[:-1]))
    gap_before = begin - before_end
    last = np.append(first[1:], True) if len(first) else first
    after = address[segment[last]] + size[segment[last]] - (begin + length)[last]
    empty = np.setdiff1d(np.arange(len(address)), segment)
    parts = [
        (segment, begin, length, life),
        (segment[gap_before > 0], before_end[gap_before > 0], gap_before[gap_before > 0], None),
        (segment[last][after > 0], (begin + length)[last][after > 0], after[after > 0], None),
        (empty, address[empty], size[empty], None),
    ]
    columns = [np.concatenate([part[place] for part in parts]) for place in range(3)]
    lifetimes = np.concatenate([np.full(len(part[0]), -1, np.int64) if part[3] is None else part[3] for part in parts])
    order = np.lexsort((columns[1], columns[0]))
    return columns[0][order], columns[1][order], columns[2][order], lifetimes[order]


def _segments(history: History, position: int) -> dict[int, _Segment]:
    """Return segments by address: the final ones with later records undone; of a truncated file from its beginning."""
    device = history.device
    records = device.records
    of_segments = np.flatnonzero(device.is_action(*_TAKEN, *_GIVEN))
    kept = _Ranges()
    if device.cut_off:
        for place in of_segments[of_segments <= position].tolist():
            kept.change(*_segment_of_record(history, place), add=int(records.action[place]) in _TAKEN)
    else:
        s = device.segments
        for row in range(len(s)):
            pool = int(s.pool_a[row]), int(s.pool_b[row])
            expandable, small = bool(s.is_expandable[row]), bool(s.is_small[row])
            kept.add(int(s.address[row]), _Segment(int(s.bytes[row]), int(s.stream[row]), small, expandable, pool))
        for place in of_segments[of_segments > position][::-1].tolist():
            kept.change(*_segment_of_record(history, place), add=int(records.action[place]) in _GIVEN)
    return kept.by_address()


def _segment_of_record(history: History, place: int) -> tuple[int, _Segment]:
    """Return the segment, or the part of one, that a record is about."""
    records, contexts = history.device.records, history.device.contexts
    size, context = int(records.bytes[place]), int(records.context[place])
    pool = (0, 0)
    if 0 <= context < len(contexts):
        pool = max(int(contexts.pool_a[context]), 0), max(int(contexts.pool_b[context]), 0)
    expandable = int(records.action[place]) in (Action.SEGMENT_MAP, Action.SEGMENT_UNMAP)
    return int(records.address[place]), _Segment(
        size, int(records.stream[place]), size == SMALL_SEGMENT, expandable, pool
    )


class _Ranges:
    """Segments by address; expandable ones grow and shrink by pieces."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._found: dict[int, _Segment] = {}

    def add(self, address: int, segment: _Segment) -> None:
        if address not in self._found:
            insort(self._starts, address)
        self._found[address] = segment

    def change(self, address: int, segment: _Segment, add: bool) -> None:
        if not add:
            self._remove(address, segment.bytes)
        elif segment.expandable and (before := self._that_ends_at(address, segment.stream)) is not None:
            self._found[before].bytes += segment.bytes
            self._join(before)
        else:
            self.add(address, segment)
            if segment.expandable:
                self._join(address)

    def _that_ends_at(self, address: int, stream: int) -> int | None:
        place = bisect_right(self._starts, address) - 1
        if place < 0:
            return None
        start = self._starts[place]
        found = self._found[start]
        return start if found.expandable and found.stream == stream and start + found.bytes == address else None

    def _join(self, address: int) -> None:
        """Join it with the expandable piece behind it."""
        found = self._found[address]
        after = self._found.get(address + found.bytes)
        if after is not None and after.expandable and after.stream == found.stream:
            self._drop(address + found.bytes)
            found.bytes += after.bytes

    def _drop(self, address: int) -> None:
        del self._found[address]
        del self._starts[bisect_right(self._starts, address) - 1]

    def _remove(self, address: int, size: int) -> None:
        place = bisect_right(self._starts, address) - 1
        if place < 0:
            return
        start = self._starts[place]
        held = self._found[start]
        end = start + held.bytes
        if address >= end:
            return
        after = end - (address + size)
        if after > 0:
            rest = _Segment(after, held.stream, held.small, held.expandable, held.pool)
            self.add(address + size, rest)
        if address == start:
            self._drop(start)
        else:
            held.bytes = address - start

    def by_address(self) -> dict[int, _Segment]:
        return {start: self._found[start] for start in self._starts}


class PoolRow(msgspec.Struct, frozen=True):
    """Segments of one pool, stream and size class at a moment.

    pool         what it is called
    stream       id of the stream: a number or a pointer
    is_small     whether of requests up to 1 MiB
    segments     how many
    reserved     bytes of the segments
    used         bytes of blocks in use, those with a pending release among them
    free         reserved − used
    largest      the largest free piece
    inactive     bytes that are free in segments which hold something, without expandable ones
    unused       bytes of segments that hold nothing
    """

    pool: str
    stream: int
    is_small: bool
    segments: Count
    reserved: Bytes
    used: Bytes
    free: Bytes
    largest: Bytes
    inactive: Bytes
    unused: Bytes


def pool_name(a: int, b: int) -> str:
    return "default" if (a, b) == (0, 0) else f"CUDA graph or MemPool ({a}, {b})"


def pools(layout: SegmentLayout) -> tuple[PoolRow, ...]:
    """Return pools × streams × size classes, the largest first."""
    columns = (layout.pool_a, layout.pool_b, layout.stream, layout.is_small)
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    free = layout.free_bytes
    rows = []
    is_free = layout.is_free
    for key in sorted(set(keys)):
        mine = np.array([each == key for each in keys], np.bool_)
        in_mine = mine[layout.piece_segment] & is_free
        holds = mine & (free < layout.bytes)
        reserved, unused_bytes = int(layout.bytes[mine].sum()), int(free[mine].sum())
        rows.append(
            PoolRow(
                pool_name(key[0], key[1]),
                key[2],
                key[3],
                int(mine.sum()),
                reserved,
                reserved - unused_bytes,
                unused_bytes,
                int(layout.piece_bytes[in_mine].max(initial=0)),
                int(free[holds & ~layout.is_expandable].sum()),
                int(free[mine & (free == layout.bytes)].sum()),
            )
        )
    return tuple(sorted(rows, key=lambda row: -row.reserved))


def fragmentation(layout: SegmentLayout) -> float | None:
    """Return 1 − largest free piece / Σ free pieces; None if nothing is free."""
    free = layout.piece_bytes[layout.is_free]
    whole = int(free.sum())
    return 1 - int(free.max()) / whole if whole else None
