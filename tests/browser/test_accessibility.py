"""Usable by everybody: no rule of axe-core broken, in light and dark."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.axe import Axe
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler


@pytest.fixture
def profiler(axe: Axe) -> Profiler:
    return axe.profiler


def test_it_sees_what_is_wrong_in_one_theme_alone(profiler: Profiler) -> None:
    axe = Axe(profiler, both=True)
    profiler.open(r=CPU_RUN)
    expect(profiler.heading("Overview")).to_be_visible()
    profiler.page.add_style_tag(content="[data-theme=dark] h1 { color: #333; background: #222 }")
    axe.look("a heading")
    profiler.page.add_style_tag(content="[data-theme=light] h1 { color: #ddd; background: #eee }")
    profiler.page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    axe.look("a button without a name")
    with pytest.raises(AssertionError) as failed:
        axe.check()
    found = [line.rsplit(": ", 1)[0] for line in str(failed.value).splitlines() if not line.startswith(" ")]
    assert found == [
        "a heading, dark: color-contrast",
        "a button without a name, dark: button-name",
        "a button without a name, dark: color-contrast",
        "a button without a name, light: color-contrast",
    ]


def test_overview(axe: Axe, profiler: Profiler) -> None:
    profiler.open(r=GPU_RUN, x="sync_points")
    expect(profiler.panel("The median step").get_by_role("slider")).to_be_visible()
    axe.look("first screen")
    profiler.ui.get_by_role("button", name="All numbers").click()
    expect(profiler.panel("GPU Summary")).to_be_visible()
    axe.look("GPU run")
    breakdown = profiler.panel("Step Time Breakdown")
    breakdown.get_by_role("button", name="About").click()
    axe.look("help")
    profiler.page.keyboard.press("Escape")
    breakdown.get_by_role("button", name="Show as table").click()
    axe.look("chart as table")
    profiler.choose("Run", CPU_RUN)
    expect(profiler.panel("GPU Summary")).to_have_count(0)
    axe.look("CPU run")
    profiler.picker("Run").click()
    axe.look("list of runs")
    axe.check()


def test_operators(axe: Axe, profiler: Profiler) -> None:
    profiler.open(v="operators", r=GPU_RUN)
    grid = profiler.grid("Operators")
    expect(grid.count).to_be_visible()
    axe.look("table")
    grid.row("aten::mm").click()
    for table in ("Kernels it launched", "Device API calls"):
        expect(profiler.inspector.get_by_role("table", name=table)).to_be_visible()
    grid.row("aten::mm").get_by_role("button", name="Show details").click()
    expect(grid.root.get_by_role("table", name="Kernels it launched")).to_be_visible()
    profiler.ui.get_by_text("about this data").click()
    axe.look("selected and opened")
    grid.filter.fill("calls>many")
    axe.look("bad filter")
    grid.panel.get_by_role("button", name="Columns").click()
    axe.look("columns")
    profiler.page.keyboard.press("Escape")
    profiler.switch("Chart", "Donuts")
    axe.look("donuts")
    axe.check()


def test_kernels(axe: Axe, profiler: Profiler) -> None:
    profiler.open(v="kernels", r=GPU_RUN)
    expect(profiler.grid("Kernels").count).to_be_visible()
    axe.look("table")
    profiler.grid("Kernels").first_row.click()
    expect(profiler.inspector.get_by_role("table")).to_be_visible()
    profiler.grid("Kernels").first_row.get_by_role("button", name="Show details").click()
    axe.look("selected and opened")
    profiler.choose("Run", CPU_RUN)
    expect(profiler.ui.get_by_text("This trace has no kernels")).to_be_visible()
    axe.look("without kernels")
    axe.check()


def test_capture(axe: Axe, profiler: Profiler) -> None:
    profiler.open(v="health", r=GPU_RUN)
    expect(profiler.panel("Profiler options")).to_be_visible()
    axe.look("GPU run")
    profiler.choose("Run", CPU_RUN)
    expect(profiler.panel("Distributed").get_by_role("button", name="Copy")).to_be_visible()
    axe.look("CPU run")
    profiler.panel("Events by category").get_by_role("button", name="Show as table").click()
    axe.look("chart as table")
    axe.check()


def test_choice_of_steps(axe: Axe, profiler: Profiler) -> None:
    profiler.open(sp="(")
    expect(profiler.ui.get_by_role("textbox", name="Pattern")).to_be_visible()
    axe.look("bad pattern")
    profiler.open(sp="nothing is called so")
    expect(profiler.ui.get_by_text("The chosen rule finds no steps")).to_be_visible()
    axe.look("nothing found")
    axe.check()


def test_frame(axe: Axe, profiler: Profiler) -> None:
    profiler.open(r="gone")
    expect(profiler.panel("The median step")).to_be_visible()
    axe.look("notice")
    for button in ("Keyboard shortcuts", "Files", re.compile(r"^(?:no|\d+) notes?$")):
        profiler.ui.get_by_role("button", name=button).click()
        expect(profiler.ui.get_by_role("dialog")).to_be_visible()
        axe.look(button if isinstance(button, str) else "notes")
        profiler.page.keyboard.press("Escape")
    profiler.ui.get_by_role("button", name="Collapse the menu").click()
    axe.look("narrow menu")
    profiler.page.route("**/api/operators*", lambda route: route.fulfill(status=500, json={"error": "no"}))
    profiler.go_to("operators")
    expect(profiler.ui.get_by_role("alert").first).to_be_visible()
    axe.look("errors")
    axe.check()


def test_palette_and_steps(axe: Axe, profiler: Profiler) -> None:
    profiler.open(r=GPU_RUN, v="operators", sel="op:aten::mm")
    expect(profiler.inspector.get_by_role("table").first).to_be_visible()
    profiler.page.keyboard.press("Control+k")
    field = profiler.ui.get_by_role("combobox", name="Go to or do anything")
    expect(field).to_be_focused()
    axe.look("palette")
    field.fill("mm")
    axe.look("palette with answers")
    field.fill("nothing is called so")
    axe.look("palette without answers")
    profiler.page.keyboard.press("Escape")
    profiler.ui.get_by_role("slider", name="First step").press("ArrowRight")
    expect(profiler.ui.get_by_role("button", name="Show all steps")).to_be_visible()
    axe.look("range of steps")
    profiler.go_to("health")
    axe.look("range that does not count")
    profiler.page.set_viewport_size({"width": 800, "height": 700})
    axe.look("narrow window")
    profiler.ui.get_by_role("button", name="简体中文").click()
    expect(profiler.ui.get_by_role("heading", level=1)).to_have_text("跟踪健康")
    expect(profiler.ui.get_by_label("正在加载…")).to_have_count(0)
    axe.look("Chinese")
    axe.check()
