"""Common time, and whether operations that were taken for the same one can have been: they then ran at the same time.

The clocks of two ranks differ by an offset and a drift. Both follow from operations that are surely the same: they end
on all ranks at about the same time.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.types import Bool, Float64, Int64

#: lines are fitted to this many blocks at most, of at least so many operations
BLOCKS, LEAST_IN_BLOCK = 24, 16
#: a clock is known from so many operations on
LEAST_SHARED = 4
#: so large a part of them has to end when the line says
LEAST_AGREEING = 0.8
#: clocks of computers drift less (200 µs a second)
MOST_DRIFT = 200e-6
#: of the shortest run of an operation that has to be common to all ranks
COMMON = 0.5
_NEVER = np.iinfo(np.int64).max


def common_clock(rank: Int64, start: Int64, end: Int64, number: Int64, is_sure: Bool) -> tuple[Int64, Bool, Bool]:
    """Of each operation what to add to its times (ns) to have them by one clock, whether that is known, and whether
    what is said to be beyond doubt contradicts itself.

    rank, start, end   shape (rows,): the rank, and when the operation ran by its clock
    number, is_sure    shape (rows,): equal numbers were matched; whether that is beyond doubt
    """
    shift = np.zeros(len(rank), np.int64)
    known, disputed = np.zeros(len(rank), np.bool_), np.zeros(len(rank), np.bool_)
    if not is_sure.any():
        return shift, known, disputed
    ended = np.full(int(number.max()) + 1, _NEVER)
    waiting = {int(each): np.flatnonzero(rank == each) for each in np.unique(rank)}
    most = int(np.argmax(np.bincount(rank[is_sure])))
    rows = waiting.pop(most)
    known[rows] = True
    ended[number[rows[is_sure[rows]]]] = end[rows[is_sure[rows]]]
    found = True
    while found:
        found = False
        for each, rows in list(waiting.items()):
            sure = rows[is_sure[rows]]
            shared = sure[ended[number[sure]] < _NEVER]
            if len(shared) < LEAST_SHARED:
                continue
            offset = ended[number[shared]] - end[shared]
            line = line_through(end[shared], offset, end[rows])
            apart = np.abs(offset - line[np.searchsorted(rows, shared)])
            disputed[rows] = np.mean(apart <= COMMON * (end[shared] - start[shared])) < LEAST_AGREEING
            if disputed[rows[0]]:
                continue
            shift[rows] = line
            known[rows] = found = True
            ended[number[sure]] = np.minimum(ended[number[sure]], end[sure] + shift[sure])
            del waiting[each]
    return shift, known, disputed


def have_common_time(start: Int64, end: Int64, number: Int64) -> Bool:
    """Of each operation whether all that share its number ran at the same time for half of the shortest of them.

    start, end, number   shape (rows,): times by one clock, ns; equal numbers were matched
    """
    matches = int(number.max(initial=-1)) + 1
    last_start, first_end = greatest_at(number, start, matches)[number], least_at(number, end, matches)[number]
    common: Bool = first_end - last_start >= COMMON * least_at(number, end - start, matches)[number]
    return common


def line_through(at: Int64, offset: Int64, wanted: Int64) -> Int64:
    """Theil–Sen through the blocks' middles, at the `wanted` times.

    at, offset   shape (n,), ns: how far apart two clocks are at some times
    """
    order = np.argsort(at)
    base, middle = int(offset[order[0]]), int(np.median(at))
    blocks = np.array_split(order, min(BLOCKS, max(1, len(order) // LEAST_IN_BLOCK)))
    x: Float64 = np.array([np.median(at[block] - middle) for block in blocks])
    y: Float64 = np.array([_densest(offset[block] - base) for block in blocks])
    i, j = np.triu_indices(len(x), 1)
    apart = x[j] > x[i]
    slopes = (y[j] - y[i])[apart] / (x[j] - x[i])[apart]
    slope = float(np.clip(np.median(slopes), -MOST_DRIFT, MOST_DRIFT)) if len(slopes) else 0.0
    rest = float(np.median(y - slope * x))
    found: Int64 = base + np.round(rest + slope * (wanted - middle)).astype(np.int64)
    return found


def _densest(values: Int64) -> float:
    """The middle of the shortest stretch that holds half of the values."""
    ordered = np.sort(values)
    half = (len(ordered) + 1) // 2
    width = ordered[half - 1 :] - ordered[: len(ordered) - half + 1]
    first = int(np.argmin(width))
    return float(np.median(ordered[first : first + half]))
