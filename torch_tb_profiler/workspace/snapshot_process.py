"""Reading a memory snapshot in a process of its own, which may not take more than its share of memory and time."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.snapshot.child import Outcome
from torch_tb_profiler.trace import Limits, ReadProgress, Trace, TraceError, column_file
from torch_tb_profiler.words.reasons import because
from torch_tb_profiler.workspace.pool import VARIABLES
from torch_tb_profiler.workspace.sealed import remove_parts

_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[4:]; from torch_tb_profiler.snapshot.child import main; main()"
_COPY_BYTES = 1 << 20

#: seconds of the processor for a small file, and bytes of a file that get a second more
SECONDS = 20
BYTES_PER_SECOND = 2_000_000
#: on a busy machine a process gets a part of a processor only
_PATIENCE = 8


def read_snapshot(
    stream: BinaryIO,
    size: int,
    target: Path,
    on_progress: Callable[[ReadProgress], None],
    limits: Limits,
    seconds: int = 0,
) -> Trace:
    """The snapshot in a stream as a trace without events, whose columns are written to `target`. Raises TraceError.

    size      bytes of the file
    seconds   of the processor that it may take; 0 for what suits its size
    """
    seconds = seconds or SECONDS + size // BYTES_PER_SECOND
    environment = {**os.environ, **VARIABLES, "GLIBC_TUNABLES": "", "MALLOC_ARENA_MAX": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", _BOOTSTRAP, str(target), str(limits.expansion), str(seconds), *sys.path],
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
        told = process.stdout.read()
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
        outcome = from_json(told, Outcome)
    except msgspec.DecodeError:
        outcome = Outcome(_obituary(code, seconds))
    if outcome.reason is not None:
        raise TraceError(outcome.reason)
    return column_file.open_trace(target)


def _feed(stream: BinaryIO, process: subprocess.Popen[bytes], on_progress: Callable[[ReadProgress], None]) -> None:
    """Give the file to the process, as far as it takes it."""
    assert process.stdin is not None
    done = 0
    try:
        while content := stream.read(_COPY_BYTES):
            process.stdin.write(content)
            done += len(content)
            on_progress(ReadProgress(done, 0))
        process.stdin.close()
    except BrokenPipeError:  # it has ended; what it said, or its end, tells why
        pass


def _obituary(code: int, seconds: int) -> Reason:
    """Why a process has said nothing."""
    if code < 0 and -code in (9, 24):  # SIGKILL by the timer or the system, SIGXCPU by its limit
        return because("snapshot_limits", {"limit": "process", "seconds": seconds})
    return because("snapshot_limits", {"status": code})
