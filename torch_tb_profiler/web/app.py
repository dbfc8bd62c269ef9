"""The WSGI application and its routes."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING

from werkzeug import Request, Response

from torch_tb_profiler.web import (
    answers,
    calls,
    distributed,
    legacy_routes,
    logdir,
    memory,
    modules,
    report,
    stacks,
    static_files,
    timeline,
    timeline_questions,
    timeline_runs,
    trace_file,
    trace_slices,
    traces,
)
from torch_tb_profiler.web.ask import Route, ask
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream, respond, respond_error
from torch_tb_profiler.workspace import Loading, Unavailable, Unreadable, Workspace

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)

_ASSETS = "/assets/"


def create_app(workspace: Workspace) -> WSGIApplication:
    """The interface of docs/api.md and the UI, for a workspace."""

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return _handle(workspace, Request(environ))(environ, start_response)

    return app


def _handle(workspace: Workspace, request: Request) -> Response:
    try:
        return respond(request, _dispatch(workspace, request))
    except (HttpError, Unavailable) as error:
        return respond_error(request, error if isinstance(error, HttpError) else _why_not(error))
    except Exception:
        mark = uuid.uuid4().hex[:8]
        log.exception("error %s at %s", mark, request.path)
        text = f"the server made a mistake; its log tells more under {mark}"
        return respond_error(request, HttpError(500, text))


def _dispatch(workspace: Workspace, request: Request) -> Answer | Stream:
    path = "/" + request.path.strip("/")
    if request.method not in ("GET", "HEAD"):
        raise HttpError(405, f"{request.method} is not allowed: nothing here can be changed")
    if path.startswith(_ASSETS):
        return static_files.asset(path.removeprefix(_ASSETS))
    route = ROUTES.get(path)
    if route is None:
        raise HttpError(404, f"there is no {path}")
    return route(workspace, Parameters(request.args.to_dict()))


def _why_not(error: Unavailable) -> HttpError:
    if isinstance(error, Loading):
        trace = error.trace
        progress = {"bytes_done": trace.bytes_done, "bytes_total": trace.size, "events": trace.events}
        return HttpError(409, str(error), {"state": trace.state, "progress": progress})
    return HttpError(422 if isinstance(error, Unreadable) else 404, str(error))


def _overview(workspace: Workspace, parameters: Parameters) -> Answer:
    return ask(workspace, parameters, "overview", answers.overview_answer, of_run=True)


def _health(workspace: Workspace, parameters: Parameters) -> Answer:
    return ask(workspace, parameters, "health", answers.health_answer, of_steps=False)


def _report(workspace: Workspace, parameters: Parameters) -> Answer:
    return report.report_answer(workspace, parameters, ROUTES)


def _page(_: Workspace, __: Parameters) -> Answer:
    return static_files.page()


def _entry_module(_: Workspace, __: Parameters) -> Answer:
    return static_files.entry_module()


ROUTES: dict[str, Route] = {
    "/": _page,
    "/index.html": _page,
    "/index.js": _entry_module,
    "/api/status": logdir.status,
    "/api/overview": _overview,
    "/api/health": _health,
    "/api/report": _report,
    "/health": _health,
    "/runs": logdir.runs,
    "/views": logdir.views,
    "/workers": logdir.workers,
    "/spans": logdir.spans,
    **calls.ROUTES,
    **distributed.ROUTES,
    **memory.ROUTES,
    **modules.ROUTES,
    **stacks.ROUTES,
    **timeline.ROUTES,
    **timeline_questions.ROUTES,
    **timeline_runs.ROUTES,
    **trace_file.ROUTES,
    **trace_slices.ROUTES,
    **traces.ROUTES,
    **legacy_routes.ROUTES,
}
