"""Group rows by integer columns and add up others: the one group-by of the house."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.distinct import begins_run, distinct_places
from torch_tb_profiler.arrays.order import inverse, stable_order
from torch_tb_profiler.arrays.types import Float64, Int64

Ints = npt.NDArray[np.integer[Any]]
T = TypeVar("T", bound=np.generic)

#: values of one key that may be combined with those of others as they are
WIDEST = 2**31

#: sums below this are exact in the floating point of `numpy.bincount`
EXACT_LIMIT = 2**53


@dataclass(frozen=True)
class Groups:
    """Rows put into groups.

    of      group number of each row, 0 … len(first) - 1
    first   the first row of each group, by `rank` when one was given to `group`, else by position
    """

    of: Int64
    first: Int64

    def __len__(self) -> int:
        return len(self.first)

    def count(self) -> Int64:
        """Rows of each group."""
        return np.bincount(self.of, minlength=len(self)).astype(np.int64, copy=False)

    def sum(self, values: npt.NDArray[Any]) -> Int64:
        """Sum of an integer or bool column per group, exact."""
        return sums_at(self.of, values, len(self))

    def sum_of_floats(self, values: Float64) -> Float64:
        """Sum of a float column per group."""
        sums: Float64 = np.bincount(self.of, values, len(self)).astype(np.float64, copy=False)
        return sums

    def max(self, values: Int64) -> Int64:
        """Largest value of each group."""
        return greatest_at(self.of, values, len(self))

    def min(self, values: Int64) -> Int64:
        """Smallest value of each group."""
        return least_at(self.of, values, len(self))

    def mean(self, values: Float64, weights: Int64) -> Float64:
        """Mean of the values that are there (not NaN), weighted; NaN where there is none, or no weight."""
        there = ~np.isnan(values)
        weight = np.where(there, weights, 0).astype(np.float64)
        amount = self.sum_of_floats(np.where(there, values, 0.0) * weight)
        whole = self.sum_of_floats(weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(whole > 0, amount / whole, np.nan)


def group(keys: Sequence[Ints], rank: Int64 | None = None) -> Groups:
    """Groups of rows with equal keys.

    Groups are numbered in the order in which they are first seen: by `rank` (any distinct numbers, one per
    row) when given, else by position.
    """
    combined = _combine(keys)
    rows = len(combined)
    if rows == 0:
        return Groups(np.empty(0, np.int64), np.empty(0, np.int64))
    used, of = distinct_places(combined)
    groups = len(used)
    position = np.arange(rows, dtype=np.int64) if rank is None else rank
    seen = least_at(of, position, groups)
    order = np.argsort(seen)
    of = inverse(order)[of]
    first = np.empty(groups, np.int64)
    leads = position == seen[order][of]
    first[of[leads]] = np.flatnonzero(leads)
    return Groups(of, first)


def sums_at(place: Ints, values: npt.NDArray[Any], size: int) -> Int64:
    """Sum of an integer or bool column at each of `size` places, exact."""
    if values.dtype == np.bool_ and len(values):
        return np.bincount(place[values], minlength=size).astype(np.int64, copy=False)
    if _is_small(values) or float(np.abs(values).sum(dtype=np.float64)) < EXACT_LIMIT:
        return np.bincount(place, values, size).astype(np.int64)
    sums = np.zeros(size, np.int64)
    np.add.at(sums, place, values)
    return sums


def least_at(place: Ints, values: Ints, size: int) -> Int64:
    """The smallest value at each of `size` places; the largest int64 where there is none.

    place    shape (n,), 0 … size - 1
    values   shape (n,)

    >>> least_at(np.array([2, 0, 2]), np.array([7, 5, 3]), 3).tolist() == [5, 2**63 - 1, 3]
    True
    """
    found = np.full(size, np.iinfo(np.int64).max)
    np.minimum.at(found, place, values)
    return found


def greatest_at(place: Ints, values: Ints, size: int) -> Int64:
    """The largest value at each of `size` places; the smallest int64 where there is none.

    place    shape (n,), 0 … size - 1
    values   shape (n,)

    >>> greatest_at(np.array([1, 0, 1]), np.array([7, 5, 3]), 2).tolist()
    [5, 7]
    """
    found = np.full(size, np.iinfo(np.int64).min)
    np.maximum.at(found, place, values)
    return found


def first_at(place: Ints, values: npt.NDArray[T], size: int, missing: int = -1) -> npt.NDArray[T]:
    """The first value given for each of `size` places, `missing` where there is none.

    Use it where a place may be given more than once: numpy leaves open which value wins in `found[place] = values`.

    place    shape (n,), 0 … size - 1
    values   shape (n,); the result has its type

    >>> first_at(np.array([2, 0, 2]), np.array([7, 5, 3]), 4).tolist()
    [5, -1, 7, -1]
    """
    found = np.full(size, missing, values.dtype)
    order = stable_order(place)
    leads = order[begins_run(place[order])]
    found[place[leads]] = values[leads]
    return found


def _is_small(values: npt.NDArray[Any]) -> bool:
    """Whether no sum of them can reach `EXACT_LIMIT`; may say no of values that are."""
    return len(values) == 0 or max(int(values.max()), -int(values.min())) * len(values) < EXACT_LIMIT


def descending(values: Int64) -> Int64:
    """Positions that sort `values` from large to small; equal ones stay in order."""
    return np.argsort(-values, kind="stable")


def _combine(keys: Sequence[Ints]) -> Int64:
    """One number per row that is equal exactly where all keys are, none below zero."""
    combined, span = np.zeros(len(keys[0]), np.int64), 1
    if len(combined) == 0:
        return combined
    for key in keys:
        low, high = int(key.min()), int(key.max())
        width = high - low + 1
        if width > WIDEST:
            different, place = distinct_places(key)
            key, low, width = place, 0, len(different)  # noqa: PLW2901
        if span * width >= 2**62:
            different, combined = distinct_places(combined)
            span = len(different)
        combined = combined * width + (key.astype(np.int64) - low)
        span *= width
    return combined
