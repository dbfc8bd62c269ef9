"""Models that are open: as many as memory allows, one of each trace and choice of steps."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import msgspec

from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.trace import Trace, column_file
from torch_tb_profiler.workspace.answer_store import AnswerFolder
from torch_tb_profiler.workspace.cache import Cache
from torch_tb_profiler.workspace.columns import OpenColumns
from torch_tb_profiler.workspace.give_back import give_back
from torch_tb_profiler.workspace.memory import Memory
from torch_tb_profiler.workspace.summary import open_model

_numbers = itertools.count()

#: a question that takes longer uses much memory; giving it back takes some milliseconds
_LONG_SECONDS = 0.2


class ModelLock(msgspec.Struct):
    """Of those who ask a model, whose parts are computed when first asked for. number: locks are taken in its order."""

    lock: threading.RLock = msgspec.field(default_factory=threading.RLock)
    number: int = msgspec.field(default_factory=lambda: next(_numbers))


class OpenModel(msgspec.Struct, frozen=True):
    """A model in memory. events: of its trace; a copy with chosen steps may come to hold as much as the whole."""

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
        give_back()


class _Key(NamedTuple):
    """Of an open model: the content key of its trace, and how its steps are found and chosen."""

    trace: str
    choice: StepChoice
    steps: StepRange | None


class Models:
    """Thread-safe.

    columns: those that are open for something else, too
    capacity: events of all models together; an event costs about 250 bytes once all views were visited
    """

    def __init__(self, cache: Cache, capacity: int, columns: OpenColumns | None = None) -> None:
        self._cache = cache
        self._columns = columns or OpenColumns(cache)
        self._opened: Memory[_Key, OpenModel] = Memory(capacity, lambda opened: opened.events)

    def __len__(self) -> int:
        return len(self._opened)

    @property
    def events(self) -> int:
        """Of all models that are open."""
        return self._opened.weight

    def open(
        self,
        key: str,
        choice: StepChoice | None = None,
        steps: StepRange | None = None,
        make_columns: Callable[[], None] = lambda: None,
    ) -> OpenModel:
        """The model of the columns that are in the cache under `key`. Raises ColumnFileError and UnknownStep.

        make_columns: called before columns are opened, by one thread at a time
        """
        wanted = _Key(key, choice or StepChoice(), steps)
        if wanted == _Key(key, StepChoice(), None):
            return self._opened.remember(wanted, lambda: self._read(key, make_columns))
        return self._opened.remember(wanted, lambda: _chosen(self.open(key, make_columns=make_columns), choice, steps))

    @contextmanager
    def opened_once(self, key: str) -> Iterator[OpenModel]:
        """The model that is open, or one whose memory is freed at the end. Raises ColumnFileError."""
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
            give_back()

    def drop_unused(self, seconds: float) -> int:
        """Forget the models that nobody asked for so long; how many those were."""
        return self._opened.drop_unused(seconds)

    def forget_answers(self) -> None:
        """Of models that nobody asks now: what their answers were made of. It is computed again when it is needed."""
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
    """A copy with steps found or chosen otherwise. It shares what the model knows, and so its lock."""
    with locked(whole):
        return OpenModel(whole.model.with_steps(choice or StepChoice()).of_steps(steps), whole.events, whole.lock)
