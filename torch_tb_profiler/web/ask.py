"""From a request to the answer about one trace."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, TypeVar

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.question import AnyQuestion, NotFound, Refused, Scope, TraceQuestion
from torch_tb_profiler.arrays.plain import dumps
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.patterns import SlowPattern, check_pattern
from torch_tb_profiler.model.step_range import StepRange, UnknownStep
from torch_tb_profiler.model.steps import RULES
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream, why
from torch_tb_profiler.words.reasons import because
from torch_tb_profiler.workspace import (
    Body,
    Key,
    OpenTrace,
    Packed,
    Refusal,
    RunStatus,
    Status,
    StoredAnswer,
    TraceStatus,
    Value,
    Workspace,
    pack,
)

P = TypeVar("P", bound=Value)
T = TypeVar("T")
Route = Callable[[Workspace, Parameters], Answer | Stream]
#: from the model and the names of a trace its answer, as it is sent already when it is bytes or pieces of them
Compute = Callable[[Model, OpenTrace], Any]
#: the same of two
ComputeTwo = Callable[[tuple[Model, OpenTrace], tuple[Model, OpenTrace]], Any]

#: before the names of parameters of the second of two traces
EXPERIMENT = "exp_"


@contextmanager
def refusals() -> Iterator[None]:
    """What cannot be answered because of what was asked, as an error of HTTP."""
    try:
        yield
    except (NotFound, UnknownStep) as error:
        raise HttpError(404, str(error), why(error.reason)) from None
    except SlowPattern as error:
        raise HttpError(400, f"step_pattern {error}", passes=True) from None
    except Refused as error:
        raise HttpError(400, str(error), why(error.reason)) from None


class TraceRequest(msgspec.Struct, frozen=True):
    """A question about the trace that a request names.

    known_as   what is asked for, with parameters, the same in other processes, too
    of_steps   whether it is computed of only what belongs to the steps that the request names
    once       whether a trace that is not open is opened for this alone
    passing    whether there are too many answers to keep each for long
    """

    trace: OpenTrace
    known_as: str
    choice: StepChoice
    steps: StepRange | None
    of_steps: bool
    once: bool = False
    passing: bool = False

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        parameters: Parameters,
        question: Hashable,
        of_run: bool = False,
        of_steps: bool = True,
    ) -> TraceRequest:
        """As a request asks it.

        question: what is asked for, with parameters; its `repr` is what the answer is known as
        of_run: whether the answer also depends on how many workers the run has
        """
        run, worker = parameters.need("run"), parameters.need("worker")
        choice, steps = step_choice(parameters), step_range(parameters)
        trace = workspace.find(run, worker, parameters.get("span"))
        return cls._of(trace, question, of_run, of_steps, choice, steps)

    @classmethod
    def plainly(
        cls, trace: OpenTrace, question: Hashable, of_run: bool, of_steps: bool, choice: StepChoice | None = None
    ) -> TraceRequest:
        """About the whole of a trace."""
        return cls._of(trace, question, of_run, of_steps, choice or StepChoice(), None)

    @classmethod
    def _of(
        cls,
        trace: OpenTrace,
        question: Hashable,
        of_run: bool,
        of_steps: bool,
        choice: StepChoice,
        steps: StepRange | None,
    ) -> TraceRequest:
        workers = trace.workers_of_run if of_run else None
        known_as = (question, choice.rule, choice.pattern, workers, steps and (steps.first, steps.last))
        return cls(trace, repr(known_as), choice, steps, of_steps)

    def answer(self, workspace: Workspace, compute: Compute) -> Answer:
        """Computed once."""
        return Answer(self.packed(workspace, lambda: self.compute(workspace, compute)))

    def packed(self, workspace: Workspace, make: Callable[[], StoredAnswer]) -> Packed:
        """What `make` gives, made once. Raises HttpError when that is a refusal."""
        # There are too many ranges of steps to keep the answers about each for long, too.
        is_passing = self.passing or self.steps is not None
        return given(workspace.remember(self._key, make, "memory" if is_passing else "disk"))

    def read(self, workspace: Workspace, compute: Compute, read: Callable[[bytes], P]) -> P:
        """What answers to many requests are made of, made of an answer itself: the trace need not be open for it."""
        key = replace(self._key, question=("read", self.known_as))
        return workspace.remember(
            key, lambda: read(self.packed(workspace, lambda: self.compute(workspace, compute)).plain())
        )

    def cut(
        self,
        workspace: Workspace,
        compute: Callable[[Model, OpenTrace], P],
        use: Callable[[P], T],
        is_worth_keeping: Callable[[P], bool] | None = None,
    ) -> T | Refusal:
        """What `use` makes of a part that answers to many requests are cut from. That is computed once, and stays
        where the model is. is_worth_keeping: whether more will be cut from it; None: always.
        """
        make = partial(_of_model, compute, self.trace)
        steps = self.steps if self.of_steps else None
        return _attempted(
            lambda: workspace.ask_kept(self.trace, self.known_as, make, use, self.choice, steps, is_worth_keeping)
        )

    def with_timeline(
        self,
        workspace: Workspace,
        compute: Compute,
        read: Callable[[bytes], P],
        question: Callable[[Timeline, P], T],
    ) -> T:
        """The answer of a function of the timeline of the trace and of what `read` makes of this answer."""
        kept = self.packed(workspace, lambda: self.compute(workspace, compute))
        return workspace.ask_timeline_and(self.trace, question, self.known_as, partial(_read, read, kept))

    def compute(self, workspace: Workspace, compute: Compute) -> StoredAnswer:
        """Computed now."""
        return self._attempt(workspace, partial(_packed, compute))

    def stored(self, compute: Compute, model: Model) -> StoredAnswer:
        """The answer as it is kept, from the model of the whole trace."""
        return _attempted(lambda: pack(_body(compute(model, self.trace))))

    @property
    def _key(self) -> Key:
        return Key((self.trace,), self.known_as)

    def _attempt(self, workspace: Workspace, compute: Callable[[Model, OpenTrace], T]) -> T | Refusal:
        steps = self.steps if self.of_steps else None

        question = partial(_of_model, compute, self.trace)
        if self.once and steps is None and self.choice == StepChoice():
            return _attempted(lambda: workspace.ask_once(self.trace, question))
        return _attempted(lambda: workspace.ask(self.trace, question, self.choice, steps))


# What is sent to a process that answers is named by its module: functions in functions cannot be.


def _of_model(compute: Callable[[Model, OpenTrace], T], trace: OpenTrace, model: Model) -> T:
    return compute(model, trace)


def _read(read: Callable[[bytes], P], kept: Packed) -> P:
    return read(kept.plain())


def _packed(compute: Compute, model: Model, trace: OpenTrace) -> Packed:
    return pack(_body(compute(model, trace)))


def _packed_of_two(compute: ComputeTwo, left: OpenTrace, right: OpenTrace, *models: Model) -> Packed:
    return pack(_body(compute((models[0], left), (models[1], right))))


def known_as(question: AnyQuestion, own: msgspec.Struct) -> Hashable:
    """What is asked for, with its own parameters."""
    return question.name, *msgspec.structs.astuple(own)


def asked_plainly(
    question: TraceQuestion[Any, Any], trace: OpenTrace, own: msgspec.Struct, choice: StepChoice | None = None
) -> TraceRequest:
    """A question as a request without anything but names asks it; choice: or with steps found otherwise."""
    return TraceRequest.plainly(trace, known_as(question, own), question.of_run, question.of_steps, choice)


def _attempted(make: Callable[[], T]) -> T | Refusal:
    try:
        with refusals():
            return make()
    except HttpError as error:
        if error.passes:  # for want of time, of which there may be more
            raise
        return Refusal(error.status, str(error), error.more)


def given(found: T | Refusal) -> T:
    """What is not refused. Raises HttpError."""
    if isinstance(found, Refusal):
        raise HttpError(found.status, found.message, found.values)
    return found


def _body(found: Any) -> Body:
    return found if isinstance(found, Iterator | bytes) else dumps(found)


def step_choice(parameters: Parameters) -> StepChoice:
    """How steps are to be found: `steps` names a rule, `step_pattern` gives a regular expression."""
    rule, pattern = parameters.get("steps"), parameters.get("step_pattern")
    if rule is not None and rule not in RULES:
        raise HttpError(400, f"steps must be one of {', '.join(RULES)}, not {rule!r}")
    if pattern is not None:
        try:
            check_pattern(pattern)
        except ValueError as error:
            raise HttpError(400, f"step_pattern {error}") from None
    return StepChoice(rule, pattern)


def step_range(parameters: Parameters, side: str = "") -> StepRange | None:
    """`from_step` and `to_step`, names of steps, both included; None for the whole trace.

    side: what stands before the names of these parameters
    """
    first, last = parameters.get(f"{side}from_step"), parameters.get(f"{side}to_step")
    if first is None and last is None:
        return None
    if first is None or last is None:
        raise HttpError(400, f"{side}from_step and {side}to_step must be given together")
    return StepRange(first, last)


def ask_two(
    workspace: Workspace,
    parameters: Parameters,
    question: Hashable,
    compute: ComputeTwo,
) -> Answer:
    """The answer to a question about the trace that the request names and the one of its `exp_` parameters.

    Steps are found in the same way in both; of each only the steps that the request names are looked at.

    compute: the answer from the model and the names of each; as it is sent already when it is bytes or pieces of them
    """
    left = workspace.find(parameters.need("run"), parameters.need("worker"), parameters.get("span"))
    right = workspace.find(
        parameters.need(f"{EXPERIMENT}run"), parameters.need(f"{EXPERIMENT}worker"), parameters.get(f"{EXPERIMENT}span")
    )
    choice = step_choice(parameters)
    ranges = step_range(parameters), step_range(parameters, EXPERIMENT)

    def make() -> Packed:
        return workspace.ask_two((left, right), partial(_packed_of_two, compute, left, right), choice, ranges)

    with refusals():
        return Answer(workspace.remember(Key((left, right), (question, choice, ranges)), make))


def ask_original(
    workspace: Workspace, trace: OpenTrace, question: Hashable, compute: Callable[[BinaryIO], bytes]
) -> bytes:
    """The answer to a question about the file of a trace; computed once. Raises as `Workspace.original` does."""

    def make() -> Packed:
        with workspace.original(trace).stream as stream:
            return pack(compute(stream))

    return workspace.remember(Key((trace,), ("original", question)), make).plain()


def _only(run: RunStatus, kind: str) -> RunStatus:
    return replace(run, traces=tuple(trace for trace in run.traces if trace.kind == kind))


def meant(status: Status, scope: Scope, kind: str) -> list[tuple[str, TraceStatus]]:
    """The traces that a request is about, whatever their state: one of each run, those of one run, or all."""
    found: list[tuple[str, TraceStatus]] = []
    for run in (_only(each, kind) for each in status.runs):
        if scope.of == "runs":
            ready = [trace for trace in run.traces if trace.state == "ready"] or list(run.traces)
            found += [(run.name, next((t for t in ready if t.worker == scope.worker), ready[0]))] if ready else []
        elif scope.of == "all" or run.name == scope.run:
            found += [(run.name, trace) for trace in run.traces]
    if scope.of == "run" and not found:
        missing = because("no_such_run", {"run": scope.run or ""})
        raise HttpError(404, str(missing), why(missing))
    return found
