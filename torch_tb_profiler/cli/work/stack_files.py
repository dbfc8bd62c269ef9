"""Call stacks as other programs read them.

speedscope's format: https://www.speedscope.app/file-format-schema.json. Folded stacks, of flamegraph.pl, inferno and
many others: a line for each, frames from the outermost on with semicolons between them, a space, and a whole number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from torch_tb_profiler import __version__
from torch_tb_profiler.analysis.stacks.stack_table import StackTable
from torch_tb_profiler.arrays.json import dumps
from torch_tb_profiler.cli.saying import safe

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_TITLES = {"device": "device time", "host": "host time"}
_SOURCE = re.compile(r"(?P<file>.+)\((?P<line>\d+)\): ")


def as_speedscope(tables: Sequence[StackTable], name: str) -> str:
    """A profile for each weight, of stacks with their own times in ns, which add up to the whole."""
    frames: dict[tuple[str, str], int] = {}
    profiles = [_profile(table, name, frames) for table in tables]
    document: dict[str, Any] = {
        "$schema": _SCHEMA,
        "exporter": f"torch-tb-profiler {__version__}",
        "name": name,
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(*frame) for frame in frames]},
        "profiles": profiles,
    }
    return dumps(document).decode() + "\n"


def _profile(table: StackTable, name: str, frames: dict[tuple[str, str], int]) -> dict[str, Any]:
    samples, weights = [], []
    for rows, own in _each_stack(table):
        samples.append([frames.setdefault((table.name[row], table.kind[row]), len(frames)) for row in rows])
        weights.append(own)
    return {
        "type": "sampled",
        "name": f"{_TITLES[table.weight]}: {name}",
        "unit": "nanoseconds",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": samples,
        "weights": weights,
    }


def _frame(name: str, kind: str) -> dict[str, Any]:
    found = _SOURCE.match(name) if kind == "frame" else None
    return {"name": name} | ({"file": found["file"], "line": int(found["line"])} if found else {})


def as_folded(table: StackTable) -> str:
    """Folded stacks with times in ns; a semicolon in a name becomes a colon."""
    lines = []
    for rows, own in _each_stack(table):
        names = ";".join(safe(table.name[row]).replace(";", ":").strip() or "(no name)" for row in rows)
        lines.append(f"{names} {own}\n")
    return "".join(lines)


def _each_stack(table: StackTable) -> Iterator[tuple[list[int], int]]:
    """Each stack that has time of its own: its rows from the outermost on, and the time in ns."""
    parents = table.parent.tolist()
    above: list[list[int]] = []
    for row, (parent, own) in enumerate(zip(parents, table.self_ns.tolist(), strict=True)):
        rows = [*(above[parent] if parent >= 0 else ()), row]
        above.append(rows)
        if own > 0:
            yield rows, own
