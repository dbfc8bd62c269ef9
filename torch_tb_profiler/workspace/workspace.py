"""The workspace: which traces there are, how far each is, and their answers."""

from __future__ import annotations

import atexit
import logging
import os
import time
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from torch_tb_profiler import spill
from torch_tb_profiler.discovery import Root, RunFiles, RunListing
from torch_tb_profiler.timeline.summary import TimelineSummary as RankSummary
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Limits
from torch_tb_profiler.trace.column_file import ColumnFileError
from torch_tb_profiler.workspace.answering.answerer import VALUE_BYTES, Answerer, Needed, TimelineOf
from torch_tb_profiler.workspace.answering.answering_process import AnsweringProcess
from torch_tb_profiler.workspace.answering.value_cache import ValueCache
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder, answer_name
from torch_tb_profiler.workspace.cache.checksummed import is_broken
from torch_tb_profiler.workspace.cache.identity import result_name
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache, open_cache
from torch_tb_profiler.workspace.listing.runs import ReadingOptions, RunRegistry
from torch_tb_profiler.workspace.listing.scanner import DEFAULT_INTERVAL, resolved
from torch_tb_profiler.workspace.process import IdleTrimmer
from torch_tb_profiler.workspace.reading.protocol import TIMELINE
from torch_tb_profiler.workspace.status import OpenRun, OpenTrace, Original, RunStatus, Status

log = logging.getLogger(__name__)

MOST_WORKERS = 4
#: bytes in memory of remembered values that are also on disk
ANSWER_BYTES = 64 * 1000**2
#: bytes from which a remembered value is forgotten when idle: graphs of all ranks, tables
LARGE_VALUE = 1000**2
#: events from which a trace is opened in the answering process: answers about smaller ones come before that starts
LARGE_EVENTS = 400_000


class Value(Protocol):
    """A value that can be kept within a budget of bytes."""

    @property
    def size(self) -> int:
        """About how many bytes it takes in memory."""


V = TypeVar("V", bound=Value)
W = TypeVar("W", bound=Value)
A = TypeVar("A")

#: where a remembered value is kept: in memory, or in memory and beside the columns of its trace until those go
Tier = Literal["memory", "disk"]


class Key(msgspec.Struct, frozen=True):
    """The key of a remembered value.

    traces: those it is about; it is forgotten with any of them
    question: what is asked of them; for a value on disk a text that is the same in every process
    """

    traces: tuple[OpenTrace, ...]
    question: Hashable

    @classmethod
    def of_run(cls, opened: OpenRun, question: Hashable) -> Key:
        """Return the key of a value that holds as long as no other traces of the span are ready."""
        others = tuple((other.worker, other.state) for other in opened.others)
        return cls(opened.traces, (opened.run, opened.span, others, question))


