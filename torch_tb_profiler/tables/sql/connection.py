"""A locked database in memory, and which statements are allowed.

SQL is a programming language with files and network: DuckDB itself says to treat it like a shell. What is done here
keeps a query from everything but its tables; what a query may cost is limited by `child` and `session`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

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
    """Open an empty database. locked: it reaches nothing outside, and no setting can change. Raises QueryError."""
    try:
        import duckdb
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
    """Return what each statement in a text does; it is only parsed."""
    with in_words():
        return [str(each.type.name) for each in connection.extract_statements(text)]


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """Turn exceptions of DuckDB into QueryError. What a handler of a signal raises is KeyboardInterrupt."""
    import duckdb

    try:
        yield
    except (duckdb.Error, MemoryError, RuntimeError, ValueError) as error:
        if str(error) == _SIGNALLED:
            raise KeyboardInterrupt from None
        raise failed_query(error) from None


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


def failed_query(error: Exception) -> QueryError:
    """Return the message of DuckDB, or one of this program where that helps more."""
    name, text = type(error).__name__, str(error)
    if name in _REFUSED:
        return query_error("sql_failed", _REFUSED[name])
    if name == "OutOfMemoryException" or isinstance(error, MemoryError):
        return query_error("sql_memory", f"the query needs more than the {MEMORY} of memory that it may have")
    if "configuration has been locked" in text:
        return query_error("sql_failed", _REFUSED["PermissionException"])
    text = _KIND.sub("", text.partition("Traceback (most")[0]).strip()
    return query_error("sql_failed", text or name)


_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')
_OTHER = re.compile(r"[^a-z0-9]+")
MAIN = "main"
#: of DuckDB, of this program, and words that cannot stand without quotes
_TAKEN = frozenset({"main", "temp", "system", "memory", "pg_catalog", "information_schema", "all", "default"})


def schemas_of(traces: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """Return the schema of each trace (run, worker, span); a single trace is in `main`."""
    return (MAIN,) if len(traces) == 1 else schema_names(traces)


def schema_names(traces: Sequence[tuple[str, str, str]]) -> tuple[str, ...]:
    """Name each trace (run, worker, span) without need of quotes: by its worker; with run, span and number if needed.

    >>> schema_names([("a", "rank-0", "1"), ("a", "rank-1", "1"), ("a", "1", "1")])
    ('rank_0', 'rank_1', 't1')
    """
    by_worker = [_plain(worker) for _, worker, _ in traces]
    longer = [_plain(f"{run}_{worker}_{span}") for run, worker, span in traces]
    names: list[str] = []
    for short, long in zip(by_worker, longer, strict=True):
        name = short if by_worker.count(short) == 1 and short not in _TAKEN else long
        count = 2
        while name in names or name in _TAKEN:
            name, count = f"{long}_{count}", count + 1
        names.append(name)
    return tuple(names)


def _plain(text: str) -> str:
    name = _OTHER.sub("_", text.lower()).strip("_")
    return name if name[:1].isalpha() else f"t{name}"


def split_name(name: str) -> list[str]:
    """Return the parts of a name as DuckDB writes it: `a.b`, `a."b.c"`.

    >>> split_name('a."b.c"')
    ['a', 'b.c']
    """
    return [match[1].replace('""', '"') if match[2] is None else match[2] for match in _PART.finditer(name)]


def quoted(name: str) -> str:
    """Return a name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names made distinct: later ones get a number.

    >>> distinct_names(["a", "a", "a_1", "b"])
    ('a', 'a_2', 'a_1', 'b')
    """
    found: list[str] = []
    for name in names:
        count, new = 1, name
        while new in found or (new != name and new in names):
            new, count = f"{name}_{count}", count + 1
        found.append(new)
    return tuple(found)
