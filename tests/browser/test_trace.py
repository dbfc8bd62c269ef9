"""The Trace view around the timeline: the file, and the list, which is /api/trace/slices."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.history import back
from tests.browser.profiler import GPU_RUN, Profiler, rows_of
from tests.browser.servers import Server
from tests.browser.watch import Watch

WHERE = {"run": GPU_RUN, "worker": "rank0"}
SCALES = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="trace", r=GPU_RUN, k="rank0", l="1")
    expect(table(on_its_own)).to_be_visible()
    return on_its_own


def panel(profiler: Profiler) -> Locator:
    return profiler.panel("Longest slices")


def table(profiler: Profiler) -> Locator:
    return panel(profiler).get_by_role("table")


def assert_shows(profiler: Profiler, **query: str) -> dict[str, Any]:
    """The rows on the screen are those of the API."""
    answer: dict[str, Any] = profiler.server.api("trace/slices", **WHERE, **query)
    total = answer["meta"]["total"]
    first = answer["meta"]["offset"] + 1
    last = first - 1 + len(answer["rows"]["name"])
    expect(panel(profiler).get_by_text(f"{first:,}–{last:,} of {total:,} slices")).to_be_visible()
    shown = rows_of(table(profiler))
    heads = table(profiler).get_by_role("columnheader").all_inner_texts()
    rows = answer["rows"]
    assert [row[2] for row in shown] == rows["track"]
    for column, key in ((3, "start_ns"), (4, "duration_ns")):
        scale = SCALES[heads[column].split()[-1]]
        assert numbers.all_same([row[column] for row in shown], [value / scale for value in rows[key]])
    assert [int(row[5].replace(",", "")) for row in shown] == rows["row"]
    return answer


def test_the_longest_slices(opened: Profiler) -> None:
    answer = assert_shows(opened)
    names = [row[0] for row in rows_of(table(opened))]
    assert names[:3] == answer["rows"]["name"][:3]
    opened.ui.get_by_role("button", name="Next page").click()
    assert_shows(opened, offset="100")
    expect(opened.ui.get_by_role("button", name="Previous page")).to_be_enabled()


def test_by_name_category_and_time(opened: Profiler) -> None:
    field = panel(opened).get_by_label("Name contains")
    field.press_sequentially("aten::MM", delay=60)
    expect(field).to_be_focused()
    answer = assert_shows(opened, name="aten::mm")
    assert all("aten::mm" in name for name in answer["rows"]["name"])
    opened.choose("Category", "Kernel (")
    expect(panel(opened).get_by_text("No slice matches.")).to_be_visible()
    panel(opened).get_by_role("button", name="Show all slices").click()
    assert_shows(opened)
    expect(field).to_have_value("")

    opened.choose("Category", "Kernel (")
    assert_shows(opened, category="kernel")
    panel(opened).get_by_label("From (ms)").fill("20")
    panel(opened).get_by_label("to (ms)").fill("25.5")
    panel(opened).get_by_label("to (ms)").press("Enter")
    assert_shows(opened, category="kernel", start_ns="20000000", end_ns="25500000")
    expect(opened.page).to_have_url(re.compile("t="))
    assert opened.state["t"] == "20000000-25500000"
    assert opened.state["g"] == "kernel"
    panel(opened).get_by_label("From (ms)").fill("later")
    expect(panel(opened).get_by_text("Times are in milliseconds")).to_be_visible()
    panel(opened).get_by_role("button", name="Clear").click()
    assert_shows(opened, category="kernel")


def test_the_address_is_the_view(on_its_own: Profiler) -> None:
    on_its_own.open(v="trace", r=GPU_RUN, k="rank0", q="nccl", g="kernel", t="0-50000000", n="0", l="1")
    answer = assert_shows(on_its_own, name="nccl", category="kernel", start_ns="0", end_ns="50000000")
    assert answer["meta"]["total"] > 0
    on_its_own.open(v="trace", r=GPU_RUN, k="rank0", g="moon", t="x", n="-3", l="1")
    assert_shows(on_its_own)


def test_a_name_leads_to_all_its_calls_and_back(opened: Profiler) -> None:
    opened.choose("Category", "Operator (")
    answer = assert_shows(opened, category="operator")
    name = answer["rows"]["name"][0]
    table(opened).get_by_role("button", name=name, exact=True).first.click()
    expect(opened.heading("Operator")).to_be_visible()
    expect(opened.inspector.get_by_role("heading", name=name, exact=True)).to_be_visible()
    back(opened.page)
    expect(opened.picker("Category")).to_contain_text("Operator (")


def file_menu(profiler: Profiler) -> Locator:
    profiler.ui.get_by_role("button", name="Trace file").click()
    return profiler.panel("Trace file")


def test_downloads(opened: Profiler, samples: Path, watch: Watch) -> None:
    stored = next((samples / GPU_RUN).glob("rank0.*"))
    file = file_menu(opened)
    expect(file.get_by_text(stored.name)).to_be_visible()
    size = file.get_by_role("definition").nth(1)
    assert numbers.same(size.inner_text(), stored.stat().st_size)
    with opened.page.expect_download() as download:
        file.get_by_role("link", name="Download as recorded").click()
    assert download.value.suggested_filename == stored.name
    assert download.value.path().read_bytes() == stored.read_bytes()
    with opened.page.expect_download() as download:
        file.get_by_role("link", name="Download with GPU counters").click()
    assert download.value.suggested_filename.endswith(".counters.json")
    saved = download.value.path().read_bytes()
    events = json.loads(gzip.decompress(saved) if saved[:2] == b"\x1f\x8b" else saved)["traceEvents"]
    assert any("Utilization" in str(event.get("name")) for event in events if event.get("ph") == "C")
    # It can be looked at elsewhere, and nothing is asked there before somebody wants to.
    expect(file.get_by_role("button", name="Open in Perfetto")).to_be_visible()
    assert watch.elsewhere == []


def test_downloads_in_tensorboard(in_tensorboard: Profiler, samples: Path) -> None:
    in_tensorboard.open(v="trace", r=GPU_RUN, k="rank1")
    stored = next((samples / GPU_RUN).glob("rank1.*"))
    file = file_menu(in_tensorboard)
    with in_tensorboard.page.expect_download() as download:
        file.get_by_role("link", name="Download as recorded").click()
    assert download.value.path().read_bytes() == stored.read_bytes()


def test_a_trace_without_slices(tmp_path: Path, serve_logs: Callable[[Path], Server], page: Page) -> None:
    (tmp_path / "run").mkdir()
    process_name = {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": "python"}}
    (tmp_path / "run" / "w.1.pt.trace.json").write_text(json.dumps({"traceEvents": [process_name]}))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="trace")
    timeline = profiler.panel("Timeline")
    expect(timeline.get_by_text("This trace has no slices")).to_be_visible()
    expect(timeline.get_by_text("activities=")).to_be_visible()
    expect(file_menu(profiler).get_by_role("link", name="Download as recorded")).to_be_visible()


def test_usable_by_everybody(axe: Axe) -> None:
    profiler = axe.profiler
    profiler.open(v="trace", r=GPU_RUN, t="0-5000000", l="1")
    expect(table(profiler)).to_be_visible()
    axe.look("slices")
    panel(profiler).get_by_label("From (ms)").fill("later")
    axe.look("wrong time")
    axe.check()


def box(found: Locator) -> dict[str, float]:
    place = found.bounding_box()
    assert place is not None
    return {"top": place["y"], "bottom": place["y"] + place["height"], "left": place["x"], **place}


def test_the_timeline_fills_the_window(on_its_own: Profiler) -> None:
    page, ui = on_its_own.page, on_its_own.ui
    page.set_viewport_size({"width": 1280, "height": 900})
    on_its_own.open(v="trace", r=GPU_RUN, k="rank0")
    lanes, main = ui.locator(".timeline-scroll"), ui.locator(".main")
    expect(ui.locator(".timeline[aria-busy=true]")).to_have_count(0)
    assert main.evaluate("(main) => main.scrollHeight - main.clientHeight") <= 1
    assert box(main)["bottom"] - box(lanes)["bottom"] < 110
    # the strip stands above the lanes, not above their names
    assert box(ui.locator(".timeline-strip"))["left"] == box(ui.locator(".timeline-canvas"))["left"]


def test_details_are_docked_beside_and_their_edge_moves(on_its_own: Profiler) -> None:
    page, ui = on_its_own.page, on_its_own.ui
    page.set_viewport_size({"width": 1280, "height": 1000})
    on_its_own.open(v="trace", r=GPU_RUN, k="rank0", e="2309")
    side, lanes = ui.locator(".trace-side"), ui.locator(".timeline-scroll")
    expect(on_its_own.panel("Selection")).to_be_in_viewport()
    expect(ui.locator(".timeline")).to_have_attribute("aria-busy", "false")
    edge = ui.get_by_role("separator", name="Width of the details")
    before, room = box(side), box(lanes)["width"]
    edge.focus()
    page.keyboard.press("ArrowLeft")
    expect(edge).to_have_attribute("aria-valuenow", "376")
    after = box(side)
    assert after["width"] - before["width"] == 16
    assert after["left"] + after["width"] == before["left"] + before["width"]
    assert box(lanes)["width"] < room
    # in a low window they follow, and the page scrolls
    page.set_viewport_size({"width": 1280, "height": 540})
    expect(edge).to_be_hidden()
    assert box(lanes)["height"] >= 250
