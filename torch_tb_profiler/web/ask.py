"""From a request to the answer about one trace."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from torch_tb_profiler.model import Model
from torch_tb_profiler.web.http import Answer, Parameters, dumps
from torch_tb_profiler.workspace import OpenTrace, Workspace

Route = Callable[[Workspace, Parameters], Answer]


def ask(
    workspace: Workspace,
    parameters: Parameters,
    question: Hashable,
    compute: Callable[[Model, OpenTrace], Any],
) -> Answer:
    """The answer to a question about the trace that the request names; computed once."""
    run, worker = parameters.need("run"), parameters.need("worker")
    trace = workspace.find(run, worker, parameters.get("span"))
    return Answer(workspace.answer(trace, question, lambda model: dumps(compute(model, trace))))
