"""Traces as tables, each made when a statement first names it, and functions of our own for queries."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.ranks.reduction import RunResult, reduce_run
from torch_tb_profiler.ranks.summary import summarize
from torch_tb_profiler.tables.sql.answer import SqlRows
from torch_tb_profiler.tables.sql.columns import RunTable, SqlColumn, SqlTable, SqlTexts, SqlValues, plain
from torch_tb_profiler.tables.sql.connection import (
    BEGIN_READING,
    MAIN,
    QueryError,
    check,
    check_types,
    connect,
    distinct_names,
    in_words,
    query_error,
    quoted,
    schemas_of,
    split_name,
)
from torch_tb_profiler.tables.sql.tables import RUN_TABLES, TABLES
from torch_tb_profiler.trace import Category

#: ms(x): nanoseconds as milliseconds. overlap_ns: length of the intersection of [a0, a1) and [b0, b1)
ALWAYS = (
    "CREATE MACRO main.ms(ns) AS ns / 1e6",
    "CREATE MACRO main.overlap_ns(a0, a1, b0, b1) AS greatest(0, least(a1, b1) - greatest(a0, b0))",
)

# An argument of a macro is resolved in the query of the macro first, so its columns have names that no table has.

#: the short name of a kernel, as pages show it; any other text unchanged
SHORT = "CREATE MACRO main.short(text) AS coalesce((SELECT _short FROM _.short WHERE _name = text), text)"

#: whether [a, b) overlaps a step
IN_STEPS = "CREATE MACRO {schema}.in_steps(a, b) AS EXISTS (SELECT 1 FROM {windows} WHERE _from < b AND _to > a)"


def short_names(model: Model) -> dict[str, str]:
    """Return the short name of each kernel."""
    events = model.trace.events
    codes = np.unique(events.name[events.category == Category.KERNEL])
    return {text: short_name(text) for text in model.trace.strings.texts(codes) if text}


if TYPE_CHECKING:
    import duckdb

_AT_ONCE = 1_000

#: prefix of the table of all traces
ALL = "all_"
_RUN, _WORKER, _SPAN = (
    SqlColumn(name, "string", "", meaning, "the log directory")
    for name, meaning in (
        ("run", "name of the run"),
        ("worker", "name of the process that was recorded"),
        ("span", "which recording of the worker it is"),
    )
)
_OF_TRACE = {table.name: table for table in TABLES}
_OF_RUN = {table.name: table for table in RUN_TABLES}

#: queries of the catalog, which contains only tables that were made
_CATALOG = re.compile(
    r"\bshow\b|\binformation_schema\b|\bduckdb_(?:tables|views|columns)\b|\bsqlite_master\b|\bpragma_", re.IGNORECASE
)


class TraceSource(msgspec.Struct, frozen=True):
    """A trace, and what calls a function with its model. Another trace of the same names is another schema."""

    run: str
    worker: str
    span: str
    ask: Callable[[Callable[[Model], Any]], Any]


class QueryRows(msgspec.Struct, frozen=True):
    """The result of a query.

    next_rows    so many of the rows that were not given yet; none at the end
    prepared_ns  how long its tables were made
    query_ns     how long it ran until its first rows
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    next_rows: Callable[[int], list[tuple[Any, ...]]]
    prepared_ns: int
    query_ns: int


