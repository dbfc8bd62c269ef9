"""Items at every level: those that are kept, and what is merged of them when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import msgspec
import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.arrays.lookup import bounds_of
from torch_tb_profiler.arrays.ranges import positions, running_sums
from torch_tb_profiler.arrays.types import Float32, Int64
from torch_tb_profiler.timeline.pyramid import Items, begins, merge, tile_length, width_of

#: items that are counted in the time of a search
_SEARCHED = 50
#: of which each is copied as a whole; of more the items are taken one by one
_FEW_RANGES = 256


class Bounded(msgspec.Struct, frozen=True, dict=True):
    """Items, and where those of each lane begin. first: shape (lanes + 1,)"""

    items: Items
    first: Int64

    @cached_property
    def before(self) -> Int64:
        """Shape (items + 1,): how many slices are in the items before each."""
        return running_sums(self.items.count)


def bounded(items: Items, lanes: int) -> Bounded:
    return Bounded(items, bounds_of(items.lane, lanes))


class Levels(msgspec.Struct, frozen=True):
    """The levels that are kept; 0 holds the slices themselves.

    durations   of what `Items.longest` points to, ns
    """

    kept: Mapping[int, Bounded]
    durations: Int64

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return sum(values.nbytes for level in self.kept.values() for values in asdict(level.items).values())

    def within(self, lanes: Int64, start: int, end: int, level: int = 0) -> Items:
        """The items of a kept level that touch [start, end), of `lanes` (ascending)."""
        return self._pieces(level, self._ranges(lanes, start, end, level))

    def tile(self, level: int, tile: int, lanes: Int64) -> Items:
        """What touches a tile, of `lanes` (ascending)."""
        return self._tile(level, tile, lanes, None)[0]

    def tile_with_least(self, level: int, tile: int, lanes: Int64, values: Float32) -> tuple[Items, Float32]:
        """The same, and of each item the least value of the slices in it.

        values   by what `Items.longest` points to; NaN for those without one. An item whose slices have none has none.
        """
        return self._tile(level, tile, lanes, values)

    def _tile(self, level: int, tile: int, lanes: Int64, values: Float32 | None) -> tuple[Items, Float32]:
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

    def _pieces(self, level: int, ranges: list[tuple[int, int]]) -> Items:
        items = self.kept[level].items
        if not ranges:
            return items.take(slice(0, 0))
        if len(ranges) > _FEW_RANGES:
            low, high = np.array(ranges, np.int64).T
            return items.take(positions(low, np.maximum(low, high)))
        return Items(*(np.concatenate([values[low:high] for low, high in ranges]) for values in asdict(items).values()))

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
