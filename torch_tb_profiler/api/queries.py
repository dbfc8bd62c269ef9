"""SQL over what was opened: one trace, those of a run, or all (docs/sql.md)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.api.errors import profile_errors
from torch_tb_profiler.workspace.local_workspace import LocalTrace

if TYPE_CHECKING:
    import duckdb

    from torch_tb_profiler.tables.sql import SqlRows, StoredTrace
    from torch_tb_profiler.tables.sql.database import Database


class Queried:
    """SQL queries over traces; a subclass says which traces."""

    def _named_traces(self) -> Sequence[tuple[str, LocalTrace]]:
        """Return the name of its run and the trace, for each."""
        raise NotImplementedError

    def sql(self, statement: str) -> SqlRows:
        """Return all rows of one SELECT; `.to_pandas()` makes a data frame of them.

        Tables are made when a statement names them, and kept. Nothing but them can be read. Needs the extra `sql`.
        Raises ProfileError: there is no such table or column, the statement is another, DuckDB is not installed.
        """
        with profile_errors():
            return self._database.rows(statement)

    def connect(self, tables: Sequence[str] | None = None) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB connection with all or some of the tables, for your own program: nothing is locked.

        Raises ProfileError: there is no such table, DuckDB is not installed.
        """
        from torch_tb_profiler.tables.sql.database import Database

        with profile_errors():
            database = Database(self._sources(), open_to_all=True)
            database.prepare_tables(tables)
        return database.connection

    def stored(self) -> tuple[StoredTrace, ...]:
        """Return the traces as a `QuerySession` takes them; they are read if they were not. Raises ProfileError."""
        from torch_tb_profiler.tables.sql import StoredTrace  # noqa: PLC0415 - see above

        with profile_errors():
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

    @cached_property
    def _database(self) -> Database:
        from torch_tb_profiler.tables.sql.database import Database

        return Database(self._sources())

    def _sources(self) -> list[Any]:
        from torch_tb_profiler.tables.sql.database import TraceSource

        return [TraceSource(run, trace.file.worker, trace.file.span, trace.ask) for run, trace in self._named_traces()]
