"""Devices, links and Back in the Memory view, and what it says when something is missing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import events, tiny
from tests.browser.conftest import Keep, OpenPage, StartServer
from tests.browser.history import back
from tests.browser.memory import comes, cursor, drag, open_memory, plot, range_of
from tests.browser.profiler import Profiler, definition
from tests.browser.servers import Server


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    return open_memory(on_its_own)


def two_devices() -> dict[str, Any]:
    """GPU1 and the CPU; names that are markup."""
    nasty = "<img src=x onerror=alert(1)>"
    found = [
        events.annotation("ProfilerStep#1", 0, 500),
        events.annotation("ProfilerStep#2", 500, 500),
        events.op(f"aten::{nasty}", 100, 300),
        events.op(nasty, 120, 100),
    ]
    found += [
        events.memory(130, 4096, 1, 8192, 16384, (1, 1)),
        events.memory(140, 512, 2, 512, 0, (0, -1)),
        events.memory(600, 1024, 3, 9216, 16384, (1, 1)),
        events.memory(700, -4096, 1, 5120, 16384, (1, 1)),
        events.memory(900, -512, 2, 0, 0, (0, -1)),
    ]
    properties = [{"id": i, "name": nasty, "totalGlobalMem": 2**16} for i in range(2)]
    return {"deviceProperties": properties, "traceEvents": found}


@pytest.fixture(scope="module")
def few(start_for_all: StartServer, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Traces of two devices, without memory, and of a time before totals were recorded."""
    logs = tmp_path_factory.mktemp("memory")
    folder = logs / "run"
    folder.mkdir()
    (folder / "two.1.pt.trace.json").write_text(json.dumps(two_devices()))
    tiny.write_trace(folder / "none.1.pt.trace.json")
    old = [events.op("aten::empty", 100, 20), events.memory(105, 2048, None), events.memory(110, -1024, None)]
    (folder / "old.1.pt.trace.json").write_text(json.dumps({"traceEvents": old}))
    server = start_for_all("memory", "torch_tb_profiler", "serve", str(logs))
    server.wait_for_traces()
    return server


@pytest.fixture
def small(few: Server, page: Page) -> Profiler:
    return Profiler(page, few)


def test_devices(small: Profiler) -> None:
    small.open(v="memory", k="two")
    expect(small.picker("Device")).to_contain_text("GPU1")
    panel = small.panel("Memory in use")
    expect(definition(panel, "Peak allocated")).to_have_text("9 KiB")
    expect(definition(panel, "Device total")).to_have_text("64 KiB")
    expect(small.panel("Live memory blocks").get_by_text("in known blocks (2 blocks)")).to_be_visible()
    small.choose("Device", "CPU")
    expect(definition(panel, "Peak allocated")).to_have_text("512 B")
    expect(panel.get_by_text("Device total")).to_have_count(0)
    expect(panel.get_by_text("Reserved", exact=True)).to_have_count(0)
    panel.get_by_role("button", name="Show as table").click()
    assert panel.get_by_role("columnheader").all_inner_texts()[-1] == "Allocated, last"
    expect(small.grid("Live memory blocks").count).to_have_text("1 row")
    comes(small, "d", "CPU")


def test_a_link_to_what_this_trace_does_not_have(small: Profiler) -> None:
    small.open(v="memory", k="two", d="GPU7", t="9000000-9900000", c="9000000", g="<b>", p="x", n="<i>", m="?", x="?")
    panel = small.panel("Memory in use")
    expect(panel.get_by_text("This trace has no memory of GPU7; showing GPU1.")).to_be_visible()
    expect(panel.get_by_text("The time range of the link is not in this trace; showing everything.")).to_be_visible()
    expect(small.grid("Live memory blocks").count).to_have_text("2 rows")
    small.switch("Table", "Allocations")
    expect(small.panel("Allocations").get_by_text("2 rows")).to_be_visible()


