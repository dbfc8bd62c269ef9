"""The workspace: which traces there are, how far each is, and their answers."""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import threading
import time
from collections.abc import Callable, Hashable, Sequence, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, NoReturn, Protocol, TypeVar

from msgspec.structs import replace as replace_fields

from torch_tb_profiler.discovery import Found, Root, TraceFile
from torch_tb_profiler.model import Model
from torch_tb_profiler.storage import Entry, StorageError, shown, storage_for
from torch_tb_profiler.timeline.summary import Summary as RankSummary
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Limits, column_file
from torch_tb_profiler.workspace.cache import Cache
from torch_tb_profiler.workspace.identity import content_key, contents_name
from torch_tb_profiler.workspace.lru import Lru
from torch_tb_profiler.workspace.messages import (
    TIMELINE,
    Answered,
    Answering,
    Done,
    Job,
    Message,
    Prepared,
    Preparing,
    Reading,
    Summary,
)
from torch_tb_profiler.workspace.packed import AnswerFolder, Body, Packed, answer_name, pack
from torch_tb_profiler.workspace.pool import Pool
from torch_tb_profiler.workspace.scanner import DEFAULT_INTERVAL, LONGEST_PAUSE, Scanner
from torch_tb_profiler.workspace.states import (
    Loading,
    OpenTrace,
    RunStatus,
    Skipped,
    State,
    Status,
    TraceStatus,
    Unknown,
    Unreadable,
)
from torch_tb_profiler.workspace.timelines import Timelines

log = logging.getLogger(__name__)

MOST_WORKERS = 4
#: events of all open models together; an event costs about 60 bytes once all views were visited
OPEN_EVENTS = 4_000_000
ANSWER_BYTES = 64 * 1000**2
#: of what is kept of traces for questions about whole runs
PART_BYTES = 256 * 1000**2
#: after which a trace is read again that could not be, doubled every time
FIRST_RETRY_SECONDS = 5.0
#: seconds for which a request waits for an answer that a worker process has promised
LONGEST_WAIT = 120.0


class Part(Protocol):
    """Something of a trace that is small enough to be kept when its model is not."""

    @property
    def size(self) -> int:
        """Bytes."""


P = TypeVar("P", bound=Part)
A = TypeVar("A")


@dataclass(frozen=True)
class Original:
    """A trace file as it is stored. `stream` can be sought; whoever asked closes it."""

    name: str
    size: int
    stream: BinaryIO


@dataclass(frozen=True)
class OpenRun:
    """The traces of one span of a run: those that can be asked, by worker, and the others."""

    run: str
    span: str
    traces: tuple[OpenTrace, ...]
    others: tuple[TraceStatus, ...]


@dataclass
class _Held:
    """One trace file as the workspace knows it. Guarded by the lock of the workspace."""

    id: int
    run: str
    file: TraceFile
    state: State = "queued"
    key: str = ""
    bytes_done: int = 0
    events: int | None = None
    reason: str | None = None
    summary: Summary | None = None
    #: a state of the file that the last listing saw for the first time: it may still be growing
    unsettled: Entry | None = None
    #: how often reading has failed for a reason that may pass, and when it is tried again (monotonic seconds)
    tries: int = 0
    retry_at: float | None = None

    def status(self) -> TraceStatus:
        summary = self.summary
        return TraceStatus(
            worker=self.file.worker,
            span=self.file.span,
            file=self.file.entry.path.rpartition("/")[2],
            size=self.file.entry.size,
            state=self.state,
            bytes_done=self.file.entry.size if self.state == "ready" else self.bytes_done,
            events=summary.events if summary else self.events,
            reason=self.reason,
            notes=summary.notes if summary else 0,
            views=summary.views if summary else (),
            rank=self.file.rank if summary is None or summary.rank is None else summary.rank,
            world_size=summary.world_size if summary else None,
            host_name=summary.host_name if summary else "",
        )


@dataclass
class _Opened:
    """A model and the lock of those who ask it: its parts are computed when first asked for."""

    model: Model
    events: int
    lock: threading.Lock = field(default_factory=threading.Lock)


