"""SQL over the traces of a stand-alone server started with `serve --sql` (docs/sql.md); not in TensorBoard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from torch_tb_profiler.analysis.answer import Count, Ns, Rows
from torch_tb_profiler.analysis.tabular import Column
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.tables.sql import QueryAnswer, QueryError, QueryLimits, StoredTrace
from torch_tb_profiler.tables.sql.answer import table_of_rows
from torch_tb_profiler.tables.sql.columns import RunTable, SqlColumn, SqlTable
from torch_tb_profiler.tables.sql.connection import schemas_of
from torch_tb_profiler.tables.sql.session import QuerySessions
from torch_tb_profiler.tables.sql.tables import RUN_TABLES, TABLES
from torch_tb_profiler.web.answers.request import Route, step_choice
from torch_tb_profiler.web.http import HttpAnswer, HttpError, Parameters, why
from torch_tb_profiler.web.logdir import status_of
from torch_tb_profiler.workspace import Workspace

#: where queries are answered
PATH, TABLES_PATH = "/api/sql", "/api/sql/tables"
#: the view of the page
VIEW = "query"

#: seconds after which idle query processes are ended
IDLE_SECONDS = 300.0


class QueryMeta(msgspec.Struct, frozen=True, kw_only=True):
    """The metadata of the rows of a query.

    more         why there may be further rows that are not here: rows (as many as are sent), bytes (as long as is
                 sent); empty if all are here
    prepared_ns  how long tables were made that the query names, before it ran
    query_ns     how long it ran
    """

    more: Literal["", "rows", "bytes"]
    prepared_ns: Ns
    query_ns: Ns


class QueryResult(msgspec.Struct, frozen=True, kw_only=True):
    """The first rows of what a query found, as a table.

    meta     how much of it this is, and how long it took
    columns  in order
    rows     by column key: a list each, all of the same length
    """

    meta: QueryMeta
    columns: Sequence[Column]
    rows: Rows


class QueryTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table that queries can name.

    name     in SQL
    meaning  what a row of it is
    columns  in order
    """

    name: str
    meaning: str
    columns: Sequence[SqlColumn]


class QueryTables(msgspec.Struct, frozen=True, kw_only=True):
    """What queries can name, and what they may take.

    tables   that queries can name
    schemas  of the traces that are asked, in the order of the run: `main` for one
    rows     how many rows of a query are sent
    seconds  how many s a query may take; it is ended then
    """

    tables: Sequence[QueryTable]
    schemas: Sequence[str]
    rows: Count
    seconds: float


class SqlRoutes:
    """The routes of SQL queries; close `sessions`, which has the processes that answer them."""

    def __init__(self, limits: QueryLimits | None = None, idle_seconds: float = IDLE_SECONDS) -> None:
        self._limits = limits or QueryLimits()
        self.sessions = QuerySessions(self._limits, idle_seconds)

    def routes(self) -> dict[str, Route]:
        """Return the routes by path; they add to the other routes or replace them."""
        return {PATH: self._answer, TABLES_PATH: self._tables, "/api/status": _status}

    def _answer(self, workspace: Workspace, parameters: Parameters) -> HttpAnswer:
        traces = _traces(workspace, parameters)
        statement = parameters.need("query")
        try:
            found = self.sessions.ask(traces, statement)
        except QueryError as error:
            raise HttpError(400, str(error), why(error.reason), passes=True) from None
        return HttpAnswer(dumps(as_table(found)))

    def _tables(self, workspace: Workspace, parameters: Parameters) -> HttpAnswer:
        traces = _traces(workspace, parameters)
        tables: list[SqlTable | RunTable] = [*TABLES, *RUN_TABLES]
        found = QueryTables(
            tables=[described(table) for table in tables],
            schemas=schemas_of([(each.run, each.worker, each.span) for each in traces]),
            rows=self._limits.rows,
            seconds=self._limits.seconds,
        )
        return HttpAnswer(dumps(found))


def _traces(workspace: Workspace, parameters: Parameters) -> tuple[StoredTrace, ...]:
    """Return the trace that a request names, or all that are ready of its span."""
    run, worker, span = parameters.need("run"), parameters.need("worker"), parameters.get("span")
    choice = step_choice(parameters)
    if parameters.choice("of", ("trace", "span")) == "trace":
        found: Sequence[Any] = (workspace.find(run, worker, span),)
    else:
        found = workspace.find_span(run, span).traces
    return tuple(
        StoredTrace(each.run, each.worker, each.span, str(workspace.columns(each)), choice.rule, choice.pattern)
        for each in found
    )


def as_table(found: QueryAnswer) -> QueryResult:
    """Return the answer as a table; columns whose names end with a unit have it."""
    columns, rows = table_of_rows(found.columns, found.types, found.rows)
    meta = QueryMeta(more=found.more, prepared_ns=found.prepared_ns, query_ns=found.query_ns)
    return QueryResult(meta=meta, columns=columns, rows=rows)


def described(table: SqlTable | RunTable) -> QueryTable:
    """Describe a table for a person who writes a query."""
    return QueryTable(
        name=table.name,
        meaning=table.meaning,
        columns=table.columns,
    )


def _status(workspace: Workspace, _: Parameters) -> HttpAnswer:
    """Answer /api/status as every server does, with the view of queries for every trace."""
    found = status_of(workspace.status())
    replaced = msgspec.structs.replace
    runs = [
        replaced(run, traces=[replaced(t, views=[*t.views, VIEW]) if t.kind == "trace" else t for t in run.traces])
        for run in found.runs
    ]
    return HttpAnswer(dumps(replaced(found, runs=runs)))
