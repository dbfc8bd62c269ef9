"""One request to a WSGI application in this process. Standard library only: every environment runs it.

A client that does more would be counted as part of what is measured.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def asked(app: Application, path: str, parameters: dict[str, str]) -> tuple[int, bytes]:
    """Status and body of a GET that takes gzip."""
    environ = {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": urlencode(parameters),
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "6006",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_ACCEPT_ENCODING": "gzip",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    status: list[int] = []
    answer = app(environ, lambda line, _headers, _error=None: status.append(int(line.split()[0])))
    try:
        body = b"".join(answer)
    finally:
        getattr(answer, "close", lambda: None)()
    return status[0], body
