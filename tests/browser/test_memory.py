"""The Memory view, with the numbers of /api/memory/…"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from tests import events, tiny
from tests.browser import numbers
from tests.browser.conftest import Keep, OpenPage
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of
from tests.browser.servers import Server
from tests.browser.test_accessibility import AXE, Axe
from tests.browser.test_keyboard import tab_to

ServeLogs = Callable[[Path], Server]
GPU = {"run": GPU_RUN, "worker": "rank0"}
CPU = {"run": CPU_RUN, "worker": "worker0"}
MS = 1_000_000


def asked(profiler: Profiler, question: str, where: dict[str, str] = GPU, **query: object) -> Any:
    """The answer of /api/memory/<question>."""
    return profiler.server.api(f"memory/{question}", **where, **{key: str(value) for key, value in query.items()})


def curve_of(profiler: Profiler, where: dict[str, str] = GPU, **query: object) -> Any:
    return asked(profiler, "curve", where, **query)["devices"][0]


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="memory", r=GPU_RUN, k="rank0")
    expect(on_its_own.grid("What was alive").count).to_be_visible()
    return on_its_own


@pytest.fixture
def of_many(on_its_own: Profiler) -> Profiler:
    """A run with thousands of allocations."""
    on_its_own.open(v="memory", r=CPU_RUN, g="events")
    expect(on_its_own.grid("Allocations").root).to_be_visible()
    return on_its_own


def plot(profiler: Profiler) -> Locator:
    return profiler.panel("Memory in use").locator(".time-curve-plot")


def cursor(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("slider", name="Moment")


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


def comes(profiler: Profiler, key: str, start: str = "") -> str:
    """What the address says under a key; it is written a moment after the view has changed."""
    tiny.wait_until(lambda: key in profiler.state and profiler.state[key].startswith(start), f"{key}={start}")
    return profiler.state[key]


def goes(profiler: Profiler, key: str) -> None:
    tiny.wait_until(lambda: key not in profiler.state, f"no {key} in the address")


def range_of(profiler: Profiler, start: str = "") -> tuple[int, int]:
    first, last = comes(profiler, "t", start).split("-")
    return int(first), int(last)


def count_of(profiler: Profiler) -> Locator:
    """ "8,694 rows" above the allocations."""
    return profiler.panel("Allocations").get_by_role("status").filter(has_text="rows")


def saved(profiler: Profiler, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(profiler.grid(name).export("CSV"))))


def written(values: list[Any]) -> list[str]:
    return ["" if value is None else str(value) for value in values]


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
    expect(panel.get_by_text("in Step 3")).to_be_visible()
    picture = panel.get_by_role("img")
    expect(picture).to_have_accessible_name(re.compile(r"^Memory in use on GPU0 from .* at most 5\.513 GB allocated"))


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
    expect(readout).to_contain_text(re.compile(r"Allocated[\d.]+ GB[\d,]{13} bytes"))
    expect(readout).to_contain_text("Reserved")


def test_lines_are_put_in_and_out(opened: Profiler) -> None:
    lines = opened.ui.get_by_role("group", name="Lines")
    for name, pressed in (("Allocated", "true"), ("Reserved", "true"), ("Device total", "false")):
        expect(lines.get_by_role("button", name=name)).to_have_attribute("aria-pressed", pressed)
    lines.get_by_role("button", name="Device total").click()
    lines.get_by_role("button", name="Reserved").click()
    comes(opened, "m", "allocated,total")
    plot(opened).hover(position={"x": 100, "y": 60})
    readout = opened.ui.locator(".time-curve-readout")
    expect(readout).to_contain_text(f"Device total79.18 GB{curve_of(opened)['device_bytes']:,} bytes")
    expect(readout).not_to_contain_text("Reserved")


# ---- the time range


def test_dragging_zooms_and_everything_follows(of_many: Profiler) -> None:
    requests: list[dict[str, list[str]]] = []

    def seen(request: Request) -> None:
        if "/api/memory/curve" in request.url:
            requests.append(parse_qs(urlsplit(request.url).query))

    of_many.page.on("request", seen)
    whole = asked(of_many, "curve", CPU)
    drag(of_many, 0.3, 0.5)
    start, end = range_of(of_many)
    span = whole["end_ns"] - whole["start_ns"]
    assert abs(start - whole["start_ns"] - 0.3 * span) < span / 200
    assert abs(end - start - 0.2 * span) < span / 200

    # The server is asked for the detail of the range, and it has more of it.
    zoomed = curve_of(of_many, CPU, start_ns=start, end_ns=end)
    coarse = [time for time in whole["devices"][0]["time_ns"] if start <= time <= end]
    assert len(zoomed["time_ns"]) > len(coarse)
    expect(definition(of_many.panel("Memory in use"), "Peak in the range")).to_have_attribute(
        "title", f"{zoomed['peak_in_range']['allocated']:,} bytes"
    )
    assert {"start_ns": [str(start)], "end_ns": [str(end)]}.items() <= requests[-1].items()
    assert len(as_table(of_many.panel("Memory in use"))) == len(zoomed["time_ns"])

    # Both tables follow.
    in_range = {"device": "CPU", "start_ns": start, "end_ns": end}
    found = asked(of_many, "events", CPU, **in_range, limit="all")
    expect(of_many.panel("Allocations").get_by_text(f"{found['meta']['total']:,} rows")).to_be_visible()
    assert [row["bytes"] for row in saved(of_many, "Allocations")] == written(found["rows"]["bytes"])
    of_many.switch("Table", "Operators")
    rows = asked(of_many, "operators", CPU, **in_range)["rows"]
    expect(of_many.grid("Operators").count).to_have_text(f"{len(rows['name'])} rows")
    assert {row["name"]: row["allocation_size"] for row in saved(of_many, "Operators")} == dict(
        zip(rows["name"], written(rows["allocation_size"]), strict=True)
    )

    # And so does what was alive: at the peak of the range.
    of_many.switch("Table", "Alive")
    peak = zoomed["peak_in_range"]
    panel = of_many.panel("What was alive")
    expect(panel.get_by_text("At the peak of the range")).to_have_attribute("title", f"{peak['time_ns']:,} ns")


@pytest.mark.parametrize("how", ["right click", "double click", "Escape", "button"])
def test_ways_back(opened: Profiler, how: str) -> None:
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
    panel.get_by_role("combobox", name="Step").select_option("Step 5")
    expect(panel.get_by_role("combobox", name="Step")).to_have_value(str(at))
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


# ---- what was alive


def test_alive_at_the_peak(opened: Profiler) -> None:
    answer = asked(opened, "alive", device="GPU0", limit=10000)
    meta, rows = answer["meta"], answer["rows"]
    panel, grid = opened.panel("What was alive"), opened.grid("What was alive")
    expect(panel.get_by_text("At the peak, 2.16 ms:")).to_be_visible()
    for words, exact in (("in known blocks", meta["known_bytes"]), ("before the recording", meta["unknown_bytes"])):
        part = panel.get_by_role("listitem").filter(has_text=words)
        expect(part.get_by_role("strong").or_(part.locator("strong"))).to_have_attribute("title", f"{exact:,} bytes")
    assert meta["known_bytes"] + meta["unknown_bytes"] == meta["at"]["allocated"]
    expect(grid.count).to_have_text(f"{meta['total']} rows")
    table = saved(opened, "What was alive")
    for key in ("operator", "parent", "bytes", "alloc_ns", "release_ns", "duration_ns"):
        assert [row[key] for row in table] == written(rows[key]), key
    assert [row["share"] for row in table][:1] == [str(rows["bytes"][0] / meta["at"]["allocated"] * 100)]


def test_a_click_sets_the_moment(opened: Profiler) -> None:
    box = plot(opened).bounding_box()
    assert box is not None
    plot(opened).click(position={"x": box["width"] / 2, "y": 40})
    moment = int(comes(opened, "c"))
    meta = asked(opened, "alive", device="GPU0", at_ns=moment)["meta"]
    panel = opened.panel("What was alive")
    expect(panel.locator("strong").first).to_have_attribute("title", f"{moment:,} ns")
    expect(opened.grid("What was alive").count).to_have_text(f"{meta['total']} rows")
    panel.get_by_role("button", name="Back to the peak").click()
    goes(opened, "c")
    expect(panel.get_by_text("At the peak")).to_be_visible()


def test_arrow_keys_set_the_moment(opened: Profiler) -> None:
    page = opened.page
    tab_to(page, cursor(opened))
    expect(cursor(opened)).to_have_attribute("aria-valuetext", re.compile("^2.16 ms, Allocated 5.513 GB, Reserved"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    moment = int(comes(opened, "c", cursor(opened).input_value()))
    assert moment > curve_of(opened)["peak"]["time_ns"]
    meta = asked(opened, "alive", device="GPU0", at_ns=moment)["meta"]
    panel = opened.panel("What was alive")
    expect(panel.locator("strong").first).to_have_attribute("title", f"{moment:,} ns")
    in_use = panel.get_by_text(re.compile("[KMG]B in use"))
    expect(in_use).to_have_attribute("title", f"{meta['at']['allocated']:,} bytes")
    page.keyboard.press("Escape")
    goes(opened, "c")


def test_alive_by_operator_adds_up(opened: Profiler) -> None:
    opened.switch("Table", "Alive by operator")
    answer = asked(opened, "alive", device="GPU0", limit=10000)
    rows, meta = answer["rows"], answer["meta"]
    sums: dict[tuple[str, str], list[int]] = {}
    for operator, parent, size in zip(rows["operator"], rows["parent"], rows["bytes"], strict=True):
        sums.setdefault((operator, parent), []).append(size)
    expect(opened.grid("What was alive").header("Blocks")).to_be_visible()
    table = saved(opened, "What was alive")
    shown = {(row["operator"], row["parent"]): row for row in table}
    before = shown.pop(("(allocated before the recording)", ""))
    assert before["bytes"] == str(meta["unknown_bytes"])
    assert {key: (row["blocks"], row["bytes"]) for key, row in shown.items()} == {
        key: (str(len(sizes)), str(sum(sizes))) for key, sizes in sums.items()
    }
    assert sum(int(row["bytes"]) for row in table) == meta["at"]["allocated"]


def test_a_block_leads_to_the_curve(opened: Profiler) -> None:
    rows = asked(opened, "alive", device="GPU0")["rows"]
    grid = opened.grid("What was alive")
    grid.root.focus()
    opened.page.keyboard.press("ArrowRight")
    detail = grid.root.get_by_role("button", name="Zoom to its lifetime")
    tab_to(opened.page, detail)
    opened.page.keyboard.press("Enter")
    assert range_of(opened) == (rows["alloc_ns"][0], rows["release_ns"][0])
    grid.root.get_by_role("button", name=re.compile(r"^Set the moment to .*\(Released\)")).click()
    assert int(comes(opened, "c")) == rows["release_ns"][0]


# ---- allocations


def test_allocations_are_those_of_the_api(of_many: Profiler) -> None:
    found = asked(of_many, "events", CPU, device="CPU", limit="all")
    total = found["meta"]["total"]
    assert total > 2000
    expect(count_of(of_many)).to_have_text(f"{total:,} rows")  # nothing is hidden by itself
    table = saved(of_many, "Allocations")
    for key in ("operator", "parent", "bytes", "alloc_ns", "release_ns"):
        assert [row[key] for row in table] == written(found["rows"][key]), key


def test_allocations_in_order(of_many: Profiler) -> None:
    grid = of_many.grid("Allocations")
    grid.sort_by("Size")
    expect(grid.header("Size")).to_have_attribute("aria-sort", "descending")
    largest = asked(of_many, "events", CPU, device="CPU", sort="-bytes", limit="all")["rows"]
    assert largest["bytes"] == sorted(largest["bytes"], reverse=True)
    expect(grid.first_row).to_contain_text("8 MB")
    assert [row["bytes"] for row in saved(of_many, "Allocations")] == written(largest["bytes"])
    grid.sort_by("Size")
    expect(grid.header("Size")).to_have_attribute("aria-sort", "ascending")
    expect(grid.first_row).not_to_contain_text("MB")


def test_allocations_by_words_and_size(of_many: Profiler) -> None:
    total = asked(of_many, "events", CPU, device="CPU", limit=1)["meta"]["total"]
    of_many.grid("Allocations").filter.fill("Conv bytes>=64KB")
    asked_for = {"device": "CPU", "filter": "Conv bytes>=64KB", "search": "operator", "limit": "all"}
    found = asked(of_many, "events", CPU, **asked_for)
    assert 0 < found["meta"]["matched"] < total
    expect(count_of(of_many)).to_have_text(f"{found['meta']['matched']:,} of {total:,} rows")
    assert [row["bytes"] for row in saved(of_many, "Allocations")] == written(found["rows"]["bytes"])
    comes(of_many, "q", "Conv bytes>=64KB")


# ---- operators


def test_operators_and_the_way_to_them(opened: Profiler) -> None:
    opened.switch("Table", "Operators")
    answer = asked(opened, "operators", device="GPU0")
    rows, meta = answer["rows"], answer["meta"]
    grid = opened.grid("Operators")
    expect(grid.count).to_have_text(f"{len(rows['name'])} rows")
    table = saved(opened, "Operators")
    for key in rows:
        assert [row[key] for row in table] == written(rows[key]), key
    sums = opened.panel("Operators").get_by_text(f"in {meta['all']['allocation_count']:,} allocations")
    expect(sums).to_be_visible()
    name = rows["name"][0]
    grid.row(name).click()
    opened.inspector.get_by_role("button", name="Show in Operator").click()
    expect(opened.heading("Operator")).to_be_visible()
    expect(opened.grid("Operators").row(name)).to_have_attribute("aria-selected", "true")


# ---- devices, links, back


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


@pytest.fixture
def small(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> Profiler:
    """Traces of two devices, without memory, and of a time before totals were recorded."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "two.1.pt.trace.json").write_text(json.dumps(two_devices()))
    tiny.write_trace(folder / "none.1.pt.trace.json")
    old = [events.op("aten::empty", 100, 20), events.memory(105, 2048, None), events.memory(110, -1024, None)]
    (folder / "old.1.pt.trace.json").write_text(json.dumps({"traceEvents": old}))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    return Profiler(page, server)


