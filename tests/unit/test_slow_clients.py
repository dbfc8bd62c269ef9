"""Clients that hold connections, and answers that take too long."""

from __future__ import annotations

import json
import logging
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from werkzeug import Request, Response
from werkzeug.test import Client

from tests.served import everything_read
from tests.tiny import wait_until
from torch_tb_profiler.web import app as app_module
from torch_tb_profiler.web.app import TimeLimit, create_app
from torch_tb_profiler.web.http import HttpError, Stream
from torch_tb_profiler.web.responses import respond
from torch_tb_profiler.web.server import READ_BODY, Patience, _Input, serve

pytestmark = pytest.mark.slow

QUICK = Patience(connections=4, head=0.6, piece=0.6, least=0.05)
LARGE = b"x" * 30_000_000
Connect = Callable[[bytes], socket.socket]


def pieces_until_memory_ends(_packed: bool) -> Iterator[bytes]:
    yield b"first"
    raise MemoryError


@Request.application
def answers(request: Request) -> Response:
    if request.path == "/long":
        time.sleep(2)
    if request.path == "/body":
        try:
            return Response(f"{len(request.environ[READ_BODY](1000))} bytes")
        except TimeoutError:
            return Response("too slow", 408)
    if request.path == "/scarce":
        return respond(request, Stream("etag", pieces_until_memory_ends))
    return Response(LARGE if request.path == "/large" else b"small")


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Connections to a server with little patience; what is given is sent at once."""
    ready: queue.SimpleQueue[tuple[str, Callable[[], None]]] = queue.SimpleQueue()
    arguments = answers, "127.0.0.1", 0, lambda *told: ready.put(told), QUICK
    thread = threading.Thread(target=serve, args=arguments, daemon=True)
    thread.start()
    address, stop = ready.get(timeout=20)
    port = int(address.rstrip("/").rpartition(":")[2])
    opened: list[socket.socket] = []

    def open_one(sent: bytes) -> socket.socket:
        opened.append(socket.create_connection(("127.0.0.1", port), timeout=20))
        opened[-1].sendall(sent)
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()
    stop()
    thread.join(20)
    assert not thread.is_alive()


def request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def everything_from(connection: socket.socket) -> bytes:
    parts = []
    try:
        while part := connection.recv(1 << 20):
            parts.append(part)
    except ConnectionError:
        pass
    return b"".join(parts)


def test_no_memory_in_the_middle_of_a_stream(connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
    """The status has been sent: the connection ends without the last chunk, and the log has one line."""
    answer = everything_from(connect(request("/scarce")))
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"first" in answer
    assert not answer.endswith(b"0\r\n\r\n")
    assert [record.getMessage() for record in caplog.records if record.levelno > logging.INFO] == [
        "/scarce was sent in part: MemoryError"
    ]


def test_a_head_that_drips_is_cut_off(connect: Connect) -> None:
    began = time.monotonic()
    connection = connect(b"GET / HTTP/1.1\r\n")
    is_open = True
    while is_open and time.monotonic() - began < 15:
        try:
            connection.sendall(b"X: y\r\n")
            time.sleep(0.05)
        except OSError:
            is_open = False
    assert not is_open
    assert time.monotonic() - began < 10


def test_silent_connections_are_closed(connect: Connect) -> None:
    began = time.monotonic()
    assert everything_from(connect(b"")) == b""
    assert 0.3 < time.monotonic() - began < 10


def test_an_answer_that_nobody_takes_is_given_up(connect: Connect) -> None:
    connections = [connect(request("/large")) for _ in range(3)]
    time.sleep(2.5)
    for connection in connections:
        assert len(everything_from(connection)) < len(LARGE)


def test_an_answer_that_is_taken_slowly_but_steadily_is_sent_whole(connect: Connect) -> None:
    connection = connect(request("/large"))
    time.sleep(0.2)
    assert everything_from(connection).endswith(LARGE)


def test_silent_connections_make_room_for_a_request(connect: Connect) -> None:
    silent = [connect(b"GET / HT") for _ in range(4)]
    time.sleep(0.2)
    began = time.monotonic()
    assert everything_from(connect(request("/"))).endswith(b"small")
    assert time.monotonic() - began < 5
    assert len(silent) == 4


def test_a_connection_that_no_thread_is_left_for_is_told(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is the only one: the next has its answer, so that none of the four places is lost."""

    def no_thread(_self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    for _ in range(5):
        with monkeypatch.context() as scarce:
            scarce.setattr(threading.Thread, "start", no_thread)
            answer = everything_from(connect(request("/")))
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"no room for another thread" in answer
    assert everything_from(connect(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")).endswith(
        b"small"
    )


BODY = b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"


def drip(connection: socket.socket, over: threading.Event) -> None:
    """Send a byte now and then."""
    while not over.wait(0.02):
        try:
            connection.sendall(b" ")
        except OSError:
            return


def test_a_body_that_drips_is_given_up(connect: Connect) -> None:
    connection, over = connect(BODY), threading.Event()
    threading.Thread(target=drip, args=(connection, over), daemon=True).start()
    assert b" 408 " in connection.recv(1000)
    over.set()
    whole = connect(BODY + b" " * 600)
    time.sleep(0.2)
    whole.sendall(b" " * 400)
    assert b"1000 bytes" in everything_from(whole)


def test_bodies_that_drip_make_room_for_a_request(connect: Connect) -> None:
    over = threading.Event()
    for _ in range(QUICK.connections):
        threading.Thread(target=drip, args=(connect(BODY), over), daemon=True).start()
    try:
        wait_until(lambda: b"small" in connect(request("/")).recv(1000), "a connection is free")
    finally:
        over.set()


def test_when_all_are_at_work_a_further_one_is_told(connect: Connect) -> None:
    working = [connect(request("/long")) for _ in range(4)]
    time.sleep(0.4)
    refused = everything_from(connect(b""))
    assert refused.startswith(b"HTTP/1.1 503 ")
    assert "busy" in json.loads(refused.partition(b"\r\n\r\n")[2])["error"]
    for connection in working:
        assert everything_from(connection).endswith(b"small")
    assert everything_from(connect(request("/"))).endswith(b"small")


def test_a_body_that_goes_on_does_not_hold_the_connection(connect: Connect) -> None:
    connection = connect(b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nsome")
    began = time.monotonic()
    assert everything_from(connection).endswith(b"small")
    assert time.monotonic() - began < 10


def test_an_answer_that_takes_too_long_is_said_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "logs").mkdir()
    goes_on = threading.Event()
    handle = app_module._handle

    def slow(*arguments: object) -> Response:
        if "slow" in str(arguments[-1]):
            goes_on.wait(30)
        return handle(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(app_module, "_handle", slow)
    monkeypatch.setattr("torch_tb_profiler.web.app.PATIENCE", 0.1)
    with everything_read(tmp_path / "logs", tmp_path / "cache") as workspace:
        client = Client(create_app(workspace, TimeLimit(0.2, most=2)))
        began = time.monotonic()
        for _ in range(2):
            late = client.get("/views?slow")
            assert late.status_code == 503
            assert "longer than 0.2 s" in late.get_json()["error"]
            assert late.headers["Retry-After"]
        busy = client.get("/runs")
        assert busy.status_code == 503
        assert "2 answers are being computed" in busy.get_json()["error"]
        assert client.get("/api/status").status_code == 200
        assert time.monotonic() - began < 20
        goes_on.set()
        wait_until(lambda: client.get("/runs").status_code == 200, "room again")


def test_what_is_raised_within_the_time_is_raised() -> None:
    limit = TimeLimit(5)
    for error in (HttpError(400, "no"), TimeoutError("of its own"), ValueError("x")):

        def fail(raised: Exception = error) -> None:
            raise raised

        with pytest.raises(type(error), match=str(error)):
            limit.call(fail)


def test_a_connection_that_the_server_has_closed_is_gone() -> None:
    """Not a mistake, which would be printed with all its lines."""
    ours, theirs = socket.socketpair()
    stream = _Input(ours)
    ours.close()
    with theirs, pytest.raises(ConnectionAbortedError):
        stream.readinto(bytearray(1))


@pytest.mark.timeout(30)
def test_who_is_told_to_end_as_a_request_begins_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread of the request, which has begun, makes room by itself."""
    start = threading.Thread.start

    def start_and_end(thread: threading.Thread) -> None:
        start(thread)
        if "process_request_thread" in repr(getattr(thread, "_target", None)):
            thread.join()
            raise SystemExit(0)  # as a handler of SIGTERM raises it

    monkeypatch.setattr(threading.Thread, "start", start_and_end)

    def ready(url: str, _: object) -> None:
        threading.Thread(target=lambda: urlopen(f"{url}small").read(), daemon=True).start()

    with pytest.raises(SystemExit):
        serve(answers, "127.0.0.1", 0, ready)
