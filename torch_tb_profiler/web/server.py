"""The stand-alone server: threads for a bounded number of connections, and the host names that it answers to.

No slow client holds a thread. A page of another site can point a name of its own at this machine and then read as if it
were ours (DNS rebinding): its requests carry that name in `Host`, and are refused.
"""

from __future__ import annotations

import contextlib
import errno
import io
import ipaddress
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from werkzeug import Request
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.web.http import NO_THREAD, HttpError
from torch_tb_profiler.web.responses import respond_error

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)

#: bytes of a chunk of an answer; `Patience.piece` limits the seconds of each chunk
_PIECE = 64 * 1024
#: key in the WSGI environment: a function that reads up to 64 KiB of the body within `Patience.piece` seconds
READ_BODY = "torch_tb_profiler.read_body"
#: seconds to drain the rest of a request after its answer
_LEFT_OVER = 2.0


class Patience(msgspec.Struct, frozen=True):
    """How long the server waits for others.

    connections  at once; for another one the connection that has waited longest for its client is closed
    head         seconds until a connection has sent its request
    piece        seconds in which a client takes 64 KiB of an answer, or sends 64 KiB of a file
    least        seconds that a connection may wait before it is closed for a further one
    """

    connections: int = 128
    head: float = 30.0
    piece: float = 60.0
    least: float = 1.0


@contextlib.contextmanager
def _closed_here() -> Iterator[None]:
    """Treat a connection that this server has closed as gone, not as an error."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EBADF:
            raise ConnectionAbortedError from None
        raise


class _Input(io.RawIOBase):
    """What a client sends before a deadline, which a byte now and then does not put off."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._until: float | None = None

    def within(self, seconds: float | None) -> None:
        """Limit the time of all further reads together; None: the limit for data that nobody waits for."""
        self._until = None if seconds is None else time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._until is None:
            self.within(_LEFT_OVER)
        left = (self._until or 0.0) - time.monotonic()
        if left <= 0:
            raise TimeoutError
        with _closed_here():
            self._connection.settimeout(left)
            return self._connection.recv_into(buffer)


