"""Asking models of traces: what is open in this process, and what is kept of it for further questions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

from torch_tb_profiler.workspace.cache import Cache
from torch_tb_profiler.workspace.columns import OpenColumns
from torch_tb_profiler.workspace.memory import Memory
from torch_tb_profiler.workspace.models import Models, OpenModel, locked
from torch_tb_profiler.workspace.needs import Needed, NotKept, TimelineOf, ValueOf
from torch_tb_profiler.workspace.timelines import Timelines

A = TypeVar("A")
V = TypeVar("V")

#: events of all open models together
OPEN_EVENTS = 4_000_000
#: of values that are kept in memory alone
VALUE_BYTES = 256 * 1000**2


class Asking:
    """Thread-safe. What a question raises is raised; ColumnFileError, too."""

    def __init__(self, cache: Cache) -> None:
        columns = OpenColumns(cache)
        self.models = Models(cache, OPEN_EVENTS, columns)
        self.timelines = Timelines(cache, columns)
        self.values: Memory[Any, Any] = Memory(VALUE_BYTES, lambda value: value.size)
        #: models that are not kept are opened one at a time: a run may have more traces than models fit in memory
        self._once = threading.Semaphore()

    def ask(self, question: Callable[..., A], *needs: Needed) -> A:
        """The answer of a function of what it needs, in the order of its parameters."""
        with ExitStack() as held:
            values, models = [], []
            for need in needs:
                value = self._open(need, held)
                if isinstance(value, OpenModel):
                    models.append(value)
                    value = value.model
                values.append(value)
            if models:
                held.enter_context(locked(*models))
            return question(*values)

    def _open(self, need: Needed, held: ExitStack) -> Any:
        """held: closes what is opened for this question alone."""
        key = need.trace.key
        if isinstance(need, TimelineOf):
            return self.timelines.open(key)
        if isinstance(need, ValueOf):
            return self._value(need)
        if need.is_kept:
            return self.models.open(key, need.choice, need.steps)
        held.enter_context(self._once)
        return held.enter_context(self.models.opened_once(key))

    def _value(self, need: ValueOf) -> Any:
        known, make = (need.trace.key, need.name), need.make
        value = self.values.get(known)
        if value is not None:
            return value
        if make is None:
            raise NotKept
        if need.is_worth_keeping is None:
            return self.values.remember(known, lambda: self.ask(make, *need.needs))
        value = self.ask(make, *need.needs)
        if need.is_worth_keeping(value):
            self.values.put(known, value)
        return value

    def drop(self, key: str) -> None:
        """A trace is gone, has changed or must be read again."""
        self.models.drop(key)
        self.timelines.drop(key)
        self.values.drop(lambda known: known[0] == key)

    def drop_unused(self, seconds: float) -> int:
        """Forget what nobody asked for so long; how many models, timelines and values those were."""
        return sum(each.drop_unused(seconds) for each in (self.models, self.timelines, self.values))
