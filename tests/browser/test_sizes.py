"""Every view on a telephone, a small and a very large screen, and at 200 %: what a program sees of its layout.

The pictures are kept for people.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, screenshot
from tests.browser.layout import faults, half_blank
from tests.browser.profiler import CPU_RUN, GPU_RUN, VIEWS, Profiler
from tests.browser.servers import Server
from tests.browser.test_themes import has_come
from tests.tiny import wait_until

#: width and height of the window, and pixels of the screen for each of its own
SIZES = {"telephone": (390, 844, 1), "small": (1280, 720, 1), "large": (3440, 1440, 1), "zoomed": (720, 450, 2)}

#: what is wider than its place and neither cut nor scrolled there; what is too small to be hit; what can be scrolled
#: sideways, and does not show it
_MEASURE = r"""() => {
    const main = document.querySelector(".main");
    const right = main.getBoundingClientRect().left + main.clientWidth;
    const cut = (element) => {
        for (let around = element.parentElement; around && around !== main; around = around.parentElement) {
            if (/hidden|clip|auto|scroll/.test(getComputedStyle(around).overflowX)) return true;
        }
        return false;
    };
    const seen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const name = (element) => `<${element.localName} class="${element.className}"> `
        + (element.textContent || element.ariaLabel || "").trim().slice(0, 40);
    const wide = [...main.querySelectorAll("*")].filter((element) => {
        const box = element.getBoundingClientRect();
        return seen(element) && box.width && box.right > right + 1 && !cut(element);
    });
    const small = [...document.querySelectorAll("button, a[href], select, input, [role=radio], [role=tab]")].filter(
        (element) => {
            const whole = element.closest("label") ?? element;
            const { width, height } = whole.getBoundingClientRect();
            return seen(element) && width && height && (width < 16 || height < 16);
        });
    const hinted = (element) => /end/.test(element.closest(".edges")?.dataset.more ?? "");
    const silent = [...main.querySelectorAll("*")].filter(
        (element) =>
            seen(element)
            && /auto|scroll/.test(getComputedStyle(element).overflowX)
            && element.clientWidth > 2
            && element.scrollWidth > element.clientWidth + 1
            && !hinted(element));
    const page = document.documentElement;
    return {
        page: page.scrollWidth - page.clientWidth,
        wide: wide.map(name).slice(0, 10),
        small: small.map(name).slice(0, 10),
        silent: silent.map(name).slice(0, 10),
    };
}"""


def measured(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(_MEASURE)
    return found


@pytest.mark.parametrize(
    "size", ["telephone", "large", *(pytest.param(each, marks=pytest.mark.long) for each in ("small", "zoomed"))]
)
def test_every_view_fits(size: str, open_page: OpenPage, alone: Server, output: Any) -> None:
    width, height, scale = SIZES[size]
    page = open_page(viewport={"width": width, "height": height}, device_scale_factor=scale)
    profiler = Profiler(page, alone).open(r=GPU_RUN)
    found: list[str] = []
    for view in VIEWS:
        profiler.turn_to(r=GPU_RUN, v=view)
        has_come(profiler, view)
        page.wait_for_timeout(150)  # charts are drawn anew once their place has had its width for a moment
        screenshot(page, output, f"size-{size}-{view}")
        seen = measured(page)
        found += [f"{view}: the page is {seen['page']} pixels too wide"] if seen["page"] > 0 else []
        found += [f"{view}: wider than the page: {each}" for each in seen["wide"]]
        found += [f"{view}: too small to hit: {each}" for each in seen["small"]]
        found += [f"{view}: scrolls and does not show it: {each}" for each in seen["silent"]]
        found += [f"{view}: {fault}" for fault in faults(profiler.ui)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("view", ["modules", "memory", "compare"])
def test_long_paths_fit_on_a_telephone(view: str, open_page: OpenPage, alone: Server) -> None:
    """The modules of this run have paths as wide as the page."""
    page = open_page(viewport={"width": 390, "height": 844})
    profiler = Profiler(page, alone).open(r=CPU_RUN, v=view)
    has_come(profiler, view)
    seen = measured(page)
    assert seen["page"] <= 0
    assert [seen["wide"], seen["small"], seen["silent"], faults(profiler.ui)] == [[], [], [], []]


def test_a_telephone_has_room_for_what_is_looked_at(open_page: OpenPage, alone: Server) -> None:
    """One line of status, and names of tracks that leave most of the width to their slices."""
    page = open_page(viewport={"width": 390, "height": 844})
    profiler = Profiler(page, alone).open(r=GPU_RUN, v="trace")
    has_come(profiler, "trace")

    def width(selector: str) -> float:
        box = page.locator(selector).first.bounding_box()
        assert box is not None
        return box["width"]

    assert width(".timeline-canvas") > width(".timeline-labels")
    expect(page.locator(".timeline-head canvas")).to_have_attribute("width", re.compile(r"\d{3}"))
    status = page.locator(".status").bounding_box()
    assert status is not None
    assert status["height"] < 40
    expect(page.locator(".status-file")).to_be_hidden()
    # the words are signs, which keep their names
    expect(profiler.ui.get_by_role("button", name="Refresh")).to_be_visible()


def test_the_menu_of_a_low_window_shows_every_view(open_page: OpenPage, alone: Server) -> None:
    page = open_page(viewport={"width": 1280, "height": 720})
    profiler = Profiler(page, alone).open(r=GPU_RUN)
    has_come(profiler, "overview")
    expect(profiler.navigation.get_by_role("button", name="Not recorded")).to_be_in_viewport(ratio=1)
    hidden = page.locator(".rail-views").evaluate("(views) => views.scrollHeight - views.clientHeight")
    assert hidden <= 0


@pytest.mark.parametrize(("width", "view", "run"), [(640, "distributed", GPU_RUN), (390, "snapshot", "out_of_memory")])
def test_a_number_stays_beside_its_unit(width: int, view: str, run: str, open_page: OpenPage, alone: Server) -> None:
    page = open_page(viewport={"width": width, "height": 844})
    Profiler(page, alone).open(r=run, v=view)
    expect(page.locator(".tile-value").first).to_be_visible()
    lines = page.locator(".tile-value").evaluate_all(
        """(values) => values.map((value) => {
            const text = document.createRange();
            text.selectNodeContents(value.querySelector("button") ?? value);
            return [value.textContent, new Set([...text.getClientRects()].map(({ top }) => Math.round(top))).size];
        })"""
    )
    assert len(lines) > 4
    assert [text for text, count in lines if count > 1 and any(map(str.isdigit, text))] == []


@pytest.mark.parametrize("run", [GPU_RUN, CPU_RUN, "ddp_gloo_2ranks"])
def test_the_overview_is_one_screen(run: str, open_page: OpenPage, alone: Server) -> None:
    """Verdicts, the step, findings, numbers and the fold below which the rest is: nothing scrolls."""
    page = open_page(viewport={"width": 1280, "height": 720})
    profiler = Profiler(page, alone).open(r=run)
    has_come(profiler, "overview")
    if run != CPU_RUN:
        expect(page.get_by_text("ranks replayed together")).to_be_visible()
    for width, height in ((1280, 720), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        for part in (".answer", ".area-picture", ".top-findings", ".tiles", ".overview-all"):
            expect(page.locator(part).last).to_be_in_viewport(ratio=1)
        main = page.locator(".main")
        assert main.evaluate("(main) => main.scrollHeight - main.clientHeight") <= 0, (width, height)
    heights = page.locator(".overview > .tiles > .tile").evaluate_all("(tiles) => tiles.map((t) => t.offsetHeight)")
    assert len(set(heights)) == 1


@pytest.mark.parametrize("run", [GPU_RUN, pytest.param(CPU_RUN, marks=pytest.mark.long)])
@pytest.mark.parametrize("width", [1280, pytest.param(1920, marks=pytest.mark.long), 3440])
def test_no_half_of_the_overview_is_blank(width: int, run: str, open_page: OpenPage, alone: Server) -> None:
    page = open_page(viewport={"width": width, "height": 1440})
    profiler = Profiler(page, alone).open(r=run, x="all")
    has_come(profiler, "overview")
    expect(profiler.panel("Execution Summary")).to_be_visible()
    wait_until(lambda: half_blank(page, ".overview") < 200, "parts beside each other")


@pytest.mark.parametrize("view", ["steps", "operators", "kernels", "criticalpath", "program", "distributed"])
def test_parts_of_a_very_wide_page_are_beside_each_other(view: str, open_page: OpenPage, alone: Server) -> None:
    page = open_page(viewport={"width": 3440, "height": 1440})
    profiler = Profiler(page, alone).open(r=GPU_RUN, v=view)
    has_come(profiler, view)
    columns = ".flow[data-flows] > :is(.panel, .beside, :has(> .panel))"
    lefts = page.locator(columns).evaluate_all("(parts) => parts.map((part) => part.getBoundingClientRect().left)")
    assert len({round(left) for left in lefts}) > 1
    overlaps = page.locator(columns).evaluate_all(
        """(parts) => parts.flatMap((part, at) => parts.slice(0, at).filter((before) => {
            const [a, b] = [part, before].map((each) => each.getBoundingClientRect());
            return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        })).length"""
    )
    assert overlaps == 0


def test_what_somebody_uses_stays_in_its_place(open_page: OpenPage, alone: Server) -> None:
    """Also when something above it grows."""
    page = open_page(viewport={"width": 1280, "height": 900})
    profiler = Profiler(page, alone).open(r=GPU_RUN, x="all")
    has_come(profiler, "overview")
    expect(profiler.panel("Execution Summary")).to_be_visible()
    wait_until(lambda: half_blank(page, ".overview") < 200, "parts beside each other")

    def lefts() -> list[float]:
        found: list[float] = page.locator(".overview-parts > *").evaluate_all(
            "(parts) => parts.map((part) => part.getBoundingClientRect().left)"
        )
        return found

    before = lefts()
    checked = profiler.panel("What costs time, and what to do?").locator("details")
    for number in range(checked.count()):
        checked.nth(number).locator("summary").click()
    overlaps = """(parts) => {
        const boxes = parts.map((part) => part.getBoundingClientRect());
        const findings = boxes[parts.findIndex((part) => part.matches(".area-findings"))];
        const below = boxes.filter(({ left, top }) => left === findings.left && top > findings.top);
        return below.length === 0 || below.some(({ top }) => top < findings.bottom);
    }"""
    parts = page.locator(".overview-parts > *")
    wait_until(lambda: not parts.evaluate_all(overlaps), "what is below makes room")
    assert lefts() == before


@pytest.mark.parametrize("view", ["steps", "operators", "distributed"])
def test_names_are_near_their_numbers_on_a_very_wide_page(view: str, open_page: OpenPage, alone: Server) -> None:
    """Each column is wider by the same share than what it needs."""
    page = open_page(viewport={"width": 3440, "height": 1440})
    profiler = Profiler(page, alone).open(r=GPU_RUN, v=view)
    has_come(profiler, view)
    name, grid, last = page.locator(".data-grid").first.evaluate(
        """(grid) => {
            const cells = [...grid.querySelector(".grid-head > .grid-row").children];
            const [first, last] = [cells[0], cells.at(-1)].map((cell) => cell.getBoundingClientRect());
            return [first.width, grid.clientWidth, last.right - grid.getBoundingClientRect().left];
        }"""
    )
    assert name < 0.45 * grid
    assert last >= grid - 2


def test_the_edge_of_a_column_follows_the_pointer(open_page: OpenPage, alone: Server) -> None:
    page = open_page(viewport={"width": 1920, "height": 1000})
    profiler = Profiler(page, alone).open(r=GPU_RUN, v="steps")
    has_come(profiler, "steps")
    cells = page.locator(".data-grid").first.locator(".grid-head .grid-cell")

    def edges() -> list[float]:
        found: list[float] = cells.evaluate_all("(cells) => cells.map((cell) => cell.getBoundingClientRect().right)")
        return found

    before = edges()
    box = cells.nth(2).locator(".grid-resizer").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y)
    page.mouse.move(x + 60, y, steps=3)
    page.mouse.up()
    after = edges()
    assert after[:2] == pytest.approx(before[:2], abs=1)
    assert after[2] == pytest.approx(before[2] + 60, abs=2)


def test_the_measure_sees_what_it_looks_for(page: Page, alone: Server) -> None:
    profiler = Profiler(page, alone).open(r=GPU_RUN)
    profiler.ui.get_by_role("button", name="All numbers").click()
    panel = profiler.panel("Configuration")
    expect(panel).to_be_visible()
    assert measured(page) == {"page": 0, "wide": [], "small": [], "silent": []}
    panel.evaluate(
        """(panel) => {
            const button = document.createElement("button");
            button.textContent = "x";
            button.style.cssText = "all: unset; width: 9px; height: 9px; position: relative; left: 3000px";
            const scrolled = document.createElement("div");
            scrolled.className = "scrolled";
            scrolled.style.cssText = "overflow-x: auto; width: 90px";
            scrolled.innerHTML = "<p style='width: 200px'>wide</p>";
            panel.append(button, scrolled);
        }"""
    )
    seen = measured(page)
    assert any("<button" in each for each in seen["wide"])
    assert any("<button" in each for each in seen["small"])
    assert any("scrolled" in each for each in seen["silent"])


def lines(profiler: Profiler, selector: str) -> dict[str, int]:
    """How many lines the parts of an element take, by its first words."""
    found: dict[str, int] = profiler.page.locator(selector).evaluate_all(
        """(elements) => Object.fromEntries(elements.map((element) => {
            const lines = [];
            for (const part of element.children) {
                const { top, bottom } = part.getBoundingClientRect();
                if (bottom > top && !lines.some((line) => top < line.bottom && bottom > line.top)) {
                    lines.push({ top, bottom });
                }
            }
            return [element.textContent.trim().slice(0, 40), lines.length];
        }))"""
    )
    return found


def test_heads_take_one_line_on_a_small_screen(open_page: OpenPage, alone: Server) -> None:
    page = open_page(viewport={"width": 1280, "height": 720})
    profiler = Profiler(page, alone).open(r=GPU_RUN, k="rank0")
    for view in ("overview", "operators", "stacks", "roofline", "distributed", "compare"):
        profiler.go_to(view)
        has_come(profiler, view)
        found = lines(profiler, ".panel-actions, .stacks-search")
        assert all(count <= 1 for count in found.values()), (view, found)


def test_tools_of_the_trace_on_a_telephone(open_page: OpenPage, alone: Server) -> None:
    page = open_page(viewport={"width": 390, "height": 844})
    profiler = Profiler(page, alone).open(r=CPU_RUN, v="trace")
    has_come(profiler, "trace")
    (tools,) = lines(profiler, ".trace-tools").values()
    assert tools == 2
    (head,) = lines(profiler, ".trace-actions").values()
    assert head == 1
