"""The smallest traces that have something of everything, and waiting for things that happen elsewhere."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.events import memory

#: much more than anything takes, also on a machine that does other things beside
DEADLINE_SECONDS = 150.0


def events(steps: int = 2, gpu: bool = True) -> list[dict[str, Any]]:
    """A training loop of `steps` steps, in which aten::mm launches one kernel each."""
    found: list[dict[str, Any]] = []
    for step in range(steps):
        at = 1000 * step
        found += [
            _host("user_annotation", f"ProfilerStep#{step}", at, 1000, **{"External id": 10 * step + 1}),
            _host(
                "cpu_op", "aten::mm", at + 100, 200, **{"External id": 10 * step + 2, "Input Dims": [[2, 2], [2, 2]]}
            ),
        ]
        if gpu:
            found += [
                _host("cuda_runtime", "cudaLaunchKernel", at + 150, 10, correlation=step + 1),
                {
                    "ph": "X",
                    "cat": "kernel",
                    "name": "volta_sgemm_128x64_nn",
                    "pid": 0,
                    "tid": 7,
                    "ts": at + 200,
                    "dur": 300,
                    "args": {"correlation": step + 1, "device": 0, "stream": 7, "grid": [1, 1, 1], "block": [64, 1, 1]},
                },
            ]
    return found


def write_trace(path: Path, steps: int = 2, gpu: bool = True) -> Path:
    """Write such a trace, compressed when the name says so."""
    document = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "<b>Tiny</b>", "totalGlobalMem": 2**30}],
        "traceEvents": events(steps, gpu),
    }
    text = json.dumps(document, indent=1).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def write_trace_with_memory(path: Path) -> Path:
    """The same with one allocation and its release."""
    write_trace(path)
    trace = json.loads(path.read_text())
    trace["traceEvents"] += [memory(101, 4096, total=4096), memory(105, -4096, total=0)]
    path.write_text(json.dumps(trace))
    return path


#: below those that the system gives to whoever connects, or asks for any, and above the last one that browsers refuse
PORTS = range(11_000, 32_000)
# Workers begin far from each other.
_begin = os.getpid() * 7919 % len(PORTS)
_ports = itertools.cycle([*PORTS[_begin:], *PORTS[:_begin]])


def free_port() -> int:
    """A port of this machine that nobody listens on, and that nobody else is given before a server is there."""
    for port in itertools.islice(_ports, len(PORTS)):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise AssertionError("every port is taken")


def wait_until(met: Callable[[], object], what: str) -> None:
    """Return as soon as `met()` is true; fail when it never is."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not met():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.02)


def _host(category: str, name: str, start: int, duration: int, **args: Any) -> dict[str, Any]:
    return {
        "ph": "X",
        "cat": category,
        "name": name,
        "pid": 100,
        "tid": 100,
        "ts": start,
        "dur": duration,
        "args": args,
    }
