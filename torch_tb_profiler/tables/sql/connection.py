"""A locked database in memory, and which statements are allowed.

SQL is a programming language with files and network: DuckDB itself says to treat it like a shell. What is done here
keeps a query from everything but its tables; what a query may cost is limited by `child` and `session`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from torch_tb_profiler.tables.sql.errors import INSTALL, QueryError, query_error

if TYPE_CHECKING:
    import duckdb

MEMORY = "512MB"

#: in this order: without a folder for temporary files first, the next is refused; after the last nothing can be set
_SETTINGS = (
    "SET temp_directory=''",
    "SET autoinstall_known_extensions=false",
    "SET autoload_known_extensions=false",
    "SET allow_community_extensions=false",
    "SET enable_external_access=false",
    f"SET memory_limit='{MEMORY}'",
    "SET threads=1",
)
_LOCK = "SET lock_configuration=true"
BEGIN_READING = "BEGIN TRANSACTION READ ONLY"

#: what stands before the statement that is explained; comments may stand before it
_EXPLAIN = re.compile(
    r"(?i)(?:\s|--[^\n\r]*(?:[\n\r]|$)|/\*(?:[^*]|\*(?!/))*\*/)*EXPLAIN(?:\s+ANALYZE)?(?:\s*\([^()]*\))?"
)

#: longer than any that a person writes
LONGEST_STATEMENT = 100_000


def connect(locked: bool = True) -> duckdb.DuckDBPyConnection:
    """An empty database. locked: nothing outside it can be reached, and no setting be changed. Raises QueryError."""
    try:
        import duckdb  # noqa: PLC0415 - an extra, and 0.1 s
    except ImportError:
        raise query_error("sql_missing", INSTALL) from None
    connection = duckdb.connect(":memory:")
    if locked:
        for setting in (*_SETTINGS, _LOCK):
            connection.execute(setting)
    return connection


def check(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Check that a statement is one SELECT, or the EXPLAIN of one, without running it. Raises QueryError.

    What else DuckDB counts as SELECT (VALUES, FROM, DESCRIBE, SHOW, SUMMARIZE, WITH … INSERT) is taken, too: that it
    only reads is what the transaction is for.
    """
    if len(statement) > LONGEST_STATEMENT:
        raise query_error("sql_statement", f"the statement is longer than {LONGEST_STATEMENT:,} characters")
    if not _is_text(statement):
        raise query_error("sql_statement", "the statement holds a character that no text has")
    kinds = _kinds(connection, statement)
    if len(kinds) != 1:
        raise query_error("sql_statement", f"one statement is needed, not {len(kinds)}" if kinds else "no statement")
    if kinds == ["EXPLAIN"]:
        explained = _EXPLAIN.match(statement)
        kinds = _kinds(connection, statement[explained.end() :]) if explained else []
    if kinds != ["SELECT"]:
        raise query_error("sql_statement", "only SELECT, and EXPLAIN of a SELECT, is possible here: nothing is changed")


def _is_text(statement: str) -> bool:
    try:
        return b"\0" not in statement.encode()
    except UnicodeEncodeError:
        return False


def _kinds(connection: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    """Of each statement in a text, what it does; it is parsed only."""
    with in_words():
        return [str(each.type.name) for each in connection.extract_statements(text)]


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """Turn exceptions of DuckDB into QueryError. What a handler of a signal raises is KeyboardInterrupt."""
    import duckdb  # noqa: PLC0415 - an extra

    try:
        yield
    except (duckdb.Error, MemoryError, RuntimeError, ValueError) as error:
        if str(error) == _SIGNALLED:
            raise KeyboardInterrupt from None
        raise said(error) from None


_REFUSED = {
    "PermissionException": "a query has no access to files, to the network or to settings",
    "TransactionException": "nothing can be changed here: only SELECT is possible",
}
#: what DuckDB makes of any exception that a handler of a signal raises while a query runs
_SIGNALLED = "Query interrupted"
_ZONED = "TIMESTAMP WITH TIME ZONE"
_KIND = re.compile(r"^[\w ]+ Error: ")


def check_types(types: Iterable[str]) -> None:
    """Refuse what versions of DuckDB give differently, or not at all without another package. Raises QueryError."""
    if any(_ZONED in each for each in types):
        raise query_error("sql_failed", "times with a zone cannot be shown: cast them, such as now()::timestamp")


def said(error: Exception) -> QueryError:
    """The message of DuckDB, or one of this program where that helps more."""
    name, text = type(error).__name__, str(error)
    if name in _REFUSED:
        return query_error("sql_failed", _REFUSED[name])
    if name == "OutOfMemoryException" or isinstance(error, MemoryError):
        return query_error("sql_memory", f"the query needs more than the {MEMORY} of memory that it may have")
    if "configuration has been locked" in text:
        return query_error("sql_failed", _REFUSED["PermissionException"])
    text = _KIND.sub("", text.partition("Traceback (most")[0]).strip()
    return query_error("sql_failed", text or name)
