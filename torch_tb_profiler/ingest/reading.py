"""Reading one rank into a place, by a child process: the same on this machine and on a worker of a cluster.

Also what a worker is asked first (`probe_worker`): whether it can read the log directory and write to the place.
"""

from __future__ import annotations

import atexit
import errno
import functools
import itertools
import platform
import queue
import shutil
import socket
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Semaphore

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.ingest.runner import (
    IngestRefused,
    IngestTarget,
    OnBytesRead,
    Outcome,
    RankKept,
    RankLost,
    Task,
    WorkerFact,
    WorkerProbe,
    decode_task,
    encode,
)
from torch_tb_profiler.reason import OTHER, Reason
from torch_tb_profiler.storage import StorageError, storage_for
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.cache.checksummed import checksummed, verified
from torch_tb_profiler.workspace.cache.identity import FileNames, Shared, answers_version, content_key
from torch_tb_profiler.workspace.cache.stores import CacheStore, read_when_visible, remove_all
from torch_tb_profiler.workspace.process import TemporaryDirectory
from torch_tb_profiler.workspace.reading.pool import Pool
from torch_tb_profiler.workspace.reading.protocol import Done, Failed, Job, Message, Reading
from torch_tb_profiler.workspace.status import TraceSummary

_GIVEN_UP = Failed(Reason(OTHER, "was given up"))


class Child:
    """One process, which starts with the first job and ends some time after the last. For one thread at a time."""

    def __init__(self) -> None:
        self._heard: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._pool = Pool(1, self._hear)

    def _hear(self, _: Job, message: Message | None) -> None:
        if message is not None:
            self._heard.put(message)

    def read(self, job: Job, on_progress: Callable[[Reading], None]) -> Done | Failed:
        """Do a job that is not to answer; `on_progress` is called now and then."""
        self._pool.submit(job)
        while True:
            message = self._heard.get()
            if isinstance(message, Done | Failed):
                return message
            if isinstance(message, Reading):
                on_progress(message)

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
        """Return an empty folder, for as long as it is needed. Raises OSError."""
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

    def read(self, job: Job, on_progress: Callable[[Reading], None]) -> Done | Failed:
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
                return child.read(job, on_progress)
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


#: more than any worker of a cluster has threads
_MANY = 1 << 16


def ingest_rank(task: bytes) -> bytes:
    """Do an encoded `Task`, return an encoded `Outcome`. Sent by name to workers of a cluster, which keep a child."""
    return encode(read_rank(decode_task(task), _children()))


@functools.cache
def _children() -> Children:
    """Return the children of a cluster's worker, one per asking thread; they end with it, and when idle for a while."""
    children = Children(_MANY)
    atexit.register(children.close)
    return children


def read_rank(task: Task, children: Children, on_progress: Callable[[Reading], None] = lambda _: None) -> Outcome:
    """Read a file unless it is in the place already. Raises nothing."""
    try:
        if task.target.code != answers_version():
            return RankLost.of(
                task.number, Reason(OTHER, "was given to a worker that has another build of this package")
            )
        key = content_key(storage_for(task.url), task.entry)
        names = FileNames(task.target.expansion).shared(key)
        place = task.target.open()
        known = _known_summary(place, names)
        if known is not None:
            return RankKept(task.number, key, known, was_there=True)
        return _read_into_place(task, key, names, place, children, on_progress)
    except StorageError as error:
        return RankLost.of(task.number, error.reason)
    except OSError as error:
        text = f"could not be kept in {task.target.place_shown}: {error.strerror or error}"
        return RankLost.of(task.number, Reason(OTHER, text))
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one file must stay with that file
        what = f"{type(error).__name__}: {error}"
        reason = because("unforeseen", {"error": what})
        return RankLost.of(task.number, reason, traceback.format_exc())


