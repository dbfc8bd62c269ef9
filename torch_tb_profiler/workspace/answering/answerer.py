"""Call functions with the models, timelines and values that they need, in the process where these are open."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

import msgspec

from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.question import Question, Refused, Subject
from torch_tb_profiler.discovery import RunFiles, TraceFile
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.workspace.answering.open_traces import Models, OpenColumns, OpenModel, Timelines, locked
from torch_tb_profiler.workspace.answering.value_cache import ValueCache
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.status import OpenTrace


class ModelOf(msgspec.Struct, frozen=True):
    """The model of a trace.

    choice, steps  how steps are found, and which of them are looked at
    is_kept        whether a model that was not open stays open: a run may have more traces than models fit in memory
    """

    trace: OpenTrace
    choice: StepChoice | None = None
    steps: StepRange | None = None
    is_kept: bool = True


class TimelineOf(msgspec.Struct, frozen=True):
    """The trace as it is drawn."""

    trace: OpenTrace


class ValueOf(msgspec.Struct, frozen=True):
    """A value that is kept where the trace is open, and forgotten with it.

    name              its key
    make              makes it from `needs`; None: NotKept is raised when it is missing
    is_worth_keeping  whether it will be asked for again; None: always
    """

    trace: OpenTrace
    name: Hashable
    make: Callable[..., Any] | None
    needs: Sequence[ModelOf] = ()
    is_worth_keeping: Callable[[Any], bool] | None = None


Needed = ModelOf | TimelineOf | ValueOf


class NotKept(Exception):
    """A value is missing where the trace is open."""


A = TypeVar("A")
V = TypeVar("V")

#: events of all open models
OPEN_EVENTS = 4_000_000
#: bytes of values that are kept in memory only
VALUE_BYTES = 256 * 1000**2


class Answerer:
    """Answers questions with what is open in this process; errors of a question pass through. Thread-safe."""

    def __init__(self, cache: TraceCache) -> None:
        columns = OpenColumns(cache)
        self.models = Models(cache, OPEN_EVENTS, columns)
        self.timelines = Timelines(cache, columns)
        self.values: ValueCache[Any, Any] = ValueCache(VALUE_BYTES, lambda value: value.size)
        #: models that are not kept are opened one at a time: the models of all traces of a run may not fit in memory
        self._once = threading.Semaphore()

    def ask(self, question: Callable[..., A], *needs: Needed) -> A:
        """Call a function with the models, timelines and values that it needs, in the order of its parameters."""
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
        """Open a model, timeline or value. held: closes the ones that are opened for this question alone."""
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
        """Forget a trace that is gone, has changed or must be read again."""
        self.models.drop(key)
        self.timelines.drop(key)
        self.values.drop(lambda known: known[0] == key)

    def drop_unused(self, seconds: float) -> int:
        """Drop models, timelines and values that were not used for so long; return how many."""
        return sum(each.drop_unused(seconds) for each in (self.models, self.timelines, self.values))


def subject_of(model: Model, trace: OpenTrace, steps: StepRange | None = None) -> Subject:
    """Return the subject of a question. steps: the chosen ones, if the model was cut to them."""
    return Subject(model, trace.run, trace.worker, trace.span, trace.size, trace.workers_of_run, troubles, steps)


def trace_of(run: RunFiles, file: TraceFile) -> OpenTrace:
    """Return the names of a trace that no server has opened; memory snapshots are no workers of its run."""
    workers = len({each.worker for each in run.traces if each.kind == "trace"})
    return OpenTrace(run.name, file.worker, file.span, "", file.entry.size, workers)


def step_range(first: str | None, last: str | None, side: str = "") -> StepRange | None:
    """Return the steps from one to another, both included; None for the whole trace. Raises Refused: one is missing.

    side: the prefix of the names of these parameters
    """
    if first is None and last is None:
        return None
    if first is None or last is None:
        raise Refused(f"{side}from_step and {side}to_step must be given together")
    return StepRange(first, last)


def question_key(question: Question, params: msgspec.Struct) -> Hashable:
    """Return a key for a question with its parameters."""
    return question.name, *msgspec.structs.astuple(params)


def answer_key(
    question: Hashable, trace: OpenTrace, of_run: bool, choice: StepChoice, steps: StepRange | None = None
) -> str:
    """Return a key for an answer about a trace, the same in every process.

    question  the question with its parameters
    of_run    whether the answer also depends on how many workers the run has
    """
    workers = trace.workers_of_run if of_run else None
    return repr((question, choice.rule, choice.pattern, workers, steps and (steps.first, steps.last)))


def plain_answer_key(question: Question, params: msgspec.Struct, trace: OpenTrace, choice: StepChoice) -> str:
    """Return the key of an answer about a whole trace."""
    return answer_key(question_key(question, params), trace, question.of_run, choice)
