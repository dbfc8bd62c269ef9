"""Servers as users start them, each a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.tiny import free_port, wait_until

PLUGIN = "data/plugin/pytorch_profiler/"


class Server:
    """`python -m module arguments --host … --port …`, on the same port each time it is started.

    address: of the page to open, with a slash at its end
    root: of our routes
    log: what it prints
    folder: where it is started, and what it imports from first
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        log: Path,
        environment: Mapping[str, str],
        prefix: str = "",
        folder: Path | None = None,
    ) -> None:
        port = free_port()
        self._command = [sys.executable, "-m", module, *arguments, "--host", "127.0.0.1", "--port", str(port)]
        self._environment = {**os.environ, **environment}
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.log = log
        self.is_tensorboard = module.startswith("tensorboard")
        self.address = f"http://127.0.0.1:{port}{prefix}/"
        self.root = self.address + PLUGIN if self.is_tensorboard else self.address
        self.run = ""
        """The run that pages are opened with where a test names none; empty: the page chooses."""
        self.first_answer: Any = None
        """Of the very first request: TensorBoard's list of plugins, or our status."""

    def start(self) -> None:
        """Returns when it answers."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                self._command, cwd=self._folder, env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )
        self._process = process
        wait_until(lambda: self._answers(process), f"an answer of the server; see {self.log}")

    def stop(self) -> None:
        """Raises AssertionError where it had ended by itself."""
        process, self._process = self._process, None
        if process is None:
            return
        status = process.poll()
        process.terminate()
        try:
            process.wait(20)
        finally:
            process.kill()
        assert status is None, f"the server had ended by itself with exit status {status}; see {self.log}"

    def api(self, route: str, **query: str) -> Any:
        """The answer of /api/<route>."""
        return _get(f"{self.root}api/{route}?{urllib.parse.urlencode(query)}")

    def binary(self, route: str, **query: str) -> bytes:
        """The answer of /api/<route>, where that is no JSON."""
        with urllib.request.urlopen(f"{self.root}api/{route}?{urllib.parse.urlencode(query)}", timeout=20) as answer:
            body: bytes = answer.read()
            return body

    def traces(self) -> list[dict[str, Any]]:
        return [trace for run in self.api("status")["runs"] for trace in run["traces"]]

    def wait_for_traces(self) -> None:
        """Until all traces are read, or known to be unreadable."""

        def read() -> bool:
            traces = self.traces()
            return bool(traces) and all(trace["state"] in {"ready", "failed"} for trace in traces)

        wait_until(read, "the traces are read")

    def _answers(self, process: subprocess.Popen[bytes]) -> bool:
        assert process.poll() is None, f"the server ended with exit status {process.returncode}; see {self.log}"
        try:
            self.first_answer = _get(
                self.address + "data/plugins_listing" if self.is_tensorboard else self.root + "api/status"
            )
        except (urllib.error.URLError, OSError):
            return False
        return True


def _get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return json.load(answer)
