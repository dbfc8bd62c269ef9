"""Match operations without a number: the n-th of what looks the same, where nothing speaks against it.

1. On ranks that have equally many of a kind, element type, size and step, the n-th is the n-th everywhere. Threads may
   begin operations that look different in any order.
2. A rank that has more or fewer is aligned with the rank that was matched best, between operations that step 1 matched;
   only pairs that every best alignment has are taken.
3. Where some rank has more or fewer, others that have equally many may lack different ones; and operations whose size
   says nothing may be begun in any order. These have to have run at a common time, by the clock that follows from
   operations that are beyond doubt. Of the latter those that a rank ran at the same time stay unmatched.

The clocks of two ranks differ by an offset and a drift. Both follow from operations that are surely the same: they end
on all ranks at about the same time.
"""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import each_value, greatest_at, group, least_at
from torch_tb_profiler.arrays.sequences import sure_pairs
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.ranks.matching.operations import OperationSignatures, RunCommunications, RunOperations

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
    """Bring the times of all ranks to one clock.

    Returns, shape (rows,): ns to add to the times, whether that is known, and whether what should be beyond doubt
    contradicts itself.

    rank, start, end   shape (rows,): the rank, and when the operation ran by its clock
    number, is_sure    shape (rows,): equal numbers were matched; whether that is beyond doubt
    """
    shift = np.zeros(len(rank), np.int64)
    known, disputed = np.zeros(len(rank), np.bool_), np.zeros(len(rank), np.bool_)
    if not is_sure.any():
        return shift, known, disputed
    ended = np.full(int(number.max()) + 1, _NEVER)
    waiting = {int(other): np.flatnonzero(rank == other) for other in np.unique(rank)}
    most = int(np.argmax(np.bincount(rank[is_sure])))
    rows = waiting.pop(most)
    known[rows] = True
    ended[number[rows[is_sure[rows]]]] = end[rows[is_sure[rows]]]
    grows = True
    while grows:
        grows = False
        for other, rows in list(waiting.items()):
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
            known[rows] = grows = True
            ended[number[sure]] = np.minimum(ended[number[sure]], end[sure] + shift[sure])
            del waiting[other]
    return shift, known, disputed


