"""SQL over what was opened: one trace, those of a run, or all (docs/sql.md)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.workspace.local_workspace import LocalTrace
from torch_tb_profiler.workspace.status import Unavailable

if TYPE_CHECKING:
    import duckdb

    from torch_tb_profiler.tables.sql import SqlRows, StoredTrace
    from torch_tb_profiler.tables.sql.database import Database


class Queried:
    """SQL queries over traces; a subclass says which traces."""

    def _named_traces(self) -> Sequence[tuple[str, LocalTrace]]:
        """The name of its run and the trace, for each."""
        raise NotImplementedError

    def sql(self, statement: str) -> SqlRows:
        """All rows of one SELECT; `.to_pandas()` makes a data frame of them.

        Tables are made when a statement names them, and kept. Nothing but them can be read. Needs the extra `sql`.
        Raises ProfileError: there is no such table or column, the statement is another, DuckDB is not installed.
        """
        from torch_tb_profiler.tables.sql import QueryError  # noqa: PLC0415 - only those who ask in SQL need it

        try:
            return self._database.rows(statement)
        except (QueryError, Unavailable) as error:
            raise ProfileError(str(error)) from None

    def connect(self, tables: Sequence[str] | None = None) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with all or some of the tables, for your own program: nothing is locked.

        Raises ProfileError: there is no such table, DuckDB is not installed.
        """
        from torch_tb_profiler.tables.sql import QueryError  # noqa: PLC0415 - see above
        from torch_tb_profiler.tables.sql.database import Database  # noqa: PLC0415

        try:
            database = Database(self._sources(), open_to_all=True)
            database.prepare_tables(tables)
        except (QueryError, Unavailable) as error:
            raise ProfileError(str(error)) from None
        return database.connection

    def stored(self) -> tuple[StoredTrace, ...]:
        """The traces as a `QuerySession` takes them; they are read if they were not. Raises ProfileError."""
        from torch_tb_profiler.tables.sql import StoredTrace  # noqa: PLC0415 - see above

        try:
            return tuple(
                StoredTrace(
                    run,
                    trace.file.worker,
                    trace.file.span,
                    str(trace.workspace.columns(trace.file)),
                    trace.choice.rule if trace.choice else None,
                    trace.choice.pattern if trace.choice else None,
                )
                for run, trace in self._named_traces()
            )
        except Unavailable as error:
            raise ProfileError(str(error)) from None

    @cached_property
    def _database(self) -> Database:
        from torch_tb_profiler.tables.sql.database import Database  # noqa: PLC0415 - see above

        return Database(self._sources())

    def _sources(self) -> list[Any]:
        from torch_tb_profiler.tables.sql.database import TraceSource  # noqa: PLC0415 - see above

        return [TraceSource(run, trace.file.worker, trace.file.span, trace.ask) for run, trace in self._named_traces()]
