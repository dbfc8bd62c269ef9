"""Hundreds of clients that read or send slowly, or not at all, while others want answers."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from tests.attack.clients import resident
from tests.attack.servers import start, wait_for_all
from tests.tracegen import Config
from tests.tracegen.writer import write_run

CLIENTS = 300
#: seconds that somebody else may wait for an answer, on a busy machine
SLOW = 20.0
#: bytes that the server may hold more while they are there
GROWTH = 100 << 20

TRACE = urlencode({"run": "run", "worker": "rank0"})
ASK = f"GET /trace?{TRACE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
DROP = (
    b"POST /drop?name=slow.json HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
    b"Content-Length: 1000000\r\n\r\n"
)


@dataclass
class Outcome:
    """How it went.

    clients   connections that were slow
    answered  how many of the others had their answer
    waits     seconds until they had, or were refused
    """

    clients: int = 0
    answered: int = 0
    waits: list[float] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def _a_byte_a_second(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(ASK)
    while not over.wait(1) and connection.recv(1):
        pass


def _never_reads(connection: socket.socket, over: threading.Event) -> None:
    for _ in range(50):  # answers pile up
        connection.sendall(ASK)
    over.wait()


def _slow_head(connection: socket.socket, over: threading.Event) -> None:
    for byte in ASK * 9:
        connection.sendall(bytes([byte]))
        if over.wait(1):
            return


def _endless_head(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(ASK[:-2])
    while not over.wait(0.05):
        connection.sendall(b"X: y\r\n")


def _slow_drop(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(DROP)
    while not over.wait(1):
        connection.sendall(b" ")


def _half_closes(connection: socket.socket, over: threading.Event) -> None:
    connection.sendall(random.choice((b"", ASK[:20], ASK, DROP, DROP + b'{"traceEvents": [')))
    connection.shutdown(socket.SHUT_WR)
    over.wait()


def _says_nothing(_: socket.socket, over: threading.Event) -> None:
    over.wait()


KINDS: tuple[Callable[[socket.socket, threading.Event], None], ...] = (
    _a_byte_a_second,
    _never_reads,
    _slow_head,
    _endless_head,
    _slow_drop,
    _half_closes,
    _says_nothing,
)


def attack(folder: Path, seconds: float, clients: int = CLIENTS) -> Outcome:
    """Let them all hold on for so long; one that is closed comes again. Meanwhile others ask, one after another."""
    write_run(Config(steps=2, layers=1, ranks=2), folder / "logs" / "run")
    server = start(folder / "logs", folder / "cache", folder / "log")
    address = urlsplit(server.url)
    over, outcome, lock = threading.Event(), Outcome(), threading.Lock()

    def slow(number: int) -> None:
        while not over.is_set():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", address.port or 0), 60) as made:
                with lock:
                    outcome.clients += 1
                KINDS[number % len(KINDS)](made, over)
            over.wait(0.5)

    try:
        wait_for_all(server)
        server.get(f"api/overview?{TRACE}")
        before = resident(server.process.pid)
        threads = [threading.Thread(target=slow, args=(number,), daemon=True) for number in range(clients)]
        for thread in threads:
            thread.start()
        until, most = time.monotonic() + seconds, before
        while time.monotonic() < until:
            began = time.monotonic()
            try:
                status = server.get(f"api/overview?{TRACE}").status
            except OSError:
                status = 0  # closed for another that waited: told in docs/security.md
            outcome.waits.append(time.monotonic() - began)
            outcome.answered += status == 200
            if status not in (0, 200, 503):
                outcome.complaints.append(f"another client gets {status}")
            if outcome.waits[-1] > SLOW:
                outcome.complaints.append(f"another client waits {outcome.waits[-1]:.0f} s")
            most = max(most, resident(server.process.pid))
            time.sleep(0.2)
        if most - before > GROWTH:
            outcome.complaints.append(f"memory grew from {before} to {most} bytes")
        if outcome.answered < 0.9 * len(outcome.waits):
            outcome.complaints.append(f"only {outcome.answered} of {len(outcome.waits)} others were answered")
    finally:
        over.set()
        server.stop()
    if "Traceback" in server.printed():
        outcome.complaints.append(f"a traceback: {server.printed()[-1500:]}")
    return outcome