def test_devices(small: Profiler) -> None:
    small.open(v="memory", k="two")
    device = small.ui.get_by_role("combobox", name="Device")
    expect(device).to_have_value("GPU1")
    assert device.get_by_role("option").all_inner_texts() == ["GPU1", "CPU"]
    panel = small.panel("Memory in use")
    expect(definition(panel, "Peak allocated")).to_have_text("9 KB")
    expect(definition(panel, "Device total")).to_have_text("64 KB")
    expect(small.panel("What was alive").get_by_text("in known blocks (2 blocks)")).to_be_visible()
    device.select_option("CPU")
    expect(definition(panel, "Peak allocated")).to_have_text("512 B")
    expect(panel.get_by_text("Device total")).to_have_count(0)
    expect(panel.get_by_text("Reserved", exact=True)).to_have_count(0)
    panel.get_by_role("button", name="Show as table").click()
    assert panel.get_by_role("columnheader").all_inner_texts()[-1] == "Allocated, last"
    expect(small.grid("What was alive").count).to_have_text("1 row")
    comes(small, "d", "CPU")


def test_names_are_text(small: Profiler) -> None:
    """Nothing of a name runs, in any table."""
    small.open(v="memory", k="two")
    nasty = "<img src=x onerror=alert(1)>"
    for tab, name in (
        ("Alive", "What was alive"),
        ("Alive by operator", "What was alive"),
        ("Allocations", "Allocations"),
        ("Operators", "Operators"),
    ):
        small.switch("Table", tab)
        expect(small.grid(name).row(nasty)).to_be_visible()
    plot(small).hover(position={"x": 200, "y": 60})
    expect(small.ui.locator(".time-curve-readout")).to_be_visible()
    assert small.page.locator("img").count() == 0


