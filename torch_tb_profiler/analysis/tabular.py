"""Tables that can be asked for a page (docs/tables.md), and results as data frames or tables of a notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from torch_tb_profiler.analysis.answer import ColumnType, Count, Definition, Rows, TraceMeta, Unit, field_texts
from torch_tb_profiler.analysis.text_format import harmless, text_of

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
        """Return the first rows as Python values, by column; None if a value is missing."""
        found: dict[str, list[Any]] = {}
        for column in self.columns:
            values = self.values[column.key][:count]
            found[column.key] = values.tolist() if isinstance(values, np.ndarray) else list(values)
        return found

    def to_arrow(self) -> pa.Table:
        """Convert to Arrow, one row per entry; what is missing is null. Raises ModuleNotFoundError without pyarrow."""
        import pyarrow as pa

        return pa.table({column.key: pa.array(*_arrow(self.values[column.key])) for column in self.columns})

    def to_polars(self) -> pl.DataFrame:
        """Convert to Polars, one row per entry; what is missing is null. Raises ModuleNotFoundError without polars."""
        import polars as pl

        return pl.DataFrame({column.key: _plain(self.values[column.key]) for column in self.columns})


def _arrow(values: Any) -> tuple[Any, ...]:
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.getdata(values)), None, np.ma.getmaskarray(values)
    return (values if isinstance(values, np.ndarray) else list(values),)


def _plain(values: Any) -> Any:
    if isinstance(values, np.ma.MaskedArray):
        return values.tolist()
    return values if isinstance(values, np.ndarray) else list(values)


_SUFFIXES: tuple[tuple[str, Unit], ...] = (("_ns", "ns"), ("bytes", "bytes"), ("share", "fraction"))


def columns_of(result: type, values: Mapping[str, Any], defined: Mapping[str, Definition]) -> list[Definition]:
    """Return the definitions of a result's columns: those declared, else what its docstring and the name say."""
    texts = field_texts(result)
    return [defined.get(key) or _guessed(key, each, texts.get(key, "")) for key, each in values.items()]


def _guessed(key: str, values: Any, text: str) -> Definition:
    unit = next((unit for suffix, unit in _SUFFIXES if key.endswith(suffix)), None)
    label = key.removesuffix("_ns").replace("_", " ").capitalize()
    kind = _type_of(values)
    return Definition(key, label, kind, unit if kind == "number" else None, text)


def _type_of(values: Any) -> ColumnType:
    if isinstance(values, np.ndarray):
        return "bool" if values.dtype.kind == "b" else "number" if values.dtype.kind in "iuf" else "string"
    known = next((value for value in values if value is not None), None)
    if isinstance(known, bool):
        return "bool"
    return "number" if isinstance(known, int | float) else "string"


#: of one result, as a notebook keeps it
MOST_BYTES = 20_000
MOST_ROWS = 20
_MOST_COLUMNS = 14
#: characters of a name, and of what is shown when the pointer rests on it
_NAME, _WHOLE_NAME, _HELP = 60, 160, 200

#: no colour of its own, so that it is readable in the light and in the dark
TABLE_STYLE = "border-collapse:collapse;color:inherit;background:transparent;font-size:13px"
CAPTION_STYLE = "color:inherit;opacity:.75;font-size:12px;margin:4px 0"


def table_html(grid: Grid, rows: int = MOST_ROWS, most: int = MOST_BYTES) -> str:
    """Render the first rows with units; definitions appear on hover. At most `most` bytes."""
    columns = _shown(grid)
    for count in range(min(rows, grid.size), -1, -1):
        found = _html(grid, columns, count)
        if len(found.encode()) <= most or not count:
            return found
    raise AssertionError


def table_markdown(grid: Grid, rows: int = MOST_ROWS) -> str:
    """Render the first rows as Markdown."""
    columns = _shown(grid)
    values = grid.first(min(rows, grid.size))
    lines = [
        "| " + " | ".join(_cell(each.label) for each in columns) + " |",
        "|" + "|".join(" ---: " if each.type == "number" else " --- " for each in columns) + "|",
    ]
    lines += [
        "| " + " | ".join(_cell(text_of(values[each.key][at], each.unit)) for each in columns) + " |"
        for at in range(min(rows, grid.size))
    ]
    return "\n".join([*lines, "", _caption(grid, min(rows, grid.size), len(columns))])


