"""One or more traces as tables for SQL (docs/sql.md); needs the extra `sql` (DuckDB).

Belongs here: the contents of the tables, the connection that lets a query read these alone, and the process that runs
queries of other users. Does not belong here: any number (`analysis`, `ranks`) and any description of one:
columns take theirs from `trace.schema`, the definitions of the analyses and the docstrings of answers.

    columns         what a column and a table are, descriptions, values, and the columns that several tables have
    tables/         the tables: of devices, of the host, of the program, memory and ranks
    connection      an empty database with its doors locked; which statements are taken; names and errors
    database        tables and functions that are made when a statement names them
    answer          what comes back
    child, session  the process that runs queries, and those who ask it
"""

from __future__ import annotations

from torch_tb_profiler.tables.sql.answer import QueryAnswer, SqlRows
from torch_tb_profiler.tables.sql.child import QueryLimits, StoredTrace
from torch_tb_profiler.tables.sql.connection import QueryError
from torch_tb_profiler.tables.sql.session import QuerySession

__all__ = ["QueryAnswer", "QueryError", "QueryLimits", "QuerySession", "SqlRows", "StoredTrace"]
