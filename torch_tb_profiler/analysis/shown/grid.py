"""Any result in rows and columns, and as Arrow and Polars have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Definition

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


class Grid(msgspec.Struct, frozen=True):
    """Rows and columns.

    title    what it is, a few words
    columns  in order
    values   of each column by key: an array (masked where values are missing), or a sequence with None
    size     how many rows there are
    """

    title: str
    columns: Sequence[Definition]
    values: Mapping[str, Any]
    size: int

    def first(self, count: int) -> dict[str, list[Any]]:
        """The first rows as Python values, by column; None if a value is missing."""
        found: dict[str, list[Any]] = {}
        for column in self.columns:
            values = self.values[column.key][:count]
            found[column.key] = values.tolist() if isinstance(values, np.ndarray) else list(values)
        return found

    def to_arrow(self) -> pa.Table:
        """Raises ModuleNotFoundError without pyarrow."""
        import pyarrow as pa  # noqa: PLC0415 - not a dependency

        return pa.table({column.key: pa.array(*_arrow(self.values[column.key])) for column in self.columns})

    def to_polars(self) -> pl.DataFrame:
        """Raises ModuleNotFoundError without polars."""
        import polars as pl  # noqa: PLC0415 - not a dependency

        return pl.DataFrame({column.key: _plain(self.values[column.key]) for column in self.columns})


def _arrow(values: Any) -> tuple[Any, ...]:
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.getdata(values)), None, np.ma.getmaskarray(values)
    return (values if isinstance(values, np.ndarray) else list(values),)


def _plain(values: Any) -> Any:
    if isinstance(values, np.ma.MaskedArray):
        return values.tolist()
    return values if isinstance(values, np.ndarray) else list(values)
