"""What notebooks show as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_tb_profiler.analysis.shown.grid import Grid
from torch_tb_profiler.analysis.shown.table_html import table_html, table_markdown

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


class Shown:
    """A result that notebooks show as a table."""

    __slots__ = ()

    def as_grid(self) -> Grid:
        """Its rows and columns, with their definitions."""
        raise NotImplementedError

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
