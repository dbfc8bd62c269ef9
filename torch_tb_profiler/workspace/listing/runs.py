"""Which traces there are and how far each is: what listings find, and what worker processes report of it."""

from __future__ import annotations

import itertools
import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.discovery import Root, RunFiles, RunListing
from torch_tb_profiler.discovery.dumps import DumpFolder
from torch_tb_profiler.discovery.runs import Skipped
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import StorageError, shown, storage_for
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.cache.identity import content_key
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.listing.run_index import AddedRuns, RunIndex, TraceState
from torch_tb_profiler.workspace.listing.scanner import Scanner
from torch_tb_profiler.workspace.reading.pool import Pool
from torch_tb_profiler.workspace.reading.protocol import (
    Answered,
    Answering,
    Done,
    Failed,
    Job,
    Message,
    PendingAnswers,
    Prepared,
    Preparing,
    Reading,
)
from torch_tb_profiler.workspace.reading.reading_order import in_reading_order, memory_budget
from torch_tb_profiler.workspace.status import (
    Loading,
    OpenRun,
    OpenTrace,
    Original,
    RunStatus,
    Status,
    UnknownTrace,
    Unreadable,
)

log = logging.getLogger(__name__)


class ReadingOptions(msgspec.Struct, frozen=True):
    """How log directories are read.

    workers          worker processes at most
    reload_interval  seconds between two listings; 0 lists once
    questions        are answered as soon as a trace has been read, see `Answering`; empty for none
    """

    workers: int
    reload_interval: float
    questions: str = ""