def test_a_link_to_what_this_trace_does_not_have(small: Profiler) -> None:
    small.open(v="memory", k="two", d="GPU7", t="9000000-9900000", c="9000000", g="<b>", p="x", n="<i>", m="?", x="?")
    panel = small.panel("Memory in use")
    expect(panel.get_by_text("This trace has no memory of GPU7; showing GPU1.")).to_be_visible()
    expect(panel.get_by_text("The time range of the link is not in this trace; showing everything.")).to_be_visible()
    expect(small.grid("What was alive").count).to_have_text("2 rows")
    small.switch("Table", "Allocations")
    expect(small.panel("Allocations").get_by_text("2 rows")).to_be_visible()


def test_the_address_is_the_view(open_page: OpenPage, alone: Server, opened: Profiler) -> None:
    drag(opened, 0.2, 0.6)
    range_of(opened)
    plot(opened).click(position={"x": 200, "y": 40})
    opened.switch("Scale", "Fit")
    opened.ui.get_by_role("group", name="Lines").get_by_role("button", name="Reserved").click()
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
        field = opened.ui.get_by_role("textbox", name=name)
        expect(other.ui.get_by_role("textbox", name=name)).to_have_value(field.input_value())
    fit = other.ui.get_by_role("radiogroup", name="Scale").get_by_role("radio", name="Fit")
    expect(fit).to_be_checked()
    assert other.state == state