class Database:
    """Traces as tables: of one trace in the schema `main`, of several in a schema each, and `all_*` of all.

    open_to_all: a connection of the user's own: not locked, and its tables are copies, which all cursors see
    """

    def __init__(self, traces: Sequence[TraceSource], open_to_all: bool = False) -> None:
        """Open an empty database. Raises QueryError: DuckDB is not installed."""
        self.connection = connect(locked=not open_to_all)
        self._copies = open_to_all
        self._traces = tuple(traces)
        self._schemas = schemas_of([(t.run, t.worker, t.span) for t in traces])
        self._made: set[tuple[str, str]] = set()
        #: what is to hold while tables are made
        self.while_making: Callable[[], AbstractContextManager[None]] = nullcontext
        self._reduced: list[tuple[str, str, RunResult]] | None = None
        for schema in ("_", *self._schemas):
            self.connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
        for macro in ALWAYS:
            self.connection.execute(macro)
        self._describe()

    def find(self, statement: str, prepared: Callable[[], None] = lambda: None) -> QueryRows:
        """Run one SELECT, or explain one; `prepared` is called before. Raises QueryError."""
        began = time.perf_counter_ns()
        check(self.connection, statement)
        self.prepare(statement)
        prepared_ns = time.perf_counter_ns() - began
        prepared()
        began = time.perf_counter_ns()
        self._leave()
        with self._in_words():
            self.connection.execute(BEGIN_READING)
            cursor = self.connection.execute(statement)
            described = cursor.description or []
        names, types = distinct_names([str(each[0]) for each in described]), [str(each[1]) for each in described]
        check_types(types)
        return QueryRows(names, tuple(types), partial(self._next, cursor), prepared_ns, time.perf_counter_ns() - began)

    def _next(self, cursor: duckdb.DuckDBPyConnection, count: int) -> list[tuple[Any, ...]]:
        with self._in_words():
            found: list[tuple[Any, ...]] = cursor.fetchmany(count)
            return found

    def rows(self, statement: str) -> SqlRows:
        """Return all rows of one SELECT. Raises QueryError."""
        found = self.find(statement)
        rows: list[tuple[Any, ...]] = []
        while more := found.next_rows(_AT_ONCE):
            rows += more
        return SqlRows(found.columns, found.types, tuple(rows))

    def _leave(self) -> None:
        """End the transaction of the previous query."""
        with suppress(QueryError), in_words():
            self.connection.execute("ROLLBACK")

    def interrupt(self) -> None:
        """Interrupt the running query from another thread."""
        self.connection.interrupt()

    def close(self) -> None:
        self.connection.close()

    # making tables ------------------------------------------------------------------------------------------

    def prepare(self, statement: str) -> None:
        """Make the tables and macros that a statement names. Raises QueryError."""
        if re.search(r"\bshort\b", statement, re.IGNORECASE):
            self._make_if_missing("", SHORT, self._make_short)
        if re.search(r"\bin_steps\b", statement, re.IGNORECASE):
            for schema in self._schemas:
                self.make(schema, "steps")
                self._make_if_missing(schema, IN_STEPS, partial(self._make_in_steps, schema))
        self._leave()
        with self._in_words():
            named = self.connection.get_table_names(statement, qualified=True)
        if _CATALOG.search(statement):
            self.prepare_tables()
        for name in sorted(named):
            *above, table = split_name(name.lower())
            schema = above[-1] if above else MAIN
            self.make(schema, table)

    def prepare_tables(self, names: Iterable[str] | None = None) -> None:
        """Make some or all tables of all traces. Raises QueryError for an unknown table."""
        known = (*_OF_TRACE, *_OF_RUN)
        for name in known if names is None else names:
            if name not in known:
                raise query_error("sql_failed", f"there is no table {name!r}, only {', '.join(known)}")
            self.make(MAIN, name if name in _OF_RUN else f"{ALL}{name}")

    def make(self, schema: str, name: str) -> None:
        """Make a table if it does not exist yet; unknown names are left to DuckDB."""
        if schema in self._schemas and name in _OF_TRACE:
            table, trace = _OF_TRACE[name], self._traces[self._schemas.index(schema)]
            self._make_if_missing(
                schema, name, lambda: self._create_view(schema, table, table.columns, trace.ask(table.fill))
            )
        elif schema == MAIN and name in _OF_RUN:
            self._make_if_missing(schema, name, lambda: self._make_of_run(_OF_RUN[name]))
        elif schema == MAIN and name.startswith(ALL) and name.removeprefix(ALL) in _OF_TRACE:
            self._make_if_missing(schema, name, lambda: self._make_all(_OF_TRACE[name.removeprefix(ALL)]))

    def _make_if_missing(self, schema: str, name: str, make: Callable[[], None]) -> None:
        if (schema, name) in self._made:
            return
        self._leave()
        with self.while_making():
            make()
        self._made.add((schema, name))

    def _create_view(
        self, schema: str, table: SqlTable | RunTable, columns: Sequence[SqlColumn], values: Mapping[str, SqlValues]
    ) -> None:
        """Make a view of arrays, with texts in separate tables; or copies of all."""
        base = f"_{schema}_{table.name}"
        arrays: dict[str, npt.NDArray[Any]] = {}
        selected, joined = [], []
        for at, column in enumerate(columns):
            cells, name = values[column.name], quoted(column.name)
            if column.type == "string":
                texts = cells if isinstance(cells, SqlTexts) else SqlTexts.of(cells)  # type: ignore[arg-type]
                arrays[column.name], listed = texts.used()
                where = f"_.{quoted(f'{base}_{column.name}')}"
                self._create_texts(where, listed)
                selected.append(f"t{at}.text AS {name}")
                joined.append(f"JOIN {where} t{at} ON t{at}.code = b.{name}")
            else:
                arrays[column.name] = _duckdb_array(plain(cells))
                selected.append(f"b.{name}")
        self.connection.register(base, arrays)
        target, kind = f"{quoted(schema)}.{quoted(table.name)}", "TABLE" if self._copies else "VIEW"
        source = f"FROM {quoted(base)} b {' '.join(joined)}"
        self.connection.execute(f"CREATE {kind} {target} AS SELECT {', '.join(selected)} {source}")
        if self._copies:
            self.connection.unregister(base)
        self._comment(kind, target, table.meaning, columns)

    def _create_texts(self, where: str, texts: Sequence[str | None]) -> None:
        codes = np.arange(len(texts), dtype=np.int32)
        self.connection.register("_new", {"code": codes, "text": np.array(texts, dtype=object)})
        self.connection.execute(f"CREATE TABLE {where} AS SELECT code, text::VARCHAR AS text FROM _new")  # noqa: S608
        self.connection.unregister("_new")

    def _comment(self, kind: str, target: str, meaning: str, columns: Sequence[SqlColumn]) -> None:
        said = [f"COMMENT ON {kind} {target} IS {_literal(meaning)}"]
        said += [f"COMMENT ON COLUMN {target}.{quoted(c.name)} IS {_literal(_comment_of(c))}" for c in columns]
        self.connection.execute("; ".join(("BEGIN", *said, "COMMIT")))

    def _make_all(self, table: SqlTable) -> None:
        """Make a view over this table of all traces, with the names of the trace as first columns."""
        parts = []
        for schema, trace in zip(self._schemas, self._traces, strict=True):
            self.make(schema, table.name)
            names = ", ".join(
                f"{_literal(text)} AS {column.name}"
                for text, column in zip((trace.run, trace.worker, trace.span), (_RUN, _WORKER, _SPAN), strict=True)
            )
            parts.append(f"SELECT {names}, * FROM {quoted(schema)}.{quoted(table.name)}")  # noqa: S608
        target = f"{MAIN}.{quoted(f'{ALL}{table.name}')}"
        self.connection.execute(f"CREATE VIEW {target} AS {' UNION ALL '.join(parts)}")
        self._comment("VIEW", target, f"{table.meaning}; of all traces", (_RUN, _WORKER, _SPAN, *table.columns))

    def _make_of_run(self, table: RunTable) -> None:
        found = [(run, span, table.fill(result)) for run, span, result in self._results()]
        counts = [len(next(iter(values.values()))) for _, _, values in found]
        columns: dict[str, Any] = {
            column.name: [each for _, _, values in found for each in values[column.name]] for column in table.columns
        }
        columns["run"] = [run for (run, _, _), count in zip(found, counts, strict=True) for _ in range(count)]
        columns["span"] = [span for (_, span, _), count in zip(found, counts, strict=True) for _ in range(count)]
        self._create_view(MAIN, table, (_RUN, _SPAN, *table.columns), columns)

    def _results(self) -> list[tuple[str, str, RunResult]]:
        """Reduce all ranks of each span of each run."""
        if self._reduced is None:
            spans: dict[tuple[str, str], list[TraceSource]] = {}
            for trace in self._traces:
                spans.setdefault((trace.run, trace.span), []).append(trace)
            self._reduced = [
                (run, span, reduce_run([each.ask(partial(summarize, worker=each.worker)) for each in traces]))
                for (run, span), traces in spans.items()
            ]
        return self._reduced

    def _make_short(self) -> None:
        known: dict[str, str] = {}
        for trace in self._traces:
            known |= trace.ask(short_names)
        texts: list[Any] = list(known.items())
        names = np.array([name for name, _ in texts] or [""], dtype=object)
        shown = np.array([short for _, short in texts] or [""], dtype=object)
        self.connection.register("_new", {"name": names, "short": shown})
        self.connection.execute(
            "CREATE TABLE _.short AS SELECT name::VARCHAR AS _name, short::VARCHAR AS _short FROM _new"
        )
        self.connection.unregister("_new")
        self.connection.execute(SHORT)

    def _make_in_steps(self, schema: str) -> None:
        windows = f"_.{quoted(f'{schema}_steps')}"
        source = f"{quoted(schema)}.steps"
        self.connection.execute(f"CREATE VIEW {windows} AS SELECT start_ns AS _from, end_ns AS _to FROM {source}")  # noqa: S608
        self.connection.execute(IN_STEPS.format(schema=quoted(schema), windows=windows))

    def _describe(self) -> None:
        """Make the tables `columns` and `traces`."""
        tables: list[SqlTable | RunTable] = [*TABLES, *RUN_TABLES]
        rows = [
            (
                table.name,
                *(getattr(column, each) or None for each in ("name", "type", "unit", "meaning", "origin", "missing")),
            )
            for table in tables
            for column in table.columns
        ]
        self.connection.execute(
            "CREATE TABLE main.columns (table_name VARCHAR, column_name VARCHAR, type VARCHAR, unit VARCHAR, "
            "meaning VARCHAR, origin VARCHAR, missing VARCHAR)"
        )
        self.connection.executemany("INSERT INTO main.columns VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self.connection.execute("CREATE TABLE main.traces (schema VARCHAR, run VARCHAR, worker VARCHAR, span VARCHAR)")
        traces = [(s, t.run, t.worker, t.span) for s, t in zip(self._schemas, self._traces, strict=True)]
        self.connection.executemany("INSERT INTO main.traces VALUES (?, ?, ?, ?)", traces)

    # errors -------------------------------------------------------------------------------------------------

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Raise errors of DuckDB as QueryError, with the names of the tables."""
        try:
            with in_words():
                yield
        except QueryError as error:
            missing = _missing_table(str(error))
            raise self._no_table(missing) if missing else error from None

    def _no_table(self, name: str) -> QueryError:
        if len(self._schemas) > 1 and name.lower() in _OF_TRACE:
            example = f"{self._schemas[0]}.{name}"
            text = f"there are {len(self._schemas)} traces: ask one ({example}) or all of them ({ALL}{name})"
            return query_error("sql_failed", f"{text}; the table traces lists them")
        tables = (*_OF_TRACE, *_OF_RUN, "columns", "traces")
        return query_error("sql_failed", f"there is no table {name}, only {', '.join(tables)}")


def _missing_table(said: str) -> str:
    """Return the table that DuckDB misses; empty for any other message, which may quote the query."""
    _, _, behind = said.partition("Table with name ")
    name, end, _ = behind.partition(" does not exist")
    return name if end else ""


def _duckdb_array(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array as DuckDB reads it: contiguous, and masked only if values are missing."""
    if not isinstance(values, np.ma.MaskedArray):
        return np.ascontiguousarray(values)
    mask = np.ma.getmaskarray(values)
    data = np.ascontiguousarray(values.data)
    return np.ma.array(data, mask=mask) if mask.any() else data


def _comment_of(column: SqlColumn) -> str:
    unit = f" ({column.unit})" if column.unit else ""
    return f"{column.meaning}{unit}" + (f"; NULL: {column.missing}" if column.missing else "")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
