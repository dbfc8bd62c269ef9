"""Rows grouped by integer keys: counts, sums, extremes, the first row, all rows; whole numbers split by weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.distinct import begins_run, distinct_places
from torch_tb_profiler.arrays.order import inverse, stable_order
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Float64, Int32, Int64, Ints

T = TypeVar("T", bound=np.generic)

#: a key with a wider range of values is replaced by the numbers of its different values
WIDEST = 2**31


class Groups(msgspec.Struct, frozen=True):
    """Rows put into groups. Made by `group`.

    inverse  shape (rows,): group of each row, 0 … groups - 1, as np.unique gives it
    first    shape (groups,): the first row of each group, by `rank` when one was given to `group`, else by position
    """

    inverse: Int64
    first: Int64

    def __len__(self) -> int:
        return len(self.first)

    def count(self) -> Int64:
        """Count the rows of each group."""
        return np.bincount(self.inverse, minlength=len(self)).astype(np.int64, copy=False)

    def sum(self, values: npt.NDArray[Any]) -> Int64:
        """Sum an integer or bool column by group, exactly.

        >>> group([np.array([7, 3, 7])]).sum(np.array([1, 2, 3])).tolist()
        [4, 2]
        """
        return sums_at(self.inverse, values, len(self))

    def sum_of_floats(self, values: Float64) -> Float64:
        """Sum a float column by group."""
        sums: Float64 = np.bincount(self.inverse, values, len(self)).astype(np.float64, copy=False)
        return sums

    def max(self, values: Int64) -> Int64:
        """Return the largest value of each group."""
        return greatest_at(self.inverse, values, len(self))

    def min(self, values: Int64) -> Int64:
        """Return the smallest value of each group."""
        return least_at(self.inverse, values, len(self))

    def nth(self) -> Int64:
        """Return the number of each row within its group, from 0.

        >>> group([np.array([7, 3, 7, 7, 3])]).nth().tolist()
        [0, 0, 1, 2, 1]
        """
        order = stable_order(self.inverse)
        before = running_sums(self.count())[:-1]
        nth = np.empty(len(self.inverse), np.int64)
        nth[order] = np.arange(len(order)) - before[self.inverse[order]]
        return nth

    def mean(self, values: Float64, weights: Int64) -> Float64:
        """Average by group, weighted and without NaN; NaN where no value or no weight remains.

        >>> group([np.array([0, 0, 1])]).mean(np.array([1.0, 4.0, np.nan]), np.array([1, 2, 5])).tolist()
        [3.0, nan]
        """
        there = ~np.isnan(values)
        weight = np.where(there, weights, 0).astype(np.float64)
        amount = self.sum_of_floats(np.where(there, values, 0.0) * weight)
        whole = self.sum_of_floats(weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(whole > 0, amount / whole, np.nan)


def group(keys: Sequence[Ints], rank: Int64 | None = None) -> Groups:
    """Group rows that are equal in all keys.

    keys   one or more of shape (rows,)
    rank   shape (rows,), different numbers: groups are numbered by the lowest rank of their rows; without it, by their
           first positions

    >>> found = group([np.array([7, 3, 7, 5]), np.array([1, 1, 1, 1])])
    >>> found.inverse.tolist(), found.first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    combined = _combine(keys)
    rows = len(combined)
    if rows == 0:
        return Groups(np.empty(0, np.int64), np.empty(0, np.int64))
    used, group_of = distinct_places(combined)
    groups = len(used)
    seen = least_at(group_of, np.arange(rows, dtype=np.int64) if rank is None else rank, groups)
    order = np.argsort(seen)
    group_of = inverse(order)[group_of]
    if rank is None:
        return Groups(group_of, seen[order])
    first = np.empty(groups, np.int64)
    leads = rank == seen[order][group_of]
    first[group_of[leads]] = np.flatnonzero(leads)
    return Groups(group_of, first)