class _Everything(frozenset[str]):
    """What may be promised before it is known what is."""

    def __contains__(self, _: object) -> bool:
        return True


_EVERYTHING = _Everything()


class Workspace:
    """An open log directory. Thread-safe; `close` it."""

    def __init__(
        self,
        roots: Sequence[Root],
        cache: Cache,
        workers: int,
        reload_interval: float = DEFAULT_INTERVAL,
        questions: str = "",
    ) -> None:
        """`questions` are answered as soon as a trace has been read; see `Answering`. Empty for none."""
        self._roots = roots
        self._cache = cache
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._held: dict[str, _Held] = {}
        self._runs: list[tuple[str, list[str], tuple[Skipped, ...]]] = []
        self._skipped: tuple[Skipped, ...] = ()
        self._scanning = True
        self._error: str | None = None
        self._models: Lru[str, _Opened] = Lru(OPEN_EVENTS, lambda opened: opened.events)
        self._models_lock = threading.Lock()
        self._answers: Lru[Hashable, Packed] = Lru(ANSWER_BYTES, lambda packed: len(packed.body))
        self._questions = questions
        #: names of the answers that worker processes are about to give, by content key
        self._awaited: dict[str, Set[str]] = {}
        self._answered = threading.Condition(self._lock)
        self._parts: Lru[Hashable, Part] = Lru(PART_BYTES, lambda part: part.size)
        self._parts_lock = threading.Lock()
        self._timelines = Timelines(cache)
        self._pool = Pool(workers, self._heard)
        self._scanner = Scanner(
            roots, reload_interval, self._found, self._not_found, cache.contents(contents_name(roots))
        )

    def start(self, found: Found | None = None) -> None:
        """Read what the log directories hold, again and again; once what was `found` where that is known."""
        self._cache.sweep()
        if found is None:
            self._scanner.start()
        else:
            self._found(found)

    def close(self) -> None:
        atexit.unregister(self.close)
        self._scanner.stop()
        self._pool.close()
        with self._answered:
            self._awaited.clear()
            self._answered.notify_all()
        self._cache.close()

    @property
    def limits(self) -> Limits:
        """How much a trace file may unpack to."""
        return self._cache.limits

    def process_ids(self) -> list[int]:
        """The worker processes that are alive now."""
        return self._pool.process_ids()

    # asking ----------------------------------------------------------------------------------------------

    def status(self) -> Status:
        with self._lock:
            runs = tuple(
                RunStatus(name, tuple(self._held[url].status() for url in urls), skipped)
                for name, urls, skipped in self._runs
            )
            return Status(
                logdir=",".join(root.url for root in self._roots),
                scanning=self._scanning,
                error=self._error,
                runs=runs,
                skipped=self._skipped,
                remote=any(storage_for(root.url).is_remote for root in self._roots),
            )

    def run(self, name: str) -> RunStatus:
        """Raises Unknown."""
        for run in self.status().runs:
            if run.name == name:
                return run
        raise Unknown(f"there is no run {name!r}")

    def find(self, run: str, worker: str, span: str | None = None) -> OpenTrace:
        """The trace of these names; `span` may be left out when the worker has one.

        Raises Unknown, Loading or Unreadable.
        """
        with self._lock:
            held, workers = self._look_up(run, worker, span)
            status, key = held.status(), held.key
        if status.state == "ready":
            return OpenTrace(run, worker, status.span, key, status.size, workers)
        if status.state == "failed":
            raise Unreadable(status)
        self._pool.hurry(held.id)
        raise Loading(status)

    def answer(self, trace: OpenTrace, question: str, compute: Callable[[Model], Body], keep: bool = True) -> Packed:
        """The answer to a question about a trace, remembered; with `keep` also when the server has ended.

        Raises Loading when the trace must be read again.
        """
        name = answer_name(trace, question)
        known_as = (trace.key, name)
        answer = self._answers.get(known_as)
        if answer is not None:
            return answer
        folder = AnswerFolder(self._cache.answers(trace.key))
        self._wait_for(trace, name)
        answer = folder.get(name)
        if answer is None:
            opened = self._open(trace)
            with opened.lock:
                # Somebody else may have asked the same in the meantime.
                answer = self._answers.get(known_as)
                if answer is None:
                    answer = self._compute(trace, opened, lambda model: pack(compute(model)))
                    if keep:
                        folder.put(name, answer)
                    # While the lock is held: whoever waits for it finds the answer.
                    self._answers.put(known_as, answer)
        else:
            self._answers.put(known_as, answer)
        self._cache.touch(trace.key)
        return answer

    def answer_two(
        self, left: OpenTrace, right: OpenTrace, question: Hashable, compute: Callable[[Model, Model], Body]
    ) -> Packed:
        """The answer to a question about two traces, which may be the same one, remembered. Raises Loading."""
        known_as = (left, right, question)
        answer = self._answers.get(known_as)
        if answer is None:
            first = self._open(left)
            second = first if left.key == right.key else self._open(right)
            with ExitStack() as held:
                # always in the same order, or two requests could wait for each other
                for _, opened in sorted({left.key: first, right.key: second}.items()):
                    held.enter_context(opened.lock)
                try:
                    answer = pack(compute(first.model, second.model))
                except (OSError, column_file.ColumnFileError) as error:
                    self._read_both_again(left, right, error)
            self._answers.put(known_as, answer)
        return answer

    def find_span(self, run: str, span: str | None = None) -> OpenRun:
        """All traces of a span of a run; `span` may be left out when there is one.

        Raises Unknown; Loading or Unreadable when none of them can be asked.
        """
        with self._lock:
            of_run = self._of_run(run)
            spans = {held.file.span for held in of_run}
            if span is None and len(spans) > 1:
                raise Unknown(f"run {run!r} has {len(spans)} spans: one must be named")
            wanted = [held for held in of_run if span in (None, held.file.span)]
            if not wanted:
                raise Unknown(f"run {run!r} has no span {span!r}")
            workers = len({held.file.worker for held in of_run})
            status = [(held, held.status()) for held in wanted]
        ready = tuple(
            OpenTrace(run, s.worker, s.span, held.key, s.size, workers) for held, s in status if s.state == "ready"
        )
        others = tuple(s for _, s in status if s.state != "ready")
        for waiting in (s for s in others if not ready and s.state != "failed"):
            raise Loading(waiting)
        if not ready:
            raise Unreadable(others[0])
        return OpenRun(run, wanted[0].file.span, ready, others)

    def part(self, trace: OpenTrace, question: Hashable, compute: Callable[[Model], P]) -> P:
        """What is kept of a trace for a question about its run; its model is dropped again if it was not open.

        One at a time: a run may have more traces than models fit in memory. Raises Loading.
        """
        known_as = (trace, question)
        with self._parts_lock:
            part: P | None = self._parts.get(known_as)  # type: ignore[assignment]
            if part is None:
                opened = self._models.get(trace.key) or self._opened(trace)
                with opened.lock:
                    part = self._compute(trace, opened, compute)
                self._cache.touch(trace.key)
                self._parts.put(known_as, part)
        return part

    def kept(self, trace: OpenTrace, question: Hashable, compute: Callable[[Model], P]) -> P:
        """What later questions about a trace begin with, remembered. Raises Loading."""
        known_as = (trace, question)
        part: P | None = self._parts.get(known_as)  # type: ignore[assignment]
        if part is None:
            opened = self._open(trace)
            with opened.lock:
                part = self._parts.get(known_as)  # type: ignore[assignment]
                if part is None:
                    part = self._compute(trace, opened, compute)
                    self._parts.put(known_as, part)
        return part

    def keep(self, trace: OpenTrace, question: Hashable, part: Part) -> None:
        """Remember it as if `kept` had been asked for it."""
        self._parts.put((trace, question), part)

    def answer_of_run(self, opened: OpenRun, question: Hashable, compute: Callable[[], Body]) -> Packed:
        """The answer to a question about the traces of a span, remembered for as long as no more are ready."""
        known_as = (opened.run, opened.span, opened.traces, tuple((o.worker, o.state) for o in opened.others), question)
        answer = self._answers.get(known_as)
        if answer is None:
            answer = pack(compute())
            self._answers.put(known_as, answer)
        return answer

    def timeline(self, trace: OpenTrace) -> Timeline:
        """The trace as it is drawn; built when no worker process has done so. Raises Loading."""
        timeline = self._timelines.held(trace.key)
        if timeline is None:
            self._wait_for(trace, TIMELINE)
            try:
                timeline = self._timelines.open(trace.key)
            except (OSError, column_file.ColumnFileError) as error:
                self._read_again(trace, error)
        self._cache.touch(trace.key)
        return timeline

    def rank_summary(self, trace: OpenTrace) -> RankSummary:
        """What is kept of a trace for the overview of its run. Raises Loading."""
        self._wait_for(trace, TIMELINE)
        try:
            return self._timelines.summary(trace.key)
        except (OSError, column_file.ColumnFileError) as error:
            self._read_again(trace, error)

    def original(self, trace: OpenTrace) -> Original:
        """The file of a trace. Raises Unknown, and Unreadable when it is gone or has changed since it was read."""
        with self._lock:
            held, _ = self._look_up(trace.run, trace.worker, trace.span)
            entry, status, changed = held.file.entry, held.status(), held.key != trace.key
        try:
            storage = storage_for(entry.url)
            if changed or storage.stat(entry.url).version != entry.version:
                raise Unreadable(replace(status, reason="has changed since it was read; it is read again soon"))
            return Original(status.file, status.size, storage.open(entry))
        except StorageError as error:
            raise Unreadable(replace(status, reason=str(error))) from None

    def answer_of_original(self, trace: OpenTrace, question: Hashable, compute: Callable[[BinaryIO], bytes]) -> bytes:
        """The answer to a question about the file of a trace, remembered. Raises as `original` does."""
        known_as = ("original", trace, question)
        answer = self._answers.get(known_as)
        if answer is None:
            with self.original(trace).stream as stream:
                answer = pack(compute(stream))
            self._answers.put(known_as, answer)
        return answer.plain()

    def _of_run(self, run: str) -> list[_Held]:
        found = next((urls for name, urls, _ in self._runs if name == run), None)
        if found is None:
            raise Unknown(f"there is no run {run!r}")
        return [self._held[url] for url in found]

    def _look_up(self, run: str, worker: str, span: str | None) -> tuple[_Held, int]:
        of_run = self._of_run(run)
        of_worker = [held for held in of_run if held.file.worker == worker]
        if not of_worker:
            raise Unknown(f"run {run!r} has no worker {worker!r}")
        if span is None and len(of_worker) > 1:
            raise Unknown(f"worker {worker!r} has {len(of_worker)} spans: one must be named")
        wanted = [held for held in of_worker if span in (None, held.file.span)]
        if not wanted:
            raise Unknown(f"worker {worker!r} has no span {span!r}")
        return wanted[0], len({held.file.worker for held in of_run})

    def _wait_for(self, trace: OpenTrace, name: str) -> None:
        """While a worker process is about to make this; nobody is faster."""
        with self._answered:
            self._answered.wait_for(lambda: name not in self._awaited.get(trace.key, ()), LONGEST_WAIT)

    def _open(self, trace: OpenTrace) -> _Opened:
        # Two models of one trace would have two locks, and each its own memory.
        with self._models_lock:
            opened = self._models.get(trace.key)
            if opened is None:
                opened = self._opened(trace)
                self._models.put(trace.key, opened)
        self._cache.touch(trace.key)
        return opened

    def _opened(self, trace: OpenTrace) -> _Opened:
        try:
            columns = column_file.open_trace(self._cache.columns(trace.key))
        except (OSError, column_file.ColumnFileError) as error:
            self._read_again(trace, error)
        return _Opened(Model(columns), len(columns.events))

    def _compute(self, trace: OpenTrace, opened: _Opened, compute: Callable[[Model], A]) -> A:
        try:
            return compute(opened.model)
        except (OSError, column_file.ColumnFileError) as error:
            # Tables are read when they are needed, so the file may turn out broken or gone this late.
            self._read_again(trace, error)

    def _read_both_again(self, left: OpenTrace, right: OpenTrace, error: Exception) -> NoReturn:
        """It is not known whose columns are unusable."""
        with suppress(Loading):
            self._read_again(left, error)
        self._read_again(right, error)

    def _read_again(self, trace: OpenTrace, error: Exception) -> NoReturn:
        """The columns of a trace are unusable: make new ones."""
        log.warning("%s/%s: its columns cannot be used (%s); it is read again", trace.run, trace.worker, error)
        self._models.drop(trace.key)
        self._timelines.drop(trace.key)
        self._cache.remove(trace.key)
        with self._lock:
            held, _ = self._look_up(trace.run, trace.worker, trace.span)
            if held.state == "ready" and held.key == trace.key:
                held.state, held.summary, held.bytes_done, held.events = "queued", None, 0, None
                self._pool.submit(self._job(held))
            status = held.status()
        raise Loading(status)

    # listing ---------------------------------------------------------------------------------------------

    def _found(self, found: Found) -> None:
        """Take over what a listing has found. Called by the scanner's thread only."""
        new: list[_Held] = []
        with self._lock:
            held_before, self._held = self._held, {}
            for run in found.runs:
                for file in run.traces:
                    url = file.entry.url
                    if url in self._held:
                        continue  # log directories that overlap share the trace
                    held = held_before.pop(url, None)
                    if held is None or self._has_settled_anew(held, file.entry):
                        if held is not None:
                            self._forget(held)
                        held = _Held(next(self._ids), run.name, file)
                        new.append(held)
                    elif held.unsettled is None:
                        if _may_be_tried_again(held):
                            new.append(held)
                        held.file = file
                    else:
                        held.file = replace(file, entry=held.file.entry)
                    self._held[url] = held
            for held in held_before.values():
                self._forget(held)
            self._runs = [(r.name, [t.entry.url for t in r.traces], r.skipped) for r in found.runs]
            self._skipped = found.skipped
            self._error = None
        for held in new:
            self._begin(held)
        with self._lock:
            self._scanning = self._scanning and not found.complete

    def _not_found(self, reason: str) -> None:
        with self._lock:
            self._error = reason
            self._scanning = False

    def _has_settled_anew(self, held: _Held, entry: Entry) -> bool:
        """Whether a file has changed and kept still since the listing before."""
        if entry.version == held.file.entry.version:
            held.unsettled = None
            return False
        settled = held.unsettled is not None and held.unsettled.version == entry.version
        held.unsettled = entry
        return settled

    def _forget(self, held: _Held) -> None:
        self._pool.withdraw(held.id)
        self._models.drop(held.key)

    def _begin(self, held: _Held) -> None:
        """Take a trace from the cache or have it read."""
        entry = held.file.entry
        try:
            key = content_key(storage_for(entry.url), entry)
        except StorageError as error:
            with self._lock:
                if held.reason is None:
                    log.warning("%s %s", entry.url, error)
                held.state, held.reason = "failed", str(error)
            return
        summary = self._cache.find(key)
        with self._lock:
            held.key, held.reason, held.retry_at = key, None, None
            if summary is not None:
                held.state, held.summary = "ready", summary
                log.info("%s: %d events, from the cache", entry.path, summary.events)
            else:
                held.state = "queued"
                self._pool.submit(self._job(held))

    def _job(self, held: _Held) -> Job:
        target = self._cache.columns(held.key)
        return Job.of(held.id, held.file.entry, target, self._answering(held), self._cache.limits.expansion)

    def _answering(self, held: _Held) -> Answering | None:
        if not self._questions:
            return None
        workers = len({each.file.worker for each in self._held.values() if each.run == held.run})
        file = held.file
        trace = OpenTrace(held.run, file.worker, file.span, held.key, file.entry.size, workers)
        answers, timeline = self._cache.answers(held.key), self._cache.timeline(held.key)
        return Answering(self._questions, trace, str(answers), str(timeline))

    # reading ---------------------------------------------------------------------------------------------

    def _heard(self, job: Job, message: Message | None) -> None:
        """A worker process says something; None when it starts. Called by the threads of the pool."""
        with self._lock:
            if isinstance(message, Preparing | Answered | Prepared):
                self._heard_of_answers(job, message)
                return
            held = self._held.get(job.url)
            if held is None or held.id != job.id or job.is_read:
                return  # removed or changed since, or nothing new
            path = held.file.entry.path
            if message is None:
                held.state = "loading"
                log.debug("%s: reading %d bytes", path, job.size)
            elif isinstance(message, Reading):
                held.bytes_done, held.events = message.bytes_done, message.events
            elif isinstance(message, Done):
                # Before the state says so: whoever sees "ready" may count on it.
                self._cache.add(held.key, message.summary)
                held.state, held.summary = "ready", message.summary
                if job.answering is not None:
                    self._awaited[held.key] = _EVERYTHING
                log.info("%s: %d events, %d bytes, %.1f s", path, message.summary.events, job.size, message.seconds)
                if job.answering is None and (answering := self._answering(held)) is not None:
                    self._pool.submit_later(replace_fields(job, answering=answering, is_read=True))
            else:
                held.state, held.reason = "failed", message.reason
                if message.passes:
                    held.tries += 1
                    held.retry_at = time.monotonic() + min(FIRST_RETRY_SECONDS * 2 ** (held.tries - 1), LONGEST_PAUSE)
                log.warning("%s %s", path, message.reason)
                if message.details:
                    log.warning("%s", message.details)

    def _heard_of_answers(self, job: Job, message: Preparing | Answered | Prepared) -> None:
        assert job.answering is not None
        key = job.answering.trace.key
        if isinstance(message, Preparing):
            self._awaited[key] = frozenset(message.names)
        elif isinstance(message, Answered):
            self._awaited[key] = self._awaited.get(key, frozenset()) - {message.name}
        else:
            self._awaited.pop(key, None)
            log.debug("%s: answers prepared in %.1f s", job.url, message.seconds)
            if message.details:
                log.warning("%s: no answers were prepared: %s", job.url, message.details)
        self._answered.notify_all()