def test_the_address_is_the_view(open_page: OpenPage, alone: Server, opened: Profiler) -> None:
    drag(opened, 0.2, 0.6)
    range_of(opened)
    plot(opened).click(position={"x": 200, "y": 40})
    opened.switch("Scale", "Fit")
    opened.ui.get_by_role("group", name="Colours").get_by_role("button", name="Reserved").click()
    opened.switch("Table", "Allocations")
    opened.grid("Allocations").sort_by("Lifetime")
    comes(opened, "o", "-duration_ns")
    state = opened.state
    assert {"v", "r", "k", "t", "c", "x", "m", "g", "o"} <= state.keys()

    other = Profiler(open_page(), alone)
    other.page.goto(opened.page.url)
    expect(other.grid("Allocations").header("Lifetime")).to_have_attribute("aria-sort", "descending")
    expect(other.ui.get_by_role("button", name="Reset zoom")).to_be_enabled()
    expect(cursor(other)).to_have_value(cursor(opened).input_value())
    for name in ("From", "to"):
        field = opened.ui.get_by_role("textbox", name=name, exact=True)
        expect(other.ui.get_by_role("textbox", name=name, exact=True)).to_have_value(field.input_value())
    fit = other.ui.get_by_role("radiogroup", name="Scale").get_by_role("radio", name="Fit")
    expect(fit).to_be_checked()
    assert other.state == state


def test_back_brings_the_look_back(opened: Profiler) -> None:
    drag(opened, 0.2, 0.6)
    wanted = range_of(opened)
    opened.switch("Table", "Operators")
    opened.go_to("kernels")
    assert "t" not in opened.state
    back(opened.page)
    expect(opened.grid("Operators").count).to_be_visible()
    assert range_of(opened) == wanted


def test_each_table_keeps_its_filter(opened: Profiler) -> None:
    opened.grid("Live memory blocks").filter.fill("bytes>100MB")
    expect(opened.grid("Live memory blocks").count).to_have_text(re.compile(r"^\d+ of \d+ rows$"))
    opened.switch("Table", "Operators")
    expect(opened.grid("Operators").filter).to_have_value("")
    opened.switch("Table", "Alive")
    expect(opened.grid("Live memory blocks").filter).to_have_value("bytes>100MB")


def test_another_rank_has_another_device(opened: Profiler) -> None:
    refused: list[str] = []
    opened.page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    opened.choose("Worker", "rank1")
    expect(opened.picker("Device")).to_contain_text("GPU1")
    expect(opened.grid("Live memory blocks").count).to_be_visible()
    assert refused == []


def test_without_memory_it_says_what_would_record_it(small: Profiler, keep: Keep) -> None:
    small.open(v="memory", k="none")
    panel = small.panel("Memory in use")
    expect(panel.get_by_text("No memory was recorded")).to_be_visible()
    expect(panel.get_by_text("profile(profile_memory=True)", exact=True)).to_be_visible()
    expect(panel.get_by_role("button", name="Copy")).to_be_visible()
    expect(small.ui.get_by_role("main").get_by_role("grid")).to_have_count(0)
    keep("memory-not-recorded")


def test_a_trace_without_totals_has_operators(small: Profiler) -> None:
    small.open(v="memory", k="old")
    expect(small.panel("Memory in use").get_by_text("PyTorch before 1.10 records only sizes")).to_be_visible()
    expect(small.grid("Operators").count).to_have_text("1 row")
    for tab, title in (("Alive", "Live memory blocks"), ("Allocations", "Allocations")):
        small.switch("Table", tab)
        expect(small.panel(title).get_by_text("The trace does not hold addresses")).to_be_visible()


def test_a_failed_zoom_leaves_the_curve(opened: Profiler) -> None:
    page = opened.page
    page.route("**/api/memory/curve*start_ns*", lambda route: route.fulfill(status=500, json={"error": "mark 4713"}))
    drag(opened, 0.2, 0.6)
    panel = opened.panel("Memory in use")
    expect(panel.get_by_role("alert")).to_contain_text("mark 4713")
    expect(panel.get_by_role("img")).to_be_visible()
    page.unroute("**/api/memory/curve*start_ns*")
    panel.get_by_role("button", name="Retry").click()
    expect(panel.get_by_role("alert")).to_have_count(0)
    expect(definition(panel, "Peak in the range")).to_be_visible()


def test_a_number_of_a_snapshot_shows_its_moment(on_its_own: Profiler) -> None:
    on_its_own.open(v="snapshot", r="out_of_memory")
    on_its_own.panel("Memory snapshot").get_by_role("button", name=re.compile("^In use at the end")).click()
    on_its_own.page.wait_for_function("() => /[#&]([\\w.]*\\.)?c=end(&|$)/.test(location.hash)")
    moment = on_its_own.panel("What was in use").get_by_role("button", name="Moment End")
    expect(moment).to_be_visible()
