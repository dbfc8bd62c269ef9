"""Real servers on the loopback address, measured from their start to the last answer."""

from __future__ import annotations

import json
import re
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks.environments import OLD, OURS, WORK, Environment, variables
from benchmarks.processes import Failed, Running, resident, running
from benchmarks.requests import Request

PREFIX = "/data/plugin/pytorch_profiler"
_HELD_AFTER = 1.0
#: CPU seconds between two looks that no work takes, and seconds between them, on a machine that does much else
_IDLE, _LOOK_EVERY = 0.05, 3.0


def stand_alone(
    logdir: Path | str,
    runs: int,
    requests: Sequence[Request],
    seconds: float,
    environment: dict[str, str] | None = None,
    keep: bool = False,
    program: Sequence[str | Path] = (),
    settled: bool = False,
) -> dict[str, Any]:
    """`torch-tb-profiler serve` with two workers and an empty cache, or with `keep` that of the last one.

    program: in place of `torch-tb-profiler` of the environment that is measured
    settled: nothing is asked before the worker processes have nothing to do
    """
    cache = WORK / "server-cache"
    if not keep:
        shutil.rmtree(cache, ignore_errors=True)
    command: list[str | Path] = [*(program or [OURS.script("torch-tb-profiler")]), "serve", logdir, "--port", "0"]
    with running(
        [*command, "--workers", "2", "--cache-dir", cache], variables() | (environment or {}), seconds
    ) as server:
        for line in server.lines():
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                return _measure(server, found[0], runs, requests, settled)
        raise Failed(server.errors())


def tensorboard(environment: Environment, logdir: Path, requests: Sequence[Request], seconds: float) -> dict[str, Any]:
    """`tensorboard --logdir` of an environment, with the plugin that is installed there."""
    cache = WORK / "server-cache"
    shutil.rmtree(cache, ignore_errors=True)
    port = _free_port()
    command: list[str | Path] = [environment.script("tensorboard"), "--logdir", logdir]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    if environment is not OLD:
        command += ["--torch_profiler_workers", "2", "--torch_profiler_cache_dir", cache]
    with running(command, variables(), seconds) as server:
        return _measure(server, f"http://127.0.0.1:{port}{PREFIX}", 1, requests)


def _measure(
    server: Running, url: str, runs: int, requests: Sequence[Request], settled: bool = False
) -> dict[str, Any]:
    while not ready(url, runs):
        if server.process.poll() is not None or not server.in_time():
            raise Failed(server.errors() if server.in_time() else "not ready in time")
        time.sleep(0.02)
    ready_after = time.monotonic() - server.began
    before = -1.0
    while settled and server.in_time() and (now := server.tree.cpu()) > before + _IDLE:
        before = now
        time.sleep(_LOOK_EVERY)
    loaded = server.tree.peak
    answers = sum(_get(url, request) == 200 for request in requests)
    found = {
        "ready": ready_after,
        "wall": time.monotonic() - server.began,
        "cpu": server.tree.cpu(),
        "answers": answers,
        "requests": len(requests),
    }
    for request in requests:
        _get(url, request)
    time.sleep(_HELD_AFTER)
    held_by_all = server.tree.sample()
    return found | {
        "peak": server.tree.peak,
        "loaded": loaded,
        "held": resident(server.process.pid),
        "held_by_all": held_by_all,
    }


def ready(url: str, runs: int) -> bool:
    """Whether so many runs are there and nothing is being read."""
    try:
        with urllib.request.urlopen(f"{url}/runs", timeout=5) as response:
            answer = json.load(response)
    except (OSError, ValueError):
        return False
    return len(answer["runs"]) >= runs and not answer["loading"]


def _get(url: str, request: Request) -> int:
    route, parameters = request
    asked = urllib.request.Request(f"{url}{route}?{urlencode(parameters)}", headers={"Accept-Encoding": "gzip"})
    try:
        with urllib.request.urlopen(asked, timeout=300) as response:
            response.read()
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
