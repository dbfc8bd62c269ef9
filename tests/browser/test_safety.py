"""Names come from files that somebody else made: whatever they contain is shown, never run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests import events
from tests.browser.profiler import Profiler
from tests.browser.servers import Server
from tests.browser.watch import Watch
from torch_tb_profiler.model.kernel_names.short import short_name

IMAGE = '<img src=stolen onerror="alert(1)">'
SCRIPT = "</script><script>alert(2)</script>{{7*7}}${alert(3)}"
RUN = "<img src=stolen onerror=alert(4)>"
WORKER = "<svg onload=alert(5)>"
OPERATOR = f"aten::{IMAGE}"
KERNEL = f"kernel {SCRIPT}"
SHORT = short_name(KERNEL)
DEVICE = f"H100 {IMAGE}"
FRAME = f"{SCRIPT}{IMAGE}.py(12): <b onclick=alert(6)>f</b>"
COPY = f"Memcpy {IMAGE}"


def hostile_trace() -> dict[str, Any]:
    return {
        "deviceProperties": [{"id": 0, "name": DEVICE, "totalGlobalMem": 2**30, "computeMajor": 9, "computeMinor": 0}],
        "traceName": IMAGE,
        "cuda_runtime_version": IMAGE,
        "traceEvents": [
            events.annotation("ProfilerStep#1", 0, 1000),
            events.frame(FRAME, 5, 900),
            events.op(OPERATOR, 10, 300, **{"Input Dims": [[2, 2], IMAGE], "External id": 1}),
            events.launch(20, 1),
            events.op("aten::to", 400, 100),
            events.launch(410, 2),
            events.kernel(100, 500, 1, KERNEL, grid=[1, 1, 1], block=[64, 1, 1]),
            {**events.copy(700, 50, 2, bytes=1024), "name": COPY},
        ],
    }


def test_markup_in_names_is_text_everywhere(
    tmp_path: Path, serve_logs: Callable[[Path], Server], page: Page, watch: Watch
) -> None:
    folder = tmp_path / RUN
    folder.mkdir()
    (folder / f"{WORKER}.1.pt.trace.json").write_text(json.dumps(hostile_trace()))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    assert [trace["state"] for trace in server.traces()] == ["ready"]
    profiler = Profiler(page, server).open()
    ui = profiler.ui

    # Run and worker: pickers, their lists, the status line, the list of files.
    for label, name in (("Run", RUN), ("Worker", WORKER)):
        expect(profiler.picker(label)).to_have_accessible_name(f"{label} {name}")
        profiler.picker(label).click()
        expect(ui.get_by_role("option", name=name, exact=True)).to_be_visible()
        page.keyboard.press("Escape")
    ui.get_by_role("button", name="Files").click()
    expect(ui.get_by_role("dialog").get_by_role("rowheader", name=RUN, exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    ui.get_by_role("button", name=re.compile(r"note")).first.click()
    expect(ui.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")

    # Overview: device, bars, their tooltips.
    ui.get_by_role("button", name="All numbers").click()
    expect(profiler.panel("GPU Summary").get_by_role("cell", name=DEVICE, exact=True)).to_be_visible()
    for title, name in (("Top operators", OPERATOR), ("Top kernels", KERNEL)):
        hover_first_bar(profiler, title)
        expect(profiler.panel(title).get_by_text(name, exact=True)).to_be_visible()

    # Operator: tooltip, table, frames, kernels, inspector.
    profiler.go_to("operators")
    hover_first_bar(profiler, "Largest operators")
    expect(profiler.panel("Largest operators").get_by_text(OPERATOR, exact=True)).to_be_visible()
    grid = profiler.grid("Operators")
    grid.row(OPERATOR).get_by_role("button", name="Show details").click()
    expect(grid.root.get_by_role("button", name=FRAME, exact=True)).to_be_visible()
    expect(grid.root.get_by_role("button", name=SHORT, exact=True)).to_be_visible()
    grid.row(OPERATOR).click()
    expect(profiler.inspector.get_by_role("heading", name=OPERATOR, exact=True)).to_be_visible()
    for choice in ("+ Input shape", "+ Call stack"):
        profiler.switch("Group by", choice)
        expect(grid.row(OPERATOR)).to_be_visible()
    profiler.switch("Chart", "Donuts")
    expect(profiler.panel("Largest operators").get_by_role("img").first).to_be_visible()

    # GPU Kernel: bars, table, copies, inspector.
    profiler.go_to("kernels")
    hover_first_bar(profiler, "Total time of kernels")
    expect(profiler.panel("Total time of kernels").get_by_text(KERNEL, exact=True)).to_be_visible()
    grid = profiler.grid("Kernels")
    grid.row(SHORT).get_by_role("button", name="Show details").click()
    expect(grid.root.get_by_role("button", name=OPERATOR, exact=True)).to_be_visible()
    grid.row(SHORT).click()
    expect(profiler.inspector.get_by_role("heading", name=KERNEL, exact=True)).to_be_visible()
    expect(profiler.panel("Copies, memsets and waits").get_by_role("rowheader", name=COPY, exact=True)).to_be_visible()
    profiler.switch("Group by", "Properties + operator")
    expect(grid.row(SHORT)).to_be_visible()
    profiler.switch("Chart", "Donut")
    expect(profiler.panel("Total time of kernels").get_by_role("img")).to_be_visible()

    assert page.locator("img, svg[onload], b, iframe, object, embed").count() == 0
    assert page.locator("script:not([src])").count() == 0
    assert [url for url in watch.requests if "stolen" in url.split("?")[0]] == []
    assert watch.dialogs == []


def hover_first_bar(profiler: Profiler, title: str) -> None:
    """The names of the bars stand in the left part of the picture."""
    picture = profiler.panel(title).get_by_role("img")
    expect(picture.locator("canvas")).to_be_visible()
    width = picture.evaluate("(picture) => picture.clientWidth")
    picture.scroll_into_view_if_needed()
    picture.hover(position={"x": min(320, width * 0.46) + 40, "y": 16})


def test_a_link_cannot_smuggle_markup_in(on_its_own: Profiler, watch: Watch) -> None:
    on_its_own.open(v="operators", r=IMAGE, q=IMAGE, sel=f"op:{IMAGE}", g=IMAGE, o=IMAGE, c=IMAGE, n=IMAGE, m=IMAGE)
    expect(on_its_own.grid("Operators").filter).to_have_value(IMAGE)
    expect(on_its_own.inspector.get_by_role("heading", name=IMAGE, exact=True)).to_be_visible()
    expect(on_its_own.ui.get_by_role("status").filter(has_text=f"Run “{IMAGE}” no longer exists")).to_be_visible()
    assert on_its_own.page.locator("img").count() == 0
    assert [url for url in watch.requests if url.endswith("stolen")] == []
