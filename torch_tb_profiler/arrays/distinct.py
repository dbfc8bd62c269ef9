"""The different values of an array of integers, without `np.unique` where that is slow.

`np.unique` imports numpy.ma when it is first called, which takes some ten milliseconds, and uses a hash table. Small
numbers such as codes and positions are counted here instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool

T = TypeVar("T", bound=np.integer[Any])

#: values are counted if their range is at most this many times their number, else they are sorted
_DENSE = 4


def distinct(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return the different values in ascending order.

    values   shape (n,), integers
    Returns shape (number of different values,), of the same type.

    >>> distinct(np.array([7, 3, 7, 5])).tolist()
    [3, 5, 7]
    """
    if 0 < _span(values) <= len(values):
        counted: npt.NDArray[T] = np.flatnonzero(np.bincount(values)).astype(values.dtype)
        return counted
    ordered = np.sort(values, kind="stable")  # merges runs that are sorted already
    found: npt.NDArray[T] = ordered[begins_run(ordered)]
    return found


def distinct_places(values: npt.NDArray[T]) -> tuple[npt.NDArray[T], npt.NDArray[np.int64]]:
    """Return the different values in ascending order, and the position of each given value among them.

    values   shape (n,), integers
    Returns shapes (number of different values,), of the same type, and (n,): `different[place] == values`.

    >>> [found.tolist() for found in distinct_places(np.array([7, 3, 7, 5]))]
    [[3, 5, 7], [2, 0, 2, 1]]
    """
    span = _span(values)
    if not 0 < span <= _DENSE * len(values):
        order = stable_order(values)
        ordered = values[order]
        is_new = begins_run(ordered)
        place = np.empty(len(values), np.int64)
        place[order] = np.cumsum(is_new) - 1
        return ordered[is_new], place
    used = np.flatnonzero(np.bincount(values, minlength=span))
    number = np.empty(span, np.int64)
    number[used] = np.arange(len(used))
    return used.astype(values.dtype), number[values]


def distinct_first(values: npt.NDArray[T]) -> tuple[npt.NDArray[T], npt.NDArray[np.int64]]:
    """Return the different values in ascending order, and where each occurs first.

    values   shape (n,), integers
    Returns two arrays of shape (number of different values,).

    >>> [found.tolist() for found in distinct_first(np.array([7, 3, 7, 5]))]
    [[3, 5, 7], [1, 3, 0]]
    """
    order = stable_order(values)
    first: npt.NDArray[np.int64] = order[begins_run(values[order])]
    return values[first], first


def distinct_counts(values: npt.NDArray[T]) -> tuple[npt.NDArray[T], npt.NDArray[np.int64]]:
    """Return the different values in ascending order, and how often each occurs.

    values   shape (n,), integers
    Returns two arrays of shape (number of different values,).

    >>> [found.tolist() for found in distinct_counts(np.array([7, 3, 7, 5]))]
    [[3, 5, 7], [1, 1, 2]]
    """
    found, place = distinct_places(values)
    return found, np.bincount(place, minlength=len(found))


def isin(values: npt.NDArray[T], wanted: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Bool:
    """Return which values are among `wanted`, which may be many; for a handful `one_of` is faster.

    values   shape (n,), integers
    wanted   shape (m,), integers
    Returns shape (n,).

    >>> isin(np.array([7, 3, 5]), np.array([3, 9, 7])).tolist()
    [True, True, False]
    """
    wanted = np.asarray(wanted, None if isinstance(wanted, np.ndarray) else np.int64)
    if not len(wanted) or not len(values):
        return np.zeros(len(values), np.bool_)
    low, high = int(wanted.min()), int(wanted.max())
    if high - low < _DENSE * (len(values) + len(wanted)):
        is_wanted = np.zeros(high - low + 1, np.bool_)
        is_wanted[wanted - low] = True
        inside = np.flatnonzero((values >= low) & (values <= high))
        found = np.zeros(len(values), np.bool_)
        found[inside] = is_wanted[values[inside] - low]
        return found
    ordered = np.sort(wanted, kind="stable")
    among_them: Bool = ordered[np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)] == values
    return among_them


def one_of(values: npt.NDArray[T], wanted: Iterable[int]) -> Bool:
    """Return which values are among a few wanted ones: `np.isin`, but ten times as fast for a handful.

    values   shape (n,), integers
    Returns shape (n,).

    >>> one_of(np.array([7, 3, 5]), (3, 7)).tolist()
    [True, True, False]
    """
    found = np.zeros(len(values), np.bool_)
    for value in wanted:
        found |= values == value
    return found


def begins_run(*columns: npt.NDArray[Any]) -> Bool:
    """Return where runs of equal rows begin: the first row, and rows that differ from the previous one in any column.

    columns   one or more of shape (n,)
    Returns shape (n,).

    >>> begins_run(np.array([5, 5, 7, 7]), np.array([1, 1, 1, 2])).tolist()
    [True, False, True, True]
    """
    begins = np.zeros(len(columns[0]), np.bool_)
    begins[:1] = True
    for values in columns:
        begins[1:] |= values[1:] != values[:-1]
    return begins


def _span(values: npt.NDArray[T]) -> int:
    """Return the largest value plus 1; 0 without values, or if one is negative."""
    return int(values.max()) + 1 if len(values) and int(values.min()) >= 0 else 0