def _known_summary(place: CacheStore, names: Shared) -> TraceSummary | None:
    """Return the summary of a rank that is whole in the place."""
    try:
        if not (place.has(names.summary) and place.has(names.rank) and place.has(names.columns)):
            return None
        return from_json(verified(place.read(names.summary)) or b"", TraceSummary)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _read_into_place(
    task: Task, key: str, names: Shared, place: CacheStore, children: Children, on_progress: Callable[[Reading], None]
) -> Outcome:
    with children.folder() as folder:
        columns, rank = folder / "columns", folder / "rank"
        copied = _copied(place, names.columns, columns)
        job = Job(
            task.number,
            task.entry,
            str(columns),
            expansion=task.target.expansion,
            has_columns=copied is not None,
            rank=str(rank),
        )
        outcome = children.read(job, on_progress)
        if isinstance(outcome, Failed):
            return RankLost.of(task.number, outcome.reason, outcome.details)
        was_damaged = copied not in (None, columns.stat().st_ino)
        if was_damaged or copied is None:
            place.put(names.columns, columns, absent=not was_damaged)
        place.put(names.rank, rank, absent=copied is None)
        # last: who finds it finds the others; what was damaged before is replaced
        place.put(names.summary, checksummed(msgspec.json.encode(outcome.summary)), absent=False)
        return RankKept(task.number, key, outcome.summary, was_there=False)


def _copied(place: CacheStore, name: str, target: Path) -> int | None:
    """Which file (inode) the columns are here, if the place has them: then only what is made of them is missing."""
    try:
        place.fetch(name, target)
    except FileNotFoundError:
        return None
    return target.stat().st_ino


_HEAD = 4096
#: of workers in a message
_MOST = 5


def probe_worker(check: bytes) -> bytes:
    """Answer an encoded `WorkerProbe` with a `WorkerFact`. Sent by its name to workers of a cluster."""
    return msgspec.json.encode(facts_of(from_json(check, WorkerProbe)))


def facts_of(check: WorkerProbe) -> WorkerFact:
    """Find out what this process can do. Raises nothing."""
    nonce = f"{check.nonce}-{socket.gethostname()}-{id(check)}"
    return WorkerFact(
        socket.gethostname(),
        platform.python_version(),
        answers_version(),
        _unreadable(check),
        _unwritable(check.target, nonce),
        nonce,
    )


def _unreadable(check: WorkerProbe) -> str:
    try:
        with storage_for(check.url).open(check.entry, ahead=False) as stream:
            stream.read(_HEAD)
    except (OSError, StorageError) as error:
        return str(error)
    return ""


def _unwritable(target: IngestTarget, nonce: str) -> str:
    try:
        target.open().put(nonce, nonce.encode())
    except (OSError, StorageError) as error:
        return (error.strerror if isinstance(error, OSError) else "") or str(error)
    return ""


def judge(facts: Sequence[WorkerFact], check: WorkerProbe) -> None:
    """Check that every worker can do it, and remove what they have written. Raises IngestRefused."""
    place = check.target.open()
    _refuse([(f, "has answered with something else") for f in facts if not f.nonce.startswith(check.nonce)])
    try:
        _refuse([(f, f"cannot read {check.url}: {f.unreadable}") for f in facts if f.unreadable])
        _refuse([(f, f"cannot write to {check.target.place_shown}: {f.unwritable}") for f in facts if f.unwritable])
        _refuse([(f, "has another build of torch-tb-profiler") for f in facts if f.code != check.target.code])
        for fact in facts:
            try:
                read_when_visible(place, fact.nonce)
            except (OSError, StorageError):
                _refuse([(fact, f"has its own {check.target.place_shown}: what it writes cannot be seen here")])
    finally:
        remove_all(place, (fact.nonce for fact in facts))


def _refuse(wrong: Sequence[tuple[WorkerFact, str]]) -> None:
    if wrong:
        complaints = [f"worker {fact.address or 'of this machine'} ({fact.host}) {why}" for fact, why in wrong[:_MOST]]
        if len(wrong) > _MOST:
            complaints.append(f"and {len(wrong) - _MOST} more workers")
        raise IngestRefused("; ".join(complaints))


class LocalRunner:
    """`processes` read at once. While a rank is written to the place, which may take as long as reading it, the next
    one is read: there are more threads than processes.
    """

    def __init__(self, processes: int) -> None:
        self._children = Children(processes)
        self._threads = ThreadPoolExecutor(2 * processes, thread_name_prefix="torch-profiler-ingest")

    def probe(self, check: WorkerProbe) -> list[WorkerFact]:
        return [facts_of(check)]

    def run(self, tasks: Iterable[Task], on_bytes: OnBytesRead) -> Iterator[Outcome]:
        def read(task: Task) -> Outcome:
            return read_rank(task, self._children, lambda reading: on_bytes(task.number, reading.bytes_done))

        under_way: list[Future[Outcome]] = [self._threads.submit(read, task) for task in tasks]
        for done in as_completed(under_way):
            yield done.result()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._children.close()
        self._threads.shutdown()
