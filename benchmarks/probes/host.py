"""A host for the TensorBoard plugin `torch_profiler` of this environment, whichever package it comes from.

Does what TensorBoard does at its start, without TensorBoard: finds the plugin by its entry point, gives it a log
directory, and asks its routes in this process. Runs in the environment of the old plugin and in ours, so that both
are measured by the same code; the process tree of this script is measured from outside.

    python host.py LOGDIR PLAN.json

PLAN.json: see `benchmarks/requests.py`. Writes one JSON line per answer and ends when its stdin ends.
"""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from importlib.metadata import entry_points
from pathlib import Path

from asked import asked

PREFIX = "/data/plugin/pytorch_profiler"


class Plugin:
    """The plugin's WSGI applications."""

    def __init__(self, logdir: str, flags: dict[str, object]) -> None:
        from tensorboard.plugins import base_plugin

        (found,) = entry_points(group="tensorboard_plugins", name="torch_profiler")
        self.version = found.dist.version if found.dist else ""
        loader = found.load()
        context = base_plugin.TBContext(logdir=logdir, flags=Namespace(logdir=logdir, logdir_spec="", **flags))
        if issubclass(loader, base_plugin.TBLoader):
            self._plugin = loader().load(context)
        else:
            self._plugin = loader(context)
        self._apps = self._plugin.get_plugin_apps()

    def get(self, route: str, parameters: dict[str, str]) -> tuple[int, bytes]:
        app = self._apps.get(route) or self._apps["/*"]
        return asked(app, PREFIX + route, parameters)


def main() -> None:
    logdir, plan = sys.argv[1], json.loads(Path(sys.argv[2]).read_text())
    began = time.monotonic()
    plugin = Plugin(logdir, plan["flags"])
    say({"started": time.monotonic() - began, "version": plugin.version})
    wait_until_ready(plugin, plan["runs"], began + plan["seconds"])
    say({"ready": time.monotonic() - began})
    ask_all(plugin, 0, plan["requests"])
    say({"views": time.monotonic() - began})
    sys.stdin.readline()  # whoever measures says when to go on
    for nth in range(1, plan["rounds"]):
        ask_all(plugin, nth, plan["requests"])
    for nth in range(plan["rounds"]):
        ask_all(plugin, nth, plan["extra"])
    say({"end": time.monotonic() - began})
    sys.stdin.readline()
    os._exit(0)  # whatever threads and processes there are: they are killed from outside


def wait_until_ready(plugin: Plugin, runs: int, deadline: float) -> None:
    while time.monotonic() < deadline:
        _, body = plugin.get("/runs", {})
        answer = json.loads(body)
        if len(answer["runs"]) >= runs and not answer["loading"]:
            return
        time.sleep(0.05)
    say({"error": "not ready in time"})
    sys.exit(1)


def ask_all(plugin: Plugin, nth: int, requests: list[tuple[str, dict[str, str]]]) -> None:
    for route, parameters in requests:
        say({"round": nth, **ask(plugin, route, parameters)})


def ask(plugin: Plugin, route: str, parameters: dict[str, str]) -> dict[str, object]:
    cpu, wall = time.process_time(), time.monotonic()
    try:
        status, body = plugin.get(route, parameters)
    except Exception as error:  # noqa: BLE001 - an answer of its own: TensorBoard would make it a 500
        status, body = 500, repr(error).encode()
    return {
        "route": route,
        "parameters": parameters,
        "status": status,
        "bytes": len(body),
        "cpu": time.process_time() - cpu,
        "wall": time.monotonic() - wall,
    }


def say(what: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
