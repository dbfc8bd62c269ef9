"""The workspace: which traces there are, how far each is, and their answers."""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Protocol, TypeVar

from torch_tb_profiler.discovery import Found, Root
from torch_tb_profiler.model import Model
from torch_tb_profiler.storage import StorageError, shown, storage_for
from torch_tb_profiler.timeline.summary import Summary as RankSummary
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Limits, column_file
from torch_tb_profiler.workspace.answer_store import (
    AnswerFolder,
    Body,
    Packed,
    Refusal,
    StoredAnswer,
    answer_name,
    pack,
    stored,
)
from torch_tb_profiler.workspace.cache import Cache
from torch_tb_profiler.workspace.lru import Lru
from torch_tb_profiler.workspace.models import Models
from torch_tb_profiler.workspace.pending_answers import Awaited
from torch_tb_profiler.workspace.protocol import TIMELINE
from torch_tb_profiler.workspace.runs import Runs
from torch_tb_profiler.workspace.scanner import DEFAULT_INTERVAL
from torch_tb_profiler.workspace.status import Loading, OpenRun, OpenTrace, Original, RunStatus, Status
from torch_tb_profiler.workspace.timelines import Timelines

log = logging.getLogger(__name__)

MOST_WORKERS = 4
ANSWER_BYTES = 64 * 1000**2
#: of what is kept of traces for questions about whole runs
PART_BYTES = 256 * 1000**2


class Part(Protocol):
    """Something of a trace that is small enough to be kept when its model is not."""

    @property
    def size(self) -> int:
        """Bytes."""


