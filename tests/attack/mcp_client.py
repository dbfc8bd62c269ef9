"""A program that talks to `torch-tb-profiler mcp`, line by line, in either generation of the protocol."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

#: until an answer is there, on a busy machine that first reads a trace
SECONDS = 90.0
CLIENT = {"name": "attack", "version": "1"}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Agent:
    """A server, and a program that talks to it."""

    def __init__(self, logs: Path, cache: Path, is_modern: bool, errors: Path) -> None:
        command = [sys.executable, "-m", "torch_tb_profiler", "mcp", str(logs), "--cache-dir", str(cache)]
        self.errors = errors
        with errors.open("wb") as stderr:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)
        self.is_modern, self.number, self.asked = is_modern, 0, set[int]()
        self.lines: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        if not is_modern:
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
            self.answer("initialize", hello)
            self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # then there is no answer
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def answer(self, method: Any, params: Any) -> tuple[dict[str, Any] | None, bytes]:
        """The only message with the id of this request, as read and as sent; None where there is none in time."""
        self.number += 1
        self.asked.add(self.number)
        if self.is_modern and isinstance(params, dict):
            params = {"_meta": ENVELOPE, **params}
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode())
        while True:
            try:
                line = self.lines.get(timeout=SECONDS)
            except queue.Empty:
                return None, b""
            if line is None:
                return None, b""
            message = json.loads(line)
            if message.get("id") in self.asked:
                self.asked.remove(message["id"])
                return (message if message["id"] == self.number else None), line

    def end(self) -> Iterator[str]:
        """Close stdin; what is wrong then."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            if code := self.process.wait(30):
                yield f"ends with {code}"
        except subprocess.TimeoutExpired:
            self.process.kill()
            yield "does not end with its input"
        while (line := self.lines.get(timeout=30)) is not None:
            if (number := json.loads(line).get("id")) is not None and number != "x":
                yield f"a second answer to {number}"
        if "Traceback" in (said := self.errors.read_text(errors="replace")):
            yield f"a traceback: {said[-1500:]}"
