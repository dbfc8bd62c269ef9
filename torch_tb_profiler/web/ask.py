"""From a request to the answer about one trace."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, TypeVar

from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.patterns import SlowPattern, check_pattern
from torch_tb_profiler.model.step_range import StepRange, UnknownStep
from torch_tb_profiler.model.steps import RULES
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream, dumps
from torch_tb_profiler.workspace import Body, Key, OpenTrace, Packed, Refusal, StoredAnswer, Value, Workspace, pack

P = TypeVar("P", bound=Value)
T = TypeVar("T")
Route = Callable[[Workspace, Parameters], Answer | Stream]

#: before the names of parameters of the second of two traces
EXPERIMENT = "exp_"


@dataclass(frozen=True)
class Asked:
    """A question about the trace that a request names.

    known_as   what is asked for, with parameters, the same in other processes, too
    of_steps   whether it is computed of only what belongs to the steps that the request names
    """

    trace: OpenTrace
    known_as: str
    choice: StepChoice
    steps: StepRange | None
    of_steps: bool

    @classmethod
    def of(
        cls,
        workspace: Workspace,
        parameters: Parameters,
        question: Hashable,
        of_run: bool = False,
        of_steps: bool = True,
    ) -> Asked:
        """`question` and the rest: see `ask`."""
        run, worker = parameters.need("run"), parameters.need("worker")
        choice, steps = step_choice(parameters), step_range(parameters)
        trace = workspace.find(run, worker, parameters.get("span"))
        workers = trace.workers_of_run if of_run else None
        known_as = (question, choice.rule, choice.pattern, workers, steps and (steps.first, steps.last))
        return cls(trace, repr(known_as), choice, steps, of_steps)

    def answer(self, workspace: Workspace, compute: Callable[[Model, OpenTrace], Any]) -> Answer:
        """Computed once. `compute`: see `ask`."""
        return Answer(self.packed(workspace, lambda: self.compute(workspace, packing(compute))))

    def packed(self, workspace: Workspace, make: Callable[[], StoredAnswer]) -> Packed:
        """What `make` gives, made once. Raises HttpError when that is a refusal."""
        # There are too many ranges to keep the answers about each for long.
        return _given(workspace.remember(self._key, make, "disk" if self.steps is None else "memory"))

    def read(self, workspace: Workspace, compute: Callable[[Model, OpenTrace], bytes], read: Callable[[bytes], P]) -> P:
        """What answers to many requests are made of, made of an answer itself: the trace need not be open for it."""
        key = replace(self._key, question=("read", self.known_as))
        return workspace.remember(
            key, lambda: read(self.packed(workspace, lambda: self.compute(workspace, packing(compute))).plain())
        )

    def part(self, workspace: Workspace, compute: Callable[[Model, OpenTrace], P]) -> P:
        """What answers to many requests are made of; computed once."""
        return _given(workspace.remember(self._part, lambda: self.compute(workspace, compute)))

    def keep(self, workspace: Workspace, part: Value) -> None:
        """Remember it as if `part` had computed it."""
        workspace.remember(self._part, lambda: part)

    @property
    def _key(self) -> Key:
        return Key((self.trace,), self.known_as)

    @property
    def _part(self) -> Key:
        return Key((self.trace,), ("part", self.known_as))

    def compute(self, workspace: Workspace, compute: Callable[[Model, OpenTrace], T]) -> T | Refusal:
        """Computed now."""
        steps = self.steps if self.of_steps else None
        try:
            return workspace.ask(self.trace, lambda model: compute(model, self.trace), self.choice, steps)
        except UnknownStep as error:
            return Refusal(404, str(error))
        except SlowPattern as error:
            return Refusal(400, f"step_pattern {error}")
        except HttpError as error:
            return Refusal(error.status, str(error), error.more)


def _given(found: T | Refusal) -> T:
    """What is not refused. Raises HttpError."""
    if isinstance(found, Refusal):
        raise HttpError(found.status, found.message, found.values)
    return found


def ask(
    workspace: Workspace,
    parameters: Parameters,
    question: Hashable,
    compute: Callable[[Model, OpenTrace], Any],
    of_run: bool = False,
    of_steps: bool = True,
) -> Answer:
    """The answer to a question about the trace that the request names; computed once.

    question: what is asked for, with parameters; its `repr` is what the answer is known as, in other processes, too
    compute: the answer, as it is sent already when it is bytes or an iterator of them
    of_run: whether the answer also depends on how many workers the run has
    of_steps: whether `compute` is given only what belongs to the steps that the request names
    """
    return Asked.of(workspace, parameters, question, of_run, of_steps).answer(workspace, compute)


def packing(compute: Callable[..., Any]) -> Callable[..., Packed]:
    """What `compute` gives as it is sent. While its model may be asked: it may come in pieces."""
    return lambda *of: pack(_body(compute(*of)))


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
    compute: Callable[[Model, Model], Any],
) -> Answer:
    """The answer to a question about the trace that the request names and the one of its `exp_` parameters.

    Steps are found in the same way in both; of each only the steps that the request names are looked at.

    compute: as for `ask`
    """
    left = workspace.find(parameters.need("run"), parameters.need("worker"), parameters.get("span"))
    right = workspace.find(
        parameters.need(f"{EXPERIMENT}run"), parameters.need(f"{EXPERIMENT}worker"), parameters.get(f"{EXPERIMENT}span")
    )
    choice = step_choice(parameters)
    ranges = step_range(parameters), step_range(parameters, EXPERIMENT)

    def make() -> Packed:
        return workspace.ask_two((left, right), packing(compute), choice, ranges)

    try:
        return Answer(workspace.remember(Key((left, right), (question, choice, ranges)), make))
    except UnknownStep as error:
        raise HttpError(404, str(error)) from None
    except SlowPattern as error:
        raise HttpError(400, f"step_pattern {error}") from None


def ask_original(
    workspace: Workspace, trace: OpenTrace, question: Hashable, compute: Callable[[BinaryIO], bytes]
) -> bytes:
    """The answer to a question about the file of a trace; computed once. Raises as `Workspace.original` does."""

    def make() -> Packed:
        with workspace.original(trace).stream as stream:
            return pack(compute(stream))

    return workspace.remember(Key((trace,), ("original", question)), make).plain()