class _Reader(io.BufferedReader):
    """Reads in pieces: werkzeug drains a request 10 MiB at a time, which Python would allocate before data comes."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(size if size is None else min(size, _PIECE))


class _Output(io.RawIOBase):
    """Sends to a client, piece by piece."""

    def __init__(self, connection: socket.socket, server: _Server) -> None:
        self._connection, self._server = connection, server

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with memoryview(data) as view:
            for begin in range(0, len(view), _PIECE):
                with _closed_here():
                    self._connection.settimeout(self._server.patience.piece)
                    self._server.mark_waiting(self._connection)
                    # the timeout is for the whole call, not for each part that the client takes
                    self._connection.sendall(view[begin : begin + _PIECE])
                    self._server.mark_working(self._connection)
            return len(view)


class _Handler(WSGIRequestHandler):
    """HTTP/1.1; requests are not logged, nor clients that are too slow."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self._input = _Input(self.connection)
        self.rfile = _Reader(self._input)
        self.wfile = _Output(self.connection, self.server)  # type: ignore[assignment]

    def handle_one_request(self) -> None:
        self._input.within(self.server.patience.head)
        self.server.mark_waiting(self.connection)
        super().handle_one_request()

    def parse_request(self) -> bool:
        parsed = super().parse_request() and self._is_understood()
        self.server.mark_working(self.connection)
        self._input.within(None)
        return parsed

    def _is_understood(self) -> bool:
        """Return whether the request can be answered; otherwise the refusal has been sent."""
        if self.request_version == "HTTP/0.9":  # whose answers have no head, so nothing says what they are
            self.send_error(400, "the request must be HTTP/1.0 or later")
            return False
        try:
            urlsplit(self.path)
        except ValueError as error:
            self.send_error(400, f"the request has an invalid address: {error}")
            return False
        return True

    def make_environ(self) -> WSGIEnvironment:
        return {**super().make_environ(), READ_BODY: self._read_body}

    def _read_body(self, size: int) -> bytes:
        self._input.within(self.server.patience.piece)
        self.server.mark_waiting(self.connection)
        try:
            # a whole chunk: a client that sends a byte now and then is idle
            return self.rfile.read(size)
        finally:
            self.server.mark_working(self.connection)
            self._input.within(None)

    def version_string(self) -> str:
        return "torch-tb-profiler"

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse invalid HTTP like any other request: with a reason in JSON."""
        del explain
        self.request_version = (
            self.protocol_version
        )  # the version of the request may be unknown, but the answer needs a head
        body = dumps({"error": message or HTTPStatus(code).phrase})
        self.send_response(code, HTTPStatus(code).phrase)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        del size
        log.debug("%s %s", getattr(self, "requestline", ""), code)

    def log_error(self, format: str, *args: Any) -> None:  # noqa: A002
        log.debug(format, *args)


class _Server(ThreadedWSGIServer):
    """A server with a thread for each connection, and a limit on connections."""

    def __init__(self, listening: socket.socket, app: WSGIApplication, patience: Patience) -> None:
        host, port = listening.getsockname()[:2]
        super().__init__(host, port, app, handler=_Handler, fd=listening.fileno())
        self.patience = patience
        self._room = threading.BoundedSemaphore(patience.connections)
        self._lock = threading.Lock()
        self._waiting: dict[socket.socket, float] = {}

    def mark_waiting(self, connection: socket.socket) -> None:
        """Note that the server waits for the client from now on."""
        with self._lock:
            self._waiting[connection] = time.monotonic()

    def mark_working(self, connection: socket.socket) -> None:
        """Note that the server works for the client from now on."""
        with self._lock:
            self._waiting.pop(connection, None)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._room.acquire(blocking=False) and not (self._give_up_one() and self._room.acquire(timeout=1)):
            self._refuse(request, f"the server is busy with {self.patience.connections} connections; ask again")
            return
        try:
            # a thread that was told to end meanwhile makes room by itself
            super().process_request(request, client_address)
        except RuntimeError:
            self._room.release()
            self._refuse(request, NO_THREAD)
        except Exception:
            self._room.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.mark_working(request)
            self._room.release()

    def _give_up_one(self) -> bool:
        """Close the connection that has waited longest for its client; return whether there is one."""
        with self._lock:
            longest = min(self._waiting, key=lambda connection: self._waiting[connection], default=None)
            if longest is None or time.monotonic() - self._waiting[longest] < self.patience.least:
                return False
            del self._waiting[longest]
            try:
                longest.shutdown(socket.SHUT_RDWR)
            except OSError:
                log.debug("a connection ended by itself")
            return True

    def _refuse(self, request: socket.socket, reason: str) -> None:
        body = dumps({"error": reason})
        head = (
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n"
            f"Retry-After: 1\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        try:
            # the send buffer is empty, so this does not block
            request.setblocking(False)
            request.send(head.encode() + body)
        except OSError:
            log.debug("a client is gone before it could be refused")
        self.shutdown_request(request)


def serve(
    app: WSGIApplication,
    host: str,
    port: int,
    ready: Callable[[str, Callable[[], None]], None],
    patience: Patience | None = None,
) -> None:
    """Serve until interrupted. Port 0 takes any free one.

    ready   called with the address, and a function that ends the server from another thread

    Raises OSError if the address cannot be used, UnicodeError if it is not a valid name.
    """
    host.encode("idna")
    # werkzeug ends the process if it cannot bind; our own socket raises OSError.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        server = _Server(listening, app, patience or Patience())
        shown = f"[{host}]" if ":" in host else host
        ready(f"http://{shown}:{listening.getsockname()[1]}/", server.shutdown)
        try:
            server.serve_forever()
        finally:
            server.server_close()


if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_LOCALHOST = "localhost"


def only_for(app: WSGIApplication, host: str, names: Iterable[str] = ()) -> WSGIApplication:
    """Wrap an application so that it answers to its own names; other requests get 421 before anything is looked up.

    host   what the server listens on
    names  further names, such as that of a proxy in front of it
    """
    known = known_names(host, names)

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        host_header = environ.get("HTTP_HOST", "")
        if is_known(host_header, known):
            return app(environ, start_response)
        error = HttpError(421, f"this server does not answer to {host_header[:100]!r}; --allow-host adds a name")
        return respond_error(Request(environ), error)(environ, start_response)

    return answer


def only_from_here(app: WSGIApplication, below: str) -> WSGIApplication:
    """Wrap an application so that it refuses what pages of other sites ask below a path: 403.

    Such a page cannot read an answer, but a request alone may cost much. Browsers say whose page asks; programs, which
    no other site can steer, do not.
    """

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        asked_by = environ.get("HTTP_SEC_FETCH_SITE", "none")
        if asked_by in ("none", "same-origin") or not f"{environ.get('PATH_INFO', '')}/".startswith(f"{below}/"):
            return app(environ, start_response)
        error = HttpError(403, "only pages of this server may ask this")
        return respond_error(Request(environ), error)(environ, start_response)

    return answer


def is_loopback(host: str) -> bool:
    """Return whether a server that listens on a host is reached from this machine alone."""
    address = _address(host)
    return host.lower() == _LOCALHOST if address is None else address.is_loopback


def known_names(host: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Return what `Host` may name beside loopback and addresses: without port, in lower case."""
    found = {host, *names}
    address = _address(host)
    if address is not None and address.is_unspecified:
        # the names by which others on the network know this machine
        found |= {socket.gethostname(), socket.getfqdn()}
    return frozenset(name.lower().rstrip(".") for name in found if name)


def is_known(host_header: str, known: frozenset[str]) -> bool:
    """Return whether the value of `Host` is one of these names, a name of loopback, or an address.

    Nobody can point an address elsewhere, so one is always good.
    """
    name = _without_port(host_header)
    if name is None:
        return False
    return name in known or name == _LOCALHOST or name.endswith(f".{_LOCALHOST}") or _address(name) is not None


def _without_port(host_header: str) -> str | None:
    """Return the name or address in a value of `Host`; None if it is neither."""
    name, colon, port = host_header.strip().lower().rpartition(":")
    if not colon or "]" in port:
        name, port = host_header.strip().lower(), ""
    if port and not (port.isascii() and port.isdigit()):
        return None
    if name.startswith("[") and name.endswith("]"):
        return name[1:-1]
    return None if ":" in name else name.removesuffix(".") or None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)  # an IPv6 address with its zone, too
    except ValueError:
        return None