def have_common_time(start: Int64, end: Int64, number: Int64) -> Bool:
    """Mark operations that ran at the same time as all with their number, for half of the shortest of these.

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
    """Return the middle of the shortest interval that holds half of the values."""
    ordered = np.sort(values)
    half = (len(ordered) + 1) // 2
    width = ordered[half - 1 :] - ordered[: len(ordered) - half + 1]
    first = int(np.argmin(width))
    return float(np.median(ordered[first : first + half]))


#: intervals between matched operations are aligned up to this length
LONGEST_STRETCH = 5000
#: if more of the ranks and steps lack some of what looks the same, how many there should be is unknown
MOST_INCOMPLETE = 0.5


class _Counted(msgspec.Struct, frozen=True):
    """Rows matched because ranks have equally many; parallel to the rows but `unequal`.

    number      equal numbers are the same operation, -1 belongs to none
    is_full     its rank lacks none of what looks the same in the step, as far as other ranks and steps tell
    unequal     shape (groups + 1,): whether some rank of the group has more or fewer
    """

    number: Int64
    is_full: Bool
    unequal: Bool


def by_order(joined: RunCommunications, looks: OperationSignatures, rows: Int64, number: Int64) -> Int64:
    """Match `rows` (ascending) of the operations.

    number   shape (operations,): what is matched already, -1 elsewhere
    Returns shape (operations,): `number` with those of the rows that could be matched; equal numbers are the same.
    """
    operations = joined.operations
    if not len(rows):
        return number
    counted = _equal_counts(joined, rows, looks.of[rows])
    mine = counted.number.copy()
    for group_number, members in each_value(operations.group[rows]):
        if group_number < 0 or not counted.unequal[group_number]:
            continue
        mine[members] = _aligned(
            operations.rank[rows[members]], looks.of[rows[members]], mine[members], int(mine.max())
        )
    all_numbers = number.copy()
    all_numbers[rows] = np.where(mine >= 0, mine + int(number.max(initial=-1)) + 1, -1)
    # what one group lacks, others may lack as well, without being seen to
    is_lossy = bool(counted.unequal.any())
    doubted = rows[looks.is_loose[rows] | is_lossy]
    if len(doubted):
        is_sure = number >= 0
        is_sure[rows] = (counted.number >= 0) & (counted.is_full | (not is_lossy))
        possible = _possible(operations, all_numbers, is_sure)[doubted]
        all_numbers[doubted[~possible]] = -1
        loose = rows[looks.is_loose[rows]]
        mixed = all_numbers[loose[_at_once(operations, looks.of, loose)]]
        all_numbers[loose[np.isin(all_numbers[loose], mixed)]] = -1
    return all_numbers


def _ranks_with_group(joined: RunCommunications, rows: Int64) -> Bool:
    """[group, rank]: whether the rank has operations of the group among `rows`; the last row is for no group."""
    operations = joined.operations
    has = np.zeros((len(joined.groups) + 1, len(joined.has_step)), np.bool_)
    has[operations.group[rows], operations.rank[rows]] = True
    return has


def _equal_counts(joined: RunCommunications, rows: Int64, looks: Int64) -> _Counted:
    """Match what ranks have equally many of. The largest shared count is taken: more operations are lost than added.

    looks   parallel to rows
    """
    operations = joined.operations
    # one step is the whole trace, and what is outside of it there is chance
    step = operations.step[rows] if joined.has_step.shape[1] > 2 else np.full(len(rows), -1)
    same = group([looks, step]).inverse
    own = group([same, operations.rank[rows]])
    counts, place = own.count(), same[own.first]
    alike = group([place, counts])
    shared = alike.first[alike.count() > 1]
    classes = int(same.max()) + 1
    taken = np.zeros(classes, np.int64)
    np.maximum.at(taken, place[shared], counts[shared])
    look = looks[own.first]
    most = greatest_at(look, counts, int(looks.max()) + 1)
    full = counts == most[look]
    is_usual = np.bincount(look, full) > MOST_INCOMPLETE * np.bincount(look)
    first = least_at(same, np.arange(len(same)), classes)
    having = np.bincount(place[counts == taken[place]], minlength=classes)
    has_group = _ranks_with_group(joined, rows)
    expected = has_group.astype(np.int64) @ joined.has_step.astype(np.int64)
    of_group = operations.group[rows[first]]
    complete = having == expected[of_group, step[first]]
    unequal = np.zeros(len(joined.groups) + 1, np.bool_)
    unequal[of_group[~complete & (has_group[of_group].sum(axis=1) > 1)]] = True
    accepted = counts[own.inverse] == taken[same]
    number = np.where(accepted, group([same, own.nth()]).inverse, -1)
    return _Counted(number, (full & is_usual[look])[own.inverse], unequal)


def _aligned(rank: Int64, looks: Int64, number: Int64, highest: int) -> Int64:
    """Return the numbers of a group's rows, with those that can be aligned with the rank that has most numbers."""
    number = number.copy()
    ranks = np.unique(rank).tolist()
    reference = np.flatnonzero(rank == max(ranks, key=lambda each: np.count_nonzero(number[rank == each] >= 0)))
    for each in ranks:
        mine = np.flatnonzero(rank == each)
        if mine[0] == reference[0] or (number[mine] >= 0).all():
            continue
        _, i, j = np.intersect1d(number[mine], number[reference], return_indices=True)
        by_place = np.argsort(i)
        i, j = i[by_place], j[by_place]
        i, j = i[number[mine[i]] >= 0], j[number[mine[i]] >= 0]
        if (np.diff(j) <= 0).any():
            # threads began them in another order here: the neighbours of an operation say nothing about it
            continue
        for a, b, c, d in zip([-1, *i], [*i, len(mine)], [-1, *j], [*j, len(reference)], strict=True):
            left, right = mine[a + 1 : b], reference[c + 1 : d]
            left = left[number[left] < 0]
            if not len(left) or not len(right) or max(len(left), len(right)) > LONGEST_STRETCH:
                continue
            pairs = sure_pairs(looks[left], looks[right])
            for x, y in zip(left[pairs[0]].tolist(), right[pairs[1]].tolist(), strict=True):
                if number[y] < 0:
                    highest += 1
                    number[y] = highest
                number[x] = number[y]
    return number


def _possible(operations: RunOperations, number: Int64, is_sure: Bool) -> Bool:
    """Mark operations that ran at the same time as those with the same number.

    Without usable times (kernels are not in the trace, too few operations are sure) only sure ones are marked.
    """
    possible = is_sure & (number >= 0)
    timed = np.flatnonzero((number >= 0) & (operations.duration >= 0))
    places = group([number[timed]])
    start, end = operations.start[timed], operations.end[timed]
    shift, known, disputed = common_clock(operations.rank[timed], start, end, places.inverse, is_sure[timed])
    compared = timed[known]
    ran = have_common_time((start + shift)[known], (end + shift)[known], places.inverse[known])
    matches = group([number])
    contradicted = np.zeros(len(matches), np.bool_)
    contradicted[matches.inverse[compared[~ran]]] = True
    possible[compared] = True
    possible[timed[disputed]] = False
    return possible & ~contradicted[matches.inverse]


def _at_once(operations: RunOperations, looks: Int64, rows: Int64) -> Bool:
    """Mark rows whose rank ran another one with the same signature at the same time."""
    timed = np.flatnonzero(operations.duration[rows] >= 0)
    chosen = rows[timed]
    lane = group([operations.rank[chosen], looks[chosen]]).inverse
    order = np.lexsort((operations.start[chosen], lane))
    start, end, lane = operations.start[chosen][order], operations.end[chosen][order], lane[order]
    overlaps = (lane[1:] == lane[:-1]) & (start[1:] < end[:-1])
    found = np.zeros(len(rows), np.bool_)
    found[timed[order[1:][overlaps]]] = True
    found[timed[order[:-1][overlaps]]] = True
    return found
