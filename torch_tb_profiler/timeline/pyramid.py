"""The pyramid: at each level slices too short to be seen are merged into cells; few levels are kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import asdict

from torch_tb_profiler.arrays.lookup import bounds_of
from torch_tb_profiler.arrays.ranges import positions, running_sums
from torch_tb_profiler.arrays.types import Float32, Int32, Int64

#: ns of a bucket of level 1; each level doubles it
FIRST_WIDTH = 256
BUCKETS_OF_TILE = 256
#: of items looked at together: they stay in the processor's cache, and take no memory beside what they become
_PIECE = 131_072
#: a level is kept when it has at most this part of the items of the last one kept; others are made when asked for
KEPT_SHARE = 0.5


def width_of(level: int) -> int:
    """Return the ns of a bucket; 0 at level 0, where no slices are merged."""
    return FIRST_WIDTH << (level - 1) if level else 0


def tile_length(level: int) -> int:
    """Return the ns of a tile."""
    return BUCKETS_OF_TILE * (width_of(level) or FIRST_WIDTH)


def highest_level(begin: int, end: int) -> int:
    """Return the first level at which all of [begin, end] is no longer than a tile."""
    level = 1
    while tile_length(level) < end - begin:
        level += 1
    return level


class PyramidItems(msgspec.Struct, frozen=True):
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

    def take(self, chosen: npt.NDArray[np.generic] | slice) -> PyramidItems:
        return PyramidItems(*(values[chosen] for values in asdict(self).values()))


def begins(items: PyramidItems, width: int) -> npt.NDArray[np.intp]:
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


def merge(items: PyramidItems, width: int, durations: Int64, at: npt.NDArray[np.intp] | None = None) -> PyramidItems:
    """Merge all items shorter than `width` that begin in the same bucket; the others stay.

    durations   by row, to find the longest slice of a cell
    at          `begins(items, width)`, if that is known already
    """
    first = begins(items, width) if at is None else at
    if len(first) == len(items):
        return items
    merged = PyramidItems(*(np.empty(len(first), values.dtype) for values in asdict(items).values()))
    ends = np.append(first[1:], len(items))
    cuts = np.searchsorted(first, np.arange(0, len(items), _PIECE))
    for low, high in pairwise(sorted({*cuts.tolist(), len(first)})):
        piece = items.take(slice(int(first[low]), int(ends[high - 1])))
        cells = _merged(piece, first[low:high] - first[low], durations)
        for name, values in asdict(merged).items():
            values[low:high] = asdict(cells)[name]
    return merged


def _merged(items: PyramidItems, first: npt.NDArray[np.intp], durations: Int64) -> PyramidItems:
    """Merge all items from each of `first` to the next."""
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
    """Return the position of the largest duration of each run; the first of several."""
    largest = np.flatnonzero(duration == np.repeat(np.maximum.reduceat(duration, of), size))
    return largest[np.searchsorted(largest, of)]


def pyramid(slices: PyramidItems, durations: Int64, begin: int, end: int) -> dict[int, PyramidItems]:
    """Return the levels that are kept, but for level 0, which is `slices` themselves."""
    kept: dict[int, PyramidItems] = {}
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


def _short(items: PyramidItems) -> Int64:
    """Count by level the items shorter than its width; cells are, at every level."""
    found = np.zeros(65, np.int64)
    for low in range(0, len(items), _PIECE):
        piece = items.take(slice(low, low + _PIECE))
        length = np.where(piece.count > 1, 0, piece.end - piece.start)
        # 2^(n - 1) <= length < 2^n
        found += np.bincount(np.frexp(length.astype(np.float64))[1], minlength=65)
    shorter = np.cumsum(found)
    return shorter[FIRST_WIDTH.bit_length() - 2 :]


#: items that are counted in the time of a search
_SEARCHED = 50
#: up to so many are copied as a whole; of more the items are taken one by one
_FEW_RANGES = 256


class Bounded(msgspec.Struct, frozen=True, dict=True):
    """Items, and where those of each lane begin. first: shape (lanes + 1,)"""

    items: PyramidItems
    first: Int64

    @cached_property
    def before(self) -> Int64:
        """Shape (items + 1,): how many slices are in the items before each."""
        return running_sums(self.items.count)


def bounded(items: PyramidItems, lanes: int) -> Bounded:
    return Bounded(items, bounds_of(items.lane, lanes))


class Levels(msgspec.Struct, frozen=True):
    """The levels that are kept; 0 holds the slices themselves.

    durations   by the slice that `PyramidItems.longest` points to, ns
    """

    kept: Mapping[int, Bounded]
    durations: Int64

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(values.nbytes for level in self.kept.values() for values in asdict(level.items).values())

    def within(self, lanes: Int64, start: int, end: int, level: int = 0) -> PyramidItems:
        """Return the items of a kept level that touch [start, end), of `lanes` (ascending)."""
        return self._pieces(level, self._ranges(lanes, start, end, level))

    def tile(self, level: int, tile: int, lanes: Int64) -> PyramidItems:
        """Return the items that touch a tile, of `lanes` (ascending)."""
        return self._tile(level, tile, lanes, None)[0]

    def tile_with_least(self, level: int, tile: int, lanes: Int64, values: Float32) -> tuple[PyramidItems, Float32]:
        """Return the same, and of each item the least value of the slices in it.

        values   by what `PyramidItems.longest` points to; NaN for those without one. An item without any has none.
        """
        return self._tile(level, tile, lanes, values)

    def _tile(self, level: int, tile: int, lanes: Int64, values: Float32 | None) -> tuple[PyramidItems, Float32]:
        start, width = tile * tile_length(level), width_of(level)
        kept = max(k for k in self.kept if k <= level)
        # a cell that reaches into the tile begins in the bucket before it
        since = start if kept == level else start - width
        ranges = self._ranges(lanes, since, start + tile_length(level), kept)
        items, least = self._pieces(kept, ranges), self._least(kept, ranges, values)
        if kept == level:
            return items, least
        at = begins(items, width)
        if len(at):
            least = least if values is None else np.fmin.reduceat(least, at)
        items = merge(items, width, self.durations, at)
        touching = (items.end > start) | (items.start >= start)
        return items.take(touching), least if values is None else least[touching]

    def _ranges(self, lanes: Int64, start: int, end: int, level: int) -> list[tuple[int, int]]:
        held = self.kept[level]
        starts, ends = held.items.start, held.items.end
        chosen: list[tuple[int, int]] = []
        if end <= start:
            return chosen
        lows, highs = held.first[lanes], held.first[lanes + 1]
        # neither starts nor ends of a lane ever decrease
        if len(lanes) * _SEARCHED > len(starts):  # counting in all of them is faster than a search in each lane
            begun, over, before = (running_sums(flags) for flags in (starts < end, ends <= start, starts < start))
            first = lows + np.minimum(over[highs] - over[lows], before[highs] - before[lows])
            last = lows + begun[highs] - begun[lows]
            return list(zip(first.tolist(), last.tolist(), strict=True))
        for low, high in zip(lows.tolist(), highs.tolist(), strict=True):
            first = min(np.searchsorted(ends[low:high], start, "right"), np.searchsorted(starts[low:high], start))
            chosen.append((low + int(first), low + int(np.searchsorted(starts[low:high], end))))
        return chosen

    def _pieces(self, level: int, ranges: list[tuple[int, int]]) -> PyramidItems:
        items = self.kept[level].items
        if not ranges:
            return items.take(slice(0, 0))
        if len(ranges) > _FEW_RANGES:
            low, high = np.array(ranges, np.int64).T
            return items.take(positions(low, np.maximum(low, high)))
        return PyramidItems(
            *(np.concatenate([values[low:high] for low, high in ranges]) for values in asdict(items).values())
        )

    def _least(self, level: int, ranges: list[tuple[int, int]], values: Float32 | None) -> Float32:
        nothing = np.empty(0, np.float32)
        if values is None or not ranges:
            return nothing
        of_slice = self.kept[0].items.longest
        if level == 0:
            return np.concatenate([values[of_slice[low:high]] for low, high in ranges])
        before = self.kept[level].before
        return np.concatenate(
            [
                np.fmin.reduceat(values[of_slice[before[low] : before[high]]], before[low:high] - before[low])
                if high > low
                else nothing
                for low, high in ranges
            ]
        )
