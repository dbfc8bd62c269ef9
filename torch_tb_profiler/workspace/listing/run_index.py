"""The state of each trace file, and the traces of each run, added runs included."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from torch_tb_profiler.discovery import RunFiles, Skipped, TraceFile, natural_key
from torch_tb_profiler.discovery.names import recorded_ns
from torch_tb_profiler.reason import Reason, Why
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.trace.column_file import ColumnFileError
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.listing.scanner import LONGEST_PAUSE
from torch_tb_profiler.workspace.status import State, TraceStatus, TraceSummary, UnknownTrace

#: seconds before a trace that could not be read is tried again, doubled every time
FIRST_RETRY_SECONDS = 5.0
#: how often a trace with damaged columns is read again at once
_MOST_DAMAGED = 3


class TraceState(msgspec.Struct):
    """One trace file as the workspace knows it. Guarded by the lock of `RunRegistry`."""

    id: int
    run: str
    file: TraceFile
    state: State = "queued"
    key: str = ""
    bytes_done: int = 0
    events: int | None = None
    reason: Reason | None = None
    summary: TraceSummary | None = None
    #: the state of the file if the last listing saw it for the first time: it may still be growing
    unsettled: Entry | None = None
    #: how often reading has failed for a temporary reason, and when it is tried again (monotonic seconds)
    tries: int = 0
    retry_at: float | None = None
    #: since when there are columns (monotonic seconds), whether this server has made them, and how often it made them
    #: again because the earlier ones could not be used
    ready_at: float = 0.0
    is_read_here: bool = False
    repairs: int = 0

    @property
    def recorded_ns(self) -> int | None:
        """Return the time of recording, ns since the epoch: from the name, else the time of writing, else None."""
        entry = self.file.entry
        return recorded_ns(entry.path.rpartition("/")[2]) or entry.modified_ns or None

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
            bytes_total=self.file.entry.size,
            reason=self.reason.text if self.reason else None,
            why=Why.of(self.reason),
            notes=summary.notes if summary else 0,
            views=summary.views if summary else (),
            rank=self.file.rank if summary is None or summary.rank is None else summary.rank,
            world_size=summary.world_size if summary else None,
            host_name=(summary.host_name or None) if summary else None,
            kind=self.file.kind,
            devices=summary.devices if summary else (),
            program=summary.program if summary else "",
        )

    def fail(self, reason: Reason, passes: bool) -> None:
        """Note that reading has failed. passes: a later attempt may succeed."""
        self.state, self.reason = "failed", reason
        if passes:
            self.tries += 1
            self.retry_at = time.monotonic() + min(FIRST_RETRY_SECONDS * 2 ** (self.tries - 1), LONGEST_PAUSE)

    def mark_ready(self, summary: TraceSummary, is_read_here: bool) -> None:
        """Note that there are columns. is_read_here: they are not from the cache."""
        self.state, self.summary = "ready", summary
        self.ready_at, self.is_read_here = time.monotonic(), is_read_here

    def repair(self, error: Exception, is_damaged: bool) -> None:
        """Queue the trace to be read again, as its columns cannot be used; the second time, fail with this error.

        is_damaged: the columns differ from those that were written; reading again may help
        """
        if self.repairs < (_MOST_DAMAGED if is_damaged else 1):
            self.state = "queued"
        else:
            message = str(error) if isinstance(error, ColumnFileError) else f"{type(error).__name__}: {error}"
            self.fail(because("columns_unusable", {"error": message}), passes=is_damaged)
        self.repairs += 1
        self.summary, self.bytes_done, self.events = None, 0, None

    def has_settled_change(self, entry: Entry) -> bool:
        """Return whether a changed file was the same in the last two listings; entry: from the newest one."""
        if entry.version == self.file.entry.version:
            self.unsettled = None
            return False
        settled = self.unsettled is not None and self.unsettled.version == entry.version
        self.unsettled = entry
        return settled

    @property
    def may_be_tried_again(self) -> bool:
        if self.state != "failed":
            return False
        if not self.key:  # it could not be opened before; it may work now
            return True
        return self.retry_at is not None and time.monotonic() >= self.retry_at


class RunSize(NamedTuple):
    """How many traces and workers a run has; memory snapshots are no workers."""

    traces: int
    workers: int


class RunIndex:
    """The runs at one moment; immutable.

    runs     name of each, addresses of its traces, and its other files
    parents  of runs that are captures, the run that replays them
    """

    def __init__(self, runs: Sequence[RunFiles], traces: Iterable[TraceState]) -> None:
        """Index all traces; where log directories overlap, a trace is also known by the name of another run."""
        self.runs = [(run.name, [trace.entry.url for trace in run.traces], run.skipped) for run in runs]
        self.parents = {run.name: run.parent for run in runs if run.parent is not None}
        self._by_name = {run[0]: run for run in reversed(self.runs)}
        self._traces: defaultdict[str, int] = defaultdict(int)
        self._workers: defaultdict[str, set[str]] = defaultdict(set)
        for trace in traces:
            self._traces[trace.run] += 1
            if trace.file.kind == "trace":
                self._workers[trace.run].add(trace.file.worker)

    def __contains__(self, run: str) -> bool:
        return run in self._by_name

    def named(self, run: str) -> tuple[str, list[str], tuple[Skipped, ...]]:
        """Return the run of this name. Raises UnknownTrace."""
        if run not in self._by_name:
            raise UnknownTrace(because("no_such_run", {"run": run}))
        return self._by_name[run]

    def size_of(self, run: str) -> RunSize:
        """Return how many traces and workers a run has."""
        return RunSize(self._traces.get(run, 0), len(self._workers.get(run, ())))


class AddedRuns:
    """Runs of files in no log directory. A run is made when it is needed, not for every file that joins it.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._runs: dict[str, RunFiles] = {}
        self._to_make: dict[str, Callable[[], RunFiles]] = {}
        self._lock = threading.Lock()

    def __contains__(self, run: str) -> bool:
        with self._lock:
            return run in self._runs or run in self._to_make

    @property
    def is_any_to_make(self) -> bool:
        """Whether runs have been added since they were last made."""
        return bool(self._to_make)

    def add(self, name: str, make: Callable[[], RunFiles]) -> None:
        with self._lock:
            self._to_make[name] = make

    def beside(self, listed: Sequence[RunFiles]) -> Sequence[RunFiles]:
        """Return the runs of a listing and the added ones, in natural order. Called by one thread at a time."""
        with self._lock:
            to_make, self._to_make = self._to_make, {}
            made = {name: make() for name, make in to_make.items()}
            self._runs |= made
            runs = [*self._runs.values()]
        return sorted([*listed, *runs], key=lambda run: natural_key(run.name)) if runs else listed
