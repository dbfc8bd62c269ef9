"""The pieces of segments as they are drawn: those too small to be seen are put together, and their bytes are kept."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.answer import plain
from torch_tb_profiler.analysis.snapshot.alive import BEFORE_RECORDING, lines_of
from torch_tb_profiler.analysis.snapshot.answers import PieceColumns
from torch_tb_profiler.analysis.snapshot.frames import NO_STACK, StackNames
from torch_tb_profiler.analysis.snapshot.layout import Layout
from torch_tb_profiler.analysis.snapshot.lives import Lives
from torch_tb_profiler.arrays.types import Int64

#: a segment is drawn at most so wide, in pixels
WIDTH = 800
MOST_SEGMENTS = 2000
MOST_PIECES = 20_000

FREE, MIXED = -1, -2
# codes of what has no line; those of lines follow
_BEFORE, _NO_STACK, _LINES = 0, 1, 2


def drawn_pieces(found: Layout, lives: Lives, names: StackNames) -> tuple[Int64, PieceColumns, list[str]]:
    """The largest segments, by address; their pieces; and the lines that these point to."""
    chosen = np.sort(np.argsort(-found.bytes, kind="stable")[:MOST_SEGMENTS])
    place = np.full(len(found.address), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    piece = np.flatnonzero(place[found.piece_segment] >= 0)
    owner = found.piece_segment[piece]
    offset = found.piece_address[piece] - found.address[owner]
    life, size = found.life[piece], found.piece_bytes[piece]
    stack = np.where(life >= 0, lives.stack[np.maximum(life, 0)], -1) if len(lives) else life
    born = lives.born[np.maximum(life, 0)] if len(lives) else life
    none = np.where(born < 0, _BEFORE, _NO_STACK)
    line = lines_of(names, stack)
    code = np.where(life >= 0, np.where(line >= 0, line + _LINES, none), FREE)
    room = np.maximum(found.bytes[owner], 1)  # a file may have segments without size
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
