"""Which path is answered by what."""

from __future__ import annotations

from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.web import (
    logdir,
    memory,
    modules,
    report,
    stacks,
    static_files,
    trace_file,
    trace_slices,
)
from torch_tb_profiler.web.ask import Route
from torch_tb_profiler.web.execute import route_of
from torch_tb_profiler.web.http import Answer, Parameters, dumps
from torch_tb_profiler.web.old_plugin import routes as old_plugin
from torch_tb_profiler.web.timeline import queries, runs
from torch_tb_profiler.web.timeline import routes as timeline
from torch_tb_profiler.workspace import Workspace


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
    "/api/report": _report,
    "/runs": logdir.runs,
    "/views": logdir.views,
    "/workers": logdir.workers,
    "/spans": logdir.spans,
    **{path: route_of(question) for question in QUESTIONS for path in (question.path, *question.also)},
    **memory.ROUTES,
    **modules.ROUTES,
    **stacks.ROUTES,
    **timeline.ROUTES,
    **queries.ROUTES,
    **runs.ROUTES,
    **trace_file.ROUTES,
    **trace_slices.ROUTES,
    **old_plugin.ROUTES,
}
