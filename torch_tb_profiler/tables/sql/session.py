"""Queries over traces in a separate process, for MCP and the page; and several such processes of one server."""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from types import TracebackType

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.tables.sql.answer import QueryAnswer
from torch_tb_profiler.tables.sql.child import QueryLimits, QueryReply, QuerySetup, StoredTrace, too_long
from torch_tb_profiler.tables.sql.connection import MEMORY, QueryError, query_error
from torch_tb_profiler.workspace.reading.pool import VARIABLES

__all__ = ["QueryLimits", "QuerySession", "StoredTrace"]

_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[1:]; from torch_tb_profiler.tables.sql.child import main; main()"


class QuerySession:
    """One process that answers queries over some traces, one after another. Thread-safe; `close` it.

    Its contract, whatever the statement is:

    * `ask` gives the first rows within `limits`, or raises QueryError with a sentence.
    * It returns within `limits.prepare_seconds + limits.seconds`, and a second for starting a process.
    * The process has `FREE_BYTES` of address space beyond its tables, one thread, and no access to files, network,
      settings or Python. Nothing is changed by a query, so the next one finds the same tables.
    * A process that was ended (by its deadline, or because it took too much memory) is replaced by the next `ask`,
      which then makes the tables again.

    The process is started by the first `ask`. One trace is the schema `main`; with several each has a schema of its own
    (docs/sql.md).
    """

    def __init__(self, traces: Sequence[StoredTrace], limits: QueryLimits | None = None) -> None:
        self._traces = tuple(traces)
        self.limits = limits or QueryLimits()
        self._process: subprocess.Popen[bytes] | None = None
        self._heard: queue.Queue[bytes] = queue.Queue()
        self._lock = threading.Lock()

    def __enter__(self) -> QuerySession:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    def ask(self, statement: str) -> QueryAnswer:
        """Return the first rows of one SELECT. Raises QueryError."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            self._tell(msgspec.json.encode(statement))
            reply = self._next(self.limits.prepare_seconds, "its tables were not made in {seconds:g} s")
            if reply.prepared:
                reply = self._next(self.limits.seconds, None)
            if reply.reason is not None:
                raise QueryError(reply.reason)
            if reply.answer is None:
                self._end()
                raise query_error("sql_failed", "the process of the query answered nothing")
            return reply.answer

    def close(self) -> None:
        """End the process; another `ask` starts it again."""
        with self._lock:
            self._end()

    @property
    def process_id(self) -> int | None:
        """The id of the process, if it runs."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def _start(self) -> None:
        self._end()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **VARIABLES, "GLIBC_TUNABLES": "", "MALLOC_ARENA_MAX": "1"},
        )
        self._heard = queue.Queue()
        # a pipe that is read without a time limit would hold whoever asks
        threading.Thread(target=_listen, args=(self._process, self._heard), daemon=True).start()
        self._tell(msgspec.json.encode(QuerySetup(self._traces, self.limits)))

    def _tell(self, line: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended: what is heard next says so
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()

    def _next(self, seconds: float, late: str | None) -> QueryReply:
        """Return the next line of the process. Raises QueryError when it is late or the process has ended."""
        until = time.monotonic() + seconds
        try:
            line = self._heard.get(timeout=max(until - time.monotonic(), 0))
        except queue.Empty:
            self._end()
            if late is None:
                raise too_long(self.limits) from None
            raise query_error("sql_time", late.format(seconds=seconds)) from None
        if not line:
            self._end()
            text = f"the query was ended: it needs more than the {MEMORY} of memory that it may have"
            raise query_error("sql_memory", text)
        return from_json(line, QueryReply)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError, ValueError):
                pipe and pipe.close()


def _listen(process: subprocess.Popen[bytes], heard: queue.Queue[bytes]) -> None:
    """Put every line of the process into a queue, then an empty one."""
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            heard.put(line)
    heard.put(b"")


#: processes at once
MOST_SESSIONS = 2


class QuerySessions:
    """Keeps the sessions that were asked last. Thread-safe; `close` it.

    idle_seconds: after which all end if nobody asks; None for never
    """

    def __init__(self, limits: QueryLimits, idle_seconds: float | None = None) -> None:
        self.limits = limits
        self._idle_seconds = idle_seconds
        self._sessions: dict[tuple[StoredTrace, ...], QuerySession] = {}
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def ask(self, traces: tuple[StoredTrace, ...], statement: str) -> QueryAnswer:
        """Return the first rows of one SELECT over these traces. Raises QueryError."""
        return self._session(traces).ask(statement)

    def process_ids(self) -> list[int]:
        """Return the ids of the processes that run now."""
        with self._lock:
            ids = [session.process_id for session in self._sessions.values()]
        return [process_id for process_id in ids if process_id is not None]

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            sessions = [*self._sessions.values()]
            self._sessions.clear()
        for session in sessions:
            session.close()

    def _session(self, traces: tuple[StoredTrace, ...]) -> QuerySession:
        """Return that of these traces; the one that was asked longest ago gives way."""
        gone: list[QuerySession] = []
        with self._lock:
            session = self._sessions.pop(traces, None) or QuerySession(traces, self.limits)
            self._sessions[traces] = session
            while len(self._sessions) > MOST_SESSIONS:
                gone.append(self._sessions.pop(next(iter(self._sessions))))
            if self._timer is not None:
                self._timer.cancel()
            if self._idle_seconds is not None:
                self._timer = threading.Timer(self._idle_seconds, self.close)
                self._timer.daemon = True
                self._timer.start()
        for each in gone:
            each.close()
        return session
