"""Child processes that read: kept between ranks, ended when one of them hangs, crashes or takes all memory."""

from __future__ import annotations

import errno
import itertools
import queue
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Semaphore

from torch_tb_profiler.reason import OTHER, Reason
from torch_tb_profiler.workspace.process import TemporaryDirectory
from torch_tb_profiler.workspace.reading.pool import Pool
from torch_tb_profiler.workspace.reading.protocol import Done, Failed, Job, Message, Reading

_GIVEN_UP = Failed(Reason(OTHER, "was given up"))


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
        self._heard.put(_GIVEN_UP)


class Children:
    """At most so many at once, and a folder for what they write. Thread-safe; `close` it."""

    def __init__(self, most: int) -> None:
        self._all: list[Child] = []
        self._idle: list[Child] = []
        self._lock = Lock()
        self._free = Semaphore(most)
        self._scratch: TemporaryDirectory | None = None
        self._numbers = itertools.count()
        self._closed = False

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """An empty folder, for as long as it is needed. Raises OSError."""
        with self._lock:
            if self._closed:
                raise OSError(errno.ECANCELED, "reading has ended")
            self._scratch = self._scratch or TemporaryDirectory()
            path = self._scratch.path / str(next(self._numbers))
            path.mkdir(parents=True, mode=0o700)  # what is temporary may be removed while it is used
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def read(self, job: Job, told: Callable[[Reading], None]) -> Done | Failed:
        """Have a child do a job as soon as one is idle."""
        with self._free:
            with self._lock:
                if self._closed:
                    return _GIVEN_UP
                if not self._idle:
                    self._idle.append(Child())
                    self._all.append(self._idle[-1])
                child = self._idle.pop()
            try:
                return child.read(job, told)
            finally:
                with self._lock:
                    self._idle.append(child)

    def close(self) -> None:
        """End them all; what waits for one is given up."""
        with self._lock:
            self._closed = True
            children, scratch = list(self._all), self._scratch
        for child in children:
            child.close()
        if scratch is not None:
            scratch.close()