def _may_be_tried_again(held: _Held) -> bool:
    if held.state != "failed":
        return False
    if not held.key:  # it could not be opened; perhaps now
        return True
    return held.retry_at is not None and time.monotonic() >= held.retry_at


def _resolved(roots: Sequence[Root]) -> list[Root]:
    resolved: list[Root] = []
    failures: list[StorageError] = []
    for root in roots:
        try:
            resolved.append(Root(storage_for(root.url).resolve(root.url), root.name))
        except StorageError as error:
            failures.append(error)
            resolved.append(Root(shown(root.url), root.name))  # listing it says the same
    if failures and len(failures) == len(roots):
        raise failures[0]
    return resolved


def open_workspace(
    roots: Sequence[Root],
    cache_dir: Path | None = None,
    workers: int | None = None,
    reload_interval: float = DEFAULT_INTERVAL,
    questions: str = "",
    max_expansion: int | None = None,
    found: Found | None = None,
) -> Workspace:
    """Open log directories and begin to read them; they are closed at exit at the latest.

    questions: "module:function", are answered as soon as a trace has been read
    found: what is in them, where that is known; they are not looked at then
    max_expansion: to how many times its size a packed file may unpack; None for what the environment says

    Raises StorageError when none of them has an address that can be right.
    """
    resolved = _resolved(roots)
    if os.environ.get("TORCH_PROFILER_START_METHOD", "spawn") != "spawn":
        log.info("TORCH_PROFILER_START_METHOD has no effect: traces are read in fresh processes")
    cache = Cache(cache_dir, expansion=max_expansion)
    workspace = Workspace(
        resolved, cache, workers or min(os.cpu_count() or 1, MOST_WORKERS), reload_interval, questions
    )
    atexit.register(workspace.close)
    workspace.start(found)
    return workspace
