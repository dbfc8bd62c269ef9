"""T5–T8 and U1: the timeline and a large table in a headless browser that draws in software.

Costs are processor time of the page's main thread: scripts, styles, layout, painting. What other threads of the browser
do with the finished pictures is not in it.
"""

from __future__ import annotations

import json
import re
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.environments import OURS, ROOT, WORK, variables
from benchmarks.processes import Failed, running
from benchmarks.servers import ready

Measured = dict[str, Any]

FRAMES = 60
#: keys pressed between the places at which frames are measured; each press halves what is in sight, or nearly
ZOOMS = (0, 5, 5, 8)
_WIDTH, _HEIGHT = 1600, 1000
_ARGUMENTS = ("--disable-background-networking", "--disable-component-update", "--disable-gpu", "--no-first-run")

_TURN = """async ([frames, keys, there, back]) => {
    const canvas = document.querySelector(".timeline-canvas");
    const box = canvas.getBoundingClientRect();
    const at = { clientX: box.left + box.width / 2, clientY: box.top + 60, bubbles: true, cancelable: true };
    for (let frame = 0; frame < frames; frame++) {
        const deltaY = frame < frames / 2 ? there : back;
        canvas.dispatchEvent(new WheelEvent("wheel", { ...at, ...keys, deltaY }));
        await new Promise(requestAnimationFrame);
        await new Promise((done) => setTimeout(done, 0));
    }
}"""
#: how the wheel is turned: the keys that are held, how far there and back
_MOVES: dict[str, tuple[dict[str, bool], int, int]] = {
    "pan": ({"shiftKey": True}, 12, -12),
    "zoom": ({"ctrlKey": True}, -20, 20),
    "scroll": ({}, 30, -30),
}


#: of the table, all in the page
ROWS = 100_000
#: by the wheel slowly and fast, and by the scrollbar
_ROWS_A_FRAME = (3, 10, 500)
_SCROLL = """async ([frames, rows]) => {
    const grid = document.querySelector("[role=grid][aria-rowcount]");
    for (let frame = 0; frame < frames; frame++) {
        grid.scrollTop += 28 * rows;
        await new Promise(requestAnimationFrame);
        await new Promise((done) => setTimeout(done, 0));
    }
}"""


def pages(logdir: Path, runs: Sequence[tuple[str, Sequence[str]]], seconds: float) -> tuple[dict[str, Measured], float]:
    """What looking at the timeline of each run costs, and seconds for a frame of scrolling a large table.

    runs: names, and the workers that are shown below each other
    """
    cache = WORK / "pages-cache"
    command: list[str | Path] = [OURS.script("torch-tb-profiler"), "serve", logdir, "--port", "0"]
    with running([*command, "--workers", "2", "--cache-dir", cache], variables(), seconds) as server:
        for line in server.lines():
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                break
        else:
            raise Failed(server.errors())
        while not ready(found[0], len(runs)):
            if server.process.poll() is not None or not server.in_time():
                raise Failed(server.errors() if server.in_time() else "not ready in time")
            time.sleep(0.2)
        with _browser() as browser:
            looked = {run: _look(browser, found[0], run, workers) for run, workers in runs}
            return looked, _scroll(browser, found[0], *runs[0])


@contextmanager
def _browser() -> Iterator[Any]:
    sys.path.append(str(ROOT / "_build"))
    import browser as chromium

    with chromium.launched(_ARGUMENTS) as started:
        yield started


class _Meter:
    """What the main thread of a page has done so far."""

    def __init__(self, page: Any) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read(self, name: str) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(float(each["value"]) for each in metrics if each["name"] == name)


def _scroll(browser: Any, address: str, run: str, workers: Sequence[str]) -> float:
    """Operators of a run, each many times over, in the page; the costliest way of scrolling counts."""
    question = f"/api/operators?run={run}&worker={workers[0]}"
    with urllib.request.urlopen(address + question, timeout=300) as answer:
        table = json.load(answer)
    rows = table["rows"]
    times = -(-ROWS // len(rows["name"]))
    table["rows"] = {key: (values * times)[:ROWS] for key, values in rows.items()}
    table["rows"]["name"] = [f"operator {place}" for place in range(ROWS)]
    table["meta"]["total"] = ROWS
    body = json.dumps(table)
    page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
    page.set_default_timeout(120_000)
    page.route("**/api/operators?*", lambda route: route.fulfill(body=body, content_type="application/json"))
    page.goto(f"{address}/#v=operators&r={run}&k={workers[0]}")
    page.wait_for_selector(f'[role=grid][aria-rowcount="{ROWS + 1}"]')
    page.wait_for_timeout(800)
    meter = _Meter(page)
    costs = []
    for rows_a_frame in _ROWS_A_FRAME:
        before = meter.read("TaskDuration")
        page.evaluate(_SCROLL, [FRAMES, rows_a_frame])
        costs.append((meter.read("TaskDuration") - before) / FRAMES)
    page.close()
    return max(costs)


def _look(browser: Any, address: str, run: str, workers: Sequence[str]) -> Measured:
    # that the server opens the timeline is no work of the page
    for worker in workers:
        with urllib.request.urlopen(f"{address}/api/timeline?run={run}&worker={worker}", timeout=300) as answer:
            answer.read()
    page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
    page.set_default_timeout(120_000)
    metric = _Meter(page).read

    def settle() -> None:
        page.wait_for_selector(".timeline[aria-busy=false]")
        page.wait_for_timeout(800)
        page.wait_for_selector(".timeline[aria-busy=false]")

    shown = f"&w={','.join(workers)}" if len(workers) > 1 else ""
    page.goto(f"{address}/#v=trace&r={run}&k={workers[0]}{shown}")
    page.wait_for_selector(".timeline[aria-busy=false]")
    found: Measured = {"first": metric("TaskDuration"), "frames": {}}
    for place, presses in enumerate(ZOOMS):
        page.locator(".timeline-canvas").click(position={"x": 700, "y": 5})
        for _ in range(presses):
            page.keyboard.press("w")
        settle()
        for move, turn in _MOVES.items():
            before = metric("TaskDuration")
            page.evaluate(_TURN, [FRAMES, *turn])
            found["frames"][f"{move} {place}"] = (metric("TaskDuration") - before) / FRAMES
            settle()
    found["heap"] = metric("JSHeapUsedSize")
    page.close()
    return found
