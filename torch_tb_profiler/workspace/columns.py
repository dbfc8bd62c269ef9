"""Columns of traces that are open: whoever asks about the same trace has the same tables in memory."""

from __future__ import annotations

from threading import Lock
from weakref import WeakValueDictionary

from torch_tb_profiler.trace import Trace, column_file
from torch_tb_profiler.workspace.cache import Cache


class OpenColumns:
    """Thread-safe. Traces are named by their content key; one is open as long as somebody uses it."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._opened: WeakValueDictionary[str, Trace] = WeakValueDictionary()
        self._lock = Lock()

    def get(self, key: str) -> Trace | None:
        """The columns, if they are open."""
        with self._lock:
            return self._opened.get(key)

    def open(self, key: str) -> Trace:
        """Raises ColumnFileError."""
        with self._lock:
            found = self._opened.get(key)
            if found is None:
                found = self._opened[key] = column_file.open_trace(self._cache.columns_here(key))
            return found

    def drop(self, key: str) -> None:
        """They are gone, or unusable: who has them open keeps them, nobody else gets them."""
        with self._lock:
            self._opened.pop(key, None)
