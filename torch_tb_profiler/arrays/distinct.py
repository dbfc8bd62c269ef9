"""The different values of an array of whole numbers, without `np.unique` where that is slow.

`np.unique` loads numpy.ma when it is first called, which takes a process as long as reading thousands of events does,
and puts values into a hash table. Codes and places are small numbers: they are counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool

T = TypeVar("T", bound=np.integer[Any])

#: so many possible values for each that is there are counted; more are sorted, which numpy does by vector instructions
_DENSE = 4


def distinct(values: npt.NDArray[T]) -> npt.NDArray[T]:
    """The different values in ascending order."""
    if 0 < _span(values) <= len(values):
        counted: npt.NDArray[T] = np.flatnonzero(np.bincount(values)).astype(values.dtype)
        return counted
    ordered = np.sort(values)
    found: npt.NDArray[T] = ordered[begins_run(ordered)]
    return found


def distinct_places(values: npt.NDArray[T]) -> tuple[npt.NDArray[T], npt.NDArray[np.int64]]:
    """The different values in ascending order, and of each value where it is among them."""
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


def one_of(values: npt.NDArray[T], wanted: Iterable[int]) -> Bool:
    """Which values are one of a few; `np.isin` takes ten times as long for categories."""
    found = np.zeros(len(values), np.bool_)
    for value in wanted:
        found |= values == value
    return found


def begins_run(*columns: npt.NDArray[Any]) -> Bool:
    """Where a run of equal rows begins: rows that differ from the one before in any column. The first row always does.

    columns   each of shape (n,)

    >>> begins_run(np.array([5, 5, 7, 7]), np.array([1, 1, 1, 2])).tolist()
    [True, False, True, True]
    """
    begins = np.zeros(len(columns[0]), np.bool_)
    begins[:1] = True
    for values in columns:
        begins[1:] |= values[1:] != values[:-1]
    return begins


def _span(values: npt.NDArray[T]) -> int:
    """The exclusive bound of values that can be counted; 0 for none, and for values below zero."""
    return int(values.max()) + 1 if len(values) and int(values.min()) >= 0 else 0
