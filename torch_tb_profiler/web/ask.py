"""From a request to the answer about one trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.step_range import StepRange, UnknownStep
from torch_tb_profiler.model.steps import RULES, SlowPattern, check_pattern
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream, dumps
from torch_tb_profiler.workspace import Body, OpenTrace, Workspace

Route = Callable[[Workspace, Parameters], Answer | Stream]

#: begins what is kept in place of an answer that cannot be given, e.g. because nothing of it was recorded
_REFUSAL = b"\0"


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
    compute: the answer, as JSON already when it is an iterator of bytes
    of_run: whether the answer also depends on how many workers the run has
    of_steps: whether `compute` is given only what belongs to the steps that the request names
    """
    run, worker = parameters.need("run"), parameters.need("worker")
    choice, steps = step_choice(parameters), step_range(parameters)
    trace = workspace.find(run, worker, parameters.get("span"))

    def answer(model: Model) -> Body:
        try:
            chosen = model.with_steps(choice)
            found = compute(chosen.of_steps(steps) if of_steps else chosen, trace)
        except UnknownStep as error:
            return _REFUSAL + dumps([404, str(error)])
        except SlowPattern as error:
            return _REFUSAL + dumps([400, f"step_pattern {error}"])
        except HttpError as error:
            return _REFUSAL + dumps([error.status, str(error)])
        return found if isinstance(found, Iterator) else dumps(found)

    workers = trace.workers_of_run if of_run else None
    known_as = (question, choice.rule, choice.pattern, workers, steps and (steps.first, steps.last))
    # There are too many ranges to keep the answers about each for long.
    packed = workspace.answer(trace, repr(known_as), answer, keep=steps is None)
    if packed.body.startswith(_REFUSAL):
        raise HttpError(*json.loads(packed.body[len(_REFUSAL) :]))
    return Answer(packed)


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


def step_range(parameters: Parameters) -> StepRange | None:
    """`from_step` and `to_step`, names of steps, both included; None for the whole trace."""
    first, last = parameters.get("from_step"), parameters.get("to_step")
    if first is None and last is None:
        return None
    if first is None or last is None:
        raise HttpError(400, "from_step and to_step must be given together")
    return StepRange(first, last)


def ask_two(
    workspace: Workspace,
    parameters: Parameters,
    question: Hashable,
    compute: Callable[[Model, Model], Any],
) -> Answer:
    """The answer to a question about the trace that the request names and the one of its `exp_` parameters."""
    left = workspace.find(parameters.need("run"), parameters.need("worker"), parameters.get("span"))
    right = workspace.find(parameters.need("exp_run"), parameters.need("exp_worker"), parameters.get("exp_span"))
    return Answer(workspace.answer_two(left, right, question, lambda *models: dumps(compute(*models))))
