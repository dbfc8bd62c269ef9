"""How CPU and memory grow with the size of each of `benchmarks.shapes`: every question at n and 4n.

python -m benchmarks.growth [--keep] [SHAPE...] prints that of this checkout; with --keep it takes the place of what
benchmarks/results.json has of these shapes, with its own date.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.environments import PROBES, ROOT, one_thread
from benchmarks.processes import Failed, probe
from benchmarks.requests import Request, requests_for
from benchmarks.shapes import SHAPES, text_of

FACTOR = 4
#: a four-fold size may cost
MOST_RATIO = 5
#: CPU seconds below which a ratio says nothing
LEAST = 0.4
#: of one trace, all questions
SECONDS = 600
REPORT = "/api/report"
#: size of the trace about which everything is asked before anything is measured
BEFORE = 1_000
WEIGHTS = ("host", "device")

Measured = dict[str, Any]


def measured(python: Path | str, routes: Sequence[str], name: str, environment: dict[str, str]) -> Measured:
    """CPU seconds by part at n and 4n, memory, or how it failed."""
    found: Measured = {"size": SHAPES[name].size, "parts": {}}
    try:
        small, large = (cost(python, routes, name, SHAPES[name].size // by, environment) for by in (FACTOR, 1))
    except Failed as failed:
        return found | {"failed": str(failed).splitlines()[-1:]}
    parts = {part: [small["parts"].get(part), seconds] for part, seconds in large["parts"].items()}
    return found | {"parts": parts, "cpu": [small["cpu"], large["cpu"]], "peak": [small["peak"], large["peak"]]}


def cost(python: Path | str, routes: Sequence[str], name: str, size: int, environment: dict[str, str]) -> Measured:
    """What `probes/shape.py` says of one trace. parts: CPU seconds of each, of several answers their sum."""
    with tempfile.TemporaryDirectory() as directory:
        logdir = Path(directory) / "logdir"
        for run, n in (("run", size), ("small", min(size, BEFORE))):
            (logdir / run).mkdir(parents=True)
            (logdir / run / "worker0.1.pt.trace.json").write_text(text_of(name, n))
            (logdir / run / "worker1.1.pt.trace.json").hardlink_to(logdir / run / "worker0.1.pt.trace.json")
        plan = Path(directory) / "plan.json"
        plan.write_text(json.dumps(requests_of(routes)))
        said = probe([python, PROBES / "shape.py", logdir, Path(directory) / "cache", plan], environment, SECONDS)
    parts: dict[str, float] = defaultdict(float)
    for item in said[:-1]:
        parts[item["part"]] += item["cpu"]
    return {"parts": dict(parts), "cpu": sum(parts.values()), "peak": said[-1]["peak"]}


def requests_of(routes: Sequence[str]) -> list[Request]:
    """Each question about the first trace, and those about the run; a report is made of the others."""
    asked = [
        (route, parameters)
        for route, parameters in requests_for(set(routes) - {REPORT}, "run", ["worker0", "worker1"])
        if parameters["worker"] != "worker1"
    ]
    named = {"run": "run", "worker": "worker0"}
    return [*asked, *(("/api/stacks", named | {"direction": "bottom_up", "weight": each}) for each in WEIGHTS)]


def ratios(found: Measured) -> list[tuple[str, float, float, float]]:
    """Of what takes long enough to be told: part, seconds at n, at 4n, their ratio; the largest first."""
    told = [
        (part, small, large, large / max(small, 0.001))
        for part, (small, large) in found["parts"].items()
        if small is not None and large >= LEAST
    ]
    return sorted(told, key=lambda row: -row[3])


def all_shapes(python: Path | str, routes: Sequence[str], say: Callable[[str], None]) -> Measured:
    """By name of the shape."""
    return {name: _said(name, measured(python, routes, name, one_thread()), say) for name in SHAPES}


def _said(name: str, found: Measured, say: Callable[[str], None]) -> Measured:
    if "failed" in found:
        say(f"{name}: {' '.join(found['failed'])}")
        return found
    small, large = found["cpu"]
    memory = " → ".join(f"{peak / 1e6:.0f}" for peak in found["peak"])
    say(f"{name} of {found['size']:,}: {small:.1f} → {large:.1f} s, {memory} MB")
    for part, before, after, ratio in ratios(found):
        say(f"    {part:32} {before:7.2f} → {after:7.2f} s  × {ratio:.1f}")
    return found


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    from torch_tb_profiler.web.app import ROUTES  # of the checkout, measured as it is

    environment = one_thread() | {"PYTHONPATH": str(ROOT)}
    keep, names = "--keep" in sys.argv[1:], [each for each in sys.argv[1:] if each != "--keep"]
    for name in names or SHAPES:
        found = _said(name, measured(sys.executable, sorted(ROUTES), name, environment), _print)
        if keep:
            from benchmarks.run import keep_shape

            keep_shape(name, found)


if __name__ == "__main__":
    main()
