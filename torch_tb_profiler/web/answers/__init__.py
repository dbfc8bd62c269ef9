"""From a request to the answer of a declared question: a module for each that questions are about."""

from __future__ import annotations

from collections.abc import Callable

from torch_tb_profiler.analysis.question import About, Question
from torch_tb_profiler.web.answers.pair import answer_of_pair
from torch_tb_profiler.web.answers.run import answer_of_run
from torch_tb_profiler.web.answers.timeline import answer_of_timeline, answer_of_timelines
from torch_tb_profiler.web.answers.trace import OF_STEPS, answer_of_trace
from torch_tb_profiler.web.answers.traces import answer_of_traces
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream
from torch_tb_profiler.workspace import Workspace

_ANSWERS: dict[About, Callable[[Question, Workspace, Parameters], Answer | Stream]] = {
    "trace": answer_of_trace,
    "timeline": answer_of_timeline,
    "pair": answer_of_pair,
    "run": answer_of_run,
    "timelines": answer_of_timelines,
    "traces": answer_of_traces,
}


def answer(question: Question, workspace: Workspace, parameters: Parameters) -> Answer | Stream:
    """Return the answer to a question as a request asks it. Raises HttpError and Unavailable."""
    if question.ranks is not None and parameters.get("worker") is None:
        if chosen := next((name for name in OF_STEPS if parameters.get(name) is not None), None):
            raise HttpError(400, f"{chosen} is about the trace of a worker: name one")
        question = question.ranks
    return _ANSWERS[question.scope](question, workspace, parameters)
