"""Asking models of traces: what is open in this process, and what is kept of it for further questions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.step_range import StepRange
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.workspace.cache import Cache
from torch_tb_profiler.workspace.columns import OpenColumns
from torch_tb_profiler.workspace.memory import Memory
from torch_tb_profiler.workspace.models import Models, locked
from torch_tb_profiler.workspace.timelines import Timelines

A = TypeVar("A")
V = TypeVar("V")

#: events of all open models together
OPEN_EVENTS = 4_000_000
#: of values that are kept in memory alone
VALUE_BYTES = 256 * 1000**2


class NotKept(Exception):
    """What is needed beside a timeline is not here."""


class Asking:
    """Thread-safe. Traces are named by their content key. What a question raises is raised; ColumnFileError, too."""

    def __init__(self, cache: Cache) -> None:
        columns = OpenColumns(cache)
        self.models = Models(cache, OPEN_EVENTS, columns)
        self.timelines = Timelines(cache, columns)
        self.values: Memory[Any, Any] = Memory(VALUE_BYTES, lambda value: value.size)
        #: models that are not kept are opened one at a time: a run may have more traces than models fit in memory
        self._once = threading.Semaphore()

    def ask(
        self, key: str, question: Callable[[Model], A], choice: StepChoice | None = None, steps: StepRange | None = None
    ) -> A:
        opened = self.models.open(key, choice, steps)
        with locked(opened):
            return question(opened.model)

    def ask_once(self, key: str, question: Callable[[Model], A]) -> A:
        """The same; a model that was not open is not kept."""
        with self._once, self.models.opened_once(key) as opened, locked(opened):
            return question(opened.model)

    def ask_two(
        self,
        keys: tuple[str, str],
        question: Callable[[Model, Model], A],
        choice: StepChoice | None = None,
        steps: Sequence[StepRange | None] = (None, None),
    ) -> A:
        """The same of two traces, which may be one."""
        left, right = (self.models.open(key, choice, each) for key, each in zip(keys, steps, strict=True))
        with locked(left, right):
            return question(left.model, right.model)

    def ask_kept(
        self,
        key: str,
        name: Hashable,
        make: Callable[[Model], V],
        use: Callable[[V], A],
        choice: StepChoice | None = None,
        steps: StepRange | None = None,
        is_worth_keeping: Callable[[V], bool] | None = None,
    ) -> A:
        """What `use` makes of a value of the trace.

        name              what the value is known as; it is forgotten with the trace
        is_worth_keeping  whether it is asked again; None: always
        """
        known = (key, name)
        found: V | None = self.values.get(known)
        if found is None and is_worth_keeping is None:
            found = self.values.remember(known, lambda: self.ask(key, make, choice, steps))
        elif found is None:
            found = self.ask(key, make, choice, steps)
            if is_worth_keeping is not None and is_worth_keeping(found):
                self.values.put(known, found)
        return use(found)

    def ask_timeline(self, key: str, question: Callable[[Timeline], A]) -> A:
        return question(self.timelines.open(key))

    def ask_timeline_and(
        self, key: str, question: Callable[[Timeline, V], A], name: Hashable, read: Callable[[], V] | None
    ) -> A:
        """The same of the timeline and something that is kept beside it, known as `name`; see `ask_kept`.

        read  makes it when it is not; None: raises NotKept then
        """
        known = (key, name)
        value: V | None = self.values.get(known)
        if value is None:
            if read is None:
                raise NotKept
            value = self.values.remember(known, read)
        return question(self.timelines.open(key), value)

    def drop(self, key: str) -> None:
        """A trace is gone, has changed or must be read again."""
        self.models.drop(key)
        self.timelines.drop(key)
        self.values.drop(lambda known: known[0] == key)

    def drop_unused(self, seconds: float) -> int:
        """Forget what nobody asked for so long; how many models, timelines and values those were."""
        return sum(each.drop_unused(seconds) for each in (self.models, self.timelines, self.values))
