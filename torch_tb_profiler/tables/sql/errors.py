"""Why a query has no answer."""

from __future__ import annotations

from torch_tb_profiler.reason import ErrorWithReason, Reason

INSTALL = "SQL needs DuckDB, which is not installed: pip install 'torch-tb-profiler[sql]'"


class QueryError(ErrorWithReason):
    """The message is a sentence for a person, and may have lines below that point at a place in the statement.

    Kinds of its reason: sql_missing (DuckDB is not installed), sql_statement (it is none that is taken), sql_time,
    sql_memory, sql_failed (whatever DuckDB says)
    """


def query_error(kind: str, text: str) -> QueryError:
    """kind: see `QueryError`."""
    return QueryError(Reason(kind, text))
