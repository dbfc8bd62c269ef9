"""Models that are open: as many as memory allows, one of each trace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.workspace.cache import Cache
from torch_tb_profiler.workspace.lru import Lru
from torch_tb_profiler.workspace.status import OpenTrace
from torch_tb_profiler.workspace.summary import open_model

#: events of all open models together; an event costs about 60 bytes once all views were visited
OPEN_EVENTS = 4_000_000

A = TypeVar("A")


@dataclass
class Opened:
    """A model and the lock of those who ask it: its parts are computed when first asked for."""

    model: Model
    events: int
    lock: threading.Lock = field(default_factory=threading.Lock)


class Models:
    """Thread-safe. `unusable` is called with what is wrong with the columns of a trace, and raises."""

    def __init__(self, cache: Cache, unusable: Callable[[OpenTrace, Exception], NoReturn]) -> None:
        self._cache = cache
        self._unusable = unusable
        self._opened: Lru[str, Opened] = Lru(OPEN_EVENTS, lambda opened: opened.events)
        self._opening = threading.Lock()

    def __len__(self) -> int:
        return len(self._opened)

    def open(self, trace: OpenTrace) -> Opened:
        # Two models of one trace would have two locks, and each its own memory.
        with self._opening:
            opened = self._opened.get(trace.key)
            if opened is None:
                opened = self._read(trace)
                self._opened.put(trace.key, opened)
        self._cache.touch(trace.key)
        return opened

    def open_for_once(self, trace: OpenTrace) -> Opened:
        """The model that is open, or one that is not kept."""
        opened = self._opened.get(trace.key) or self._read(trace)
        self._cache.touch(trace.key)
        return opened

    def compute(self, trace: OpenTrace, opened: Opened, compute: Callable[[Model], A]) -> A:
        """The outcome of `compute`; whoever calls holds the lock."""
        try:
            return compute(opened.model)
        except (OSError, column_file.ColumnFileError) as error:
            # Tables are read when they are needed, so the file may turn out broken or gone this late.
            self._unusable(trace, error)

    def drop(self, key: str) -> None:
        self._opened.drop(key)

    def _read(self, trace: OpenTrace) -> Opened:
        try:
            columns = column_file.open_trace(self._cache.columns(trace.key))
        except (OSError, column_file.ColumnFileError) as error:
            self._unusable(trace, error)
        return Opened(open_model(columns, self._cache.find(trace.key)), len(columns.events))
