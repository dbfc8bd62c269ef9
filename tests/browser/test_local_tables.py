"""Tables of which the browser has all rows, and what every panel can do."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Keep, OpenPage
from tests.browser.profiler import GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.tiny import wait_until
from torch_tb_profiler.tables.query.columns import natural_key


@pytest.fixture
def operators(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="operators", r=GPU_RUN, k="rank0")
    expect(on_its_own.grid("Operators").count).to_be_visible()
    return on_its_own


def test_several_columns_by_keyboard(operators: Profiler) -> None:
    rows = operators.server.api("operators", run=GPU_RUN, worker="rank0")["rows"]
    grid = operators.grid("Operators")
    grid.header("Calls").get_by_role("button").press("Enter")
    grid.header("Name").get_by_role("button").press("Shift+Enter")
    grid.header("Name").get_by_role("button").press("Shift+ ")
    expect(grid.header("Calls")).to_contain_text("▼1")
    expect(grid.header("Name")).to_contain_text("▼2")
    order = sorted(range(len(rows["name"])), key=lambda row: natural_key(rows["name"][row]), reverse=True)
    order.sort(key=lambda row: -rows["calls"][row])
    assert grid.first_rows("Name") == [rows["name"][row] for row in order][:10]
    expect(operators.page).to_have_url(re.compile(r"o=-calls(,|%2C)-name"))
    grid.header("Calls").get_by_role("button").press("Enter")
    expect(grid.header("Name")).to_have_attribute("aria-sort", "none")


def test_percent_and_average_columns(operators: Profiler) -> None:
    answer = operators.server.api("operators", run=GPU_RUN, worker="rank0")
    rows = answer["rows"]
    grid = operators.grid("Operators")
    expect(grid.header("% device self")).to_be_visible()
    expect(grid.header("Device total per call")).to_have_count(0)
    grid.panel.get_by_role("button", name="Columns").click()
    for column in ("Device total", "Host self"):
        grid.panel.get_by_role("checkbox", name=f"{column} per call").check()
    operators.page.keyboard.press("Escape")
    saved = json.loads(grid.export("JSON"))
    for key in ("device_total", "host_self"):
        expected = [total / calls for total, calls in zip(rows[f"{key}_ns"], rows["calls"], strict=True)]
        assert [row[f"{key}_per_call_ns"] for row in saved] == pytest.approx(expected)
    shares = [ns / answer["meta"]["device_ns"] * 100 for ns in rows["device_self_ns"]]
    assert [row["device_self_share"] for row in saved] == pytest.approx(shares)
    grid.filter.fill("device_total_per_call>1ms")
    kept = sum(ns / calls > 1e6 for ns, calls in zip(rows["device_total_ns"], rows["calls"], strict=True))
    expect(grid.count).to_have_text(re.compile(rf"^{kept} of "))


def test_copy_is_what_is_shown(open_page: OpenPage, alone: Server) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    profiler = Profiler(page, alone)
    profiler.open(v="operators", r=GPU_RUN, k="rank0", q="aten::a", o="-calls")
    grid = profiler.grid("Operators")
    expect(grid.count).to_have_text(re.compile(" of "))
    names = grid.first_rows("Name", 50)
    grid.panel.get_by_role("button", name="Copy", exact=True).click()
    expect(grid.panel.get_by_text(f"{len(names)} rows copied")).to_be_visible()
    lines = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert [line.split("\t")[0] for line in lines[1:]] == names
    heads = grid.root.get_by_role("columnheader").count()
    assert {len(line.split("\t")) for line in lines} == {heads}
    grid.row(names[-1]).click()
    grid.root.press("Control+c")
    expect(grid.panel.get_by_text("1 row copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").split("\n")[1].split("\t")[0] == names[-1]


def test_a_shadow_says_where_there_is_more(on_its_own: Profiler, keep: Keep) -> None:
    on_its_own.page.set_viewport_size({"width": 1280, "height": 900})
    grid = on_its_own.open(v="kernels", r=GPU_RUN, g="name_op_launch").grid("Kernels")
    edges = on_its_own.ui.locator(".edges", has=grid.root)
    shadow = "(e) => getComputedStyle(e, '::after').opacity"
    expect(edges).to_have_attribute("data-more", "end")
    wait_until(lambda: edges.evaluate(shadow) == "1", "a shadow at the end")
    keep("shadow")
    for place, more in ((100, "start end"), (10_000, "start")):
        grid.root.evaluate("(grid, left) => grid.scrollLeft = left", place)
        expect(edges).to_have_attribute("data-more", more)
    wait_until(lambda: edges.evaluate(shadow) == "0", "no shadow where nothing is left")
    # Wide enough for all of it.
    on_its_own.page.set_viewport_size({"width": 4400, "height": 900})
    expect(edges).to_have_attribute("data-more", "")


def test_a_column_is_made_wider(operators: Profiler) -> None:
    header = operators.grid("Operators").header("Calls")
    before = header.bounding_box()
    assert before
    page = operators.page
    page.mouse.move(before["x"] + before["width"] - 1, before["y"] + 20)
    page.mouse.down()
    page.mouse.move(before["x"] + before["width"] + 59, before["y"] + 20, steps=4)
    page.mouse.up()
    after = header.bounding_box()
    assert after
    assert after["width"] == pytest.approx(before["width"] + 60, abs=2)


def test_charts_are_saved(operators: Profiler) -> None:
    panel = operators.panel("Largest operators")
    page = operators.page
    expect(panel.locator("canvas")).to_be_visible()
    with page.expect_download() as png:
        panel.get_by_role("button", name="Save as PNG").click()
    picture = png.value.path().read_bytes()
    assert png.value.suggested_filename.endswith(".png")
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 5_000
    with page.expect_download() as svg:
        panel.get_by_role("button", name="Save as SVG").click()
    drawing = svg.value.path().read_text()
    assert drawing.startswith("<svg")
    assert "aten::" in drawing
    assert "<script" not in drawing


@pytest.mark.parametrize("name", ["Largest operators", "Operators"])
def test_a_panel_fills_the_screen(operators: Profiler, keep: Keep, name: str) -> None:
    panel = operators.panel(name)
    before = panel.bounding_box()
    button = panel.get_by_role("button", name=f"Full screen: {name}")
    button.focus()
    operators.page.keyboard.press("Enter")
    back = panel.get_by_role("button", name="Leave full screen")
    expect(back).to_be_visible()
    full = panel.bounding_box()
    screen = operators.page.evaluate("[innerWidth, innerHeight]")
    assert full
    assert [full["width"], full["height"]] == screen
    keep(f"full-screen-{name}")
    back.click()
    expect(button).to_have_count(1)
    assert panel.bounding_box() == before