P = TypeVar("P", bound=Part)


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
        self._cache = cache
        self._awaited = Awaited()
        self._models = Models(cache, self._read_again)
        self._runs = Runs(roots, cache, workers, reload_interval, questions, self._awaited, self._models.drop)
        self._timelines = Timelines(cache)
        self._answers: Lru[Hashable, Any] = Lru(ANSWER_BYTES, lambda answer: answer.size)
        self._parts: Lru[Hashable, Part] = Lru(PART_BYTES, lambda part: part.size)
        self._parts_lock = threading.Lock()

    def start(self, found: Found | None = None) -> None:
        """Read what the log directories hold, again and again; once what was `found` where that is known."""
        self._cache.sweep()
        self._runs.start(found)

    def close(self) -> None:
        atexit.unregister(self.close)
        self._runs.close()
        self._awaited.clear()
        self._cache.close()

    @property
    def limits(self) -> Limits:
        """How much a trace file may unpack to."""
        return self._cache.limits

    def process_ids(self) -> list[int]:
        """The worker processes that are alive now."""
        return self._runs.process_ids()

    # runs ------------------------------------------------------------------------------------------------

    def status(self) -> Status:
        return self._runs.status()

    def run(self, name: str) -> RunStatus:
        """Raises Unknown."""
        return self._runs.run(name)

    def find(self, run: str, worker: str, span: str | None = None) -> OpenTrace:
        """The trace of these names; `span` may be left out when the worker has one.

        Raises Unknown, Loading or Unreadable.
        """
        return self._runs.find(run, worker, span)

    def find_span(self, run: str, span: str | None = None) -> OpenRun:
        """All traces of a span of a run; `span` may be left out when there is one.

        Raises Unknown; Loading or Unreadable when none of them can be asked.
        """
        return self._runs.find_span(run, span)

    def original(self, trace: OpenTrace) -> Original:
        """The file of a trace. Raises Unknown, and Unreadable when it is gone or has changed since it was read."""
        return self._runs.original(trace)

    # answers ---------------------------------------------------------------------------------------------

    def answer(
        self, trace: OpenTrace, question: str, compute: Callable[[Model], Body | Refusal], keep: bool = True
    ) -> StoredAnswer:
        """The answer to a question about a trace or why there is none, remembered.

        keep: also when the server has ended

        Raises Loading when the trace must be read again.
        """
        name = answer_name(trace, question)
        known_as = (trace.key, name)
        answer: StoredAnswer | None = self._answers.get(known_as)
        if answer is not None:
            return answer
        folder = AnswerFolder(self._cache.answers(trace.key))
        self._awaited.wait_for(trace.key, name)
        answer = folder.get(name)
        if answer is None:
            opened = self._models.open(trace)
            with opened.lock:
                # Somebody else may have asked the same in the meantime.
                answer = self._answers.get(known_as)
                if answer is None:
                    answer = self._models.compute(trace, opened, lambda model: stored(compute(model)))
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
        answer: Packed | None = self._answers.get(known_as)
        if answer is None:
            first = self._models.open(left)
            second = first if left.key == right.key else self._models.open(right)
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

    def part(self, trace: OpenTrace, question: Hashable, compute: Callable[[Model], P]) -> P:
        """What is kept of a trace for a question about its run; its model is dropped again if it was not open.

        One at a time: a run may have more traces than models fit in memory. Raises Loading.
        """
        known_as = (trace, question)
        with self._parts_lock:
            part: P | None = self._parts.get(known_as)  # type: ignore[assignment]
            if part is None:
                opened = self._models.open_for_once(trace)
                with opened.lock:
                    part = self._models.compute(trace, opened, compute)
                self._parts.put(known_as, part)
        return part

    def kept(self, trace: OpenTrace, question: Hashable, compute: Callable[[Model], P]) -> P:
        """What later questions about a trace begin with, remembered. Raises Loading."""
        known_as = (trace, question)
        part: P | None = self._parts.get(known_as)  # type: ignore[assignment]
        if part is None:
            opened = self._models.open(trace)
            with opened.lock:
                part = self._parts.get(known_as)  # type: ignore[assignment]
                if part is None:
                    part = self._models.compute(trace, opened, compute)
                    self._parts.put(known_as, part)
        return part

    def read(self, trace: OpenTrace, question: Hashable, read: Callable[[], P]) -> P:
        """What later questions about a trace begin with, remembered; made without its model."""
        known_as = (trace, question)
        part: P | None = self._parts.get(known_as)  # type: ignore[assignment]
        if part is None:
            part = read()
            self._parts.put(known_as, part)
        return part

    def keep(self, trace: OpenTrace, question: Hashable, part: Part) -> None:
        """Remember it as if `kept` had been asked for it."""
        self._parts.put((trace, question), part)

    def answer_of_run(self, opened: OpenRun, question: Hashable, compute: Callable[[], Body]) -> Packed:
        """The answer to a question about the traces of a span, remembered for as long as no more are ready."""
        known_as = (opened.run, opened.span, opened.traces, tuple((o.worker, o.state) for o in opened.others), question)
        answer: Packed | None = self._answers.get(known_as)
        if answer is None:
            answer = pack(compute())
            self._answers.put(known_as, answer)
        return answer

    def timeline(self, trace: OpenTrace) -> Timeline:
        """The trace as it is drawn; built when no worker process has done so. Raises Loading."""
        timeline = self._timelines.held(trace.key)
        if timeline is None:
            self._awaited.wait_for(trace.key, TIMELINE)
            try:
                timeline = self._timelines.open(trace.key)
            except (OSError, column_file.ColumnFileError) as error:
                self._read_again(trace, error)
        self._cache.touch(trace.key)
        return timeline

    def rank_summary(self, trace: OpenTrace) -> RankSummary:
        """What is kept of a trace for the overview of its run. Raises Loading."""
        self._awaited.wait_for(trace.key, TIMELINE)
        try:
            return self._timelines.summary(trace.key)
        except (OSError, column_file.ColumnFileError) as error:
            self._read_again(trace, error)

    def answer_of_original(self, trace: OpenTrace, question: Hashable, compute: Callable[[BinaryIO], bytes]) -> bytes:
        """The answer to a question about the file of a trace, remembered. Raises as `original` does."""
        known_as = ("original", trace, question)
        answer: Packed | None = self._answers.get(known_as)
        if answer is None:
            with self.original(trace).stream as stream:
                answer = pack(compute(stream))
            self._answers.put(known_as, answer)
        return answer.plain()

    # together --------------------------------------------------------------------------------------------

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
        self._runs.read_again(trace)


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