class Workspace:
    """An open log directory. Thread-safe; `close` it."""

    def __init__(self, roots: Sequence[Root], cache: TraceCache, options: ReadingOptions) -> None:
        self._cache = cache
        self._here = Answerer(cache)
        self._elsewhere = AnsweringProcess(cache)
        self._on_disk: ValueCache[Key, Any] = ValueCache(ANSWER_BYTES, lambda value: value.size)
        self._in_memory: ValueCache[Key, Any] = ValueCache(VALUE_BYTES, lambda value: value.size)
        large_values = partial(self._in_memory.drop_unused, least=LARGE_VALUE)
        self._unused = IdleTrimmer((self._here.drop_unused, self._elsewhere.drop_unused, large_values))
        self._runs = RunRegistry(roots, cache, options, self._forget)
        self._pending = self._runs.pending

    def start(self, listing: RunListing | None = None) -> None:
        """Read what the log directories hold, again and again; once what `listing` has where that is known."""
        self._runs.start(listing)
        self._unused.start()

    def add(self, name: str, make: Callable[[], RunFiles]) -> None:
        """Add a run of files in no log directory; it replaces an added one of its name.

        make    gives the run; called when somebody next asks, at the latest with the next listing
        """
        self._runs.add(name, make)

    def has_run(self, name: str) -> bool:
        """Return whether there is a run of this name, added ones included."""
        return self._runs.has_run(name)

    def close(self) -> None:
        atexit.unregister(self.close)
        self._unused.stop()
        self._runs.close()
        self._elsewhere.close()
        self._pending.clear()
        self._cache.close()

    @property
    def limits(self) -> Limits:
        """How much a trace file may unpack to."""
        return self._cache.limits

    def process_ids(self) -> list[int]:
        """Return the ids of the worker processes that are alive now."""
        return [*self._runs.process_ids(), *self._elsewhere.process_ids()]

    # runs ------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        return self._runs.status()

    def run(self, name: str) -> RunStatus:
        """Return a run and how far its traces are. Raises UnknownTrace."""
        return self._runs.run(name)

    def find(self, run: str, worker: str, span: str | None = None) -> OpenTrace:
        """Return the trace of these names; `span` may be left out when the worker has one.

        Raises UnknownTrace, Loading or Unreadable.
        """
        return self._runs.find(run, worker, span)

    def find_span(self, run: str, span: str | None = None) -> OpenRun:
        """Return all traces of a span of a run; `span` may be left out when there is one.

        Raises UnknownTrace; Loading or Unreadable when none of them can be asked.
        """
        return self._runs.find_span(run, span)

    def original(self, trace: OpenTrace) -> Original:
        """Open the file of a trace. Raises UnknownTrace, and Unreadable when it is gone or has changed since."""
        return self._runs.original(trace)

    def columns(self, trace: OpenTrace) -> Path:
        """Return the column file of a trace, for a process that reads it itself."""
        return self._cache.columns_here(trace.key)

    # answers ---------------------------------------------------------------------------------------------

    def ask(self, question: Callable[..., A], *needs: Needed) -> A:
        """Call a function with what it needs, in the order of its parameters, and return its answer; see `remember`.

        question: asks nothing of this workspace. About a large trace one that can be pickled is answered by a process
            of its own

        Raises Loading when a trace must be read again, UnknownStep, Unanswered, NotKept, and what `question` raises.
        """
        traces = [need.trace for need in needs]
        for need in needs:
            if isinstance(need, TimelineOf):
                self._wait_for_timeline(need.trace)
        began = time.monotonic()
        try:
            if any(self._is_large(trace) for trace in traces):
                for trace in traces:
                    self._cache.columns_here(trace.key)
                order = self._elsewhere.order("ask", question, *needs)
                if order is not None:
                    answer: A = self._elsewhere.ask(order)
                    return answer
            return self._here.ask(question, *needs)
        except Exception as error:
            if is_broken(error):  # tables are read when they are needed: columns may turn out broken this late
                self._read_again(traces, error, began)
            raise

    def _is_large(self, trace: OpenTrace) -> bool:
        known = self._cache.find(trace.key)
        return known is not None and known.events >= LARGE_EVENTS

    def remember(self, key: Key, make: Callable[[], V], tier: Tier = "memory") -> V:
        """Return the value of a key, made when missing.

        A request for a value that is being made waits for it; others do not. What could not be made is not
        remembered. On disk are `StoredAnswer`s about one trace: a worker process that is about to give one is waited
        for.

        Raises what `make` raises.
        """
        if tier == "disk":
            make = partial(self._kept, key, make)
        value: V = (self._on_disk if tier == "disk" else self._in_memory).remember(key, make)
        return value

    def _kept(self, key: Key, make: Callable[[], Any]) -> Any:
        (trace,) = key.traces
        name = answer_name(trace, str(key.question))
        folder = AnswerFolder(self._cache.answers(trace.key))
        self._pending.wait_for(trace.key, name)
        value = folder.get(name)
        if value is None:
            value = make()
            self._cache.added(folder.put(name, value))
        self._cache.touch(trace.key)
        self._cache.sweep_if_due()
        return value

    def kept_of_run(
        self,
        opened: OpenRun,
        make: Callable[[], V],
        codec: tuple[Callable[[V], bytes], Callable[[bytes], V | None]],
        answer: Hashable = None,
    ) -> V:
        """Return a result of all ranks of a run, from the file that was made of the same ranks, or made now.

        codec   encodes and decodes the file; decoding gives None of what is damaged or not to be used
        answer  what is asked, where the result is an answer; its `repr` is the same in every process
        """
        encode, decode = codec
        name = self._result_name(opened, answer)
        content = self._cache.result(name, is_own=answer is not None) if name is not None else None
        value = decode(content) if content else None
        if value is None:
            value = make()
            if name is not None:
                self._cache.keep_result(name, encode(value))
                self._cache.sweep_if_due()
        return value

    def _wait_for_timeline(self, trace: OpenTrace) -> None:
        """Wait until the worker process that builds the timeline has done so."""
        if self._here.timelines.get(trace.key) is None:
            self._pending.wait_for(trace.key, TIMELINE)
        self._cache.touch(trace.key)

    def rank_summary(self, trace: OpenTrace) -> RankSummary:
        """Return the summary of a trace, for the overview of its run. Raises Loading."""
        self._pending.wait_for(trace.key, TIMELINE)
        return self._here.timelines.summary(trace.key, lambda: self.ask(_summary_of, TimelineOf(trace)))

    def rank_content(self, trace: OpenTrace) -> bytes | None:
        """Return the stored data of a trace for questions about all ranks, encoded; None if there is none."""
        return self._cache.rank_content(trace.key)

    def _result_name(self, opened: OpenRun, answer: Hashable) -> str | None:
        """Return the name of the file of a result or answer about these ranks; None while some are being read."""
        if any(other.state != "failed" for other in opened.others):
            return None
        ranks = [(trace.worker, trace.key) for trace in opened.traces]
        of_answer = () if answer is None else (self._cache.version, opened.run, opened.span, repr(answer))
        return result_name(ranks, [other.file for other in opened.others], of_answer)

    # together --------------------------------------------------------------------------------------------

    def repair(self, error: ColumnFileError, began: float = 0.0) -> None:
        """Have columns read again that an answer could not use after it got a timeline or model of this workspace.

        Raises Loading when the error is about the columns of a trace. began: when the answer did, monotonic seconds.
        """
        trace = self._runs.with_columns(error.path) if error.path else None
        self._read_again([trace] if trace else [], error, began)

    def _read_again(self, traces: Sequence[OpenTrace], error: Exception, began: float) -> None:
        """Have the columns made again that an error is about; see `RunRegistry.read_again`."""
        for trace in traces:
            if not isinstance(error, ColumnFileError) or error.path == self._cache.columns(trace.key):
                self._runs.read_again(trace, error, began)

    def _forget(self, content: str) -> None:
        """Free all memory of a trace that is gone, has changed or must be read again."""
        self._here.drop(content)
        self._elsewhere.drop(content)
        for memory in (self._on_disk, self._in_memory):
            memory.drop(lambda key: any(trace.key == content for trace in key.traces))


