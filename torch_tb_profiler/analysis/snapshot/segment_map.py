"""The map of segments at a moment: pieces too small to be seen are drawn together, and their bytes are kept."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, TraceMeta, plain
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.snapshot.alive import (
    BEFORE_RECORDING,
    lines_of,
)
from torch_tb_profiler.analysis.snapshot.frames import NO_STACK, StackNames, stack_names
from torch_tb_profiler.analysis.snapshot.history import (
    AtMoment,
    Moment,
    device_history,
    moment_of,
    snapshot_question,
)
from torch_tb_profiler.analysis.snapshot.layout import (
    PoolRow,
    SegmentLayout,
    fragmentation,
    pool_name,
    pools,
    segment_layout,
)
from torch_tb_profiler.analysis.snapshot.lifetimes import Lifetimes
from torch_tb_profiler.arrays.types import Int64

#: a segment is drawn at most so wide, in pixels
WIDTH = 800
MOST_SEGMENTS = 2000
MOST_PIECES = 20_000
FREE, MIXED = -1, -2
# codes of what has no line; those of lines follow
_BEFORE, _NO_STACK, _LINES = 0, 1, 2


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


def drawn_pieces(
    layout: SegmentLayout, lifetimes: Lifetimes, names: StackNames
) -> tuple[Int64, PieceColumns, list[str]]:
    """Return the largest segments, by address, their pieces, and the lines that these point to."""
    chosen = np.sort(np.argsort(-layout.bytes, kind="stable")[:MOST_SEGMENTS])
    place = np.full(len(layout.address), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    piece = np.flatnonzero(place[layout.piece_segment] >= 0)
    owner = layout.piece_segment[piece]
    offset = layout.piece_address[piece] - layout.address[owner]
    life, size = layout.life[piece], layout.piece_bytes[piece]
    stack = np.where(life >= 0, lifetimes.stack[np.maximum(life, 0)], -1) if len(lifetimes) else life
    born = lifetimes.born[np.maximum(life, 0)] if len(lifetimes) else life
    none = np.where(born < 0, _BEFORE, _NO_STACK)
    line = lines_of(names, stack)
    code = np.where(life >= 0, np.where(line >= 0, line + _LINES, none), FREE)
    room = np.maximum(layout.bytes[owner], 1)  # a file may have segments without size
    width = WIDTH
    while True:
        # pieces that begin in the same pixel of their segment, where none is larger than it
        pixel = offset * width // room
        small = size * width < room
        begins = np.ones(len(piece), np.bool_)
        same = (owner[1:] == owner[:-1]) & (pixel[1:] == pixel[:-1]) & small[1:] & small[:-1]
        begins[1:] = ~same
        first = np.flatnonzero(begins)
        if len(first) <= MOST_PIECES or width <= 1:
            break
        width //= 2
    of = np.cumsum(begins) - 1
    count = np.bincount(of, minlength=len(first)).astype(np.int64)
    merged_size = np.bincount(of, size, len(first)).astype(np.int64)
    used = np.bincount(of, np.where(life >= 0, size, 0), len(first)).astype(np.int64)
    kind = code[first]
    differs = np.zeros(len(first), np.bool_)
    np.logical_or.at(differs, of, code != kind[of])
    kept = np.where(differs, MIXED, kind)
    different = np.unique(kept[kept >= 0])
    number = np.searchsorted(different, kept)
    names_of = {_BEFORE: BEFORE_RECORDING, _NO_STACK: NO_STACK}
    texts = [names_of.get(each) or names.lines[each - _LINES] for each in different.tolist()]
    pieces = PieceColumns(
        segment=plain(place[owner[first]]),
        offset=plain(offset[first]),
        bytes=plain(merged_size),
        line=plain(np.where(kept >= 0, number, kept)),
        blocks=plain(count),
        used=plain(used),
    )
    return chosen, pieces, texts


def _segments(subject: Subject, params: AtMoment) -> SegmentsAnswer:
    model = subject.model
    history, names = device_history(model, params.device), stack_names(model)
    at = moment_of(history, params.at)
    layout = segment_layout(history, at.position)
    chosen, pieces, lines = drawn_pieces(layout, history.lifetimes, names)
    return SegmentsAnswer(
        meta=TraceMeta(**subject.about("snapshot")),
        moment=at,
        exact=layout.exact,
        fragmentation=fragmentation(layout),
        pools=pools(layout),
        lines=lines,
        segments=SegmentColumns(
            address=plain(layout.address[chosen]),
            bytes=plain(layout.bytes[chosen]),
            stream=plain(layout.stream[chosen]),
            is_small=plain(layout.is_small[chosen]),
            pool=[
                pool_name(a, b)
                for a, b in zip(layout.pool_a[chosen].tolist(), layout.pool_b[chosen].tolist(), strict=True)
            ],
            free=plain(layout.free_bytes[chosen]),
        ),
        pieces=pieces,
        left_out=len(layout.address) - len(chosen),
    )


SNAPSHOT_SEGMENTS = snapshot_question(
    name="snapshot/segments",
    summary="The segments at a moment, and what is in them",
    answer=SegmentsAnswer,
    parameters=AtMoment,
    compute=_segments,
    precompute=(AtMoment(),),
    report=({},),
)
