"""Worker processes under supervision: whatever happens to one costs only the trace it was reading.

They are plain subprocesses rather than `multiprocessing` ones: those import the main module of their parent
(TensorBoard, with all it needs) and may be forked beside its threads.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable

import msgspec

from torch_tb_profiler import storage
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.workspace.protocol import Done, Failed, Job, Message, Prepared, decode_message, encode

log = logging.getLogger(__name__)

IDLE_SECONDS = 20.0

_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[1:]; from torch_tb_profiler.workspace.worker import main; main()"
VARIABLES = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # What glibc comes to by itself once a block of 32 MB was freed. Until then every larger array is of new pages,
    # which cost more than the arithmetic.
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
    # Pages of 2 MB for arrays, where the kernel gives them to who asks: one costs what a few dozen of 4 KB do.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}

_Process = subprocess.Popen[bytes]


def _variables() -> dict[str, str]:
    tunables = filter(None, (os.environ.get("GLIBC_TUNABLES"), VARIABLES["GLIBC_TUNABLES"]))
    return VARIABLES | {"GLIBC_TUNABLES": ":".join(tunables)}


class Pool:
    """Runs jobs in up to `workers` processes, which start when there is work and end when there is none.

    `listener` is told all messages of a job, from several threads; None says that the job has been started.
    """

    def __init__(self, workers: int, listener: Callable[[Job, Message | None], None]) -> None:
        self._listener = listener
        self._jobs: deque[Job] = deque()
        self._later: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._processes: set[_Process] = set()
        self._threads = [
            threading.Thread(target=self._supervise, name=f"torch-profiler-worker-{number}", daemon=True)
            for number in range(max(1, workers))
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        with self._changed:
            self._jobs.append(job)
            self._changed.notify()

    def submit_later(self, job: Job) -> None:
        """For when there is nothing else to do."""
        with self._changed:
            self._later.append(job)
            self._changed.notify()

    def withdraw(self, job_id: int) -> None:
        """Forget a job that was not started yet."""
        with self._changed:
            self._jobs = deque(job for job in self._jobs if job.id != job_id)
            self._later = deque(job for job in self._later if job.id != job_id)

    def hurry(self, job_id: int) -> None:
        """Somebody waits for this one."""
        with self._changed:
            first = [job for job in self._jobs if job.id == job_id]
            self._jobs = deque(first + [job for job in self._jobs if job.id != job_id])

    def process_ids(self) -> list[int]:
        with self._changed:
            return [process.pid for process in self._processes]

    def close(self) -> None:
        """End all processes. Jobs under way are lost."""
        with self._changed:
            self._closed = True
            self._jobs.clear()
            self._later.clear()
            self._changed.notify_all()
            for process in self._processes:
                process.kill()
        for thread in self._threads:
            thread.join(timeout=5)

    def _supervise(self) -> None:
        process: _Process | None = None
        while True:
            job = self._next(IDLE_SECONDS if process else None)
            if job is None:
                if process:
                    self._end(process)
                    process = None
                if self._closed:
                    return
                continue
            self._listener(job, None)
            outcome: Message
            try:
                if process and process.poll() is not None:  # died while idle
                    self._end(process)
                    process = None
                process = process or self._start()
                outcome = self._run(process, job)
            except OSError as error:
                text = f"could not be read: no process could be started for it ({error})"
                outcome = Failed(Reason("no_process", text, {"error": str(error)}))
            if process and process.poll() is not None:
                self._end(process)
                process = None
            if self._closed:
                continue
            self._listener(job, outcome)

    def _next(self, seconds: float | None) -> Job | None:
        """The next job; None after `seconds` without one, or when the pool is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._jobs or self._later or self._closed, seconds)
            if self._closed or not (self._jobs or self._later):
                return None
            if not self._jobs:
                return self._later.popleft()
            job = self._jobs.popleft()
            # While others wait to be read, answers about this one wait, too.
            return msgspec.structs.replace(job, answering=None) if self._jobs else job

    def _start(self) -> _Process:
        with self._changed:
            if self._closed:
                raise OSError("the server is ending")
            process = subprocess.Popen(
                [sys.executable, "-c", _BOOTSTRAP, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **_variables(), **storage.environment()},
                # Ctrl-C is for the server; a worker ends when its stdin does.
                start_new_session=True,
            )
            self._processes.add(process)
        return process

    def _run(self, process: _Process, job: Job) -> Message:
        """Give a job to a process and wait for the outcome."""
        assert process.stdin is not None
        assert process.stdout is not None
        is_read = job.is_read
        with contextlib.suppress(BrokenPipeError):  # it just died; what follows says so
            process.stdin.write(encode(job) + b"\n")
            process.stdin.flush()
        for line in process.stdout:
            try:
                message = decode_message(line)
            except msgspec.DecodeError:
                break  # it died in the middle of a line
            is_read = is_read or isinstance(message, Done)
            if isinstance(message, Prepared | Failed) or (isinstance(message, Done) and job.answering is None):
                return message
            self._listener(job, message)
        process.kill()
        reason = _obituary(process.wait())
        if is_read:
            return Prepared(0.0, str(reason))
        return Failed(reason)

    def _end(self, process: _Process) -> None:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
        with self._changed:
            self._processes.discard(process)


def _obituary(code: int) -> Reason:
    if code == -9:  # SIGKILL, which Windows does not know
        text = "could not be read: the process that read it was killed, probably because memory ran out"
        return Reason("killed", text)
    if code < 0:
        name = signal.Signals(-code).name
        return Reason("crashed", f"could not be read: the process that read it crashed ({name})", {"signal": name})
    text = f"could not be read: the process that read it ended early (status {code})"
    return Reason("ended", text, {"status": code})
