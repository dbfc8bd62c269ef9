"""A process that answers about large traces, so that their models take no memory in the server.

`AnsweringProcess` is the server's side. `main` is the process itself: it takes orders from stdin, asks models and
writes replies to stdout. It ends with the server: the end of stdin says that the server is gone, however it went.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import logging
import os
import pickle
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import IO, Any, Literal

import msgspec

from torch_tb_profiler import spill
from torch_tb_profiler.workspace.answering.answerer import Answerer
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.process import IdleTrimmer, resident_bytes, trim_memory, tune_malloc
from torch_tb_profiler.workspace.reading.pool import variables

Method = Literal["ask", "drop"]

#: bytes of memory above which intermediate results of answers are not kept for the next ones
FORGET_FROM = 800 * 1000**2

#: orders under way at once; the others wait
_THREADS = 32
_HEAD = struct.Struct("<QQ")


class Order(msgspec.Struct, frozen=True):
    """A method of `Answerer` to call with `arguments`."""

    method: Method
    arguments: tuple[Any, ...]


class Reply(msgspec.Struct, frozen=True):
    """The answer, or with `is_error` the error that was raised. raised_at: as `traceback` writes it."""

    found: Any
    is_error: bool = False
    raised_at: str = ""


class Unanswered(Exception):
    """The process that answers has ended; asking again may help. The message is a sentence for a user."""


class RaisedAt(Exception):
    """Set as the cause of an error that was raised in the process: the traceback there."""


def write_message(stream: IO[bytes], number: int, content: bytes) -> None:
    """Send an order or the reply to it, known by `number`; replies come in any order."""
    stream.write(_HEAD.pack(number, len(content)) + content)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[int, bytes] | None:
    """Return the next message; None at the end of the stream, also where it ends early."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    number, length = _HEAD.unpack(head)
    content = stream.read(length)
    return (number, content) if len(content) == length else None


def main(directory: str, expansion: int, version: str) -> None:
    """Answer orders from stdin with the cache that these arguments name; the server sweeps it."""
    tune_malloc()
    spill.use(Path(directory))
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # anything that a library prints goes to stderr
    asking = Answerer(TraceCache(Path(directory), expansion=expansion, version=version))
    IdleTrimmer((asking.drop_unused,)).start()
    lock = Lock()

    def say(number: int, reply: Reply) -> None:
        content = _packed(reply)
        with lock:
            write_message(replies, number, content)

    with ThreadPoolExecutor(_THREADS, "answer") as threads:
        while (message := read_message(sys.stdin.buffer)) is not None:
            threads.submit(_obey, asking, *message, say)
        os._exit(0)


def _obey(asking: Answerer, number: int, content: bytes, say: Callable[[int, Reply], None]) -> None:
    try:
        order: Order = _unpickled(content)
        with spill.watched():
            reply = Reply(getattr(asking, order.method)(*order.arguments))
    except BaseException as error:  # noqa: BLE001 - who has asked gets it
        reply = Reply(error, is_error=True, raised_at=traceback.format_exc())
    try:
        say(number, reply)
        del reply
        if resident_bytes() > FORGET_FROM:
            asking.models.forget_answers()
            trim_memory()
    except OSError:  # the server is gone
        os._exit(0)


def _unpickled(content: bytes) -> Any:
    return pickle.loads(content)  # noqa: S301 - the server and the process it started write to one another alone


def _packed(reply: Reply) -> bytes:
    """Pickle a reply. An exception that cannot be pickled is replaced by its text."""
    try:
        content = pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)
        if reply.is_error:
            _unpickled(content)
    except Exception as error:  # noqa: BLE001 - whatever an exception of somebody else does
        what = RuntimeError(str(reply.found) if reply.is_error else f"an answer cannot be sent: {error}")
        return pickle.dumps(Reply(what, is_error=True, raised_at=reply.raised_at or traceback.format_exc()))
    return content


log = logging.getLogger(__name__)

_BOOTSTRAP = (
    "import sys; directory, expansion, version, *sys.path[:] = sys.argv[1:]; "
    "from torch_tb_profiler.workspace.answering.answering_process import main; main(directory, int(expansion), version)"
)


