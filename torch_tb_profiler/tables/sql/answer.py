"""The answers to queries."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec
from msgspec import structs

from torch_tb_profiler.analysis.answer import Answer, Ns, Unit
from torch_tb_profiler.analysis.tabular import Column, Tabular
from torch_tb_profiler.analysis.text_format import harmless

#: integers beyond these are texts: JSON readers lose their last digits
_EXACT = 2**53
#: that fits a column of a file
_LARGEST = 2**63 - 1

#: DuckDB's types of numbers, as they begin
_NUMBERS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    *("UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL"),
)
_UNITS: dict[str, Unit] = {"_ns": "ns", "_bytes": "bytes"}

Cell = str | int | float | bool | list[Any] | dict[str, Any] | None


class SqlRows(Tabular, msgspec.Struct, frozen=True):
    """All rows that a query found, with the values of DuckDB; iterating gives a tuple for each.

    columns   names; of equal names the later have a number
    types     of each column, as DuckDB calls it
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows)

    def __repr__(self) -> str:
        return harmless(f"<{len(self.rows)} rows of {', '.join(self.columns)}>")

    def to_columns(self) -> dict[str, tuple[Any, ...]]:
        """Return the values of each column."""
        values = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.columns)
        return dict(zip(self.columns, values, strict=True))


class QueryAnswer(Answer, frozen=True, kw_only=True):
    """The first rows of what a query found.

    columns      names, in order; of equal names the later have a number
    types        of each column, as DuckDB calls it
    rows         a list of values each, in the order of columns; integers beyond 2^53, times and what else JSON does not
                 have are texts, NaN and infinities null
    more         why there may be further rows that are not here: rows (there are as many as may be sent), bytes (they
                 are as long as they may be); empty if all are here
    prepared_ns  how long tables were made that the query names, before it ran
    query_ns     how long it ran
    """

    columns: Sequence[str]
    types: Sequence[str]
    rows: Sequence[Sequence[Any]]
    more: Literal["", "rows", "bytes"]
    prepared_ns: Ns
    query_ns: Ns


def table_of_rows(
    names: Sequence[str], types: Sequence[str], rows: Sequence[Sequence[Any]]
) -> tuple[list[Column], dict[str, list[Any]]]:
    """Return the columns of a result, with units where their names end with one, and their values."""
    columns, values = [], {}
    for at, (name, kind) in enumerate(zip(names, types, strict=True)):
        cells = [_text_of(as_cell(row[at], _LARGEST)) for row in rows]
        declared = _declared(name, kind)
        if declared.type != "string" and any(isinstance(cell, str) for cell in cells):
            declared = structs.replace(declared, type="string", unit=None)
            cells = [None if cell is None else str(cell) for cell in cells]
        columns.append(declared)
        values[name] = cells
    return columns, values


def _declared(name: str, kind: str) -> Column:
    is_number = kind.startswith(_NUMBERS) and not kind.endswith("]")
    unit = next((unit for end, unit in _UNITS.items() if name.endswith(end)), None) if is_number else None
    return Column(
        key=name,
        label=name,
        type="number" if is_number else "bool" if kind == "BOOLEAN" else "string",
        unit=unit,
        help=kind,
    )


def _text_of(cell: Cell) -> Any:
    """Return lists and the like as JSON."""
    return msgspec.json.encode(cell).decode() if isinstance(cell, list | dict) else cell


def as_cell(value: Any, largest: int = _EXACT) -> Cell:
    """Return a value of DuckDB for JSON. largest: larger integers become texts."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if -largest <= value <= largest else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, list | tuple):
        return [as_cell(each, largest) for each in value]
    if isinstance(value, dict):
        return {str(key): as_cell(each, largest) for key, each in value.items()}
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value)
