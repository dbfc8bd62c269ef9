"""How long commands take: help and version, and `summary` of a trace that is in the cache."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import data
from benchmarks.bars.bar import Measured
from benchmarks.environments import OURS, WORK, variables

_REPETITIONS = 15
_SUMMARIES = 5
_NOTHING = subprocess.DEVNULL
_LIST = "import json; from torch_tb_profiler.cli.registry import COMMANDS; print(json.dumps(list(COMMANDS)))"


def measure() -> Measured:
    """CPU and wall seconds, the least of several runs."""
    listed = subprocess.run([OURS.python, "-I", "-c", _LIST], check=True, capture_output=True, text=True)
    names: list[str] = json.loads(listed.stdout)
    size = data.SIZES["1M"]
    size.make()
    (trace,) = size.files()
    cache = WORK / "cache-of-commands"
    _run(["summary", trace], cache)
    return {
        "version": _least(["--version"], _REPETITIONS, cache)["cpu"],
        "help": _least(["--help"], _REPETITIONS, cache)["cpu"],
        "command_help": max(_least([name, "--help"], _REPETITIONS, cache)["cpu"] for name in names),
        "commands": len(names),
        "summary": _least(["summary", trace], _SUMMARIES, cache)["wall"],
    }


def _least(words: Sequence[str | Path], repetitions: int, cache: Path) -> Measured:
    runs = [_run(words, cache) for _ in range(repetitions)]
    return {key: min(run[key] for run in runs) for key in ("cpu", "wall")}


def _run(words: Sequence[str | Path], cache: Path) -> Measured:
    """Of a fresh process. Raises CalledProcessError."""
    command = [OURS.script("torch-tb-profiler"), *words]
    begin = time.perf_counter()
    with subprocess.Popen(command, env=variables(cache), stdout=_NOTHING, stderr=_NOTHING) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - begin
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return {"cpu": used.ru_utime + used.ru_stime, "wall": wall}
