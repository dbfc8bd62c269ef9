"""No request waits for ever for what is computed for it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from typing import Any, NamedTuple, TypeVar

from torch_tb_profiler.defaults import ANSWER_SECONDS
from torch_tb_profiler.web.http import HttpError

T = TypeVar("T")

#: why there is no answer where the system starts no further thread
NO_THREAD = "the machine has no room for another thread; ask again later"
#: computed at once, those included that nobody waits for any more
MOST = 64
#: seconds that a request waits for others to end when there are so many
PATIENCE = 5.0
#: after which a thread ends that has nothing to do
IDLE_SECONDS = 10.0


class _Work(NamedTuple):
    """What is computed, and who waits for it."""

    make: Callable[[], Any]
    future: Future[Any]


class TimeLimit:
    """For all requests of an application. Thread-safe."""

    def __init__(self, seconds: float = ANSWER_SECONDS, most: int = MOST) -> None:
        self._seconds = seconds
        self._most = most
        self._room = threading.BoundedSemaphore(most)
        self._waiting: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0  # threads that nothing was given to

    def call(self, make: Callable[[], T]) -> T:
        """What `make` gives, and what it raises. Raises HttpError (503) when that takes too long.

        `make` then goes on: a thread cannot be ended without harm to what it holds. Its answer is kept where answers
        are kept, so asking again may find it. Threads of the kind are bounded.
        """
        until = time.monotonic() + self._seconds
        if not self._room.acquire(timeout=min(PATIENCE, self._seconds)):
            raise HttpError(503, f"{self._most} answers are being computed; ask again later")
        future: Future[T] = Future()

        try:
            self._give(_Work(make, future))
        except RuntimeError:
            self._room.release()
            raise HttpError(503, NO_THREAD) from None
        try:
            return future.result(max(until - time.monotonic(), 0.0))
        except NotYet:
            if future.done():  # it is what `make` raised, or came this moment
                return future.result()
            text = f"computing this takes longer than {self._seconds:g} s; it goes on, so ask again later"
            raise HttpError(503, text) from None

    def _give(self, work: _Work) -> None:
        """To a thread that has nothing to do, else to a new one: to start one takes longer than most answers that
        are kept. Raises RuntimeError: there can be no other thread.
        """
        with self._lock:
            is_one_idle = self._idle > 0
            self._idle -= is_one_idle
        if is_one_idle:
            self._waiting.put(work)
        else:
            threading.Thread(target=self._run, args=(work,), name="answer", daemon=True).start()

    def _run(self, work: _Work) -> None:
        while True:
            try:
                work.future.set_result(work.make())
            except BaseException as error:  # noqa: BLE001  # whoever waits gets it
                work.future.set_exception(error)
            finally:
                self._room.release()
            del work  # and with it what it has found
            with self._lock:
                self._idle += 1
            try:
                work = self._waiting.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:
                        self._idle -= 1
                        return
                work = self._waiting.get()  # it was given something at this moment