def test_back_brings_the_look_back(opened: Profiler) -> None:
    drag(opened, 0.2, 0.6)
    wanted = range_of(opened)
    opened.switch("Table", "Operators")
    opened.go_to("kernels")
    assert "t" not in opened.state
    opened.page.go_back()
    expect(opened.grid("Operators").count).to_be_visible()
    assert range_of(opened) == wanted


def test_each_table_keeps_its_filter(opened: Profiler) -> None:
    opened.grid("What was alive").filter.fill("bytes>100MB")
    expect(opened.grid("What was alive").count).to_have_text(re.compile(r"^\d+ of \d+ rows$"))
    opened.switch("Table", "Operators")
    expect(opened.grid("Operators").filter).to_have_value("")
    opened.switch("Table", "Alive")
    expect(opened.grid("What was alive").filter).to_have_value("bytes>100MB")


def test_another_rank_has_another_device(opened: Profiler) -> None:
    refused: list[str] = []
    opened.page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    opened.choose("Worker", "rank1")
    expect(opened.ui.get_by_role("combobox", name="Device")).to_have_value("GPU1")
    expect(opened.grid("What was alive").count).to_be_visible()
    assert refused == []


# ---- nothing, errors


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
    for tab, title in (("Alive", "What was alive"), ("Allocations", "Allocations")):
        small.switch("Table", tab)
        expect(small.panel(title).get_by_text("The trace does not hold addresses")).to_be_visible()


