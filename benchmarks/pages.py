"""T5–T8: the timeline in a headless browser that draws in software.

Costs are processor time of the page's main thread: scripts, styles, layout, painting. What other threads of the browser
do with the finished pictures is not in it.
"""

from __future__ import annotations

import os
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


def timeline_pages(logdir: Path, runs: Sequence[tuple[str, Sequence[str]]], seconds: float) -> dict[str, Measured]:
    """What looking at each run costs; `runs`: names, and the workers that are shown below each other."""
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
            return {run: _look(browser, found[0], run, workers) for run, workers in runs}


@contextmanager
def _browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    sys.path.append(str(ROOT / "_build"))
    import browser as chromium

    os.environ.update(chromium.playwright_settings())
    with sync_playwright() as playwright:
        sandbox = not hasattr(os, "geteuid") or os.geteuid() != 0
        started = playwright.chromium.launch(
            executable_path=chromium.executable(), args=_ARGUMENTS, chromium_sandbox=sandbox
        )
        yield started
        started.close()


def _look(browser: Any, address: str, run: str, workers: Sequence[str]) -> Measured:
    # that the server opens the timeline is no work of the page
    for worker in workers:
        with urllib.request.urlopen(f"{address}/api/timeline?run={run}&worker={worker}", timeout=300) as answer:
            answer.read()
    page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
    page.set_default_timeout(120_000)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def metric(name: str) -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(each["value"]) for each in metrics if each["name"] == name)

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