def table_text(grid: Grid, rows: int = MOST_ROWS) -> str:
    """Render the first rows as lines of a terminal, numbers to the right."""
    columns = _shown(grid)
    count = min(rows, grid.size)
    values = grid.first(count)
    aligned = []
    for column in columns:
        texts = [column.label, *(text_of(values[column.key][at], column.unit) for at in range(count))]
        texts = [harmless(text, _NAME) for text in texts]
        width = max(map(len, texts))
        aligned.append([text.rjust(width) if column.type == "number" else text.ljust(width) for text in texts])
    lines = ["  ".join(cells).rstrip() for cells in zip(*aligned, strict=True)]
    return "\n".join([*lines, "", _caption(grid, count, len(columns))])


def _shown(grid: Grid) -> list[Definition]:
    """Return the first columns that are not hidden; data frames have all."""
    return [each for each in grid.columns if not each.hidden][:_MOST_COLUMNS]


def _html(grid: Grid, columns: list[Definition], count: int) -> str:
    values = grid.first(count)
    head = "".join(f'<th align="{_side(each)}" title="{_title(each)}">{escape(each.label)}</th>' for each in columns)
    body = "".join(
        "<tr>" + "".join(_html_cell(values[each.key][at], each) for each in columns) + "</tr>" for at in range(count)
    )
    caption = escape(_caption(grid, count, len(columns)))
    return (
        f'<div style="overflow-x:auto"><table cellpadding="4" style="{TABLE_STYLE}"><thead><tr>{head}</tr></thead>'
        f'<tbody>{body}</tbody></table><p style="{CAPTION_STYLE}">{caption}</p></div>'
    )


def _caption(grid: Grid, count: int, columns: int) -> str:
    shown = f"{count} of {grid.size:,} rows"
    if columns < len(grid.columns):
        shown += f", {columns} of {len(grid.columns)} columns"
    return f"{grid.title}: {shown}" if grid.title else shown


def _side(column: Definition) -> str:
    return "right" if column.type == "number" else "left"


def _title(column: Definition) -> str:
    return escape(harmless(f"{column.key}: {column.help}" if column.help else column.key, _HELP), quote=True)


def _html_cell(value: Any, column: Definition) -> str:
    text = harmless(text_of(value, column.unit))
    if column.type == "number":
        exact = f' title="{value:,} ns"' if column.unit == "ns" and isinstance(value, int) else ""
        return f'<td align="right"{exact}>{escape(text).replace(" ", "&nbsp;")}</td>'
    if len(text) <= _NAME:
        return f'<td align="left">{escape(text)}</td>'
    whole = escape(harmless(text, _WHOLE_NAME), quote=True)
    return f'<td align="left" title="{whole}">{escape(harmless(text, _NAME))}</td>'


def _cell(text: str) -> str:
    """Escape a cell of a Markdown table: nothing in it begins a link, a tag or another cell."""
    safe = harmless(text, _NAME)
    for mark in "\\`*_[]<>|!#":
        safe = safe.replace(mark, f"\\{mark}" if mark not in "<>" else {"<": "&lt;", ">": "&gt;"}[mark])
    return safe


if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Tabular:
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
        """Return the columns by name: arrays, and sequences of plain values."""
        raise NotImplementedError

    def as_grid(self) -> Grid:
        """Return its rows and columns, with their definitions; what the trace does not tell is masked."""
        values = self.to_columns()
        for key in self.missing_below_zero:
            if key in values and (values[key] < 0).any():
                values[key] = np.ma.masked_less(values[key], 0)
        title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).lower()
        return Grid(title, columns_of(type(self), values, self.defined), values, len(self))

    def to_pandas(self) -> pd.DataFrame:
        """Convert to pandas, one row per entry; missing numbers are NaN or NA. Raises ModuleNotFoundError."""
        import pandas as pd

        frame = pd.DataFrame({name: list(v) if isinstance(v, tuple) else v for name, v in self.to_columns().items()})
        for name in self.missing_below_zero:
            if name in frame:
                frame[name] = frame[name].astype("Int64").mask(frame[name] < 0)
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Convert to Polars, one row per entry; what is missing is null. Raises ModuleNotFoundError without polars."""
        return self.as_grid().to_polars()

    def to_arrow(self) -> pa.Table:
        """Convert to Arrow, one row per entry; what is missing is null. Raises ModuleNotFoundError without pyarrow."""
        return self.as_grid().to_arrow()

    def _repr_html_(self) -> str:
        return table_html(self.as_grid())

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        grid = self.as_grid()
        return {"text/html": table_html(grid), "text/markdown": table_markdown(grid), "text/plain": table_text(grid)}


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
        import pandas as pd

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
        import pandas as pd

        return pd.arrays.IntegerArray(plain.astype(np.int64), np.ma.getmaskarray(values))
    return values if isinstance(values, np.ndarray) else list(values)