class _Running(msgspec.Struct, eq=False):
    """A process and the orders that it has not answered. last_used: monotonic seconds."""

    process: subprocess.Popen[bytes]
    waiting: dict[int, Future[Any]] = {}
    last_used: float = 0.0


class AnsweringProcess:
    """The process, started when something is asked and ended when idle. Thread-safe; `close` it.

    The traces are those of `cache`, named by their content keys.
    """

    def __init__(self, cache: TraceCache) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._running: _Running | None = None
        self._numbers = itertools.count()
        self._closed = False

    @staticmethod
    def order(method: Method, *arguments: Any) -> bytes | None:
        """Pickle an order; return None if that is impossible, for example for a nested function."""
        try:
            return pickle.dumps(Order(method, arguments), pickle.HIGHEST_PROTOCOL)
        except (pickle.PicklingError, AttributeError, TypeError):
            return None

    def ask(self, order: bytes) -> Any:
        """Return the answer of `Answerer` in the process, or raise its error.

        Raises Unanswered when the process ends before it has answered, OSError when it cannot be started.
        """
        return self._send(order).result()

    def _send(self, order: bytes) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            if self._running is None:
                self._running = self._start()
            running = self._running
            number = next(self._numbers)
            running.waiting[number] = future
            running.last_used = time.monotonic()
            assert running.process.stdin is not None
            with contextlib.suppress(OSError, ValueError):  # it has just ended; `_listen` reports that
                write_message(running.process.stdin, number, order)
        return future

    def drop(self, key: str) -> None:
        """Drop a trace, if a process runs."""
        with self._lock:
            running = self._running
        order = self.order("drop", key)
        if running is not None and order is not None:
            with contextlib.suppress(OSError):
                self._send(order)

    def drop_unused(self, seconds: float) -> int:
        """End the process if it was not used for so long; return the number of ended processes."""
        with self._lock:
            running = self._running
            if running is None or running.waiting or time.monotonic() - running.last_used < seconds:
                return 0
            self._running = None
        running.process.kill()
        return 1

    def process_ids(self) -> list[int]:
        with self._lock:
            return [self._running.process.pid] if self._running else []

    def close(self) -> None:
        with self._lock:
            self._closed = True
            running, self._running = self._running, None
        if running is not None:
            running.process.kill()
            running.process.wait()

    def _start(self) -> _Running:
        if self._closed:
            raise OSError("the server is ending")
        cache = self._cache
        arguments = [str(cache.directory), str(cache.limits.expansion), cache.version]
        process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP, *arguments, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **variables()},
            start_new_session=True,  # Ctrl-C is for the server
        )
        running = _Running(process)
        try:
            threading.Thread(target=self._listen, args=(running,), name="torch-profiler-answers", daemon=True).start()
        except RuntimeError as error:
            process.kill()
            process.wait()
            raise OSError(errno.EAGAIN, str(error)) from None
        return running

    def _listen(self, running: _Running) -> None:
        process = running.process
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            while (message := read_message(process.stdout)) is not None:
                number, content = message
                self._on_reply(running, number, _unpickled(content))
        except Exception as error:  # noqa: BLE001 - whatever a reply has done, such as more than fits in memory
            log.warning("an answer about a large trace cannot be taken: %s: %s", type(error).__name__, error)
        process.kill()
        code = process.wait()
        with self._lock:
            if self._running is running:
                self._running = None
            lost = list(running.waiting.values())
            running.waiting.clear()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    stream.close()
        why = "was killed, probably because memory ran out" if code == -9 else f"ended early (status {code})"
        if lost:
            log.warning("the process that answers about large traces %s", why)
        for future in lost:
            future.set_exception(Unanswered(f"the process that computes this {why}; ask again later"))

    def _on_reply(self, running: _Running, number: int, reply: Reply) -> None:
        with self._lock:
            future = running.waiting.pop(number, None)
            running.last_used = time.monotonic()
        if future is None:
            return
        if reply.is_error:
            reply.found.__cause__ = RaisedAt(reply.raised_at)
            future.set_exception(reply.found)
        else:
            future.set_result(reply.found)
