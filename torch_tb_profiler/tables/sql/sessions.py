"""The processes that answer the queries of a server, each over traces of its own."""

from __future__ import annotations

import threading

from torch_tb_profiler.tables.sql.answer import QueryAnswer
from torch_tb_profiler.tables.sql.child import QueryLimits, StoredTrace
from torch_tb_profiler.tables.sql.session import QuerySession

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
