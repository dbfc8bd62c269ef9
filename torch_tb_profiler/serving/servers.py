"""The servers of the page: one of its own (`torch-tb-profiler serve`), and one in a notebook's kernel.

The latter is on loopback, behind a secret address, until the kernel ends.
"""

from __future__ import annotations

import hmac
import os
import secrets
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from torch_tb_profiler.web.app import TimeLimit, create_app
from torch_tb_profiler.web.drops import Drops, takes_none
from torch_tb_profiler.web.hosts import is_loopback, only_for, only_from_here
from torch_tb_profiler.web.queries import PATH, SqlRoutes
from torch_tb_profiler.web.server import serve
from torch_tb_profiler.web.static_files import CONTENT_SECURITY_POLICY
from torch_tb_profiler.workspace import Workspace


def is_for_this_machine(host: str, other_names: Sequence[str]) -> bool:
    """Return whether nobody else reaches a server that listens on `host`, not through a proxy either."""
    return is_loopback(host) and not other_names


def serve_alone(
    workspace: Workspace,
    host: str,
    port: int,
    other_names: Sequence[str],
    seconds: float,
    with_sql: bool,
    announce: Callable[[str], None],
) -> None:
    """Serve a workspace until the process is told to end, and close it. Raises OSError, OverflowError, UnicodeError.

    other_names: under which browsers reach the server, too, such as that of a proxy
    seconds: for computing one answer
    announce: is given the address once the server listens
    """
    drops, queries = Drops(workspace), SqlRoutes() if with_sql else None
    try:
        app = create_app(workspace, TimeLimit(seconds), queries.routes() if queries else {})
        app = drops.around(app) if is_for_this_machine(host, other_names) else takes_none(app)
        serve(only_for(only_from_here(app, PATH), host, other_names), host, port, announce)
    finally:
        if queries:
            queries.sessions.close()
        workspace.close()
        drops.close()


if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_HOST = "127.0.0.1"
_PORT = "%PORT%"
_BEGIN_SECONDS = 10.0
#: notebooks are at other addresses than the page; who does not know the token cannot frame it
_FRAMED = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'self'", "frame-ancestors * vscode-webview:")
_POLICY = "Content-Security-Policy"


class LiveServer:
    """Serves a workspace until the kernel ends or this object is no longer referenced."""

    def __init__(self, workspace: Workspace) -> None:
        """Raises OSError: there is no free port."""
        # the thread must not hold this
        token = self._token = secrets.token_urlsafe(24)
        begun = threading.Event()
        found: list[Any] = []

        def run() -> None:
            try:
                serve(_behind(token, create_app(workspace)), _HOST, 0, found.append, stoppable=stoppable)
            except OSError as error:
                found.append(error)
                begun.set()

        def stoppable(stop: Callable[[], None]) -> None:
            found.append(stop)
            begun.set()

        threading.Thread(target=run, name="torch-tb-profiler page", daemon=True).start()
        if not begun.wait(_BEGIN_SECONDS):
            raise OSError("the server did not start")
        failures = [each for each in found if isinstance(each, OSError)]
        if failures:
            workspace.close()
            raise failures[0]
        address, stop = found
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
    """What stands before the token: the pattern that TensorBoard's notebooks know, a hub's proxy, else loopback."""
    pattern = os.environ.get("TENSORBOARD_PROXY_URL", "")
    if pattern:
        return f"{pattern.replace(_PORT, str(port)).rstrip('/')}/"
    hub = os.environ.get("JUPYTERHUB_SERVICE_PREFIX", "")
    if hub:
        return f"{hub.rstrip('/')}/proxy/{port}/"
    return f"http://{_HOST}:{port}/"


def _behind(token: str, app: WSGIApplication) -> WSGIApplication:
    """The application below /TOKEN/; all else is not there. What is asked under any name knows the token."""

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
