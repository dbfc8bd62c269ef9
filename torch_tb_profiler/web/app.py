"""The WSGI application."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from werkzeug import Request, Response

from torch_tb_profiler.trace.column_file import ColumnFileError
from torch_tb_profiler.trace.open_files import is_scarce
from torch_tb_profiler.web import static_files
from torch_tb_profiler.web.ask import Route
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream, why
from torch_tb_profiler.web.routes import ROUTES
from torch_tb_profiler.web.time_limit import TimeLimit
from torch_tb_profiler.web.wsgi_response import respond, respond_error
from torch_tb_profiler.workspace import Loading, Unavailable, Unreadable, Workspace

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)

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
    try:
        try:
            return respond(request, _dispatch(workspace, own, request))
        except ColumnFileError as error:  # tables of a timeline are read when they are needed
            workspace.mend(error)
    except (HttpError, Unavailable) as error:
        return respond_error(request, error if isinstance(error, HttpError) else _why_not(error))
    except Exception as error:
        if is_scarce(error):
            log.warning("%s cannot be answered now: %s", request.path, str(error) or type(error).__name__)
            return respond_error(request, _scarce(error))
        mark = uuid.uuid4().hex[:8]
        log.exception("error %s at %s", mark, request.path)
        text = f"the server made a mistake; its log tells more under {mark}"
        return respond_error(request, HttpError(500, text))


def _dispatch(workspace: Workspace, own: Mapping[str, Route], request: Request) -> Answer | Stream:
    path = "/" + request.path.strip("/")
    if request.method not in ("GET", "HEAD"):
        raise HttpError(405, f"{request.method} is not allowed: nothing here can be changed")
    if path.startswith(_ASSETS):
        return static_files.asset(path.removeprefix(_ASSETS))
    route = own.get(path) or ROUTES.get(path)
    if route is None:
        raise HttpError(404, f"there is no {path}")
    return route(workspace, Parameters(request.args.to_dict()))


def _scarce(error: Exception) -> HttpError:
    """What the system lacks now it may have later."""
    what = "memory" if isinstance(error, MemoryError) else str(error)
    return HttpError(503, f"the server cannot answer now, its system lacks something: {what}; ask again later")


def _why_not(error: Unavailable) -> HttpError:
    if isinstance(error, Loading):
        trace = error.trace
        progress = {"bytes_done": trace.bytes_done, "bytes_total": trace.size, "events": trace.events}
        return HttpError(409, str(error), {"state": trace.state, "progress": progress})
    return HttpError(422 if isinstance(error, Unreadable) else 404, str(error), why(error.reason))
