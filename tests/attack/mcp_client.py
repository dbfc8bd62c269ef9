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

    def __init__(self, logs: Path, cache: Path, is_modern: bool, errors: Path, seconds: float = SECONDS) -> None:
        command = [sys.executable, "-m", "torch_tb_profiler", "mcp", str(logs), "--cache-dir", str(cache)]
        self.errors, self.seconds = errors, seconds
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

    def request(self, method: Any, params: Any) -> bytes:
        """A line with the next number."""
        self.number += 1
        if self.is_modern and isinstance(params, dict):
            params = {"_meta": ENVELOPE, **params}
        return json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}).encode()

    def answer(self, method: Any, params: Any) -> tuple[dict[str, Any] | None, bytes]:
        """The only message with the id of this request, as read and as sent; None where there is none in time."""
        self.send(self.request(method, params))
        self.asked.add(self.number)
        while (read := self._next()) is not None:
            message, line = read
            if message.get("id") in self.asked:
                self.asked.remove(message["id"])
                return (message if message["id"] == self.number else None), line
        return None, b""

    def refused(self, line: bytes, error: tuple[str | None, int] | None) -> Iterator[str]:
        """Send a line; what is wrong with its answer, of which the id and the code are known; None: it has none."""
        self.send(line)
        if error is not None:
            message, _ = self._next() or ({}, b"")
            if (message.get("id", ""), message.get("error", {}).get("code")) != error:
                yield f"{message or 'nothing'} instead of {error}: {line[:200]!r}"

    def answered_once(self, line: bytes) -> Iterator[str]:
        """Send a line that may be damaged; what is wrong if it has no answer, or one to another."""
        try:
            message = json.loads(line.decode(errors="replace"))
        except (ValueError, RecursionError):
            message = {"id": None}
        self.send(line)
        if line and (not isinstance(message, dict) or "id" in message):
            answer, _ = self._next() or ({}, b"")
            if answer.get("id", "") not in ((None, message["id"]) if isinstance(message, dict) else (None,)):
                yield f"{str(answer or 'nothing')[:200]} to {line[:2000]!r}"

    def _next(self) -> tuple[dict[str, Any], bytes] | None:
        """The next answer, as read and as sent; None where there is none in time, or at the end."""
        with contextlib.suppress(queue.Empty):
            while (line := self.lines.get(timeout=self.seconds)) is not None:
                message = json.loads(line)
                if "method" not in message:
                    return message, line
            self.lines.put(None)
        return None

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
