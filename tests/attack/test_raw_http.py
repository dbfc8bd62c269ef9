"""What is no proper HTTP: the server answers with JSON and a reason, or closes; never with 500, and it goes on."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.served import everything_read
from tests.tiny import wait_until, write_trace
from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.web.server import only_for, serve

HOST = b"Host: localhost\r\n"
#: request → status
REQUESTS: dict[bytes, int] = {
    b"GET /api/status HTTP/1.1\r\n" + HOST: 200,
    b"GET /api/status HTTP/1.1\r\n": 421,
    b"GET /api/status HTTP/1.1\r\n" + HOST + b"Host: evil\r\n": 421,
    b"GET http://evil/api/status HTTP/1.1\r\n" + HOST: 421,
    b"GET /api/status HTTP/1.1\r\nHost: local\x00host\r\n": 421,
    b"GET http://[x/api/status HTTP/1.1\r\n" + HOST: 400,
    b"GET http://[::1/ HTTP/1.1\r\n" + HOST: 400,
    b"GET\r\n": 400,
    b"\x00\x01\x02\r\n": 400,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n": 400,
    b"GET /api/status\r\n" + HOST: 400,
    b"GET /api/status HTTP/0.9\r\n" + HOST: 400,
    b"GET /api/status HTTP/1.1 x\r\n" + HOST: 400,
    b"GET /api/status HTTP/1.\xb2\r\n" + HOST: 400,
    b"GET / HTTP/9.9\r\n" + HOST: 505,
    b"PRI * HTTP/2.0\r\n": 505,
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + HOST: 414,
    b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 70_000 + b"\r\n": 431,
    b"GET / HTTP/1.1\r\n" + HOST + b"X: 1\r\n" * 500: 431,
    b"GET /api/status HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n": 200,
    b"GET /api/status HTTP/1.1\r\n" + HOST + b"Content-Length: " + b"9" * 30 + b"\r\n": 200,
    b"POST /api/status HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n": 405,
    b"GET /api/status HTTP/1.1\r\n" + HOST + b'If-None-Match: "a",*,W/\r\n': 200,
    b"GET /api/status HTTP/1.1\r\n" + HOST + b"Accept-Encoding: gzip;q=nan, *;q=1e999\r\n": 200,
    b"GET /api/overview?run=%ff%00&worker=\xff HTTP/1.1\r\n" + HOST: 404,
    b"GET /assets/" + b"a" * 5000 + b".js HTTP/1.1\r\n" + HOST: 404,
    b"GET /assets/" + b"a/" * 3000 + b" HTTP/1.1\r\n" + HOST: 404,
    b"GET /assets/..%2f..%2fpy.typed HTTP/1.1\r\n" + HOST: 404,
    b"TRACE / HTTP/1.1\r\n" + HOST: 405,
}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("raw")
    write_trace(folder / "logs" / "run" / "w.pt.trace.json")
    addresses: list[str] = []
    with everything_read(folder / "logs", folder / "cache", 1) as workspace:
        app = only_for(create_app(workspace), "127.0.0.1", [])
        arguments = app, "127.0.0.1", 0, lambda address, _: addresses.append(address)
        threading.Thread(target=serve, args=arguments, daemon=True).start()
        wait_until(lambda: bool(addresses), "the server listens")
        yield int(addresses[0].rstrip("/").rpartition(":")[2])


def said(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while more := connection.recv(65536):
            answer += more
        return answer


@pytest.mark.parametrize("request_text", REQUESTS, ids=lambda text: repr(text[:40]))
def test_requests(request_text: bytes, port: int, caplog: pytest.LogCaptureFixture) -> None:
    answer = said(port, request_text + b"\r\n")
    head, _, body = answer.rpartition(b"\r\n\r\n")
    status = int(head.split()[1]) if head.startswith(b"HTTP/1.1 ") else None
    assert status == REQUESTS[request_text], answer[:300]
    if status != 200:
        assert json.loads(body)["error"]
    assert b"Python" not in head, "nobody need know with what it runs"
    assert b"\r\nX-Content-Type-Options: nosniff" in head
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
