"""Runs queries over traces in a separate process, one after another, within limits of memory and time.

Whatever a query makes the database do, it does it here; the process that started this one (`session`) sees an answer or
an end. It reads column files and nothing else, and writes no file.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.tables.sql.answer import QueryAnswer, as_cell
from torch_tb_profiler.tables.sql.connection import QueryError, query_error
from torch_tb_profiler.tables.sql.database import Database, TraceSource  # noqa: TID253 - this process has duckdb
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.trace.column_file import ColumnFileError

#: of address space beyond what the tables take: what DuckDB may have, and as much again for what it does not count
FREE_BYTES = 1 << 30
_AT_ONCE = 100


class StoredTrace(msgspec.Struct, frozen=True):
    """A trace whose columns are in a file.

    run, worker, span  its names
    columns            path of the column file
    rule, pattern      how its steps are found, as `StepChoice` has it
    """

    run: str
    worker: str
    span: str
    columns: str
    rule: str | None = None
    pattern: str | None = None


class QueryLimits(msgspec.Struct, frozen=True):
    """What a query may take.

    rows             how many are given back
    bytes            of the rows as JSON
    seconds          for the query; then its process is ended
    prepare_seconds  for making the tables that it names; then its process is ended
    """

    rows: int = 1_000
    bytes: int = 1_000_000
    seconds: float = 10.0
    prepare_seconds: float = 60.0


#: how long before its process is ended a query is asked to end, s: then the tables that were made are kept
BEFORE_END = 1.0


class QuerySetup(msgspec.Struct, frozen=True):
    """The first line that the process reads."""

    traces: Sequence[StoredTrace]
    limits: QueryLimits


class QueryReply(msgspec.Struct, frozen=True):
    """A line that the process writes.

    prepared   the tables are made and the query begins
    answer     what the query has found
    reason     why it has no answer
    """

    prepared: bool = False
    answer: QueryAnswer | None = None
    reason: Reason | None = None


def main() -> None:
    """Read lines of JSON from stdin: `QuerySetup`, then a text for each query; write `QueryReply` lines to stdout."""
    # what a library prints must not be taken for an answer
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _write_no_files()
    begin = from_json(sys.stdin.buffer.readline(), QuerySetup)

    def say(reply: QueryReply) -> None:
        output.write(msgspec.json.encode(reply) + b"\n")
        output.flush()

    database: Database | None = None
    for line in _lines(sys.stdin.buffer):
        try:
            if database is None:
                database = Database([_source(each) for each in begin.traces])
                database.while_making = _unlimited
            say(QueryReply(answer=answer(database, from_json(line, str), begin.limits, lambda: say(_PREPARED))))
        except QueryError as error:
            say(QueryReply(reason=error.reason))
        except (MemoryError, msgspec.MsgspecError) as error:
            kind = "sql_memory" if isinstance(error, MemoryError) else "sql_failed"
            say(QueryReply(reason=query_error(kind, str(error) or "the query needs too much memory").reason))
        except (ColumnFileError, OSError) as error:
            say(
                QueryReply(reason=query_error("sql_failed", f"the columns of the trace cannot be read: {error}").reason)
            )


_PREPARED = QueryReply(prepared=True)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    return iter(stream.readline, b"")


def _source(stored: StoredTrace) -> TraceSource:
    model = Model(column_file.open_trace(Path(stored.columns)), StepChoice(stored.rule, stored.pattern))
    return TraceSource(stored.run, stored.worker, stored.span, lambda question: question(model))


def answer(database: Database, statement: str, limits: QueryLimits, prepared: Any = lambda: None) -> QueryAnswer:
    """Return the first rows of a query; `prepared` is called when its tables are made. Raises QueryError."""
    ended = threading.Event()

    def begin() -> None:
        prepared()
        timer.start()

    def end() -> None:
        ended.set()
        database.interrupt()

    timer = threading.Timer(max(limits.seconds - BEFORE_END, limits.seconds / 2), end)
    timer.daemon = True
    limit_memory(FREE_BYTES)
    try:
        result = database.find(statement, begin)
        began = time.perf_counter_ns()
        rows, more = _first_rows(result.next_rows, limits)
        took = time.perf_counter_ns() - began
    except QueryError:
        if ended.is_set():
            raise too_long(limits) from None
        raise
    finally:
        timer.cancel()
        limit_memory(None)
    return QueryAnswer(
        columns=result.columns,
        types=result.types,
        rows=rows,
        more=more,
        prepared_ns=result.prepared_ns,
        query_ns=result.query_ns + took,
    )


@contextlib.contextmanager
def _unlimited() -> Iterator[None]:
    """While tables are made: what that takes is the trace's, not the query's."""
    limit_memory(None)
    try:
        yield
    finally:
        limit_memory(FREE_BYTES)


def too_long(limits: QueryLimits) -> QueryError:
    return query_error("sql_time", f"the query took longer than the {limits.seconds:g} s that it may take")


def _first_rows(next_rows: Any, limits: QueryLimits) -> tuple[list[list[Any]], Any]:
    rows: list[list[Any]] = []
    size = 0
    while found := next_rows(min(_AT_ONCE, limits.rows + 1 - len(rows))):
        for row in found:
            cells = [as_cell(each) for each in row]
            size += len(msgspec.json.encode(cells)) + 1
            if size > limits.bytes:
                if not rows:
                    text = f"a row is longer than the {limits.bytes:,} bytes that an answer may have"
                    raise query_error("sql_memory", text)
                return rows, "bytes"
            if len(rows) == limits.rows:
                return rows, "rows"
            rows.append(cells)
    return rows, ""


def limit_memory(more: int | None) -> None:
    """Limit the address space of this process to so many bytes more than it has now; None: no limit of ours."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = hard
    if more is not None:
        with contextlib.suppress(OSError, ValueError):
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            wanted = pages * resource.getpagesize() + more
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _write_no_files() -> None:
    """Let no file grow, and leave none of a process that dies."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
