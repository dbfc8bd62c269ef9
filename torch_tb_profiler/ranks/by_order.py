"""Operations without a number: the n-th of what looks the same, where nothing speaks against it.

1. On ranks that have equally many of a kind, element type, size and step, the n-th is the n-th everywhere. Threads may
   begin operations that look different in any order.
2. A rank that has more or fewer is aligned with the rank that was matched best, between operations that step 1 matched;
   only pairs that every best alignment has are taken.
3. Where some rank has more or fewer, also equal numbers may be of different operations. There the matched operations
   must have run at a common time.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.grouping import greatest_at, group, least_at
from torch_tb_profiler.arrays.sure_pairs import sure_pairs
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.ranks.clocks import have_common_time
from torch_tb_profiler.ranks.operations import Operations, Together

#: stretches between matched operations are aligned up to this length
LONGEST_STRETCH = 5000


def by_order(found: Together, looks: Int64, rows: Int64) -> Int64:
    """Match `rows` (ascending) of the operations.

    looks   shape (operations,): equal where operations can be the same one
    Returns shape (rows,): equal numbers are the same operation, -1 belongs to none.
    """
    of = found.operations
    same = group([looks[rows], _steps(found, looks, rows)])
    number, lossy = _equal_counts(found, rows, same.of)
    for at in np.flatnonzero(lossy).tolist():
        members = np.flatnonzero(of.group[rows] == at)
        number[members] = _aligned(of.rank[rows[members]], same.of[members], number[members], number.max(initial=-1))
    doubted = np.flatnonzero(lossy[of.group[rows]] & (number >= 0))
    number[doubted[~_possible(of, rows[doubted], same.of[doubted], number[doubted])]] = -1
    return number


def _steps(found: Together, looks: Int64, rows: Int64) -> Int64:
    """What has to be equal of the step: nothing (0) where all ranks have the same steps and equally many in all."""
    of = found.operations
    step = of.step[rows]
    ranks = np.flatnonzero(np.bincount(of.rank[rows], minlength=len(found.has_step)))
    if (found.has_step[ranks] != found.has_step[ranks[:1]]).any():
        return step
    per_rank = group([looks[rows], of.rank[rows]])
    counts = per_rank.count()
    places = group([looks[rows]])
    of_rank = places.of[per_rank.first]
    least, most = least_at(of_rank, counts, len(places)), greatest_at(of_rank, counts, len(places))
    expected = _ranks_with_group(found, rows)[of.group[rows[places.first]]].sum(axis=1)
    complete = (least == most) & (np.bincount(of_rank, minlength=len(places)) == expected)
    return np.where(complete[places.of], 0, step)


def _ranks_with_group(found: Together, rows: Int64) -> Bool:
    """[group, rank]: whether the rank has operations of the group among `rows`; the last row is for no group."""
    of = found.operations
    has = np.zeros((len(found.groups) + 1, len(found.has_step)), np.bool_)
    has[of.group[rows], of.rank[rows]] = True
    return has


def _equal_counts(found: Together, rows: Int64, same: Int64) -> tuple[Int64, Bool]:
    """Numbers of the rows on ranks with equally many of `same`, and of each group whether counts differ somewhere.

    Of several counts that ranks have in common the largest counts: operations are lost more often than added.
    """
    of = found.operations
    own = group([same, of.rank[rows]])
    counts = own.count()
    alike = group([same[own.first], counts])
    shared = alike.count() > 1
    taken = np.zeros(int(same.max(initial=-1)) + 1, np.int64)
    np.maximum.at(taken, same[own.first[alike.first[shared]]], counts[alike.first[shared]])
    accepted = counts[own.of] == taken[same]
    numbers = group([same, own.nth()]).of
    first = _first_of(same)
    having = np.bincount(same[own.first[counts == taken[same[own.first]]]], minlength=len(taken))
    has_group = _ranks_with_group(found, rows).astype(np.int64)
    expected = has_group @ found.has_step.astype(np.int64)
    complete = having == expected[of.group[rows[first]], of.step[rows[first]]]
    lossy = np.zeros(len(found.groups) + 1, np.bool_)
    lossy[of.group[rows[first[~complete & (has_group[of.group[rows[first]]].sum(axis=1) > 1)]]]] = True
    return np.where(accepted, numbers, -1), lossy


def _first_of(same: Int64) -> Int64:
    first = np.full(int(same.max(initial=-1)) + 1, len(same), np.int64)
    np.minimum.at(first, same, np.arange(len(same)))
    return first


def _aligned(rank: Int64, same: Int64, number: Int64, highest: int) -> Int64:
    """The numbers of a group's rows, and those of what can be aligned with the rank that has most numbers."""
    number = number.copy()
    ranks, matched = np.unique(rank, return_counts=True)
    matched = np.array([np.count_nonzero(number[rank == each] >= 0) for each in ranks.tolist()])
    reference = np.flatnonzero(rank == ranks[matched.argmax()])
    for each in ranks.tolist():
        mine = np.flatnonzero(rank == each)
        if mine[0] == reference[0] or (number[mine] >= 0).all():
            continue
        _, i, j = np.intersect1d(number[mine], number[reference], return_indices=True)
        common = number[mine[i]] >= 0
        i, j = i[common], j[common]
        by_place = np.argsort(i)
        i, j = i[by_place], j[by_place]
        if (np.diff(j) <= 0).any():
            # threads began them in another order here: the neighbours of an operation say nothing about it
            continue
        for a, b, c, d in zip([-1, *i], [*i, len(mine)], [-1, *j], [*j, len(reference)], strict=True):
            left, right = mine[a + 1 : b], reference[c + 1 : d]
            left = left[number[left] < 0]
            if not len(left) or not len(right) or max(len(left), len(right)) > LONGEST_STRETCH:
                continue
            pairs = sure_pairs(same[left], same[right])
            for x, y in zip(left[pairs[0]].tolist(), right[pairs[1]].tolist(), strict=True):
                if number[y] < 0:
                    highest += 1
                    number[y] = highest
                number[x] = number[y]
    return number


def _possible(of: Operations, rows: Int64, same: Int64, number: Int64) -> Bool:
    """Of each row whether what it was matched with can be the same operation.

    Those that ran must have done so at a common time. Of others (their kernels are not in the trace) no rank may have
    more than one that looks the same.
    """
    places = group([of.group[rows], number])
    possible = np.ones(len(rows), np.bool_)
    timed = of.duration[rows] >= 0
    all_timed = least_at(places.of, timed.astype(np.int64), len(places))[places.of] > 0
    for at in np.unique(of.group[rows[all_timed]]).tolist():
        members = np.flatnonzero(all_timed & (of.group[rows] == at))
        local = group([places.of[members]])
        ran = have_common_time(of.rank[rows[members]], local.of, of.start[rows[members]], of.end[rows[members]])
        possible[members] = ran[local.of]
    own = group([same, of.rank[rows]])
    single = greatest_at(same, own.count()[own.of], int(same.max(initial=-1)) + 1)[same] == 1
    return np.where(all_timed, possible, single)
