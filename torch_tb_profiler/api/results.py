"""Results of the Python API that several questions share: rows of one kind, and two traces side by side."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from torch_tb_profiler.analysis.compare.comparison import Comparison
from torch_tb_profiler.analysis.compare.program import EntryTimes, WholeTimes
from torch_tb_profiler.analysis.compare.question import Delta
from torch_tb_profiler.analysis.tabular import Grid, Tabular, columns_of

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")


class Rows(tuple[T, ...], Tabular):
    """A tuple of dataclasses or structs that can become a data frame with one row each."""

    def to_pandas(self) -> pd.DataFrame:
        import pandas as pd

        rows: Any = self
        return pd.DataFrame([_row_values(row) for row in rows])

    def as_grid(self) -> Grid:
        """Return a row for each item; fields without a plain value are left out."""
        rows = [_row_values(row) for row in self]
        keys = [key for key in (rows[0] if rows else {}) if all(_is_plain(row[key]) for row in rows)]
        values = {key: [row[key] for row in rows] for key in keys}
        kind = type(self[0]) if rows else object
        return Grid(kind.__name__.lower() if rows else "", columns_of(kind, values, {}), values, len(rows))


def _row_values(row: Any) -> dict[str, Any]:
    if isinstance(row, msgspec.Struct):
        return msgspec.structs.asdict(row)
    return asdict(row) if is_dataclass(row) and not isinstance(row, type) else {"": repr(row)}


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | bool | int | float)


if TYPE_CHECKING:
    import pandas as pd


class Compared(msgspec.Struct, frozen=True):
    """Two traces side by side: sums of the whole traces, and every operator and kernel by name.

    left_sums, right_sums   what `left` and `right` are the sums of: parts, work launched before the recording, the rest
    """

    left: EntryTimes
    right: EntryTimes
    operators: Delta
    kernels: Delta
    parts: Comparison
    left_sums: WholeTimes
    right_sums: WholeTimes

    def to_pandas(self) -> pd.DataFrame:
        """Return the operators."""
        return self.operators.to_pandas()