def test_errors_name_the_request_and_can_be_retried(on_its_own: Profiler) -> None:
    page = on_its_own.page
    page.route("**/api/memory/*", lambda route: route.fulfill(status=500, json={"error": "mark 4711"}))
    on_its_own.open(v="memory", r=GPU_RUN)
    alert = on_its_own.panel("Memory in use").get_by_role("alert")
    expect(alert).to_contain_text("mark 4711")
    expect(alert).to_contain_text(f"api/memory/curve?run={GPU_RUN}")
    page.unroute("**/api/memory/*")
    page.route("**/api/memory/alive*", lambda route: route.fulfill(status=500, json={"error": "mark 4712"}))
    alert.get_by_role("button", name="Retry").click()
    expect(definition(on_its_own.panel("Memory in use"), "Peak allocated")).to_be_visible()
    alert = on_its_own.panel("What was alive").get_by_role("alert")
    expect(alert).to_contain_text("mark 4712")
    page.unroute("**/api/memory/alive*")
    alert.get_by_role("button", name="Retry").click()
    expect(on_its_own.grid("What was alive").count).to_be_visible()


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


# ---- for everybody


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(theme: str, open_page: OpenPage, alone: Server, repository: Path, output: Path) -> None:
    page = open_page(color_scheme=theme, viewport={"width": 1280, "height": 1400})
    profiler = Profiler(page, alone)
    axe = Axe(profiler, (repository / AXE).read_text())
    (output / "screenshots").mkdir(exist_ok=True)

    def look(name: str) -> None:
        axe.look(name)
        page.screenshot(path=output / "screenshots" / f"memory-{name}-{theme}.png")

    profiler.open(v="memory", r=GPU_RUN)
    grid = profiler.grid("What was alive")
    expect(grid.count).to_be_visible()
    look("peak")
    drag(profiler, 0.22, 0.3)
    plot(profiler).click(position={"x": 300, "y": 60})
    expect(profiler.panel("What was alive").get_by_role("button", name="Back to the peak")).to_be_visible()
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
