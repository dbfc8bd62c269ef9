"""Whether operations that were taken for the same one can have been: they then ran at a common time.

The clocks of ranks differ by an offset and a drift. Both follow from operations of several ranks, which end everywhere
at about the same time; most of them are matched rightly, so that medians are not moved by the others.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.types import Bool, Float64, Int64

#: lines are fitted to the medians of this many blocks at most
BLOCKS = 24
#: clocks of computers drift less: nanoseconds a second
MOST_DRIFT = 200e-6
#: of the shortest run of an operation that has to be common to all ranks
COMMON = 0.5


def have_common_time(rank: Int64, number: Int64, start: Int64, end: Int64) -> Bool:
    """Of each match whether all its operations ran at the same time for half of the shortest of them.

    rank, number, start, end   shape (rows,): a row for each operation; number: of its match, 0 …; time by the rank's
                               own clock, ns
    Returns shape (matches,).
    """
    matches = int(number.max(initial=-1)) + 1
    shift = _shifts(rank, number, end)
    from_ns, to_ns = start + shift, end + shift
    last_start, first_end = greatest_at(number, from_ns, matches), least_at(number, to_ns, matches)
    shortest = least_at(number, end - start, matches)
    common: Bool = (first_end - last_start) >= COMMON * shortest
    return common


def _shifts(rank: Int64, number: Int64, end: Int64) -> Int64:
    """Of each operation what to add to its time to have it by the clock of the rank with the most operations."""
    shift = np.zeros(len(rank), np.int64)
    if not len(rank):
        return shift
    ranks = np.unique(rank)
    first = int(ranks[np.argmax(np.bincount(rank)[ranks])])
    reference = {int(n): int(e) for n, e in zip(number[rank == first], end[rank == first], strict=True)}
    for each in ranks.tolist():
        rows = np.flatnonzero(rank == each)
        shared = rows[[n in reference for n in number[rows].tolist()]]
        if each == first or not len(shared):
            continue
        there = np.array([reference[n] for n in number[shared].tolist()], np.int64)
        shift[rows] = _line(end[shared], there - end[shared], end[rows])
    return shift


def _line(at: Int64, offset: Int64, wanted: Int64) -> Int64:
    """Theil–Sen through the medians of blocks, at the `wanted` times."""
    order = np.argsort(at)
    middle = int(np.median(at))
    blocks = np.array_split(order, min(BLOCKS, max(1, len(order) // 8)))
    x: Float64 = np.array([np.median(at[block] - middle) for block in blocks])
    y: Float64 = np.array([np.median(offset[block] - offset[order[0]]) for block in blocks])
    i, j = np.triu_indices(len(x), 1)
    apart = x[j] > x[i]
    slopes = (y[j] - y[i])[apart] / (x[j] - x[i])[apart]
    slope = float(np.clip(np.median(slopes), -MOST_DRIFT, MOST_DRIFT)) if len(slopes) else 0.0
    rest = np.median((offset - offset[order[0]]) - slope * (at - middle))
    found: Int64 = offset[order[0]] + np.round(rest + slope * (wanted - middle)).astype(np.int64)
    return found
