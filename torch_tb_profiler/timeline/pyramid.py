"""The pyramid: at each level slices too short to be seen are merged into cells."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import asdict

from torch_tb_profiler.arrays.ranges import positions
from torch_tb_profiler.arrays.types import Int32, Int64

#: ns of a bucket of level 1; each level doubles it
FIRST_WIDTH = 256
BUCKETS_OF_TILE = 256
#: of items looked at together: they stay in the processor's cache, and take no memory beside what they become
_PIECE = 131_072
#: a level is kept when it has at most this part of the items of the last one kept; others are made when asked for
KEPT_SHARE = 0.5


def width_of(level: int) -> int:
    """ns of a bucket; 0 at level 0, where no slices are merged."""
    return FIRST_WIDTH << (level - 1) if level else 0


def tile_length(level: int) -> int:
    """ns of a tile."""
    return BUCKETS_OF_TILE * (width_of(level) or FIRST_WIDTH)


def highest_level(begin: int, end: int) -> int:
    """The first level at which all of [begin, end] is no longer than a tile."""
    level = 1
    while tile_length(level) < end - begin:
        level += 1
    return level


class Items(msgspec.Struct, frozen=True):
    """Slices and cells by lane, then by time; those of a lane do not overlap. Times in ns.

    lane     shape (n,); in ascending order
    idle     time between start and end in which no slice ran
    count    1: a slice as it is
    longest  row of the longest slice, of equals the first
    """

    lane: Int32
    start: Int64
    end: Int64
    idle: Int64
    count: Int32
    longest: Int32

    def __len__(self) -> int:
        return len(self.start)

    def take(self, chosen: npt.NDArray[np.generic] | slice) -> Items:
        return Items(*(values[chosen] for values in asdict(self).values()))


def begins(items: Items, width: int) -> npt.NDArray[np.intp]:
    """Positions at which a cell of a level begins."""
    found = [np.zeros(min(len(items), 1), np.intp)]
    for low in range(1, len(items), _PIECE):
        # with the last one before, which the first may lie together with
        piece = items.take(slice(low - 1, low + _PIECE))
        bucket = piece.start // width
        small = (piece.end - piece.start < width) | (piece.count > 1)
        same = (piece.lane[1:] == piece.lane[:-1]) & (bucket[1:] == bucket[:-1]) & small[1:] & small[:-1]
        found.append(np.flatnonzero(~same) + low)
    return np.concatenate(found)


def merge(items: Items, width: int, durations: Int64, at: npt.NDArray[np.intp] | None = None) -> Items:
    """One item of all that are shorter than `width` and begin in the same bucket; the others stay.

    durations   by row, to find the longest slice of a cell
    at          `begins(items, width)`, if that is known already
    """
    first = begins(items, width) if at is None else at
    if len(first) == len(items):
        return items
    merged = Items(*(np.empty(len(first), values.dtype) for values in asdict(items).values()))
    ends = np.append(first[1:], len(items))
    cuts = np.searchsorted(first, np.arange(0, len(items), _PIECE))
    for low, high in pairwise(sorted({*cuts.tolist(), len(first)})):
        piece = items.take(slice(int(first[low]), int(ends[high - 1])))
        cells = _merged(piece, first[low:high] - first[low], durations)
        for name, values in asdict(merged).items():
            values[low:high] = asdict(cells)[name]
    return merged


def _merged(items: Items, first: npt.NDArray[np.intp], durations: Int64) -> Items:
    """One item of all from each of `first` to the next."""
    size = np.diff(np.append(first, len(items)))
    merged = items.take(first)
    many = np.flatnonzero(size > 1)
    if not len(many):
        return merged
    member = positions(first[many], first[many] + size[many])
    of = np.cumsum(size[many]) - size[many]
    merged.end[many] = np.maximum.reduceat(items.end[member], of)
    busy = np.add.reduceat(items.end[member] - items.start[member] - items.idle[member], of)
    merged.idle[many] = merged.end[many] - merged.start[many] - busy
    merged.count[many] = np.add.reduceat(items.count[member], of)
    merged.longest[many] = items.longest[member[_first_longest(durations[items.longest[member]], of, size[many])]]
    return merged


def _first_longest(duration: Int64, of: npt.NDArray[np.intp], size: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The position of the largest duration of each run that begins at `of`; of equals the first."""
    largest = np.flatnonzero(duration == np.repeat(np.maximum.reduceat(duration, of), size))
    return largest[np.searchsorted(largest, of)]


def pyramid(slices: Items, durations: Int64, begin: int, end: int) -> dict[int, Items]:
    """The levels that are kept, but for level 0, which is `slices` themselves."""
    kept: dict[int, Items] = {}
    last, short = slices, _short(slices)
    for level in range(1, highest_level(begin, end) + 1):
        # as long as too few are short enough, it need not be found which of them lie together
        if short[min(level, len(short) - 1)] < (1 - KEPT_SHARE) * len(last):
            continue
        at = begins(last, width_of(level))
        if len(at) <= KEPT_SHARE * len(last):
            last = kept[level] = merge(last, width_of(level), durations, at)
            short = _short(last)
    return kept


def _short(items: Items) -> Int64:
    """By level: how many items are shorter than its width; cells are, at every level."""
    found = np.zeros(65, np.int64)
    for low in range(0, len(items), _PIECE):
        piece = items.take(slice(low, low + _PIECE))
        length = np.where(piece.count > 1, 0, piece.end - piece.start)
        # 2^(n - 1) <= length < 2^n
        found += np.bincount(np.frexp(length.astype(np.float64))[1], minlength=65)
    shorter = np.cumsum(found)
    return shorter[FIRST_WIDTH.bit_length() - 2 :]
