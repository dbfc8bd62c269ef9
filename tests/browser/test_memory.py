"""The Memory view, with the numbers of /api/memory/…"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Request, expect

from tests import tiny
from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.conftest import OpenPage, screenshot
from tests.browser.memory import (
    CPU,
    GPU,
    asked,
    comes,
    curve_of,
    drag,
    goes,
    open_allocations,
    open_memory,
    plot,
    range_of,
    saved,
    written,
)
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of
from tests.browser.servers import Server
from tests.browser.test_keyboard import tab_to
from tests.tiny import wait_until

MS = 1_000_000


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    return open_memory(on_its_own)


# ---- the curve


def test_the_numbers_above_the_curve(opened: Profiler) -> None:
    panel, curve = opened.panel("Memory in use"), curve_of(opened)
    for label, exact in (
        ("Peak allocated", curve["peak"]["allocated"]),
        ("Peak reserved", max(curve["reserved_max"])),
        ("Device total", curve["device_bytes"]),
        ("Before the recording", curve["baseline"]),
    ):
        shown = definition(panel, label)
        assert numbers.same(shown.inner_text(), exact), label
        expect(shown).to_have_attribute("title", f"{exact:,} bytes")
    expect(panel.get_by_text("in step 3").first).to_contain_text("At most 5.513 GiB was in use by tensors")
    panel.get_by_role("button", name="Before the recording").click()
    wait_until(lambda: "c" in opened.state, "the moment in the address")
    panel.get_by_role("button", name="Peak allocated").click()
    wait_until(lambda: "c" not in opened.state, "the peak, which is the usual moment")
    picture = panel.get_by_role("img")
    expect(picture).to_have_accessible_name(re.compile(r"^Memory in use on GPU0 from .* at most 5\.513 GiB allocated"))


def test_the_curve_as_a_table(opened: Profiler) -> None:
    curve = curve_of(opened)
    rows = as_table(opened.panel("Memory in use"))
    assert len(rows) == len(curve["time_ns"])
    for shown, *exact in zip(
        rows,
        *(curve[key] for key in ("time_ns", "allocated_min", "allocated_max", "allocated", "reserved")),
        strict=True,
    ):
        assert numbers.all_same(shown, exact)
    opened.ui.get_by_role("button", name="Show as chart").click()
    expect(opened.panel("Memory in use").get_by_role("img")).to_be_visible()


def test_no_peak_is_lost_where_a_pixel_is_many_records(on_its_own: Profiler) -> None:
    on_its_own.open(v="memory", r=CPU_RUN)
    curve = curve_of(on_its_own, CPU)
    assert curve["records"] > len(curve["time_ns"]), "the trace is long enough to be drawn in stretches"
    rows = as_table(on_its_own.panel("Memory in use"))
    peak = curve["peak"]["allocated"]
    assert any(numbers.same(highest, peak) for _, _, highest, *_ in rows)
    assert numbers.same(definition(on_its_own.panel("Memory in use"), "Peak allocated").inner_text(), peak)


def test_what_holds_under_the_pointer(opened: Profiler) -> None:
    box = plot(opened).bounding_box()
    assert box is not None
    answer = asked(opened, "curve")
    start, end = answer["start_ns"], answer["end_ns"]
    plot(opened).hover(position={"x": box["width"] * 0.75, "y": 60})
    readout = opened.ui.locator(".time-curve-readout")
    title = readout.locator(".chart-tooltip-title").inner_text()
    assert abs(float(title.split()[0]) * MS - (start + 0.75 * (end - start))) < (end - start) / 400
    expect(readout).to_contain_text("Step 6")
    expect(readout).to_contain_text(re.compile(r"Allocated[\d.]+ GiB[\d,]{13} bytes"))
    expect(readout).to_contain_text("Reserved")


def test_lines_are_put_in_and_out(opened: Profiler) -> None:
    lines = opened.ui.get_by_role("group", name="Colours")
    for name, pressed in (("Allocated", "true"), ("Reserved", "true"), ("Device total", "false")):
        expect(lines.get_by_role("button", name=name)).to_have_attribute("aria-pressed", pressed)
    lines.get_by_role("button", name="Device total").click()
    lines.get_by_role("button", name="Reserved").click()
    comes(opened, "m", "allocated,total")
    plot(opened).hover(position={"x": 100, "y": 60})
    readout = opened.ui.locator(".time-curve-readout")
    expect(readout).to_contain_text(f"Device total79.18 GiB{curve_of(opened)['device_bytes']:,} bytes")
    expect(readout).not_to_contain_text("Reserved")


# ---- the time range


def test_dragging_zooms_and_everything_follows(on_its_own: Profiler) -> None:
    profiler = open_allocations(on_its_own)
    requests: list[dict[str, list[str]]] = []

    def seen(request: Request) -> None:
        if "/api/memory/curve" in request.url:
            requests.append(parse_qs(urlsplit(request.url).query))

    profiler.page.on("request", seen)
    whole = asked(profiler, "curve", CPU)
    drag(profiler, 0.3, 0.5)
    start, end = range_of(profiler)
    span = whole["end_ns"] - whole["start_ns"]
    assert abs(start - whole["start_ns"] - 0.3 * span) < span / 200
    assert abs(end - start - 0.2 * span) < span / 200

    # The server is asked for the detail of the range, and it has more of it.
    zoomed = curve_of(profiler, CPU, start_ns=start, end_ns=end)
    coarse = [time for time in whole["devices"][0]["time_ns"] if start <= time <= end]
    assert len(zoomed["time_ns"]) > len(coarse)
    expect(definition(profiler.panel("Memory in use"), "Peak in the range")).to_have_attribute(
        "title", f"{zoomed['peak_in_range']['allocated']:,} bytes"
    )
    assert {"start_ns": [str(start)], "end_ns": [str(end)]}.items() <= requests[-1].items()
    assert len(as_table(profiler.panel("Memory in use"))) == len(zoomed["time_ns"])

    # Both tables follow.
    in_range = {"device": "CPU", "start_ns": start, "end_ns": end}
    found = asked(profiler, "events", CPU, **in_range, limit="all")
    expect(profiler.panel("Allocations").get_by_text(f"{found['meta']['total']:,} rows")).to_be_visible()
    assert [row["bytes"] for row in saved(profiler, "Allocations")] == written(found["rows"]["bytes"])
    profiler.switch("Table", "Operators")
    rows = asked(profiler, "operators", CPU, **in_range)["rows"]
    expect(profiler.grid("Operators").count).to_have_text(f"{len(rows['name'])} rows")
    assert {row["name"]: row["allocation_size"] for row in saved(profiler, "Operators")} == dict(
        zip(rows["name"], written(rows["allocation_size"]), strict=True)
    )

    # And so does what was alive: at the peak of the range.
    profiler.switch("Table", "Alive")
    peak = zoomed["peak_in_range"]
    panel = profiler.panel("Live memory blocks")
    expect(panel.get_by_text("At the peak of the range")).to_have_attribute("title", f"{peak['time_ns']:,} ns")


def test_ways_back(opened: Profiler) -> None:
    for how in ("right click", "double click", "Escape", "button"):
        assert_way_back(opened, how)


def assert_way_back(opened: Profiler, how: str) -> None:
    drag(opened, 0.5, 0.2)
    range_of(opened)
    reset = opened.ui.get_by_role("button", name="Reset zoom")
    expect(reset).to_be_enabled()
    if how == "right click":
        plot(opened).click(button="right")
    elif how == "double click":
        plot(opened).dblclick()
    elif how == "Escape":
        opened.page.keyboard.press("Escape")
    else:
        reset.click()
    goes(opened, "t")
    expect(reset).to_be_disabled()
    expect(opened.panel("Memory in use").get_by_text("Peak in the range")).to_have_count(0)
    assert "c" not in opened.state, "none of these sets the cursor"


def test_zooming_without_a_pointer(opened: Profiler) -> None:
    page, panel = opened.page, opened.panel("Memory in use")
    first = panel.get_by_role("textbox", name="From")
    tab_to(page, first)
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("20")
    page.keyboard.press("Tab")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("40000 us")
    page.keyboard.press("Enter")
    assert range_of(opened) == (20 * MS, 40 * MS)
    expect(first).to_have_value("20.000")

    # To a step, as the overview has it.
    steps = opened.server.api("overview", **GPU)["steps"]
    at = steps["names"].index("5")
    opened.choose("Step", "Step 5")
    expect(opened.picker("Step")).to_contain_text("Step 5")
    assert range_of(opened, f"{steps['start_ns'][at]}-")[1] == steps["start_ns"][at] + steps["duration_ns"][at]

    start, end = range_of(opened)
    panel.get_by_role("button", name="Zoom in").press("Enter")
    tiny.wait_until(lambda: range_of(opened) != (start, end), "it zooms")
    inner = range_of(opened)
    assert abs((inner[1] - inner[0]) * 2 - (end - start)) <= 2
    panel.get_by_role("button", name="Later").press("Enter")
    tiny.wait_until(lambda: range_of(opened) != inner, "it moves")
    assert range_of(opened)[0] > inner[0]
    page.keyboard.press("Escape")
    goes(opened, "t")


def test_what_is_no_time_is_said(opened: Profiler) -> None:
    field = opened.ui.get_by_role("textbox", name="From")
    field.fill("soon")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(opened.ui.get_by_role("button", name="Apply")).to_be_disabled()
    field.press("Enter")
    assert "t" not in opened.state


# ---- for everybody


def test_axe_finds_nothing(open_page: OpenPage, alone: Server, output: Path) -> None:
    page = open_page(viewport={"width": 1280, "height": 1400})
    profiler = Profiler(page, alone)
    axe = Axe(profiler)

    def look(name: str) -> None:
        axe.look(name, lambda theme: screenshot(page, output, f"memory-{name}-{theme}"))

    profiler.open(v="memory", r=GPU_RUN)
    grid = profiler.grid("Live memory blocks")
    expect(grid.count).to_be_visible()
    look("peak")
    drag(profiler, 0.22, 0.3)
    plot(profiler).click(position={"x": 300, "y": 60})
    expect(profiler.panel("Live memory blocks").get_by_role("button", name="Back to the peak")).to_be_visible()
    grid.root.get_by_role("button", name="Show details").first.click()
    plot(profiler).hover(position={"x": 500, "y": 60})
    look("zoomed")
    profiler.open(v="memory", r=CPU_RUN, g="events", q="bytes>64KB", d="GPU7")
    expect(profiler.grid("Allocations").first_row).to_be_visible()
    profiler.ui.get_by_role("textbox", name="From").fill("soon")
    look("allocations")
    profiler.open(v="memory", r=CPU_RUN, g="operators")
    expect(profiler.grid("Operators").count).to_be_visible()
    profiler.panel("Memory in use").get_by_role("button", name="Show as table").click()
    expect(rows_table(profiler)).to_be_visible()
    look("as-tables")
    axe.check()


def rows_table(profiler: Profiler) -> Locator:
    table = profiler.panel("Memory in use").get_by_role("table")
    rows_of(table)
    return table
