"""The page from a server (`torch-tb-profiler serve`, or in a notebook's kernel), or as one file."""

from __future__ import annotations

import hmac
import os
import queue
import secrets
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.web.app import TimeLimit, create_app
from torch_tb_profiler.web.http import HttpError
from torch_tb_profiler.web.queries import PATH, SqlRoutes
from torch_tb_profiler.web.report import report
from torch_tb_profiler.web.server import is_loopback, only_for, only_from_here, serve
from torch_tb_profiler.web.static_files import CONTENT_SECURITY_POLICY
from torch_tb_profiler.web.uploads import Uploads, refuse_uploads
from torch_tb_profiler.workspace import Workspace

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class ServerAddress(NamedTuple):
    """Where a server listens; `other_names`: further names by which browsers reach it, such as that of a proxy."""

    host: str
    port: int
    other_names: Sequence[str] = ()

    @property
    def is_for_this_machine(self) -> bool:
        """Whether nobody else reaches the server, not through a proxy either."""
        return is_loopback(self.host) and not self.other_names


def serve_alone(
    workspace: Workspace, address: ServerAddress, seconds: float, with_sql: bool, announce: Callable[[str], None]
) -> None:
    """Serve a workspace until the process is told to end, and close it. Raises OSError, OverflowError, UnicodeError.

    seconds: for computing one answer
    announce: is given the URL once the server listens
    """
    uploads, routes = Uploads(workspace), SqlRoutes() if with_sql else None
    try:
        app = create_app(workspace, TimeLimit(seconds), routes.routes() if routes else {})
        app = uploads.around(app) if address.is_for_this_machine else refuse_uploads(app)
        app = only_for(only_from_here(app, PATH), address.host, address.other_names)
        serve(app, address.host, address.port, lambda url, _: announce(url))
    finally:
        if routes:
            routes.sessions.close()
        workspace.close()
        uploads.close()


_HOST = "127.0.0.1"
_PORT = "%PORT%"
_BEGIN_SECONDS = 10.0
#: notebooks have other origins than the page; nobody can frame it without the token
_FRAMED = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'self'", "frame-ancestors * vscode-webview:")
_POLICY = "Content-Security-Policy"


class LiveServer:
    """Serves a workspace until the kernel ends or this object is no longer referenced."""

    def __init__(self, workspace: Workspace) -> None:
        """Start serving on a free port. Raises OSError: there is none."""
        # the thread must not hold this
        token = self._token = secrets.token_urlsafe(24)
        outcomes: queue.SimpleQueue[tuple[str, Callable[[], None]] | OSError] = queue.SimpleQueue()

        def run() -> None:
            try:
                app = _behind(token, create_app(workspace))
                serve(app, _HOST, 0, lambda address, stop: outcomes.put((address, stop)))
            except OSError as error:
                outcomes.put(error)

        threading.Thread(target=run, name="torch-tb-profiler page", daemon=True).start()
        try:
            outcome = outcomes.get(timeout=_BEGIN_SECONDS)
        except queue.Empty:
            raise OSError("the server did not start") from None
        if isinstance(outcome, OSError):
            workspace.close()
            raise outcome
        address, stop = outcome
        self.port = int(address.rstrip("/").rpartition(":")[2])
        #: ends it; called when this is collected or the kernel ends, and does nothing the second time
        self.close = weakref.finalize(self, _close, stop, workspace)

    @property
    def address(self) -> str:
        """Where a browser finds the page: through the proxy of a hub where one is set up."""
        return f"{_before(self.port)}{self._token}/"


def _close(stop: Callable[[], None], workspace: Workspace) -> None:
    stop()
    workspace.close()


def _before(port: int) -> str:
    """Return what stands before the token: the pattern of TensorBoard's notebooks, a hub's proxy, else loopback."""
    pattern = os.environ.get("TENSORBOARD_PROXY_URL", "")
    if pattern:
        return f"{pattern.replace(_PORT, str(port)).rstrip('/')}/"
    hub = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "")
    if hub:
        return f"{hub.rstrip('/')}/proxy/{port}/"
    return f"http://{_HOST}:{port}/"


def _behind(token: str, app: WSGIApplication) -> WSGIApplication:
    """Serve the application below /TOKEN/ and nothing else. Any host name will do, since the token is secret."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        first, slash, rest = environ.get("PATH_INFO", "").removeprefix("/").partition("/")
        if not slash or not hmac.compare_digest(first.encode(), token.encode()):
            start_response("404 Not Found", [("Content-Type", "text/plain"), ("Content-Length", "0")])
            return []
        shifted = {
            **environ,
            "SCRIPT_NAME": f"{environ.get('SCRIPT_NAME', '')}/{token}",
            "PATH_INFO": f"/{rest}",
        }

        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            own = CONTENT_SECURITY_POLICY
            kept = [(name, _FRAMED if (name, value) == (_POLICY, own) else value) for name, value in headers]
            return start_response(status, kept, *more)

        return app(shifted, start)

    return answer


_LOOK_SECONDS = 0.05


def report_of(
    workspace: Workspace, run: str, baselines: Sequence[str] = (), left_out: Callable[[str], None] = lambda _: None
) -> bytes:
    """Return the file about a run once its traces are read. Raises ErrorWithReason: none of them could be.

    baselines: runs that it is compared with
    left_out: is told of each trace that could not be read, and why
    """
    while workspace.status().loading:
        time.sleep(_LOOK_SECONDS)
    ready = _ready(workspace, run, left_out)
    beside = [(name, *names) for name in baselines for names in _ready(workspace, name, left_out)]
    try:
        return report(workspace, run, ready, beside)
    except HttpError as error:
        raise ErrorWithReason(str(error)) from None


def _ready(workspace: Workspace, run: str, left_out: Callable[[str], None]) -> list[tuple[str, str]]:
    """Return worker and span of each trace that was read."""
    traces = workspace.run(run).traces
    for trace in traces:
        if trace.state == "failed":
            left_out(f"left out: {trace.file} {trace.reason}")
    ready = [(trace.worker, trace.span) for trace in traces if trace.state == "ready"]
    if not ready:
        raise ErrorWithReason(f"{traces[0].file} {traces[0].reason}")
    return ready
