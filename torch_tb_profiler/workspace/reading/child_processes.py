"""Processes that a worker starts: some that help to read a large file, and one that reads a memory snapshot."""

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
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.snapshot.child import Outcome
from torch_tb_profiler.trace import Limits, ReadProgress, Trace, TraceError, column_file
from torch_tb_profiler.trace.helper import Batch, DecodedBatch, HelperAnswer, encode_batch, read_decoded
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.cache.checksummed import remove_parts
from torch_tb_profiler.workspace.reading.pool import VARIABLES, variables

log = logging.getLogger(__name__)

_HELPER_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[1:]; from torch_tb_profiler.trace.helper import main; main()"

#: batches queued at a helper, so that it need not wait while the reader does other things
_AT_ONCE = 12
#: size of a pipe, where it can be set: room for a whole batch or answer. Else a thread would wait for the interpreter
#: lock, which the reader holds, for every 64 KiB
_PIPE_BYTES = 1 << 20


class HelperProcesses:
    """Helpers for one reader, used by one thread at a time; `close` it.

    wanted     how many
    may_help   returns whether they may be given further batches
    """

    def __init__(self, wanted: int, may_help: Callable[[], bool]) -> None:
        self._may_help = may_help
        self._answers: queue.SimpleQueue[tuple[_Helper, DecodedBatch | None]] = queue.SimpleQueue()
        self._helpers: list[_Helper] = []
        try:
            for source in range(wanted):
                self._helpers.append(_Helper(source, self._answers))
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
        """Return the helper with the shortest queue."""
        free = [helper for helper in self._helpers if helper.has_room]
        return min(free, key=lambda helper: len(helper.numbers), default=None)

    def answers(self, seconds: float) -> Sequence[HelperAnswer]:
        answers: list[HelperAnswer] = []
        until = time.monotonic() + seconds
        while not answers:
            try:
                left = until - time.monotonic()
                helper, answer = self._answers.get(timeout=left) if left > 0 else self._answers.get_nowait()
            except queue.Empty:
                break
            answers += helper.answered(answer)
        with contextlib.suppress(queue.Empty):
            while True:
                helper, answer = self._answers.get_nowait()
                answers += helper.answered(answer)
        return answers

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

    numbers: the batches that it has
    """

    def __init__(self, source: int, answers: queue.SimpleQueue[tuple[_Helper, DecodedBatch | None]]) -> None:
        self.numbers: list[int] = []
        self.is_alive = True
        self._is_ready = False
        self._source = source
        self._answers = answers
        self._batches: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _HELPER_BOOTSTRAP, *sys.path],
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
        """Return the answers to batches; for None, the process is gone, and its batches have no answers."""
        if found is not None and found.number in self.numbers:
            self.numbers.remove(found.number)
            return [HelperAnswer(found.number, self._source, found)]
        if self.numbers:
            log.warning(
                "A process that helped to read a file is gone (status %s); what it had is read without it",
                self._process.poll(),
            )
        self._process.kill()  # its answer may belong to no batch
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
                    self._answers.put((self, found))
        except Exception as error:  # noqa: BLE001 - whatever it says that is no answer, it is of no more use
            if not isinstance(error, EOFError):
                log.warning("A process that helped to read a file has said what cannot be read: %s", error)
            self._process.kill()
            self._process.wait()
            self._answers.put((self, None))


_SNAPSHOT_BOOTSTRAP = (
    "import sys; sys.path[:] = sys.argv[4:]; from torch_tb_profiler.snapshot.child import main; main()"
)
_COPY_BYTES = 1 << 20

#: seconds of processor time for a small file, and bytes of a file that get a second more
SECONDS = 20
BYTES_PER_SECOND = 2_000_000
#: wall seconds per second of processor time: on a busy machine a process gets only part of a processor
_PATIENCE = 8


def read_snapshot(
    stream: BinaryIO,
    size: int,
    target: Path,
    on_progress: Callable[[ReadProgress], None],
    limits: Limits,
    seconds: int = 0,
) -> Trace:
    """Read a snapshot as a trace without events, whose columns are written to `target`. Raises TraceError.

    size      bytes of the file
    seconds   limit of processor time; 0: a limit that suits the size
    """
    seconds = seconds or SECONDS + size // BYTES_PER_SECOND
    environment = {**os.environ, **VARIABLES, "GLIBC_TUNABLES": "", "MALLOC_ARENA_MAX": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", _SNAPSHOT_BOOTSTRAP, str(target), str(limits.expansion), str(seconds), *sys.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    watch = threading.Timer(seconds * _PATIENCE, process.kill)
    watch.daemon = True
    watch.start()
    try:
        _feed(stream, process, on_progress)
        assert process.stdout is not None
        reply = process.stdout.read()
        code = process.wait()
    finally:
        watch.cancel()
        process.kill()
        process.wait()
        remove_parts([target.parent], target.name, process.pid)
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe and pipe.close()
    try:
        outcome = from_json(reply, Outcome)
    except msgspec.DecodeError:
        outcome = Outcome(_exit_reason(code, seconds))
    if outcome.reason is not None:
        raise TraceError(outcome.reason)
    return column_file.open_trace(target)


def _feed(stream: BinaryIO, process: subprocess.Popen[bytes], on_progress: Callable[[ReadProgress], None]) -> None:
    """Write the file to the process, until the end or until the process stops reading."""
    assert process.stdin is not None
    done = 0
    try:
        while content := stream.read(_COPY_BYTES):
            process.stdin.write(content)
            done += len(content)
            on_progress(ReadProgress(done, 0))
        process.stdin.close()
    except BrokenPipeError:  # it has ended; its output or exit code says why
        pass


def _exit_reason(code: int, seconds: int) -> Reason:
    """Return the reason why a process has written nothing."""
    if code < 0 and -code in (9, 24):  # SIGKILL by the timer or the system, SIGXCPU by its limit
        return because("snapshot_limits", {"limit": "process", "seconds": seconds})
    return because("snapshot_limits", {"status": code})
