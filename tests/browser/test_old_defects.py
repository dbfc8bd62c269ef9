"""What the old plugin got wrong and no other test is about (docs/maintainers/ui-parity.md): it is right here."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table
from tests.tiny import wait_until


def test_top_n_leaves_the_tensor_cores_alone(on_its_own: Profiler) -> None:
    on_its_own.open(v="kernels", r=GPU_RUN)
    shares = on_its_own.panel("Tensor cores").get_by_role("listitem")
    expect(shares).to_have_count(3)
    before = shares.all_inner_texts()
    panel = on_its_own.panel("Total time of kernels")
    panel.get_by_label("Top").fill("1")
    assert len(as_table(panel)) == 1
    assert shares.all_inner_texts() == before


@pytest.mark.parametrize(("view", "grid"), [("operators", "Operators"), ("kernels", "Kernels")])
def test_a_filter_takes_capitals_and_small_letters_for_the_same(view: str, grid: str, on_its_own: Profiler) -> None:
    on_its_own.open(v=view, r=GPU_RUN)
    table = on_its_own.grid(grid)
    expect(table.count).to_be_visible()
    found = []
    for word in ("flash", "FLASH"):
        table.filter.fill(word)
        expect(table.count).to_have_text(re.compile(r"^\d+ of \d+ rows$"))
        found.append(table.first_rows("Name"))
    assert found[0] == found[1]
    assert found[0]


def test_modules_of_one_name_open_one_at_a_time(on_its_own: Profiler) -> None:
    answer: dict[str, Any] = on_its_own.server.api("modules", run=GPU_RUN, worker="rank0")
    rows = answer["rows"]
    blocks = [row for row, parent in enumerate(rows["parent"]) if parent == 0 and row in rows["parent"]]
    for row in blocks:
        rows["name"][row] = "Block_0"
        rows["module_id"][row] = 0
    on_its_own.page.route("**/api/modules?*", lambda route: route.fulfill(json=answer))
    on_its_own.open(v="modules", r=GPU_RUN)
    grid = on_its_own.ui.get_by_role("treegrid", name="Modules")
    cell = on_its_own.page.get_by_role("gridcell", name="Block_0", exact=True)
    alike = grid.get_by_role("row").filter(has=cell)
    expect(alike).to_have_count(len(blocks))
    alike.nth(1).locator(".tree-expander").click()
    expect(alike.nth(1)).to_have_attribute("aria-expanded", "true")
    opened = [row.get_attribute("aria-expanded") for row in alike.all()]
    assert opened == ["false", "true", *["false"] * (len(blocks) - 2)]
    inside = grid.locator(f"[aria-rowindex='{int(alike.nth(1).get_attribute('aria-rowindex') or 0) + 1}']")
    expect(inside.get_by_role("gridcell").first).to_have_text(rows["name"][rows["parent"].index(blocks[1])])


def test_columns_stay_chosen_when_something_else_is_compared(on_its_own: Profiler) -> None:
    on_its_own.open(v="compare", r="cnn_workers2", b=f"{CPU_RUN}~worker0~1")
    grid = on_its_own.grid("Operators compared")
    expect(grid.count).to_be_visible()

    def chosen() -> Locator:
        return grid.panel.get_by_role("group", name="Columns").get_by_role("checkbox", name="Δ Calls", exact=True)

    grid.panel.get_by_role("button", name="Columns").click()
    chosen().uncheck()
    expect(grid.header("Δ Calls")).to_have_count(0)
    on_its_own.page.keyboard.press("Escape")
    on_its_own.choose("Baseline run", "ddp_gloo_2ranks")
    expect(grid.count).to_be_visible()
    expect(grid.header("Δ Calls")).to_have_count(0)
    grid.panel.get_by_role("button", name="Columns").click()
    expect(chosen()).not_to_be_checked()


@pytest.mark.parametrize("view", ["stacks", "modules", "memory", "steps", "distributed"])
def test_pictures_are_as_wide_as_their_place(view: str, on_its_own: Profiler) -> None:
    """Also after the window has changed."""
    page = on_its_own.page
    run = CPU_RUN if view == "stacks" else GPU_RUN
    on_its_own.open(v=view, r=run)
    pictures = on_its_own.ui.get_by_role("main").locator(".panel canvas")
    on_its_own.loaded()
    expect(pictures.first).to_be_visible()
    fit = """(canvases) => canvases.every((canvas) => {
        const place = canvas.closest(".panel").getBoundingClientRect();
        const at = canvas.getBoundingClientRect();
        const drawn = canvas.width / devicePixelRatio;
        return at.right <= place.right + 1 && at.width > 0.2 * place.width && Math.abs(drawn - at.width) < 2;
    })"""
    for width in (1500, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        wait_until(lambda: pictures.evaluate_all(fit), f"all pictures fit {width} pixels")


def test_nothing_is_asked_while_nobody_looks(on_its_own: Profiler, page: Page) -> None:
    page.clock.install()
    asked: list[str] = []

    def count(route: Route) -> None:
        asked.append(route.request.url)
        route.continue_()

    page.route("**/api/status*", count)
    on_its_own.open(r=GPU_RUN)
    expect(on_its_own.panel("The median step")).to_be_visible()
    at_first = len(asked)
    page.clock.run_for(60_000)
    wait_until(lambda: page.evaluate("1") and len(asked) > at_first, "the status is asked for again")

    look = """(hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(look, True)
    page.wait_for_load_state("networkidle")
    before = len(asked)
    page.clock.run_for(120_000)
    page.evaluate("1")
    assert len(asked) == before
    page.evaluate(look, False)
    page.clock.run_for(60_000)
    wait_until(lambda: page.evaluate("1") and len(asked) > before, "it goes on when somebody looks")
