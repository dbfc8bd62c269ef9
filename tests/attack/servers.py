"""Servers as processes of their own, with limits of the system, which are killed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.attack.answers import Get
from tests.integration.conftest import Server
from tests.tiny import wait_until

#: sets limits as (name, value) before anything is imported, then is `torch-tb-profiler`
_LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # what runs under nohup ignores it
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a shell runs in the background ignores it
limits = sys.argv[1]
for each in filter(None, limits.split(",")):
    name, value = each.split("=")
    resource.setrlimit(getattr(resource, name), (int(value), int(value)))
sys.argv[1:] = sys.argv[2:]
from torch_tb_profiler.cli import main
main()
"""


def start(logs: Path, cache: Path, log: Path, *, limits: Mapping[str, int] | None = None, workers: int = 1) -> Server:
    """`serve` on a free port. limits: by their names in `resource`, also for its worker processes."""
    told = ",".join(f"{name}={value}" for name, value in (limits or {}).items())
    command = [sys.executable, "-c", _LIMITED, told, "serve", str(logs), "--port", "0"]
    command += ["--cache-dir", str(cache), "--workers", str(workers)]
    variables = {"PYTHONFAULTHANDLER": "1"}
    if limits:
        variables["PYTHONDONTWRITEBYTECODE"] = "1"  # Python keeps compiled modules that a limit has cut off
    return Server(command, log, r"PyTorch profiles at (http://\S+)", variables)


def getter(server: Server) -> Get:
    def get(url: str) -> tuple[int, bytes]:
        reply = server.get(url)
        return reply.status, reply.body

    return get


def wait_for_all(server: Server) -> None:
    wait_until(lambda: not server.get("runs").json()["loading"], "everything is read")
