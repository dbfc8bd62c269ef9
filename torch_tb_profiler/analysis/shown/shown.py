"""Results as data frames, for those who have pandas, Polars or Arrow, and as tables of a notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.analysis.shown.columns import columns_of
from torch_tb_profiler.analysis.shown.grid import Grid
from torch_tb_profiler.analysis.shown.table_html import table_html, table_markdown

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Shown:
    """Rows and columns that notebooks show as a table.

    missing_below_zero  integer columns in which a negative number says that the trace does not tell
    defined             definitions of its columns by key; the docstring tells of the others
    """

    __slots__ = ()

    missing_below_zero: ClassVar[tuple[str, ...]] = ()
    defined: ClassVar[Mapping[str, Definition]] = {}

    def __len__(self) -> int:
        raise NotImplementedError

    def to_columns(self) -> dict[str, Any]:
        """The columns that there are, by name: arrays, and sequences of plain values."""
        raise NotImplementedError

    def as_grid(self) -> Grid:
        """Its rows and columns, with their definitions; what the trace does not tell is masked."""
        values = self.to_columns()
        for key in self.missing_below_zero:
            if key in values and (values[key] < 0).any():
                values[key] = np.ma.masked_less(values[key], 0)
        title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).lower()
        return Grid(title, columns_of(type(self), values, self.defined), values, len(self))

    def to_pandas(self) -> pd.DataFrame:
        """One row per entry. Missing numbers are NaN or NA. Raises ModuleNotFoundError without pandas."""
        import pandas as pd  # noqa: PLC0415 - not a dependency

        frame = pd.DataFrame({name: list(v) if isinstance(v, tuple) else v for name, v in self.to_columns().items()})
        for name in self.missing_below_zero:
            if name in frame:
                frame[name] = frame[name].astype("Int64").mask(frame[name] < 0)
        return frame

    def to_polars(self) -> pl.DataFrame:
        """One row per entry; what is missing is null. Raises ModuleNotFoundError without polars."""
        return self.as_grid().to_polars()

    def to_arrow(self) -> pa.Table:
        """One row per entry; what is missing is null. Raises ModuleNotFoundError without pyarrow."""
        return self.as_grid().to_arrow()

    def _repr_html_(self) -> str:
        return table_html(self.as_grid())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        grid = self.as_grid()
        markdown = table_markdown(grid)
        return {"text/html": table_html(grid), "text/markdown": markdown, "text/plain": markdown}
