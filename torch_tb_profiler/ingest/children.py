"""Child processes that read: kept between ranks, ended when one of them hangs, crashes or takes all memory."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from torch_tb_profiler.reason import OTHER, Reason
from torch_tb_profiler.workspace.pool import Pool
from torch_tb_profiler.workspace.protocol import Done, Failed, Job, Message, Reading


class Child:
    """One process, which starts with the first job and ends some time after the last. For one thread at a time."""

    def __init__(self) -> None:
        self._heard: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._pool = Pool(1, self._hear)

    def _hear(self, _: Job, message: Message | None) -> None:
        if message is not None:
            self._heard.put(message)

    def read(self, job: Job, told: Callable[[Reading], None]) -> Done | Failed:
        """Do a job that is not to answer; `told` is told how far it is."""
        self._pool.submit(job)
        while True:
            message = self._heard.get()
            if isinstance(message, Done | Failed):
                return message
            if isinstance(message, Reading):
                told(message)

    def close(self) -> None:
        """End the process; a job under way is given up."""
        self._pool.close()
        self._heard.put(Failed(Reason(OTHER, "was given up")))


class Children:
    """As many as are needed at once. Thread-safe; `close` it."""

    def __init__(self) -> None:
        self._all: list[Child] = []
        self._idle: list[Child] = []
        self._lock = Lock()

    @contextmanager
    def one(self) -> Iterator[Child]:
        """A child for this thread."""
        with self._lock:
            if not self._idle:
                self._idle.append(Child())
                self._all.append(self._idle[-1])
            child = self._idle.pop()
        try:
            yield child
        finally:
            with self._lock:
                self._idle.append(child)

    def close(self) -> None:
        """End them all. None may be asked for afterwards."""
        with self._lock:
            children = list(self._all)
        for child in children:
            child.close()
