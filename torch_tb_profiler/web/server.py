"""The stand-alone server."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from werkzeug.serving import WSGIRequestHandler, make_server

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

log = logging.getLogger(__name__)


class _QuietHandler(WSGIRequestHandler):
    """HTTP/1.1, so that connections are kept; requests are not logged."""

    protocol_version = "HTTP/1.1"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:  # noqa: ARG002
        log.debug("%s %s", self.requestline, code)


def serve(app: WSGIApplication, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until interrupted; `ready` is told the address. Port 0 takes any free one.

    Raises OSError when the address cannot be used.
    """
    # werkzeug ends the process when it cannot bind; a socket of our own fails like anything else.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        server = make_server(host, port, app, threaded=True, request_handler=_QuietHandler, fd=listening.fileno())
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listening.getsockname()[1]}/")
        try:
            server.serve_forever()
        finally:
            server.server_close()
