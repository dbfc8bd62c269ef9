"""From a request to the answer about one trace."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.steps import RULES
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream, dumps
from torch_tb_profiler.workspace import OpenTrace, Part, Workspace

P = TypeVar("P", bound=Part)
Route = Callable[[Workspace, Parameters], Answer | Stream]


def ask(
    workspace: Workspace,
    parameters: Parameters,
    question: Hashable,
    compute: Callable[[Model, OpenTrace], Any],
) -> Answer:
    """The answer to a question about the trace that the request names; computed once."""
    run, worker = parameters.need("run"), parameters.need("worker")
    choice = step_choice(parameters)
    trace = workspace.find(run, worker, parameters.get("span"))

    def answer(model: Model) -> bytes:
        return dumps(compute(model.with_steps(choice), trace))

    return Answer(workspace.answer(trace, (question, choice), answer))


def ask_part(
    workspace: Workspace,
    parameters: Parameters,
    question: Hashable,
    compute: Callable[[Model, OpenTrace], P],
) -> P:
    """What answers to many requests about the trace are made of; computed once."""
    run, worker = parameters.need("run"), parameters.need("worker")
    choice = step_choice(parameters)
    trace = workspace.find(run, worker, parameters.get("span"))
    return workspace.kept(trace, (question, choice), lambda model: compute(model.with_steps(choice), trace))


def step_choice(parameters: Parameters) -> StepChoice:
    """How steps are to be found: `steps` names a rule, `step_pattern` gives a regular expression."""
    rule, pattern = parameters.get("steps"), parameters.get("step_pattern")
    if rule is not None and rule not in RULES:
        raise HttpError(400, f"steps must be one of {', '.join(RULES)}, not {rule!r}")
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise HttpError(400, f"step_pattern is not a regular expression: {error}") from None
    return StepChoice(rule, pattern)


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
