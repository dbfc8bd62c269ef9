"""The WSGI application."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from werkzeug import Request, Response

from torch_tb_profiler.trace.column_file import ColumnFileError
from torch_tb_profiler.web import static_files
from torch_tb_profiler.web.answers.request import Route
from torch_tb_profiler.web.failures import respond_failure
from torch_tb_profiler.web.http import HttpError, Parameters
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
        handle = partial(_handle, workspace, own, request)
        try:
            is_cheap = request.path in _ALWAYS or request.path.startswith(_ASSETS)
            response = handle() if is_cheap else time_limit.call(handle)
        except HttpError as error:
            response = respond_error(request, error)
            response.headers["Retry-After"] = "10"
        return response(environ, start_response)

    return app


def _handle(workspace: Workspace, own: Mapping[str, Route], request: Request) -> Response:
    began = time.monotonic()
    path = "/" + request.path.strip("/")
    try:
        if request.method not in ("GET", "HEAD"):
            raise HttpError(405, f"{request.method} is not allowed: this server is read-only")
        if path.startswith(_ASSETS):
            return respond(request, static_files.asset(path.removeprefix(_ASSETS)))
        route = own.get(path) or ROUTES.get(path)
        if route is None:
            raise HttpError(404, f"there is no {path}")
        try:
            return respond(request, route(workspace, Parameters(request.args.to_dict())))
        except ColumnFileError as error:  # tables of a timeline are read when they are needed
            workspace.mend(error, began)
            raise
    except Exception as error:  # noqa: BLE001 - every request has an answer
        return respond_failure(request, error)
