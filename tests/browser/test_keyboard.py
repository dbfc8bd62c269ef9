"""Everything can be done without a pointer."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.profiler import CPU_RUN, GPU_RUN, VIEWS, Profiler


@pytest.fixture
def profiler(on_its_own: Profiler) -> Profiler:
    on_its_own.open()
    expect(on_its_own.panel("The median step")).to_be_visible()
    return on_its_own


def tab_to(page: Page, target: Locator, most: int = 60) -> None:
    for _ in range(most):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element === element.ownerDocument.activeElement"):
            return
    raise AssertionError(f"Tab does not reach {target}")


def test_from_the_start_to_an_operator_and_its_numbers(profiler: Profiler) -> None:
    page = profiler.page
    tab_to(page, profiler.picker("Run"))
    page.keyboard.press("ArrowDown")
    page.keyboard.type("h100")
    page.keyboard.press("Enter")
    expect(profiler.picker("Run")).to_have_accessible_name(f"Run {GPU_RUN}")
    expect(profiler.picker("Run")).to_be_focused()

    page.keyboard.press("3")
    grid = profiler.grid("Operators")
    expect(grid.count).to_be_visible()
    page.keyboard.press("/")
    expect(grid.filter).to_be_focused()
    page.keyboard.type("aten::mm")
    expect(grid.filter).to_have_value("aten::mm")
    tab_to(page, grid.root)
    page.keyboard.press("Enter")
    inspector = profiler.inspector
    expect(inspector.get_by_role("heading", name="aten::mm")).to_be_visible()
    expect(grid.row("aten::mm")).to_have_attribute("aria-selected", "true")

    page.keyboard.press("ArrowRight")
    expect(grid.root.get_by_role("heading", name="Call stacks")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    expect(grid.root.get_by_role("heading", name="Call stacks")).to_have_count(0)

    tab_to(page, inspector.get_by_role("button", name="Show in GPU Kernel"))
    page.keyboard.press("Enter")
    expect(profiler.heading("GPU Kernel")).to_be_visible()
    expect(inspector).to_be_visible()
    page.keyboard.press("Escape")
    expect(inspector).to_have_count(0)


def test_the_focus_can_always_be_seen(profiler: Profiler) -> None:
    """Whatever Tab stops at has an outline, or a shadow in its place."""
    page = profiler.page
    page.keyboard.press("3")
    expect(profiler.grid("Operators").count).to_be_visible()
    for _ in range(60):
        page.keyboard.press("Tab")
        hidden = page.evaluate(
            """() => {
                const at = document.activeElement;
                if (at === document.body) return null;
                const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at);
                const seen = (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
                return seen ? null : at.outerHTML.slice(0, 200);
            }"""
        )
        assert hidden is None


def test_number_keys_change_the_view(profiler: Profiler) -> None:
    for number, title in enumerate(list(VIEWS.values())[:9], start=1):
        profiler.page.keyboard.press(str(number))
        expect(profiler.heading(title)).to_be_visible()


def test_every_view_has_a_letter(profiler: Profiler) -> None:
    """Those that the list of keys names, and no others."""
    page = profiler.page
    page.keyboard.press("?")
    dialog = profiler.ui.get_by_role("dialog", name="Keyboard")
    jumps = dialog.get_by_role("term").filter(has_text=re.compile("g[a-z]$"))
    expect(jumps).to_have_count(len(VIEWS))
    letters = [text[-1] for text in jumps.all_inner_texts()]
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert len(set(letters)) == len(VIEWS)
    for letter, title in zip(letters, VIEWS.values(), strict=True):
        page.keyboard.type(f"g{letter}")
        expect(profiler.heading(title)).to_be_visible()
    page.keyboard.press("o")
    expect(profiler.heading(title)).to_be_visible()


def test_letters_in_a_field_are_text(profiler: Profiler) -> None:
    profiler.page.keyboard.press("3")
    grid = profiler.grid("Operators")
    grid.filter.focus()
    profiler.page.keyboard.type("go1?")
    expect(grid.filter).to_have_value("go1?")
    expect(profiler.heading("Operator")).to_be_visible()
    expect(profiler.ui.get_by_role("dialog")).to_have_count(0)


def test_help_lists_the_keys(profiler: Profiler) -> None:
    profiler.page.keyboard.press("?")
    dialog = profiler.ui.get_by_role("dialog", name="Keyboard")
    for text in ("Go to Overview", "Go to Operator", "Go to GPU Kernel", "Filter the table", "Clear the selection"):
        expect(dialog.get_by_text(text)).to_be_visible()
    profiler.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_sorting_by_keyboard(profiler: Profiler) -> None:
    profiler.open(v="operators", r=CPU_RUN)
    grid = profiler.grid("Operators")
    expect(grid.count).to_be_visible()
    tab_to(profiler.page, grid.header("Calls").get_by_role("button"))
    profiler.page.keyboard.press("Enter")
    expect(grid.header("Calls")).to_have_attribute("aria-sort", "descending")
