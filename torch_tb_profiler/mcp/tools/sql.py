"""Questions in SQL, where the server was started for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from torch_tb_profiler.analysis.text_format import harmless
from torch_tb_profiler.mcp.catalog import Catalog
from torch_tb_profiler.mcp.declaration import AnyTool, Asked, Cells, Told, Tool, TraceId, Wrong
from torch_tb_profiler.mcp.values import LONGEST_NAME, digits
from torch_tb_profiler.tables.sql import QueryError, QueryLimits
from torch_tb_profiler.tables.sql.sessions import QuerySessions

_LONGEST_QUERY = 10_000
#: rows that are asked for; fewer fit
_MOST_ROWS = 200
_LONGEST_ERROR = 300


class OneQuery(Asked, frozen=True, kw_only=True):
    """Which query."""

    trace: TraceId
    query: Annotated[
        str,
        Meta(
            description="One SELECT of DuckDB. Tables: select * from columns. Times are ns and end with _ns; ms(x) "
            "makes milliseconds. Add a limit.",
            max_length=_LONGEST_QUERY,
        ),
    ]


class QueryTold(Told, frozen=True, kw_only=True):
    """What a query found.

    types  of the columns, as DuckDB calls them
    table  the rows; texts are cut after 120 characters, numbers have four digits that matter, integers all
    """

    types: Sequence[str]
    table: Cells


class Queries(QuerySessions):
    """The processes that answer the queries of agents, and their tool."""

    def __init__(self, limits: QueryLimits | None = None) -> None:
        super().__init__(limits or QueryLimits(rows=_MOST_ROWS))

    def tool(self) -> AnyTool:
        """The tool, which only a server that was started with --sql has."""
        return Tool(
            name="sql",
            title="SQL",
            summary=(
                "Answer one SELECT over the tables of a trace, in a process that can read nothing else. Only for what "
                "no other tool answers."
            ),
            arguments=OneQuery,
            answer=QueryTold,
            compute=self._sql,
            budget=4_000,
            shrinks=("table.rows",),
            untrusted=("table.columns", "table.rows[]"),
        )

    def _sql(self, catalog: Catalog, asked: OneQuery) -> QueryTold:
        try:
            found = self.ask(catalog.trace(asked.trace).stored(), asked.query)
        except QueryError as error:
            # lines below the first point at a place in the statement
            raise Wrong(harmless(str(error).partition("\n")[0], _LONGEST_ERROR)) from None
        columns = [harmless(name, LONGEST_NAME) for name in found.columns]
        rows = [[_cell(value) for value in row] for row in found.rows]
        notes = ["There are more rows than are given back: add a limit, or sum up."] if found.more else []
        return QueryTold(types=found.types, table=Cells(columns=columns, rows=rows), notes=notes)


def _cell(value: Any) -> str | float | int | bool | None:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        return digits(value)
    return value if isinstance(value, int) else harmless(str(value), LONGEST_NAME)