def _summary_of(timeline: Timeline) -> RankSummary:
    return timeline.summary


def open_workspace(
    roots: Sequence[Root],
    cache_dir: str | Path | None = None,
    workers: int | None = None,
    reload_interval: float = DEFAULT_INTERVAL,
    questions: str = "",
    max_expansion: int | None = None,
    listing: RunListing | None = None,
    is_alone: bool = False,
) -> Workspace:
    """Open log directories and begin to read them; they are closed at exit at the latest.

    cache_dir: see `open_cache`
    questions: "module:function", are answered as soon as a trace has been read
    listing: the files in them, if known; then they are not listed
    max_expansion: limit of unpacked size ÷ packed size of a file; None for the limit in the environment
    is_alone: whether the process does nothing else, so that large arrays may be spilled

    Raises StorageError when none of them has an address that can be right.
    """
    roots = resolved(roots)
    if os.environ.get("TORCH_PROFILER_START_METHOD", "spawn") != "spawn":
        log.info("TORCH_PROFILER_START_METHOD has no effect: traces are read in fresh processes")
    cache = open_cache(cache_dir, max_expansion)
    if is_alone:
        spill.use(cache.directory)
    options = ReadingOptions(workers or min(os.cpu_count() or 1, MOST_WORKERS), reload_interval, questions)
    workspace = Workspace(roots, cache, options)
    atexit.register(workspace.close)
    workspace.start(listing)
    return workspace
