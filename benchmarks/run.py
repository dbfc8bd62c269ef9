"""Measure and write benchmarks/RESULTS.md: python -m benchmarks.run [SIZE...]

Sizes: 10k 100k 1M 8x100k (the default), 5M, 10GB for B9, timeline for T1 to T8 and U1, storage for S1 to S4, engine
for E1 to E4, flops for F1, program for P1, shapes for G1, ranks for R1 to R6, memory for M1 to M3, sql for Q1, cli for
C1 and C2, large for D1 and D2, and checks for B10 and B11 (part of 100k). What is not measured keeps its last value and
its date.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import command_line, data, growth, large_file, many_ranks, measure, remote
from benchmarks.bars import BARS
from benchmarks.bars.bar import verdict
from benchmarks.environments import FLOOR, HTA, OLD, OURS, ROOT, WORK, install_ours, routes_of_ours
from benchmarks.report import render

RESULTS = ROOT / "benchmarks" / "RESULTS.md"
CHECKS = "checks"
STORAGE = "storage"
KEPT = ROOT / "benchmarks" / "results.json"


def _growth(say: measure.Say) -> measure.Measured:
    return {"shapes": growth.all_shapes(OURS.python, routes_of_ours(), say)}


def _command_line(say: measure.Say) -> measure.Measured:
    say("cli")
    return command_line.measure()


#: what has bars of its own, and where it is kept in the results
APART: dict[str, tuple[str, Callable[[measure.Say], measure.Measured]]] = {
    data.TIMELINE: ("timeline", measure.timeline),
    data.ENGINE: ("replay", measure.replay),
    data.FLOPS: ("flops", measure.flops),
    data.PROGRAM: ("program", measure.program),
    data.SHAPES: ("growth", _growth),
    data.MANY_RANKS: ("ranks", many_ranks.measure),
    data.MEMORY: ("memory", measure.memory),
    data.SQL: ("sql", measure.sql),
    data.COMMAND_LINE: ("cli", _command_line),
    data.LARGE_FILE: ("large_file", large_file.measure),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    choices = [*data.SIZES, data.HUGE, *APART, CHECKS, STORAGE]
    parser.add_argument("sizes", nargs="*", help=f"of {' '.join(choices)} (default: {' '.join(data.DEFAULT)})")
    parser.add_argument("--render", action="store_true", help="only write the report again from what was measured")
    arguments = parser.parse_args()
    sizes: list[str] = arguments.sizes or list(data.DEFAULT)
    if unknown := set(sizes) - set(choices):
        parser.error(f"no such size: {' '.join(unknown)}")
    results: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {"sizes": {}}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    if not arguments.render:
        _measure(results, sizes)
    RESULTS.write_text(render(results))
    for bar in BARS:
        say(f"{bar.id:4} {verdict(list(bar.checks(results)))}")
    say(f"written: {RESULTS.relative_to(ROOT)}")


def _measure(results: dict[str, Any], sizes: list[str]) -> None:
    WORK.mkdir(exist_ok=True)
    install_ours()
    if not set(sizes) <= {STORAGE, *APART} - {data.TIMELINE}:  # else nobody is compared with
        for environment in (OLD, HTA, FLOOR):
            environment.make()
        results["header"] = header()

    def keep() -> None:
        KEPT.write_text(json.dumps(results, indent=1) + "\n")

    if set(sizes) & set(data.SIZES):
        results["fixed"] = measure.fixed_costs(say)
    code = {"code": _commit()}
    for name in sizes:
        if name == data.HUGE:
            results["huge"] = measure.huge(say) | code
        elif name in APART:
            key, found = APART[name]
            results[key] = found(say) | {"date": measure.today()} | code
        elif name in data.SIZES:
            say(name)
            results["sizes"][name] = measure.measure(data.SIZES[name], say) | code
        keep()
    if STORAGE in sizes:
        say(STORAGE)
        results["remote"] = remote.measure() | {"date": measure.today()} | code
    if {"100k", CHECKS} & set(sizes):
        results["exact"] = measure.exact(say) | code
        results["damaged"] = measure.damaged(say) | code
    keep()


def keep_shape(name: str, found: growth.Measured) -> None:
    """One shape in place of what was measured of it before; the others stay."""
    results = json.loads(KEPT.read_text())
    results["growth"]["shapes"][name] = found | {"date": measure.today(), "code": _commit()}
    KEPT.write_text(json.dumps(results, indent=1) + "\n")
    RESULTS.write_text(render(results))


def header() -> dict[str, str]:
    """What the numbers depend on; nothing that names a machine or a person."""
    return {
        "date": measure.today(),
        "machine": f"{os.cpu_count()} cores ({_cpu()}), {_memory():.0f} GiB, {platform.system()} {platform.machine()};"
        f" load {os.getloadavg()[0]:.1f} at the start",
        "commit": _commit(),
        "Python": platform.python_version(),
        "ours": _versions(OURS.versions()),
        "old plugin": _versions(OLD.versions()),
        "HTA": _versions(HTA.versions()),
        "L": _versions(FLOOR.versions()),
    }


def _commit() -> str:
    """Of this checkout, with a plus when files are changed."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", ROOT, *words], check=False, capture_output=True, text=True).stdout.strip()

    hash_ = git("rev-parse", "--short", "HEAD")
    return (hash_ or "unknown") + ("+" if git("status", "--porcelain", "--", "torch_tb_profiler") else "")


def _versions(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
