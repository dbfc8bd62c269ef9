"""Servers as users start them: TensorBoard and `torch-tb-profiler serve`, each a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.tiny import wait_until, write_trace

PLUGIN = "data/plugin/pytorch_profiler/"


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A running server and what it printed."""

    def __init__(self, command: list[str], log: Path, address: str, environment: dict[str, str]) -> None:
        self._log = log
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, env={**os.environ, **environment}
            )
        wait_until(lambda: re.search(address, self.printed()) or self.process.poll() is not None, "the address")
        found = re.search(address, self.printed())
        assert found, self.printed()
        self.url = found[1]

    def printed(self) -> str:
        return self._log.read_text(errors="replace")

    def get(self, path: str, method: str = "GET", headers: dict[str, str] | None = None) -> Reply:
        request = urllib.request.Request(self.url + path, method=method, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=60) as reply:
                return Reply(reply.status, dict(reply.headers), reply.read())
        except urllib.error.HTTPError as error:
            with error:
                return Reply(error.code, dict(error.headers), error.read())

    def stop(self, with_signal: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            return self.process.wait(timeout=30)
        finally:
            self.process.kill()


Starter = Callable[..., Server]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Starts servers with a cache of the test's own; stops them after the test."""
    servers: list[Server] = []

    def start_one(*arguments: str, tensorboard: bool = True, environment: dict[str, str] | None = None) -> Server:
        if tensorboard:
            command = ["-m", "tensorboard.main", "--host", "127.0.0.1", "--port", "0"]
            address = r"TensorBoard [\d.a-z]+ at (http://\S+)"
        else:
            command = ["-m", "torch_tb_profiler"]
            address = r"PyTorch profiles at (http://\S+)"
        server = Server(
            [sys.executable, *command, *arguments],
            tmp_path / f"server{len(servers)}.log",
            address,
            {"XDG_CACHE_HOME": str(tmp_path / "cache"), **(environment or {})},
        )
        servers.append(server)
        return server

    yield start_one
    for server in servers:
        server.stop()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """Two good traces of one worker, one of another, and a bad one."""
    logs = tmp_path / "logs"
    write_trace(logs / "run" / "w.1.pt.trace.json")
    write_trace(logs / "run" / "w.2.pt.trace.json.gz")
    write_trace(logs / "run" / "v.pt.trace.json", gpu=False)
    (logs / "run" / "bad.pt.trace.json").write_text("{}")
    return logs


def wait_for_all(server: Server, prefix: str = "") -> None:
    wait_until(lambda: not server.get(f"{prefix}runs").json()["loading"], "everything is read")
