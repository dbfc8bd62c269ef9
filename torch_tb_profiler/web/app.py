"""The WSGI application."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from werkzeug import Request, Response

from torch_tb_profiler.trace.column_file import ColumnFileError
from torch_tb_profiler.web import static_files
from torch_tb_profiler.web.answers.request import Route
from torch_tb_profiler.web.failures import respond_failure
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream
from torch_tb_profiler.web.routes import ROUTES
from torch_tb_profiler.web.time_limit import TimeLimit
from torch_tb_profiler.web.wsgi_response import respond, respond_error
from torch_tb_profiler.workspace import Workspace

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_ASSETS = "/assets/"
#: answered even when everything else is busy: the page, which says so, and what tells how far reading is
_ALWAYS = frozenset({"/", "/index.html", "/index.js", "/api/status"})


def create_app(
    workspace: Workspace, limit: TimeLimit | None = None, more: Mapping[str, Route] | None = None
) -> WSGIApplication:
    """The interface of docs/api.md and the UI, for a workspace. more: routes of this server alone."""
    time_limit = limit or TimeLimit()
    own = more or {}

    def app(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        return _within(time_limit, workspace, own, request)(environ, start_response)

    return app


def _within(limit: TimeLimit, workspace: Workspace, own: Mapping[str, Route], request: Request) -> Response:
    if request.path in _ALWAYS or request.path.startswith(_ASSETS):
        return _handle(workspace, own, request)
    try:
        return limit.call(lambda: _handle(workspace, own, request))
    except HttpError as error:
        response = respond_error(request, error)
        response.headers["Retry-After"] = "10"
        return response


def _handle(workspace: Workspace, own: Mapping[str, Route], request: Request) -> Response:
    began = time.monotonic()
    try:
        try:
            return respond(request, _dispatch(workspace, own, request))
        except ColumnFileError as error:  # tables of a timeline are read when they are needed
            workspace.mend(error, began)
            raise
    except Exception as error:  # noqa: BLE001 - every request has an answer
        return respond_failure(request, error)


def _dispatch(workspace: Workspace, own: Mapping[str, Route], request: Request) -> Answer | Stream:
    path = "/" + request.path.strip("/")
    if request.method not in ("GET", "HEAD"):
        raise HttpError(405, f"{request.method} is not allowed: this server is read-only")
    if path.startswith(_ASSETS):
        return static_files.asset(path.removeprefix(_ASSETS))
    route = own.get(path) or ROUTES.get(path)
    if route is None:
        raise HttpError(404, f"there is no {path}")
    return route(workspace, Parameters(request.args.to_dict()))
