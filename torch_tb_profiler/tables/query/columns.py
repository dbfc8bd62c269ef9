"""Columns that are compared, ordered (numbers in texts by value) and cut into pages without a loop over rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.tables.query.grammar import (
    BoolCondition,
    Condition,
    NumberCondition,
    Operator,
    PatternCondition,
    TextCondition,
    WordCondition,
)

_NUMBER = lazy_pattern("[0-9]+")


def natural_key(text: str) -> str:
    """Texts are ordered as their keys are: `a2` before `a10`, `B` after `a`; texts alike in that, as they are."""
    return f"{_NUMBER.sub(_padded, text.lower())}\0{text}"


def _padded(number: re.Match[str]) -> str:
    """Put the length before the digits: the longer number is the larger one; leading zeros do not count."""
    digits = number[0].lstrip("0")
    return f"0{chr(len(digits) + 1)}{digits}"


_COMPARISONS: dict[Operator, np.ufunc] = {
    ">": np.greater,
    ">=": np.greater_equal,
    "<": np.less,
    "<=": np.less_equal,
    "=": np.equal,
    "!=": np.not_equal,
}


class QueryColumn(Protocol):
    """One column of a table. Numbers that are not there are NaN or masked, other values None."""

    @property
    def size(self) -> int:
        """Bytes, about."""

    def __len__(self) -> int: ...

    def order(self) -> tuple[npt.NDArray[Any], Bool | None]:
        """Numbers that are ordered as the values are, and which values are missing, if any."""

    def holds(self, condition: Condition) -> Bool:
        """In which rows a condition on this column holds."""

    def take(self, rows: Int32 | slice) -> list[Any]:
        """Return the values of some rows, as JSON has them."""


def column_of(kind: str, values: Any, missing_below_zero: bool = False) -> QueryColumn:
    """`kind`: string, number or bool. `values`: an array, perhaps masked, or a sequence with None for missing ones."""
    if kind == "string":
        return TextColumn(values)
    there, missing = _values_and_missing(values, np.bool_ if kind == "bool" else None)
    if missing_below_zero:
        missing = there < 0
    return BoolColumn(there, missing) if kind == "bool" else NumberColumn(there, missing)


def _values_and_missing(values: Any, dtype: Any) -> tuple[npt.NDArray[Any], Bool | None]:
    """Return the values and which are missing. numpy.ma takes 10 ms to load: only what was masked asks for it."""
    if not isinstance(values, np.ndarray):
        missing = np.array([value is None for value in values], np.bool_)
        if not missing.any():
            return np.array(values, dtype), None
        return np.array([0 if value is None else value for value in values], dtype), missing
    if type(values) is np.ndarray:
        return values, None
    mask = np.ma.getmask(values)
    return np.ma.getdata(values), None if mask is np.ma.nomask else np.asarray(mask)


class _InArray(msgspec.Struct, frozen=True):
    """Values in an array, and which of them are missing."""

    values: npt.NDArray[Any]
    missing: Bool | None = None

    @property
    def size(self) -> int:
        return self.values.nbytes

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Int32 | slice) -> list[Any]:
        found: list[Any] = self.values[rows].tolist()
        if self.missing is not None:
            for place in np.flatnonzero(self.missing[rows]).tolist():
                found[place] = None
        return found


class NumberColumn(_InArray, frozen=True):
    """Integers or floats."""

    def order(self) -> tuple[npt.NDArray[Any], Bool | None]:
        return self.values, self._missing()

    def holds(self, condition: Condition) -> Bool:
        if not isinstance(condition, NumberCondition):
            return np.zeros(len(self), np.bool_)
        found: Bool = _COMPARISONS[condition.operator](self.values, condition.limit)
        missing = self._missing()
        return found if missing is None else found & ~missing

    def largest(self) -> float:
        """Return the largest magnitude; 0 without values."""
        there = np.abs(self._there())
        return float(there.max(initial=0))

    def sum(self) -> float:
        """Of the values that are not missing."""
        return float(self._there().sum())

    def _there(self) -> npt.NDArray[Any]:
        data, missing = self.order()
        return data if missing is None else data[~missing]

    def _missing(self) -> Bool | None:
        if self.values.dtype.kind != "f":
            return self.missing
        nan: Bool = np.isnan(self.values)
        if self.missing is not None:
            return self.missing | nan
        return nan if nan.any() else None


class BoolColumn(_InArray, frozen=True):
    """True, false, or not known."""

    def order(self) -> tuple[npt.NDArray[Any], Bool | None]:
        return self.values.astype(np.int8), self.missing

    def holds(self, condition: Condition) -> Bool:
        if not isinstance(condition, BoolCondition):
            return np.zeros(len(self), np.bool_)
        data, missing = self.order()
        unknown = np.zeros(len(self), np.bool_) if missing is None else missing
        found = unknown if condition.value is None else ~unknown & (data == condition.value)
        return found if condition.same else ~found


class TextColumn:
    """Texts or None. Each distinct text is looked at once, however many rows have it."""

    def __init__(self, values: Sequence[str | None]) -> None:
        self.values = values

    @property
    def size(self) -> int:
        # with what is made of them when they are first searched and sorted
        texts = sum(len(text) for text in self._distinct if text is not None)
        return 12 * len(self.values) + 2 * texts + 200 * len(self._distinct)

    def __len__(self) -> int:
        return len(self.values)

    def order(self) -> tuple[npt.NDArray[Any], Bool | None]:
        missing = self._code == self._distinct.index(None) if None in self._distinct else None
        return self._rank[self._code], missing

    def holds(self, condition: Condition) -> Bool:
        return self._distinct_that(condition)[self._code]

    def take(self, rows: Int32 | slice) -> list[Any]:
        if isinstance(rows, slice):
            return list(self.values[rows])
        return [self.values[row] for row in rows.tolist()]

    def _distinct_that(self, condition: Condition) -> Bool:
        folded = self._folded
        if isinstance(condition, WordCondition):
            return np.fromiter((condition.text in text for text in folded), np.bool_, len(folded))
        if isinstance(condition, TextCondition):
            return np.fromiter(((condition.text == text) == condition.same for text in folded), np.bool_, len(folded))
        if isinstance(condition, PatternCondition):
            return condition.search(folded)
        return np.zeros(len(folded), np.bool_)

    # made when first needed: the first page does without

    @cached_property
    def _distinct(self) -> list[str | None]:
        """In the order in which they are first seen."""
        return list(dict.fromkeys(self.values))

    @cached_property
    def _code(self) -> Int32:
        """Shape (rows,): which of the distinct texts each is."""
        number = {text: i for i, text in enumerate(self._distinct)}
        return np.fromiter(map(number.__getitem__, self.values), np.int32, len(self.values))

    @cached_property
    def _folded(self) -> list[str]:
        """The distinct texts in small letters; missing is empty."""
        return ["" if text is None else text.lower() for text in self._distinct]

    @cached_property
    def _rank(self) -> Int32:
        keys = ["" if text is None else natural_key(text) for text in self._distinct]
        rank = np.empty(len(keys), np.int32)
        rank[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        return rank
