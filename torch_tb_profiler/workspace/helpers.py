"""Processes that help another one to read a large file, while there are processors for them."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO, cast

from torch_tb_profiler.trace.helper import Batch, DecodedBatch, HelperAnswer, encode_batch, read_decoded
from torch_tb_profiler.workspace.pool import variables

log = logging.getLogger(__name__)

_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[1:]; from torch_tb_profiler.trace.helper import main; main()"

#: batches that a helper has at once, so that it need not wait while the reader does other things
_AT_ONCE = 12
#: that a pipe holds, where one can choose: a batch or an answer as a whole. Else a thread would have to wait for the
#: lock of the interpreter, which the reader has, for every 64 KiB
_PIPE_BYTES = 1 << 20


class HelperProcesses:
    """For one thread at a time; `close` it.

    wanted   how many
    may_help   whether they may be given more; they get no further batches when it says no
    """

    def __init__(self, wanted: int, may_help: Callable[[], bool]) -> None:
        self._may_help = may_help
        self._heard: queue.SimpleQueue[tuple[_Helper, DecodedBatch | None]] = queue.SimpleQueue()
        self._helpers: list[_Helper] = []
        try:
            for source in range(wanted):
                self._helpers.append(_Helper(source, self._heard))
        except OSError as error:
            log.warning("A large file is read with %d helpers only: %s", len(self._helpers), error)

    def have_room(self) -> bool:
        return self._may_help() and self._next() is not None

    def are_there(self) -> bool:
        return self._may_help() and any(helper.is_alive for helper in self._helpers)

    def give(self, batch: Batch) -> bool:
        helper = self._next()
        if helper is None:
            return False
        helper.give(batch)
        return True

    def _next(self) -> _Helper | None:
        """The one that has least to do."""
        free = [helper for helper in self._helpers if helper.has_room]
        return min(free, key=lambda helper: len(helper.numbers), default=None)

    def answers(self, seconds: float) -> Sequence[HelperAnswer]:
        found: list[HelperAnswer] = []
        until = time.monotonic() + seconds
        while not found:
            try:
                left = until - time.monotonic()
                helper, answer = self._heard.get(timeout=left) if left > 0 else self._heard.get_nowait()
            except queue.Empty:
                break
            found += helper.answered(answer)
        with contextlib.suppress(queue.Empty):
            while True:
                helper, answer = self._heard.get_nowait()
                found += helper.answered(answer)
        return found

    def give_up(self, number: int) -> None:
        for helper in self._helpers:
            if number in helper.numbers:
                helper.kill()

    def close(self) -> None:
        """End them all."""
        for helper in self._helpers:
            helper.end()


class _Helper:
    """One process, and two threads that write to it and read from it.

    numbers: of the batches that it has
    """

    def __init__(self, source: int, heard: queue.SimpleQueue[tuple[_Helper, DecodedBatch | None]]) -> None:
        self.numbers: list[int] = []
        self.is_alive = True
        self._is_ready = False
        self._source = source
        self._heard = heard
        self._batches: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **variables()},
            start_new_session=True,
            pipesize=_PIPE_BYTES,
        )
        self._threads = [
            threading.Thread(target=target, name=f"torch-profiler-helper-{source}", daemon=True)
            for target in (self._write, self._read)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def has_room(self) -> bool:
        return self.is_alive and self._is_ready and len(self.numbers) < _AT_ONCE

    def give(self, batch: Batch) -> None:
        self.numbers.append(batch.number)
        self._batches.put(batch)

    def answered(self, found: DecodedBatch | None) -> Iterable[HelperAnswer]:
        """What an answer says; None: that the process is gone."""
        if found is not None and found.number in self.numbers:
            self.numbers.remove(found.number)
            return [HelperAnswer(found.number, self._source, found)]
        if self.numbers:
            log.warning(
                "A process that helped to read a file is gone (status %s); what it had is read without it",
                self._process.poll(),
            )
        self._process.kill()  # it may have answered what was not asked
        lost = [HelperAnswer(number, self._source, None) for number in self.numbers]
        self.is_alive = False
        self.numbers = []
        return lost

    def kill(self) -> None:
        log.warning("A process that helped to read a file has not answered for long, and is ended")
        self._process.kill()

    def end(self) -> None:
        self.is_alive = False
        self._process.kill()
        self._batches.put(None)
        for thread in self._threads:
            thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()

    def _write(self) -> None:
        assert self._process.stdin is not None
        to = self._process.stdin.fileno()
        with contextlib.suppress(OSError):  # it is gone; the other thread says so
            while (batch := self._batches.get()) is not None:
                for piece in encode_batch(batch):
                    left = memoryview(piece)
                    while left:
                        left = left[os.write(to, left) :]

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while True:
                found = read_decoded(cast(BinaryIO, self._process.stdout))
                if found is None:
                    self._is_ready = True
                else:
                    self._heard.put((self, found))
        except Exception as error:  # noqa: BLE001 - whatever it says that is no answer, it is of no more use
            if not isinstance(error, EOFError):
                log.warning("A process that helped to read a file has said what cannot be read: %s", error)
            self._process.kill()
            self._process.wait()
            self._heard.put((self, None))