def each_value(values: Ints) -> Iterator[tuple[int, Int64]]:
    """Yield the different values in ascending order with the positions of each, ascending.

    values   shape (n,)
    All positions are found by one sort, however many values there are.

    >>> [(value, at.tolist()) for value, at in each_value(np.array([7, 3, 7]))]
    [(3, [1]), (7, [0, 2])]
    """
    order = stable_order(values)
    ordered = values[order]
    bounds = [*np.flatnonzero(begins_run(ordered)).tolist(), len(order)]
    for low, high in pairwise(bounds):
        yield int(ordered[low]), order[low:high]


def sums_at(place: Ints, values: npt.NDArray[Any], size: int) -> Int64:
    """Sum the values given for each of `size` places, exactly.

    place    shape (n,), 0 … size - 1
    values   shape (n,), integers or bool
    Returns shape (size,).

    >>> sums_at(np.array([2, 0, 2]), np.array([7, 5, 3]), 4).tolist()
    [5, 0, 10, 0]
    """
    if values.dtype == np.bool_ and len(values):
        return np.bincount(place[values], minlength=size).astype(np.int64, copy=False)
    sums = np.zeros(size, np.int64)
    # with one dtype it takes the fast path of numpy, and beats `bincount`, which converts all values to float64
    np.add.at(sums, place, values.astype(np.int64, copy=False))
    return sums


def least_at(place: Ints, values: Ints, size: int) -> Int64:
    """Return the smallest value given for each of `size` places; the largest int64 where there is none.

    place    shape (n,), 0 … size - 1
    values   shape (n,)
    Returns shape (size,).

    >>> least_at(np.array([2, 0, 2]), np.array([7, 5, 3]), 3).tolist() == [5, 2**63 - 1, 3]
    True
    """
    found = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(found, place, values)
    return found


def greatest_at(place: Ints, values: Ints, size: int) -> Int64:
    """Return the largest value given for each of `size` places; the smallest int64 where there is none.

    place    shape (n,), 0 … size - 1
    values   shape (n,)
    Returns shape (size,).

    >>> greatest_at(np.array([1, 0, 1]), np.array([7, 5, 3]), 2).tolist()
    [5, 7]
    """
    found = np.full(size, np.iinfo(np.int64).min)
    np.maximum.at(found, place, values)
    return found


def first_at(place: Ints, values: npt.NDArray[T], size: int, missing: int = -1) -> npt.NDArray[T]:
    """Return the first value given for each of `size` places, `missing` where there is none.

    Use it where a place may be given more than once: numpy leaves open which value wins in `found[place] = values`.

    place    shape (n,), 0 … size - 1
    values   shape (n,)
    Returns shape (size,), of the type of `values`.

    >>> first_at(np.array([2, 0, 2]), np.array([7, 5, 3]), 4).tolist()
    [5, -1, 7, -1]
    """
    found = np.full(size, missing, values.dtype)
    order = stable_order(place)
    leads = order[begins_run(place[order])]
    found[place[leads]] = values[leads]
    return found


def descending(values: Int64, then: Callable[[int], Any] | None = None) -> Int64:
    """Return the positions that sort `values` from large to small.

    then: gives for a position what equal values are sorted by; without it they stay in order

    >>> descending(np.array([1, 3, 1, 3])).tolist()
    [1, 3, 0, 2]
    >>> descending(np.array([1, 3, 1, 3]), ["d", "c", "b", "a"].__getitem__).tolist()
    [3, 1, 2, 0]
    """
    order = np.argsort(-values, kind="stable")
    return order if then is None else ties_sorted(order, [values], then)


def ties_sorted(order: Int64, keys: Sequence[npt.NDArray[Any]], then: Callable[[int], Any]) -> Int64:
    """Sort positions with equal keys by `then`, which is called only for these.

    order   shape (n,), positions sorted by the keys
    keys    each shape (n,)
    Returns shape (n,).

    >>> ties_sorted(np.array([2, 0, 1]), [np.array([5, 5, 4])], ["b", "c", "a"].__getitem__).tolist()
    [2, 0, 1]
    >>> ties_sorted(np.array([2, 0, 1]), [np.array([5, 5, 4])], ["c", "b", "a"].__getitem__).tolist()
    [2, 1, 0]
    """
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    if not same.any():
        return order
    run = np.concatenate(([0], np.cumsum(~same)))
    tied = np.flatnonzero(np.append(same, False) | np.append(False, same))
    by_run = zip(run[tied].tolist(), map(then, order[tied].tolist()), order[tied].tolist(), strict=True)
    resolved = order.copy()
    resolved[tied] = [position for *_, position in sorted(by_run, key=itemgetter(0, 1))]
    return resolved


