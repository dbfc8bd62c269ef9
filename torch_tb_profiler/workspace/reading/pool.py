"""Worker processes under supervision: a crash costs only the trace that the process was reading.

They are plain subprocesses: `multiprocessing` would import the main module of the parent (TensorBoard, with all that
it needs), and might fork it while its threads run.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

import msgspec

from torch_tb_profiler import storage
from torch_tb_profiler.defaults import ONE_BLAS_THREAD
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.trace.files import is_scarce
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.process import MMAP_THRESHOLD, TRIM_THRESHOLD, int_from_environment
from torch_tb_profiler.workspace.reading.protocol import (
    Done,
    Failed,
    Job,
    Message,
    Prepared,
    ReleaseHelpers,
    decode_message,
    encode,
    encode_job,
)
from torch_tb_profiler.workspace.reading.reading_order import PROCESS_BYTES, helpers_for, memory_for
from torch_tb_profiler.workspace.reading.reading_order import processors as usable_processors

log = logging.getLogger(__name__)

IDLE_SECONDS = 20.0

#: seconds after which a process that sends no message is ended
PATIENCE_SECONDS = 900
PATIENCE_VARIABLE = "TORCH_TB_PROFILER_WORKER_SECONDS"

_BOOTSTRAP = (
    "import sys; sys.path[:] = sys.argv[1:]; from torch_tb_profiler.workspace.reading.worker import main; main()"
)
VARIABLES = {
    **ONE_BLAS_THREAD,
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # What glibc comes to by itself once a block of 32 MiB was freed. Until then every larger array is of new pages,
    # which cost more than the arithmetic. It would also come to keep 64 MiB at its end; 16 cost no time.
    "MALLOC_MMAP_THRESHOLD_": str(MMAP_THRESHOLD),
    "MALLOC_TRIM_THRESHOLD_": str(TRIM_THRESHOLD),
    # Pages of 2 MiB for arrays, where the kernel gives them on request: one costs what a few dozen of 4 KiB do.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}

_Process = subprocess.Popen[bytes]


def variables() -> dict[str, str]:
    """Return the environment variables of our processes."""
    tunables = filter(None, (os.environ.get("GLIBC_TUNABLES"), VARIABLES["GLIBC_TUNABLES"]))
    return VARIABLES | {"GLIBC_TUNABLES": ":".join(tunables)}


class _Running(msgspec.Struct, eq=False):
    """A job under way.

    process: None until it has one
    last_message: when its last message came (monotonic seconds)
    ended: why it was ended, if it was
    is_read: whether the columns are written
    helpers: how many processes help to read it
    """

    job: Job
    last_message: float
    process: _Process | None = None
    ended: Reason | None = None
    is_read: bool = False
    helpers: int = 0

    def release_helpers(self) -> None:
        """Give up the helpers of this job."""
        self.helpers = 0
        if self.process and self.process.stdin:
            with contextlib.suppress(OSError, ValueError):  # it has just ended
                self.process.stdin.write(encode(ReleaseHelpers(self.job.id)) + b"\n")
                self.process.stdin.flush()

    def end(self, reason: Reason) -> None:
        """End its process; the supervisor notices, and says why."""
        self.ended = reason
        if self.process:
            self.process.kill()


class Pool:
    """Runs jobs in up to `workers` processes, which start when there is work and end when there is none.

    listener: gets all messages of a job, from several threads; None says that the job has been started. The last is
    Done, Prepared or Failed, whatever happens to the process, except for jobs that were withdrawn, or not started
    when the pool was closed.
    patience: seconds without a message after which the process of a job is ended; None for what the environment says
    memory: about how many bytes all processes together may take; a job that needs more runs alone. None for any
    processors: how many all processes together may use; idle ones help to read a large file, until a job wants them.
        None for as many as workers
    """

    def __init__(
        self,
        workers: int,
        listener: Callable[[Job, Message | None], None],
        patience: float | None = None,
        memory: int | None = None,
        processors: int | None = None,
    ) -> None:
        self._listener = listener
        self._processors = min(workers if processors is None else processors, usable_processors())
        self._memory = memory
        self._patience = int_from_environment(PATIENCE_VARIABLE, PATIENCE_SECONDS, 1) if patience is None else patience
        self._jobs: deque[Job] = deque()
        self._later: deque[Job] = deque()
        lock = threading.Lock()
        self._changed = threading.Condition(lock)
        self._closed = False
        self._processes: set[_Process] = set()
        self._running: set[_Running] = set()
        self._started = threading.Condition(lock)
        self._threads = [
            threading.Thread(target=self._supervise, name=f"torch-profiler-worker-{number}", daemon=True)
            for number in range(max(1, workers))
        ]
        self._threads.append(threading.Thread(target=self._watch, name="torch-profiler-watchdog", daemon=True))
        for thread in self._threads:
            thread.start()

    def submit(self, job: Job) -> None:
        with self._changed:
            self._jobs.append(job)
            for running in self._running:
                if running.helpers and self._free_processors() < 1:
                    running.release_helpers()
            self._changed.notify()

    def submit_later(self, job: Job) -> None:
        """Add a job that runs only when there is no other."""
        with self._changed:
            self._later.append(job)
            self._changed.notify()

    def withdraw(self, job_id: int) -> None:
        """Remove a job from the queue, or end its process if it has started."""
        with self._changed:
            self._jobs = deque(job for job in self._jobs if job.id != job_id)
            self._later = deque(job for job in self._later if job.id != job_id)
            for running in self._running:
                if running.job.id == job_id:
                    running.end(because("withdrawn"))

    def prioritize(self, job_id: int) -> None:
        """Put a job first: a request waits for it."""
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
            self._started.notify_all()
            for process in self._processes:
                process.kill()
        for thread in self._threads:
            thread.join(timeout=5)

    def _supervise(self) -> None:
        process: _Process | None = None
        while True:
            running = self._next(IDLE_SECONDS if process else None)
            if running is None:
                if process:
                    self._reap(process)
                    process = None
                if self._closed:
                    return
                continue
            job = running.job
            self._tell(job, None)
            outcome: Message
            try:
                if process and process.poll() is not None:  # died while idle
                    self._reap(process)
                    process = None
                process = process or self._start()
                outcome = self._run(process, running)
                if process.poll() is not None:
                    self._reap(process)
                    process = None
            except Exception as error:  # this thread must live as long as the pool
                if not isinstance(error, OSError):
                    log.exception("%s: its process cannot be supervised", job.entry.url)
                reason = because("no_process", {"error": str(error)})
                outcome = _lost(running.is_read, reason, passes=is_scarce(error))
            with self._changed:
                self._running.discard(running)
                self._changed.notify_all()  # there is memory again
            if not self._closed:
                self._tell(job, outcome)

    def _tell(self, job: Job, message: Message | None) -> None:
        try:
            self._listener(job, message)
        except Exception:  # an error of one trace must not affect the others
            log.exception("%s: a message about it was lost", job.entry.url)

    def _watch(self) -> None:
        """End processes that send no more messages."""
        with self._started:
            while not self._closed:
                now = time.monotonic()
                due = [(running.last_message + self._patience, running) for running in self._running]
                for when, running in due:
                    if when <= now and running.ended is None:
                        seconds = round(self._patience)
                        running.end(because("hung", {"seconds": seconds}))
                coming = [when - now for when, running in due if running.ended is None]
                self._started.wait(min(coming, default=None))

    def _next(self, seconds: float | None) -> _Running | None:
        """Return the next job; None after `seconds` without one, or when the pool is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._may_start(), seconds)
            if self._closed or not self._may_start():
                return None
            job = self._jobs.popleft() if self._jobs else self._later.popleft()
            if self._jobs and not job.is_read:
                # While other traces wait to be read, the answers about this one wait, too.
                job = msgspec.structs.replace(job, answering=None)
            running = _Running(job, time.monotonic(), is_read=job.is_read)
            self._running.add(running)
            if not self._jobs and not job.is_read and not job.has_columns:
                left = None if self._memory is None else self._memory - self._memory_of(self._running)
                running.helpers = helpers_for(job.entry, job.kind, self._free_processors(), left)
            self._started.notify_all()
            return running

    def _may_start(self) -> bool:
        """Return whether there is a job, and memory for the next one."""
        job = self._jobs[0] if self._jobs else self._later[0] if self._later else None
        if job is not None and not self._jobs and self._free_processors() < 1 and self._has_helpers():
            return False  # it runs only when there is no other job
        if job is None or self._memory is None or not self._running:
            return job is not None
        return self._memory_of([_Running(job, 0.0), *self._running]) <= self._memory

    def _has_helpers(self) -> bool:
        return any(running.helpers for running in self._running)

    def _free_processors(self) -> int:
        """Return the number of processors that neither jobs nor their helpers use."""
        return self._processors - sum(1 + running.helpers for running in self._running)

    @staticmethod
    def _memory_of(wanted: Iterable[_Running]) -> int:
        return sum(
            memory_for(each.job.entry, each.job.answering is not None, each.job.kind) + each.helpers * PROCESS_BYTES
            for each in wanted
        )

    def _start(self) -> _Process:
        process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **variables(), **storage.environment()},
            # Ctrl-C is for the server; a worker ends when its stdin does.
            start_new_session=True,
        )
        with self._changed:
            self._processes.add(process)
            closed = self._closed
        if closed:
            self._reap(process)
            raise OSError("the server is ending")
        return process

    def _run(self, process: _Process, running: _Running) -> Message:
        """Give a job to a process and wait for the outcome."""
        assert process.stdin is not None
        assert process.stdout is not None
        job = running.job
        with self._changed:
            running.process = process
            if running.ended:  # it has not begun
                return _lost(job.is_read, running.ended)
            job = msgspec.structs.replace(job, helpers=running.helpers)
        with contextlib.suppress(BrokenPipeError):  # it just died; the code below reports that
            process.stdin.write(encode_job(job) + b"\n")
            process.stdin.flush()
        for line in process.stdout:
            running.last_message = time.monotonic()
            try:
                message = decode_message(line)
            except msgspec.DecodeError:
                break  # it died in the middle of a line
            if isinstance(message, Done):
                running.is_read = True
                with self._changed:
                    running.helpers = 0
                    self._changed.notify_all()  # there are processors again
            if isinstance(message, Prepared | Failed) or (isinstance(message, Done) and job.answering is None):
                return message
            self._tell(job, message)
        process.kill()
        code = process.wait()
        job.remove_parts(process.pid)
        return _lost(running.is_read, running.ended or _exit_reason(code))

    def _reap(self, process: _Process) -> None:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
        with self._changed:
            self._processes.discard(process)


def _lost(is_read: bool, reason: Reason, passes: bool = False) -> Message:
    """Return the last message of a job whose process is gone."""
    if is_read:
        return Prepared(0.0, "" if reason.kind == "withdrawn" else str(reason))
    return Failed(reason, passes=passes)


def _exit_reason(code: int) -> Reason:
    if code == -9:  # SIGKILL, which Windows does not know
        return because("killed")
    if code < 0:
        return because("crashed", {"signal": signal.Signals(-code).name})
    return because("ended", {"status": code})
