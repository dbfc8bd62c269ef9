"""Which path is answered by what."""

from __future__ import annotations

import copyreg
from typing import Any

from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.arrays.json import dumps
from torch_tb_profiler.questions import QUESTIONS, TIMELINE_QUESTIONS
from torch_tb_profiler.web import hang, logdir, report, static_files, trace_file
from torch_tb_profiler.web.answers import route_of
from torch_tb_profiler.web.answers.request import Route
from torch_tb_profiler.web.http import HttpAnswer, Parameters
from torch_tb_profiler.web.old_plugin.questions import QUESTIONS as OLD_QUESTIONS
from torch_tb_profiler.workspace import Workspace


def _openapi(_: Workspace, __: Parameters) -> HttpAnswer:
    # hardly ever used, and it would take memory in every process
    from torch_tb_profiler.web.openapi import document  # noqa: PLC0415

    return HttpAnswer(dumps(document()))


def _page(_: Workspace, __: Parameters) -> HttpAnswer:
    return static_files.page()


def _entry_module(_: Workspace, __: Parameters) -> HttpAnswer:
    return static_files.entry_module()


_BY_PATH: dict[str, Question] = {
    question.path: question for question in (*QUESTIONS, *OLD_QUESTIONS, *TIMELINE_QUESTIONS)
}


def question_at(path: str) -> Question:
    return _BY_PATH[path]


def _reduced(question: Question) -> str | tuple[Any, ...]:
    """Pickle a question for a process that answers: its functions cannot be sent, its path can."""
    if _BY_PATH.get(question.path) is question:
        return question_at, (question.path,)
    return type(question).__reduce__(question)


copyreg.pickle(Question, _reduced)

ROUTES: dict[str, Route] = {
    "/": _page,
    "/index.html": _page,
    "/index.js": _entry_module,
    "/api/openapi.json": _openapi,
    "/api/hang": hang.hang_answer,
    "/api/report": report.report_answer,
    "/api/status": logdir.status,
    "/runs": logdir.runs,
    "/views": logdir.views,
    "/workers": logdir.workers,
    "/spans": logdir.spans,
    **trace_file.ROUTES,
    **{path: route_of(question) for question in _BY_PATH.values() for path in (question.path, *question.aliases)},
}
