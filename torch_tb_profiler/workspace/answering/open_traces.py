"""Traces that are open in memory: their columns, models and timelines, each once and within a budget."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import NamedTuple
from weakref import WeakValueDictionary

import msgspec

from torch_tb_profiler.analysis.cached import put_cached
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.timeline import timeline_file
from torch_tb_profiler.timeline.summary import TimelineSummary
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.timeline_file import build
from torch_tb_profiler.trace import Trace, column_file
from torch_tb_profiler.workspace.answering.value_cache import ValueCache
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder
from torch_tb_profiler.workspace.cache.checksummed import is_broken
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.process import trim_memory
from torch_tb_profiler.workspace.status import TraceSummary


def open_model(trace: Trace, summary: TraceSummary | None, answers: AnswerFolder | None = None) -> Model:
    """Return the model of a trace; the warnings that its summary holds are not looked for again.

    answers: where worker processes have put what was made ahead
    """
    model = Model(trace)
    if answers is not None:
        model.kept = answers.content
    if summary is not None:
        put_cached(model, troubles, summary.warnings)
    return model


class OpenColumns:
    """Open columns by content key, each open as long as somebody uses it. Thread-safe."""

    def __init__(self, cache: TraceCache) -> None:
        self._cache = cache
        self._opened: WeakValueDictionary[str, Trace] = WeakValueDictionary()
        self._lock = Lock()

    def get(self, key: str) -> Trace | None:
        """Return the columns if they are open."""
        with self._lock:
            return self._opened.get(key)

    def open(self, key: str) -> Trace:
        """Return the columns, opened if they are not. Raises ColumnFileError."""
        with self._lock:
            found = self._opened.get(key)
            if found is None:
                found = self._opened[key] = column_file.open_trace(self._cache.columns_here(key))
            return found

    def drop(self, key: str) -> None:
        """Forget columns that are gone or unusable: who has them open keeps them, nobody else gets them."""
        with self._lock:
            self._opened.pop(key, None)


_numbers = itertools.count()

#: a question that takes longer uses much memory; trimming takes some milliseconds
_LONG_SECONDS = 0.2


class ModelLock(msgspec.Struct):
    """A lock for asking a model, whose parts are computed on first use. number: locks are taken in its order."""

    lock: threading.RLock = msgspec.field(default_factory=threading.RLock)
    number: int = msgspec.field(default_factory=lambda: next(_numbers))


class OpenModel(msgspec.Struct, frozen=True):
    """A model in memory. events: its weight, those of its trace also when only some steps are chosen."""

    model: Model
    events: int
    lock: ModelLock = msgspec.field(default_factory=ModelLock)


@contextmanager
def locked(*models: OpenModel) -> Iterator[None]:
    """Hold the locks of some models. In one order everywhere, so that no two threads wait for each other.

    Whoever holds them asks these models, and waits for nothing else. What a long question has freed goes back to the
    system.
    """
    locks = {opened.lock.number: opened.lock.lock for opened in models}
    with ExitStack() as held:
        for _, lock in sorted(locks.items()):
            held.enter_context(lock)
        began = time.monotonic()
        yield
    if time.monotonic() - began > _LONG_SECONDS:
        trim_memory()


class _Key(NamedTuple):
    """The key of an open model: content key of its trace, and how its steps are found and chosen."""

    trace: str
    choice: StepChoice
    steps: StepRange | None


class Models:
    """Open models. Thread-safe.

    columns: shared with timelines
    capacity: events of all models together; an event costs about 250 bytes once all views were visited
    """

    def __init__(self, cache: TraceCache, capacity: int, columns: OpenColumns | None = None) -> None:
        self._cache = cache
        self._columns = columns or OpenColumns(cache)
        self._opened: ValueCache[_Key, OpenModel] = ValueCache(capacity, lambda opened: opened.events)

    def __len__(self) -> int:
        return len(self._opened)

    @property
    def events(self) -> int:
        """Events of all open models."""
        return self._opened.weight

    def open(
        self,
        key: str,
        choice: StepChoice | None = None,
        steps: StepRange | None = None,
        make_columns: Callable[[], None] = lambda: None,
    ) -> OpenModel:
        """Return the model of the columns in the cache under `key`. Raises ColumnFileError and UnknownStep.

        make_columns: called before columns are opened, by one thread at a time
        """
        wanted = _Key(key, choice or StepChoice(), steps)
        if wanted == _Key(key, StepChoice(), None):
            return self._opened.remember(wanted, lambda: self._read(key, make_columns))
        return self._opened.remember(wanted, lambda: _chosen(self.open(key, make_columns=make_columns), choice, steps))

    @contextmanager
    def opened_once(self, key: str) -> Iterator[OpenModel]:
        """Yield the model that is open, or one whose memory is freed at the end. Raises ColumnFileError."""
        kept = self._opened.get(_Key(key, StepChoice(), None))
        if kept is not None:
            yield kept
            return
        shared = self._columns.get(key)
        columns = shared or column_file.open_trace(self._cache.columns_here(key))
        opened = self._of(columns, key)
        try:
            yield opened
        finally:
            opened.model.clear()
            if shared is None:
                columns.forget()
            trim_memory()

    def drop_unused(self, seconds: float) -> int:
        """Drop the models that were not used for so long; return how many."""
        return self._opened.drop_unused(seconds)

    def forget_answers(self) -> None:
        """Free intermediate results, except in models in use; they are computed again when needed."""
        for opened in self._opened.values():
            if opened.lock.lock.acquire(blocking=False):
                try:
                    opened.model.answers.clear()
                finally:
                    opened.lock.lock.release()

    def drop(self, key: str) -> None:
        """Forget the models of a trace."""
        self._columns.drop(key)
        self._opened.drop(lambda opened: opened.trace == key)

    def _read(self, key: str, make_columns: Callable[[], None] = lambda: None) -> OpenModel:
        make_columns()
        return self._of(self._columns.open(key), key)

    def _of(self, columns: Trace, key: str) -> OpenModel:
        self._cache.touch(key)
        model = open_model(columns, self._cache.find(key), AnswerFolder(self._cache.answers(key)))
        return OpenModel(model, len(columns.events))


def _chosen(whole: OpenModel, choice: StepChoice | None, steps: StepRange | None) -> OpenModel:
    """Return a copy with steps found or chosen otherwise. It shares what the model knows, and so its lock."""
    with locked(whole):
        return OpenModel(whole.model.with_steps(choice or StepChoice()).of_steps(steps), whole.events, whole.lock)


log = logging.getLogger(__name__)

#: bytes of all timelines in memory; a slice costs about 60
BYTES = 512 * 1000**2
#: bytes of all summaries for overviews of runs
SUMMARY_BYTES = 32 * 1000**2


class Timelines:
    """Timelines by content key, in memory and in the cache. Thread-safe."""

    def __init__(self, cache: TraceCache, columns: OpenColumns | None = None) -> None:
        """Use `columns` that models are open with, too."""
        self._cache = cache
        self._columns = columns or OpenColumns(cache)
        self._timelines: ValueCache[str, Timeline] = ValueCache(BYTES, lambda timeline: timeline.size)
        self._summaries: ValueCache[str, TimelineSummary] = ValueCache(SUMMARY_BYTES, lambda summary: summary.size)

    def __len__(self) -> int:
        return len(self._timelines)

    def get(self, key: str) -> Timeline | None:
        """Return the timeline if it is in memory."""
        return self._timelines.get(key)

    def open(self, key: str) -> Timeline:
        """Read, or built when no worker process has done so. Raises ColumnFileError: of the columns."""
        return self._timelines.remember(key, lambda: self._read_or_build(key))

    def summary(self, key: str, make: Callable[[], TimelineSummary]) -> TimelineSummary:
        """Return a summary for the overview of a run: read, or made where no worker process has written it."""
        return self._summaries.remember(key, lambda: self._read_summary(key) or make())

    def drop_unused(self, seconds: float) -> int:
        """Drop the timelines that were not used for so long; return how many."""
        return self._timelines.drop_unused(seconds)

    def drop(self, key: str) -> None:
        """Forget a trace that is gone, or whose columns are unusable."""
        self._columns.drop(key)
        self._timelines.drop(lambda held: held == key)
        self._summaries.drop(lambda held: held == key)

    def _read_summary(self, key: str) -> TimelineSummary | None:
        try:
            return timeline_file.read_summary(self._cache.timeline(key))
        except column_file.ColumnFileError:
            return None

    def _read_or_build(self, key: str) -> Timeline:
        path = self._cache.timeline(key)
        try:
            return timeline_file.read(path, self._columns.open(key))
        except Exception as error:
            if not is_broken(error) or getattr(error, "path", None) == self._cache.columns(key):
                raise
            level = logging.WARNING if path.exists() else logging.DEBUG
            log.log(level, "%s cannot be used (%s); it is built", path, error)
        # A model of its own: only requests for the timeline wait for this.
        timeline = build(Model(column_file.open_trace(self._cache.columns_here(key))))
        try:
            timeline_file.write(timeline, path)
            self._cache.added(path.stat().st_size)
            self._cache.sweep_if_due()
        except OSError as error:
            log.debug("%s is not kept: %s", path, error)
        return timeline
