"""Tables that can be asked for a page: sorted, filtered, some rows of many (docs/tables.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from torch_tb_profiler.analysis.answer import Count, Definition, Rows, TraceMeta
from torch_tb_profiler.analysis.tabular import Grid, Tabular

if TYPE_CHECKING:
    import pandas as pd

#: a table of no more rows is sent whole: the browser sorts and filters it faster than it can ask
WHOLE = 20_000


class PageMeta(msgspec.Struct, frozen=True, kw_only=True):
    """What stands beside a page of a table; total, matched and offset are filled in when the page is cut.

    total    how many rows the table has
    matched  how many rows pass the filter
    offset   how many rows are before the first of this page
    """

    total: Count = 0
    matched: Count = 0
    offset: Count = 0


class TableMeta(TraceMeta, frozen=True, kw_only=True):
    """The metadata of a page of a table about one trace: `TraceMeta` and `PageMeta`.

    total    how many rows the table has
    matched  how many rows pass the filter
    offset   how many rows are before the first of this page
    """

    total: Count = 0
    matched: Count = 0
    offset: Count = 0


M = TypeVar("M", bound=TableMeta | PageMeta)


class Table(Tabular, msgspec.Struct, Generic[M], frozen=True):
    """A result in rows and columns.

    meta                what stands beside it
    columns             in order
    given               of each column by key: an array (masked where values are missing), or a sequence with None
    totals              column → the sum that its percentages refer to; such columns have shares
    averages            columns that make sense divided by `calls`
    whole               with more rows than this it is sent in pages
    unknown_below_zero  columns of integers in which a number below zero is a missing one
    """

    meta: M
    columns: Sequence[Definition]
    given: Mapping[str, Any]
    totals: Mapping[str, int | None] = msgspec.field(default_factory=dict)
    averages: Sequence[str] = ()
    whole: int = WHOLE
    unknown_below_zero: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.given[self.columns[0].key]) if self.columns else 0

    @property
    def values(self) -> Mapping[str, Any]:
        """Of each column by key: an array, masked where values are missing, or a sequence with None."""
        below = self.unknown_below_zero  # what answers pages asks for `given`: numpy.ma takes 10 ms to load
        return {**self.given, **{key: np.ma.masked_less(self.given[key], 0) for key in below}}

    def as_grid(self) -> Grid:
        """Return its rows and columns, with their definitions."""
        return Grid("", self.columns, self.values, len(self))

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per entry; missing numbers are NaN or NA. Raises ModuleNotFoundError without pandas."""
        import pandas as pd  # noqa: PLC0415 - not a dependency

        return pd.DataFrame({column.key: _series(self.values[column.key]) for column in self.columns})


class Column(Definition, frozen=True, kw_only=True):
    """One column of a table.

    total    what shares of this column refer to, in `unit`
    average  makes sense divided by calls
    largest  largest magnitude, in `unit`; of tables of more than 20,000 rows
    sum      of all rows, in `unit`; of tables of more than 20,000 rows
    """

    total: float | int | UnsetType = UNSET
    average: bool | UnsetType = UNSET
    largest: float | int | UnsetType = UNSET
    sum: float | int | UnsetType = UNSET


class Page(msgspec.Struct, Generic[M], frozen=True, kw_only=True):
    """Some rows of a table, as parallel lists.

    rows  by column key: a list each, all of the same length
    """

    meta: M
    columns: Sequence[Column]
    rows: Rows


def _series(values: Any) -> Any:
    if isinstance(values, np.ma.MaskedArray):
        plain = values.filled(0)
        if plain.dtype.kind not in "iu":
            return values.filled(np.nan)
        import pandas as pd  # noqa: PLC0415 - not a dependency

        return pd.arrays.IntegerArray(plain.astype(np.int64), np.ma.getmaskarray(values))
    return values if isinstance(values, np.ndarray) else list(values)
