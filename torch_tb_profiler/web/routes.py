"""Which path is answered by what."""

from __future__ import annotations

from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.web import (
    answers,
    distributed,
    logdir,
    memory,
    modules,
    report,
    stacks,
    static_files,
    trace_file,
    trace_slices,
    traces,
)
from torch_tb_profiler.web.ask import Route, ask
from torch_tb_profiler.web.execute import route_of
from torch_tb_profiler.web.http import Answer, Parameters, dumps
from torch_tb_profiler.web.old_plugin import routes as old_plugin
from torch_tb_profiler.web.timeline import queries, runs
from torch_tb_profiler.web.timeline import routes as timeline
from torch_tb_profiler.workspace import Workspace


def _overview(workspace: Workspace, parameters: Parameters) -> Answer:
    return ask(workspace, parameters, "overview", answers.overview_answer, of_run=True)


def _health(workspace: Workspace, parameters: Parameters) -> Answer:
    return ask(workspace, parameters, "health", answers.health_answer, of_steps=False)


def _report(workspace: Workspace, parameters: Parameters) -> Answer:
    return report.report_answer(workspace, parameters, ROUTES)


def _openapi(_: Workspace, __: Parameters) -> Answer:
    # hardly ever asked for, and every process that answers would hold it
    from torch_tb_profiler.web.openapi import document  # noqa: PLC0415

    return Answer(dumps(document()))


def _page(_: Workspace, __: Parameters) -> Answer:
    return static_files.page()


def _entry_module(_: Workspace, __: Parameters) -> Answer:
    return static_files.entry_module()


ROUTES: dict[str, Route] = {
    "/": _page,
    "/index.html": _page,
    "/index.js": _entry_module,
    "/api/openapi.json": _openapi,
    "/api/status": logdir.status,
    "/api/overview": _overview,
    "/api/health": _health,
    "/api/report": _report,
    "/health": _health,
    "/runs": logdir.runs,
    "/views": logdir.views,
    "/workers": logdir.workers,
    "/spans": logdir.spans,
    **{question.path: route_of(question) for question in QUESTIONS},
    **distributed.ROUTES,
    **memory.ROUTES,
    **modules.ROUTES,
    **stacks.ROUTES,
    **timeline.ROUTES,
    **queries.ROUTES,
    **runs.ROUTES,
    **trace_file.ROUTES,
    **trace_slices.ROUTES,
    **traces.ROUTES,
    **old_plugin.ROUTES,
}
