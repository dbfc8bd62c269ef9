"""What tests of the Memory view share."""

from __future__ import annotations

import csv
import io
from typing import Any

from playwright.sync_api import Locator, expect

from tests import tiny
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler

GPU = {"run": GPU_RUN, "worker": "rank0"}
CPU = {"run": CPU_RUN, "worker": "worker0"}


def open_memory(profiler: Profiler) -> Profiler:
    """Of a run on GPUs."""
    profiler.open(v="memory", r=GPU_RUN, k="rank0")
    expect(profiler.grid("Live memory blocks").count).to_be_visible()
    return profiler


def open_allocations(profiler: Profiler) -> Profiler:
    """Thousands, of a run on the CPU."""
    profiler.open(v="memory", r=CPU_RUN, g="events")
    expect(profiler.grid("Allocations").root).to_be_visible()
    return profiler


def asked(profiler: Profiler, question: str, where: dict[str, str] = GPU, **query: object) -> Any:
    """The answer of /api/memory/<question>."""
    return profiler.server.api(f"memory/{question}", **where, **{key: str(value) for key, value in query.items()})


def curve_of(profiler: Profiler, where: dict[str, str] = GPU, **query: object) -> Any:
    return asked(profiler, "curve", where, **query)["devices"][0]


def plot(profiler: Profiler) -> Locator:
    return profiler.panel("Memory in use").locator(".time-curve-plot")


def cursor(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("slider", name="Moment")


def comes(profiler: Profiler, key: str, start: str = "") -> str:
    """What the address says under a key; it is written a moment after the view has changed."""
    tiny.wait_until(lambda: key in profiler.state and profiler.state[key].startswith(start), f"{key}={start}")
    return profiler.state[key]


def goes(profiler: Profiler, key: str) -> None:
    tiny.wait_until(lambda: key not in profiler.state, f"no {key} in the address")


def range_of(profiler: Profiler, start: str = "") -> tuple[int, int]:
    first, last = comes(profiler, "t", start).split("-")
    return int(first), int(last)


def saved(profiler: Profiler, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(profiler.grid(name).export("CSV"))))


def written(values: list[Any]) -> list[str]:
    return ["" if value is None else str(value) for value in values]


def drag(profiler: Profiler, start: float, end: float) -> None:
    """From one share of the plot's width to another."""
    box = plot(profiler).bounding_box()
    assert box is not None
    mouse, middle = profiler.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + box["width"] * start, middle)
    mouse.down()
    mouse.move(box["x"] + box["width"] * (start + end) / 2, middle + 5)
    mouse.move(box["x"] + box["width"] * end, middle)
    mouse.up()
