"""What tests of the Diff view share."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator

from tests.browser.profiler import CPU_RUN, Grid, Profiler
from tests.browser.servers import Server

ServeLogs = Callable[[Path], Server]
OTHER_RUN = "cnn_workers2"
WORKER = "worker0"
BASELINE = f"{CPU_RUN}~{WORKER}~1"
HERE = {"v": "compare", "r": OTHER_RUN, "k": WORKER, "s": "1"}


def saved(grid: Grid) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(grid.export("CSV"))))


def chip(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("group", name="Comparison")


PART = "aten::to … backward"


"""The part of a step in which the program of the two runs calls its own annotations, among them this:"""


def answer_of(profiler: Profiler, path: str = "0") -> dict[str, Any]:
    answer: dict[str, Any] = profiler.server.api(
        "compare", run=CPU_RUN, worker=WORKER, exp_run=OTHER_RUN, exp_worker=WORKER, path=path
    )
    return answer


def trail(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("navigation", name="Where you are")


def plain(text: str) -> str:
    """Without the signs of differences, which the exact numbers do not have."""
    return text.replace("−", "-").replace("+", "")
