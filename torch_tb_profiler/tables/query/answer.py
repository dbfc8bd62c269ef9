"""A table that is kept for further requests: sorted, filtered, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec
import numpy as np
from msgspec import UNSET
from msgspec.structs import asdict, replace

from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.analysis.tabular import Column, Page, Table
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.tables.query.columns import NumberColumn, QueryColumn, column_of
from torch_tb_profiler.tables.query.grammar import QueryProblem, WordCondition, parse_filter
from torch_tb_profiler.workspace.answering.value_cache import Lru

#: default number of rows in a page of a large table
FIRST_PAGE = 1_000
MOST_SORTS = 10

#: remembered orders and filter results: scrolling repeats the same request
_REMEMBERED = 4


class Query(msgspec.Struct, frozen=True):
    """What is asked of a table.

    sort    `-device_self_ns,name`: the most important key first, with `-` the largest first; "" for its own order
    filter  see docs/tables.md
    search  key of the column in which words of the filter are looked for; None for the column that names the rows
    limit   None for as many as are sent unasked
    """

    sort: str = ""
    filter: str = ""
    search: str | None = None
    offset: int = 0
    limit: int | Literal["all"] | None = None


class TableAnswer(msgspec.Struct, frozen=True, dict=True):
    """A table and what is remembered for cutting pages from it."""

    table: Table[Any]

    @cached_property
    def _table_columns(self) -> dict[str, QueryColumn]:
        """Return the columns of the table itself; most pages need no others."""
        below_zero = self.table.unknown_below_zero
        return {d.key: column_of(d.type, self.table.given[d.key], d.key in below_zero) for d in self.table.columns}

    @cached_property
    def _all_columns(self) -> dict[str, QueryColumn]:
        """Return all columns and the columns derived from them, like `derive.ts`."""
        kept = dict(self._table_columns)
        for d in self.table.columns:
            source = kept[d.key]
            if isinstance(source, NumberColumn):
                if total := self.table.totals.get(d.key):
                    kept[share_key(d.key)] = NumberColumn(source.values / total * 100, source.missing)
                if d.key in self.table.averages and "calls" in kept:
                    kept[average_key(d.key)] = _average(source, kept["calls"])
        return kept

    @cached_property
    def _descriptions(self) -> list[dict[str, Any]]:
        """Return descriptions of all columns, also of derived ones, that a filter may name."""
        found: list[dict[str, Any]] = []
        for d in self.table.columns:
            found.append({"key": d.key, "label": d.label, "type": d.type, "unit": d.unit})
            for key, unit in ((share_key(d.key), "percent"), (average_key(d.key), d.unit)):
                if key in self._all_columns:
                    found.append({"key": key, "label": key, "type": "number", "unit": unit})
        return found

    @property
    def size(self) -> int:
        """Return about how many bytes it takes."""
        # with the contents of `_remembered`
        return sum(column.size for column in self._all_columns.values()) + 4 * len(self) * _REMEMBERED

    def __len__(self) -> int:
        return len(self.table)

    @property
    def keys(self) -> list[str]:
        """Return the keys of all columns, also of derived ones."""
        return [each["key"] for each in self._descriptions]

    def page(self, query: Query | None = None, keys: Sequence[str] | None = None) -> Page[Any]:
        """Return the requested rows. Raises QueryProblem.

        keys: of the columns, also of derived ones; None for the columns of the table
        """
        query = query or Query()
        rows, matched = self._rows(query)
        limit = query.limit
        if limit is None and matched > self.table.whole:
            limit = FIRST_PAGE
        # a slice if possible: it is ten times faster than a list of rows
        until = matched if limit in (None, "all") else query.offset + int(limit or 0)
        page = slice(query.offset, until) if rows is None else rows[query.offset : until]
        return Page(
            meta=replace(self.table.meta, total=len(self), matched=matched, offset=query.offset),
            columns=self._columns if keys is None else [self._described(key) for key in keys],
            rows=(
                {key: column.take(page) for key, column in self._table_columns.items()}
                if keys is None
                else {key: self._all_columns[key].take(page) for key in keys}
            ),
        )

    def _described(self, key: str) -> Column:
        """Describe a column, perhaps a derived one. Raises QueryProblem."""
        for column in self._columns:
            if column.key == key:
                return column
        for d in self.table.columns:
            if key in self._all_columns and key == share_key(d.key):
                text = f"{d.label} ÷ its total × 100."
                return Column(key=key, label=f"% {d.label}", type="number", unit="percent", help=text)
            if key in self._all_columns and key == average_key(d.key):
                text = f"{d.label} ÷ calls."
                return Column(key=key, label=f"{d.label} per call", type="number", unit=d.unit, help=text)
        raise QueryProblem("unknown_column", f"there is no column {key!r}", key, key)

    @cached_property
    def _columns(self) -> list[Column]:
        return [self._column(d) for d in self.table.columns]

    def _column(self, defined: Definition) -> Column:
        key = defined.key
        kept = self._table_columns[key]
        is_large = len(self) > self.table.whole and isinstance(kept, NumberColumn)
        return Column(
            **asdict(defined),
            total=self.table.totals.get(key) or UNSET,
            average=True if key in self.table.averages else UNSET,
            largest=kept.largest() if is_large and isinstance(kept, NumberColumn) else UNSET,
            sum=kept.sum() if is_large and isinstance(kept, NumberColumn) else UNSET,
        )

    @cached_property
    def _remembered(self) -> Lru[tuple[str, ...], Int32]:
        return Lru(_REMEMBERED, lambda _: 1)

    def _rows(self, query: Query) -> tuple[Int32 | None, int]:
        """Return the rows in order, None for all in their own order; and how many."""
        request = (query.sort, query.filter, query.search or "")
        rows = self._remembered.get(request)
        if rows is None:
            order = self._order(query.sort)
            kept = self._filtered(query)
            if kept is None:
                return order, len(self)
            rows = np.flatnonzero(kept).astype(np.int32) if order is None else order[kept[order]]
            self._remembered.put(request, rows)
        return rows, len(rows)

    def _order(self, sort: str) -> Int32 | None:
        if not sort:
            return None
        order = self._remembered.get((sort,))
        if order is None:
            order = self._sorted(sort).astype(np.int32)
            self._remembered.put((sort,), order)
        return order

    def _filtered(self, query: Query) -> Bool | None:
        if not query.filter:
            return None
        search = query.search or self._name_key()
        conditions = parse_filter(query.filter, self._descriptions, search)
        if not conditions:
            return None
        kept = np.ones(len(self), np.bool_)
        for condition in conditions:
            # a word also matches the shown part of a long name
            keys = (
                (condition.key, f"short_{condition.key}") if isinstance(condition, WordCondition) else (condition.key,)
            )
            held = [column.holds(condition) for key in keys if (column := self._all_columns.get(key)) is not None]
            kept &= np.logical_or.reduce(held) if held else False
        return kept

    def _name_key(self) -> str:
        texts = [d.key for d in self.table.columns if d.type == "string"]
        return "name" if "name" in texts or not texts else texts[0]

    def _sorted(self, text: str) -> Int64:
        wanted = text.split(",")
        if len(wanted) > MOST_SORTS:
            raise QueryProblem("too_many_sorts", f"sort has more than {MOST_SORTS} columns", text)
        keys: list[Any] = []
        for column_sort in wanted:
            key = column_sort.removeprefix("-")
            column = self._all_columns.get(key)
            if column is None:
                raise QueryProblem("unknown_column", f"there is no column {key!r}", text, key)
            order, missing = column.order()
            if missing is not None:
                keys.append(missing)
                order = np.where(missing, 0, order)
            keys.append(-order if column_sort.startswith("-") else order)
        # the last key is the most important one
        found: Int64 = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
        return found


def share_key(key: str) -> str:
    """Return the key of the column with the share of each value of `key` in its total."""
    return f"{_base(key)}_share"


def average_key(key: str) -> str:
    """Return the key of the column with the amount of `key` per call."""
    base = _base(key)
    return f"{base}_per_call{key[len(base) :]}"


def _base(key: str) -> str:
    return key.removesuffix("_ns").removesuffix("_bytes")


def _average(source: NumberColumn, calls: QueryColumn) -> NumberColumn:
    count = calls.order()[0].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = source.values / np.where(count == 0, np.nan, count)
    return NumberColumn(values, source.missing)