def _combine(keys: Sequence[Ints]) -> Int64:
    """Combine keys into one number per row, not negative and equal exactly where all keys are equal."""
    combined, span = np.zeros(len(keys[0]), np.int64), 1
    if len(combined) == 0:
        return combined
    for key in keys:
        values: Ints = key
        low, high = int(key.min()), int(key.max())
        width = high - low + 1
        if width > WIDEST:
            different, values = distinct_places(key)
            low, width = 0, len(different)
        if span * width >= 2**62:
            different, combined = distinct_places(combined)
            span = len(different)
        combined = combined * width + (values.astype(np.int64) - low)
        span *= width
    return combined


#: rows that are processed together
BATCH_ROWS = 262_144


def rows_by_group(group: Int32, groups: int) -> tuple[Int32, Int64]:
    """Return the rows of each group, group by group, each in ascending order; with little memory beside the result.

    group    shape (n,), 0 … groups - 1; -1 for a row that belongs to none
    groups   how many there are
    Returns the rows, shape (rows that belong to a group,), and where those of each group begin, shape (groups + 1,).

    >>> rows, first = rows_by_group(np.array([1, -1, 0, 1], np.int32), 3)
    >>> rows.tolist(), first.tolist()
    ([2, 0, 3], [0, 1, 3, 3])
    """
    sizes = np.zeros(groups + 1, np.int64)
    for low in range(0, len(group), BATCH_ROWS):
        sizes += _group_sizes(group[low : low + BATCH_ROWS], groups)
    first = np.cumsum(np.append(0, sizes[1:]))
    rows, done = np.empty(first[-1], np.int32), first[:-1].copy()
    # numpy sorts 16-bit integers by radix
    small = np.uint16 if groups < 2**16 - 1 else np.uint32
    for low in range(0, len(group), BATCH_ROWS):
        piece = group[low : low + BATCH_ROWS]
        held = _group_sizes(piece, groups)
        order = np.argsort((piece + 1).astype(small), kind="stable")[held[0] :]
        before = np.cumsum(held[1:]) - held[1:]
        rows[np.arange(len(order)) + np.repeat(done - before, held[1:])] = order + low
        done += held[1:]
    return rows, first


def _group_sizes(group: Int32, groups: int) -> Int64:
    """Count the rows without a group, then those of each group."""
    return np.bincount(group + 1, minlength=groups + 1).astype(np.int64)


def group_batches(first: Int64) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighbouring groups with at most `BATCH_ROWS` rows together, or a single larger group.

    first   shape (groups + 1,): where the rows of each group begin

    >>> list(group_batches(np.array([0, 100, 200_000, 600_000, 600_001])))
    [(0, 2), (2, 3), (3, 4)]
    """
    low, groups = 0, len(first) - 1
    while low < groups:
        high = max(low + 1, int(np.searchsorted(first, first[low] + BATCH_ROWS, "right")) - 1)
        yield low, min(high, groups)
        low = high


def apportion(weights: Int64, whole: int) -> list[int]:
    """Divide `whole` into whole numbers in proportion to weights; the largest remainders are rounded up.

    >>> import numpy as np
    >>> apportion(np.array([1, 1, 1]), 5)
    [2, 2, 1]
    """
    total = int(weights.sum())
    shares = [divmod(int(weight) * whole, total) for weight in weights.tolist()]
    numbers = [share for share, _ in shares]
    by_remainder = sorted(range(len(shares)), key=lambda at: -shares[at][1])
    for at in by_remainder[: whole - sum(numbers)]:
        numbers[at] += 1
    return numbers
