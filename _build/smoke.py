"""Whether an installed torch-tb-profiler works: run it with the Python of its environment. Standard library only.

    python _build/smoke.py

A small trace is written, read by `torch-tb-profiler serve`, and asked for; then TensorBoard shows the same. Exit status
0 when all of that goes well; else the last line says what did not.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

SECONDS = 120
EVENTS = [
    {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}
    for category, name, pid, tid, start, duration, args in (
        ("user_annotation", "ProfilerStep#1", 1, 1, 0, 100, {}),
        ("cpu_op", "aten::mm", 1, 1, 10, 50, {}),
        ("cuda_runtime", "cudaLaunchKernel", 1, 1, 20, 5, {"correlation": 1}),
        ("kernel", "gemm", 0, 7, 30, 40, {"correlation": 1, "device": 0, "stream": 7}),
    )
]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder, "logs")
        (logs / "run").mkdir(parents=True)
        (logs / "run" / "w.pt.trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": EVENTS}))
        environment = {**os.environ, "XDG_CACHE_HOME": str(Path(folder, "cache"))}
        scripts = Path(sys.executable).parent
        common = ["--host", "127.0.0.1", "--port", "0"]
        serve = [str(scripts / "torch-tb-profiler"), "serve", str(logs), *common]
        board = [str(scripts / "tensorboard"), "--logdir", str(logs), *common]
        try:
            _ask(serve, r"at (http://\S+)", "", environment, folder)
            _ask(board, r"at (http://\S+)", "data/plugin/pytorch_profiler/", environment, folder)
        except (AssertionError, OSError, ValueError) as error:
            print(f"does not work: {error}")
            return 1
    names = ("tensorboard", "numpy", "msgspec", "werkzeug")
    versions = (f"{name} {importlib.metadata.version(name)}" for name in names)
    print("works with " + ", ".join(versions))
    return 0


def _ask(command: list[str], address: str, prefix: str, environment: dict[str, str], folder: str) -> None:
    log = Path(folder, Path(command[0]).name + ".log")
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    try:
        until = time.monotonic() + SECONDS
        while not (found := re.search(address, log.read_text(errors="replace"))):
            assert process.poll() is None, f"{command[0]} ended: {log.read_text(errors='replace')[-800:]}"
            assert time.monotonic() < until, f"{command[0]} says no address"
            time.sleep(0.1)
        url = found[1].rstrip("/") + "/" + prefix
        while _get(url + "runs")["loading"]:
            assert time.monotonic() < until, f"{command[0]} does not read the trace"
            time.sleep(0.1)
        (state,) = (trace["state"] for run in _get(url + "api/status")["runs"] for trace in run["traces"])
        assert state == "ready", f"{command[0]}: the trace is {state}"
        assert _get(url + "api/kernels?run=run&worker=w")["rows"]["name"] == ["gemm"], "wrong kernels"
        with urllib.request.urlopen(url + "index.js", timeout=30) as reply:
            assert b"not built" not in reply.read(), "the UI is missing"
    finally:
        process.terminate()
        process.wait(30)


def _get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as reply:
        return json.load(reply)


if __name__ == "__main__":
    sys.exit(main())