class RunRegistry:
    """The runs of log directories, and how far each of their traces is. Thread-safe; `close` it.

    Its methods for the traces of a name are described at `Workspace`.

    pending   the answers that worker processes are about to give
    """

    def __init__(
        self, roots: Sequence[Root], cache: TraceCache, options: ReadingOptions, forgotten: Callable[[str], None]
    ) -> None:
        """Prepare to list `roots`.

        forgotten: is called with the content key of every trace that is gone, has changed or is read again
        """
        self._roots = roots
        self._cache = cache
        self._questions = options.questions
        self.pending = PendingAnswers()
        self._forgotten = forgotten
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._traces: dict[str, TraceState] = {}
        self._index = RunIndex((), ())
        self._listing = threading.Lock()
        self._listed, self._added = RunListing((), (), complete=False), AddedRuns()
        self._scanning = True
        self._error: Reason | None = None
        self._pool = Pool(options.workers, self._on_message, memory=memory_budget())
        self._scanner = Scanner(roots, options.reload_interval, self._on_listing, self._on_failure, cache)

    def start(self, listing: RunListing | None = None) -> None:
        """Begin to list and read, as `Workspace.start` says."""
        if listing is None:
            self._scanner.start()
        else:
            self._cache.sweep()
            self._on_listing(listing)

    def close(self) -> None:
        self._scanner.stop()
        self._pool.close()

    def process_ids(self) -> list[int]:
        """Return the ids of the worker processes that are alive now."""
        return self._pool.process_ids()

    # asking ----------------------------------------------------------------------------------------------

    def status(self) -> Status:
        self._take_over_added()
        with self._lock:
            runs = tuple(self._status_of(name, urls, skipped) for name, urls, skipped in self._index.runs)
            return Status(
                logdir=",".join(shown(root.url) for root in self._roots),
                scanning=self._scanning,
                error=self._error,
                runs=runs,
                skipped=self._listed.skipped,
                remote=any(storage_for(root.url).is_remote for root in self._roots),
                dumps=self._listed.dumps,
            )

    def run(self, name: str) -> RunStatus:
        self._take_over_added()
        with self._lock:
            return self._status_of(*self._index.named(name))

    def dumps(self, run: str) -> DumpFolder:
        for folder in self._listed.dumps:
            if folder.name == run:
                return folder
        raise UnknownTrace(because("no_dumps", {"run": run}))

    def _status_of(self, name: str, urls: Sequence[str], skipped: tuple[Skipped, ...]) -> RunStatus:
        traces = [self._traces[url] for url in urls]
        newest = max((recorded for trace in traces if (recorded := trace.recorded_ns)), default=None)
        parent = self._index.parents.get(name)
        return RunStatus(name, tuple(trace.status() for trace in traces), skipped, newest, parent)

    def find(self, run: str, worker: str, span: str | None = None) -> OpenTrace:
        self._take_over_added()
        with self._lock:
            trace, workers = self._look_up(run, worker, span)
            status, key = trace.status(), trace.key
        if status.state == "ready":
            return OpenTrace(run, worker, status.span, key, status.size, workers, status.kind)
        if status.state == "failed":
            raise Unreadable(status)
        self._pool.prioritize(trace.id)
        raise Loading(status)

    def find_span(self, run: str, span: str | None = None) -> OpenRun:
        self._take_over_added()
        with self._lock:
            of_run = [trace for trace in self._of_run(run) if trace.file.kind == "trace"]
            spans = {trace.file.span for trace in of_run}
            if span is None and len(spans) > 1:
                raise UnknownTrace(f"run {run!r} has {len(spans)} spans: one must be named")
            wanted = [trace for trace in of_run if span in (None, trace.file.span)]
            if not wanted:
                raise UnknownTrace(because("no_such_span", {"span": span or "", "run": run}))
            workers = len({trace.file.worker for trace in of_run})
            status = [(trace, trace.status()) for trace in wanted]
        ready = tuple(
            OpenTrace(run, s.worker, s.span, trace.key, s.size, workers, s.kind)
            for trace, s in status
            if s.state == "ready"
        )
        others = tuple(s for _, s in status if s.state != "ready")
        for waiting in (s for s in others if not ready and s.state != "failed"):
            raise Loading(waiting)
        if not ready:
            raise Unreadable(others[0])
        return OpenRun(run, wanted[0].file.span, ready, others)

    def original(self, opened: OpenTrace) -> Original:
        with self._lock:
            trace, _ = self._look_up(opened.run, opened.worker, opened.span)
            entry, status, changed = trace.file.entry, trace.status(), trace.key != opened.key
        try:
            storage = storage_for(entry.url)
            if changed or storage.stat(entry.url).version != entry.version:
                changed_since = because("changed")
                raise Unreadable(replace(status, reason=changed_since))
            return Original(status.file, status.size, storage.open(entry))
        except StorageError as error:
            raise Unreadable(replace(status, reason=error.reason)) from None

    def read_again(self, opened: OpenTrace, error: Exception, began: float) -> None:
        """Have the columns of a trace made again, once: an answer that `began` then (monotonic seconds) failed on them.

        Raises Loading, Unreadable if new ones are no better, and UnknownTrace when the trace is gone. Does nothing when
        the columns are not at fault: an analysis did not expect what this server has read itself.
        """
        with self._lock:
            trace, _ = self._look_up(opened.run, opened.worker, opened.span)
            is_about = trace.state == "ready" and trace.key == opened.key and began > trace.ready_at
            is_foreseen = isinstance(error, column_file.ColumnFileError)
            if is_about and trace.is_read_here and not is_foreseen:
                return
            if is_about:
                place, why = f"{opened.run}/{opened.worker}", None if is_foreseen else error
                log.warning("%s: its columns cannot be used (%s)", place, error, exc_info=why)
                trace.repair(error, not column_file.is_whole(self._cache.columns(opened.key)))
        if is_about:
            self._forgotten(opened.key)
            self._cache.remove(opened.key)
        with self._lock:
            if is_about and trace.state == "queued":
                self._pool.submit(self._job(trace))
            status = trace.status()
        raise Unreadable(status) if status.state == "failed" else Loading(status)

    def with_columns(self, path: Path) -> OpenTrace | None:
        """Return the trace whose columns are in a file."""
        with self._lock:
            for run, trace in ((run, self._traces[url]) for run, urls, _ in self._index.runs for url in urls):
                if trace.key and self._cache.columns(trace.key) == path:
                    file = trace.file
                    return OpenTrace(run, file.worker, file.span, trace.key, file.entry.size, 1, file.kind)
        return None

    def _of_run(self, run: str) -> list[TraceState]:
        return [self._traces[url] for url in self._index.named(run)[1]]

    def _look_up(self, run: str, worker: str, span: str | None) -> tuple[TraceState, int]:
        of_run = self._of_run(run)
        of_worker = [trace for trace in of_run if trace.file.worker == worker]
        if not of_worker:
            raise UnknownTrace(because("no_such_worker", {"run": run, "worker": worker}))
        if span is None and len(of_worker) > 1:
            raise UnknownTrace(f"worker {worker!r} has {len(of_worker)} spans: one must be named")
        wanted = [trace for trace in of_worker if span in (None, trace.file.span)]
        if not wanted:
            raise UnknownTrace(because("no_such_span", {"span": span or "", "worker": worker}))
        return wanted[0], len({trace.file.worker for trace in of_run if trace.file.kind == "trace"})

    # listing ---------------------------------------------------------------------------------------------

    def _on_listing(self, listing: RunListing) -> None:
        """Take over what a listing has found. Called by the scanner's thread only."""
        with self._listing:
            is_same = listing is self._listed and not self._added.is_any_to_make
            self._listed = listing
            if not is_same or self._is_any_due():
                self._take_over_runs(is_new=True)
            with self._lock:
                self._error = None
                self._scanning = self._scanning and not listing.complete

    def _is_any_due(self) -> bool:
        """Return whether a further listing decides something about a file that has not changed since the last one."""
        with self._lock:
            return any(trace.unsettled is not None or trace.may_be_tried_again for trace in self._traces.values())

    def has_run(self, name: str) -> bool:
        """Return whether there is a run of this name, added ones included."""
        return name in self._index or name in self._added

    def add(self, name: str, make: Callable[[], RunFiles]) -> None:
        """Add a run, as `Workspace.add` says."""
        self._added.add(name, make)

    def _take_over_added(self) -> None:
        """Take over added runs, unless a listing is being taken over, which may take long."""
        if self._added.is_any_to_make and self._listing.acquire(blocking=False):
            try:
                self._take_over_runs(is_new=False)
            finally:
                self._listing.release()

    def _take_over_runs(self, is_new: bool) -> None:
        """Take over the runs of the last listing, and added ones. is_new: whether that listing is a new one."""
        runs = self._added.beside([*self._listed.runs, *self._listed.captures])
        new: list[TraceState] = []
        gone: list[TraceState] = []
        with self._lock:
            before, self._traces = self._traces, {}
            for run in runs:
                for file in run.traces:
                    url = file.entry.url
                    if url in self._traces:
                        continue  # log directories that overlap share the trace
                    trace = before.pop(url, None)
                    if trace is None or (is_new and trace.has_settled_change(file.entry)):
                        if trace is not None:
                            gone.append(trace)
                        trace = TraceState(next(self._ids), run.name, file)
                        new.append(trace)
                    elif trace.unsettled is None:
                        if trace.may_be_tried_again:
                            new.append(trace)
                        trace.file = file
                    else:
                        trace.file = replace(file, entry=trace.file.entry)
                    self._traces[url] = trace
            gone += before.values()
            self._index = RunIndex(runs, self._traces.values())
        for trace in gone:
            self._pool.withdraw(trace.id)
            self._forgotten(trace.key)
        if new and self._cache.shared:
            self._cache.shared.refresh()
        order = {id(file): place for place, file in enumerate(in_reading_order([trace.file for trace in new]))}
        for trace in sorted(new, key=lambda trace: order[id(trace.file)]):
            self._begin(trace)

    def _on_failure(self, reason: Reason) -> None:
        with self._lock:
            self._error = reason
            self._scanning = False

    def _begin(self, trace: TraceState) -> None:
        """Take a trace from the cache or have it read."""
        entry = trace.file.entry
        try:
            known = self._cache.shared.key_of(entry) if self._cache.shared else None
            key = known or content_key(storage_for(entry.url), entry)
        except StorageError as error:
            reason = (self._cache.shared.failure_of(entry) if self._cache.shared else None) or error.reason
            with self._lock:
                if trace.reason is None:
                    log.warning("%s %s", entry.url, reason.text)
                trace.state, trace.reason = "failed", reason
            return
        summary, has_columns = self._cache.find(key), self._cache.has_columns(key)
        with self._lock:
            trace.key, trace.reason, trace.retry_at = key, None, None
            if summary is not None:
                trace.mark_ready(summary, is_read_here=False)
                log.info("%s: %d events, from the cache", entry.path, summary.events)
            else:
                trace.state = "queued"
                self._pool.submit(self._job(trace, has_columns))

    def _job(self, trace: TraceState, has_columns: bool = False) -> Job:
        is_one_of_many = self._index.size_of(trace.run).traces > 1
        return Job(
            trace.id,
            trace.file.entry,
            str(self._cache.columns_here(trace.key)),
            self._answering(trace),
            expansion=self._cache.limits.expansion,
            has_columns=has_columns,
            rank=str(self._cache.rank(trace.key)) if is_one_of_many else "",
            kind=trace.file.kind,
        )

    def _answering(self, trace: TraceState) -> Answering | None:
        if not self._questions:
            return None
        workers = self._index.size_of(trace.run).workers
        file = trace.file
        opened = OpenTrace(trace.run, file.worker, file.span, trace.key, file.entry.size, workers, file.kind)
        answers, timeline = self._cache.answers(trace.key), self._cache.timeline(trace.key)
        return Answering(self._questions, opened, str(answers), str(timeline))

    # reading ---------------------------------------------------------------------------------------------

    def _on_message(self, job: Job, message: Message | None) -> None:
        """Take over a message of a worker process; None if it starts a job. Called by the threads of the pool."""
        if isinstance(message, Preparing | Answered | Prepared):
            self._on_answer_message(job, message)
            return
        with self._lock:
            trace = self._current(job)
            key = trace.key if trace else ""
        if trace is None:
            return
        if isinstance(message, Done):
            # Before the state says so: with "ready" both are there.
            self._cache.add(key, message.summary)
            if job.answering is not None:
                self.pending.promise(key)
        with self._lock:
            if self._current(job) is trace:
                self._take_over(trace, job, message)
        if isinstance(message, Done):
            self._cache.sweep_if_due()

    def _current(self, job: Job) -> TraceState | None:
        """Return the trace that a job reads; None if it is gone or has changed since, or there is nothing to read."""
        trace = self._traces.get(job.entry.url)
        return None if trace is None or trace.id != job.id or job.is_read else trace

    def _take_over(self, trace: TraceState, job: Job, message: Message | None) -> None:
        path = trace.file.entry.path
        if message is None:
            trace.state = "loading"
            log.debug("%s: reading %d bytes", path, job.entry.size)
        elif isinstance(message, Reading):
            trace.bytes_done, trace.events = message.bytes_done, message.events
        elif isinstance(message, Done):
            trace.mark_ready(message.summary, is_read_here=not job.has_columns)
            log.info("%s: %d events, %d bytes, %.1f s", path, message.summary.events, job.entry.size, message.seconds)
            if job.answering is None and (answering := self._answering(trace)) is not None:
                self._pool.submit_later(replace(job, answering=answering, is_read=True))
        elif isinstance(message, Failed):
            trace.fail(message.reason, message.passes)
            log.warning("%s %s", path, message.reason)
            if message.details:
                log.warning("%s", message.details)

    def _on_answer_message(self, job: Job, message: Preparing | Answered | Prepared) -> None:
        assert job.answering is not None
        self.pending.receive(job.answering.trace.key, message)
        if isinstance(message, Answered) and message.details:
            log.warning("%s: an answer could not be prepared: %s", job.entry.url, message.details)
        if isinstance(message, Prepared):
            self._cache.added_to(job.answering.trace.key)
            self._cache.sweep_if_due()
            log.debug("%s: answers prepared in %.1f s", job.entry.url, message.seconds)
            if message.details:
                log.warning("%s: no answers were prepared: %s", job.entry.url, message.details)
