"""From a request to the answer of a declared question: one module for each kind of subject."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch_tb_profiler.analysis.question import About, Question
from torch_tb_profiler.web.answers.request import Route
from torch_tb_profiler.web.answers.run import answer_of_run
from torch_tb_profiler.web.answers.timeline import answer_of_timeline, answer_of_timelines
from torch_tb_profiler.web.answers.trace import answer_of_trace
from torch_tb_profiler.web.answers.traces import answer_of_pair, answer_of_traces
from torch_tb_profiler.web.http import HttpAnswer, Parameters, Stream
from torch_tb_profiler.workspace import Workspace

_ANSWERS: dict[About, Callable[[Question, Workspace, Parameters], HttpAnswer | Stream]] = {
    "trace": answer_of_trace,
    "timeline": answer_of_timeline,
    "pair": answer_of_pair,
    "run": answer_of_run,
    "timelines": answer_of_timelines,
    "traces": answer_of_traces,
}


def route_of(question: Question) -> Route:
    """Return the function that answers requests for a question; it raises HttpError and Unavailable."""
    return partial(_ANSWERS[question.scope], question)
