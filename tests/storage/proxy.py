"""A proxy on loopback before a store: it counts requests, and what goes wrong on the way goes wrong here."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit

Kind = Literal["list", "stat", "get", "other"]

_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "proxy-connection"}


@dataclass
class Request:
    """status, sent: of the answer; None and 0 while there is none"""

    method: str
    path: str
    headers: dict[str, str]
    kind: Kind
    status: int | None = None
    sent: int = 0


@dataclass
class Fault:
    """What happens to the next `times` requests of a kind.

    path: a part of the address of those that are meant
    status: answered with instead of asking the store; 0 to ask it
    headers, body: of that answer
    cut_after: bytes of the store's answer after which the connection breaks; None for all of it
    before: what happens before the store is asked
    """

    kind: Kind
    times: int = 1
    path: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    cut_after: int | None = None
    before: Callable[[], None] = lambda: None


class Proxy:
    """Started by `with`.

    kind_of: what a request is, as the store means it
    refuse: the status with which the proxy answers for a store that should refuse a request but does not; 0 for none
    rewrite: what is sent for a body that the store sends with status 200
    """

    def __init__(
        self,
        upstream: str,
        kind_of: Callable[[str, str], Kind],
        refuse: Callable[[Request], int] = lambda _: 0,
        rewrite: Callable[[Request, bytes], bytes] = lambda _, body: body,
    ) -> None:
        self.upstream = urlsplit(upstream)
        self.kind_of = kind_of
        self.refuse = refuse
        self.rewrite = rewrite
        self.requests: list[Request] = []
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        proxy = self

        class Handler(_Handler):
            owner = proxy

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Proxy:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    def fail(self, fault: Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    def clear(self) -> None:
        """Forget requests and faults."""
        with self._lock:
            self.requests.clear()
            self._faults.clear()

    def count(self, kind: Kind) -> int:
        with self._lock:
            return sum(1 for request in self.requests if request.kind == kind)

    def of(self, kind: Kind) -> list[Request]:
        with self._lock:
            return [request for request in self.requests if request.kind == kind]

    def kinds(self) -> list[Kind]:
        """Of the requests about files, in order."""
        with self._lock:
            return [request.kind for request in self.requests if request.kind != "other"]

    def take(self, request: Request) -> Fault | None:
        with self._lock:
            self.requests.append(request)
            for fault in self._faults:
                if fault.kind == request.kind and fault.path in request.path and fault.times > 0:
                    fault.times -= 1
                    return fault
        return None


class _Handler(BaseHTTPRequestHandler):
    owner: Proxy
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._forward()

    def do_HEAD(self) -> None:
        self._forward()

    def do_PUT(self) -> None:
        self._forward()

    def do_POST(self) -> None:
        self._forward()

    def do_DELETE(self) -> None:
        self._forward()

    def _forward(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        request = Request(self.command, self.path, headers, self.owner.kind_of(self.command, self.path))
        fault = self.owner.take(request)
        if fault and fault.status:
            self._answer(request, fault.status, fault.headers, fault.body)
            return
        if fault:
            fault.before()
        if status := self.owner.refuse(request):
            self._answer(request, status, {}, b"")
            return
        connection = http.client.HTTPConnection(
            self.owner.upstream.hostname or "", self.owner.upstream.port, timeout=60
        )
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            content = answer.read()
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP_BY_HOP}
        finally:
            connection.close()
        if answer.status == HTTPStatus.OK:
            content = self.owner.rewrite(request, content)
        self._answer(request, answer.status, kept, content, fault.cut_after if fault else None)

    def _answer(
        self, request: Request, status: int, headers: dict[str, str], body: bytes, cut: int | None = None
    ) -> None:
        request.status = status
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        named = {name.lower(): value for name, value in headers.items()}
        length = named.get("content-length") if self.command == "HEAD" else None
        self.send_header("Content-Length", length or str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = body if cut is None else body[:cut]
        # Known before it goes: whoever has the last byte may ask at once.
        request.sent = len(sent)
        self.wfile.write(sent)
        if len(sent) < len(body):
            self.close_connection = True
