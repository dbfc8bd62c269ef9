"""Questions in SQL, where the server was started for them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from torch_tb_profiler.analysis.shown import harmless
from torch_tb_profiler.mcp.catalog import Catalog
from torch_tb_profiler.mcp.declaration import AnyTool, Asked, Cells, Told, Tool, TraceId, Wrong
from torch_tb_profiler.mcp.values import LONGEST_NAME, digits
from torch_tb_profiler.tables.sql import QueryError, QueryLimits, QuerySession

_LONGEST_QUERY = 10_000
#: rows that are asked for; fewer fit
_MOST_ROWS = 200
_LONGEST_ERROR = 300
#: processes that are kept, each with the tables of one trace
_MOST_SESSIONS = 2


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


@dataclass
class Queries:
    """The processes that answer queries, each for one trace; those that were asked last are kept. Thread-safe."""

    limits: QueryLimits = field(default_factory=lambda: QueryLimits(rows=_MOST_ROWS))
    _sessions: dict[str, QuerySession] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

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

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            for session in self._sessions.values():
                session.close()
            self._sessions.clear()

    def _sql(self, catalog: Catalog, asked: OneQuery) -> QueryTold:
        stored = catalog.trace(asked.trace).stored()
        with self._lock:
            session = self._sessions.pop(asked.trace, None) or QuerySession(stored, self.limits)
            self._sessions[asked.trace] = session
            while len(self._sessions) > _MOST_SESSIONS:
                oldest = next(iter(self._sessions))
                self._sessions.pop(oldest).close()
        try:
            found = session.ask(asked.query)
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
