"""The frame around the views: edges that move, narrow windows, pickers of a thousand ranks."""

from __future__ import annotations

import copy
import itertools

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.conftest import Keep, OpenPage
from tests.browser.profiler import CPU_RUN, GPU_RUN, VIEWS, Profiler
from tests.browser.servers import Server

RANKS = 1024


@pytest.fixture
def profiler(on_its_own: Profiler) -> Profiler:
    on_its_own.open(r=GPU_RUN, v="operators", sel="op:aten::mm")
    expect(on_its_own.grid("Operators").count).to_be_visible()
    return on_its_own


def width(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["width"]


def drag(profiler: Profiler, edge: Locator, by: float) -> None:
    box = edge.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + 200
    mouse = profiler.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + by / 2, y)
    mouse.move(x + by, y)
    mouse.up()


# ---- edges


def test_the_menu_and_the_drawer_are_resized_by_dragging_and_remembered(profiler: Profiler) -> None:
    rail, drawer = profiler.navigation, profiler.inspector
    rail_edge = profiler.ui.get_by_role("separator", name="Width of the menu")
    drawer_edge = profiler.ui.get_by_role("separator", name="Width of the drawer")
    assert (width(rail), width(drawer)) == (180, 360)
    drag(profiler, rail_edge, 60)
    drag(profiler, drawer_edge, -100)
    assert (width(rail), width(drawer)) == (240, 460)
    expect(rail_edge).to_have_attribute("aria-valuenow", "240")
    # Not beyond what makes sense.
    drag(profiler, rail_edge, -500)
    assert width(rail) == 140
    profiler.page.reload()
    expect(drawer).to_be_visible()
    assert (width(rail), width(drawer)) == (140, 460)
    rail_edge.dblclick()
    assert width(rail) == 180


def test_edges_move_by_keys(profiler: Profiler) -> None:
    page = profiler.page
    edge = profiler.ui.get_by_role("separator", name="Width of the drawer")
    edge.focus()
    page.keyboard.press("ArrowLeft")
    assert width(profiler.inspector) == 376
    page.keyboard.press("Home")
    assert width(profiler.inspector) == 240
    edge = profiler.ui.get_by_role("separator", name="Width of the menu")
    edge.focus()
    page.keyboard.press("ArrowRight")
    assert width(profiler.navigation) == 196


def test_the_folded_menu_has_no_edge(profiler: Profiler) -> None:
    profiler.ui.get_by_role("button", name="Collapse the menu").click()
    expect(profiler.ui.get_by_role("separator", name="Width of the menu")).to_have_count(0)
    assert width(profiler.navigation) == 48


# ---- narrow windows


@pytest.mark.long
def test_narrow_windows_cut_nothing_off(open_page: OpenPage, tensorboard: Server) -> None:
    """As TensorBoard in half a screen: everything can be reached, the page itself never scrolls sideways."""
    page = open_page(viewport={"width": 800, "height": 700})
    profiler = Profiler(page, tensorboard).open(r=GPU_RUN, sel="op:aten::mm")
    for view in VIEWS:
        profiler.go_to(view)
        profiler.loaded()
        expect(profiler.inspector).to_be_visible()
        for name in ("Refresh", "Copy link", "Keyboard shortcuts", "Expand the menu", "Files", "Clear the selection"):
            expect(profiler.ui.get_by_role("button", name=name, exact=True)).to_be_in_viewport(ratio=1)
        too_wide = profiler.ui.locator("body").evaluate(
            """(body) => ["html", "body", ".shell", ".bar", ".rail", ".inspector", ".main"].filter((part) => {
                const at = body.ownerDocument.querySelector(part);
                return at.scrollWidth > at.clientWidth + 1;
            })"""
        )
        assert too_wide == [], view


def test_the_menu_opens_in_a_narrow_window(open_page: OpenPage, alone: Server, keep: Keep) -> None:
    page = open_page(viewport={"width": 800, "height": 700})
    profiler = Profiler(page, alone).open(r=GPU_RUN)
    expect(profiler.panel("The median step")).to_be_visible()
    assert width(profiler.navigation) == 48
    profiler.ui.get_by_role("button", name="Expand the menu").click()
    assert width(profiler.navigation) == 180
    # What is remembered is meant for large windows.
    page.reload()
    expect(profiler.panel("The median step")).to_be_visible()
    assert width(profiler.navigation) == 48


# ---- a thousand ranks


@pytest.fixture
def thousand(on_its_own: Profiler) -> Profiler:
    """A status of many ranks; the trace of each is that of the first."""
    server, page = on_its_own.server, on_its_own.page
    status = server.api("status")
    run = next(run for run in status["runs"] if run["name"] == CPU_RUN)
    first = run["traces"][0]
    run["traces"] = []
    for rank in range(RANKS):
        trace = copy.deepcopy(first)
        trace.update(
            worker=f"node{rank // 8}_rank{rank}", rank=rank, world_size=RANKS, file=f"rank{rank}.pt.trace.json"
        )
        run["traces"].append(trace)
    page.route("**/api/status*", lambda route: route.fulfill(json=status))

    def of_the_first(route: Route) -> None:
        name = route.request.url.split("worker=")[1].split("&")[0]
        route.continue_(url=route.request.url.replace(f"worker={name}", f"worker={first['worker']}"))

    page.route(lambda url: "/api/" in url and "worker=node" in url, of_the_first)
    on_its_own.open(r=CPU_RUN, v="operators")
    expect(on_its_own.grid("Operators").count).to_be_visible()
    return on_its_own


def test_a_picker_of_a_thousand_ranks(thousand: Profiler) -> None:
    page = thousand.page
    thousand.picker("Worker").click()
    listbox = thousand.ui.get_by_role("listbox", name="Worker")
    options = listbox.get_by_role("option")
    expect(options.first).to_have_attribute("aria-setsize", str(RANKS))
    assert options.count() < 60
    page.keyboard.press("End")
    last = listbox.get_by_role("option", name=f"node127_rank{RANKS - 1}")
    expect(last).to_be_in_viewport()
    expect(last).to_have_attribute("aria-posinset", str(RANKS))
    field = thousand.ui.get_by_role("combobox", name="Filter worker")
    expect(field).to_have_attribute("aria-activedescendant", last.get_attribute("id") or "")
    field.fill("node99_ 795")
    expect(options).to_have_count(1)
    page.keyboard.press("Enter")
    expect(thousand.picker("Worker")).to_have_accessible_name("Worker node99_rank795")
    expect(thousand.grid("Operators").count).to_be_visible()
    # Opened again it stands where it is.
    thousand.picker("Worker").click()
    expect(listbox.get_by_role("option", selected=True)).to_be_in_viewport()


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_context_bar_is_one_line_while_comparing(language: str, open_page: OpenPage, alone: Server) -> None:
    page = open_page(locale=language, viewport={"width": 1280, "height": 900})
    profiler = Profiler(page, alone).open(v="operators", r=CPU_RUN, b=f"{GPU_RUN}~rank0~1")
    bar = profiler.ui.get_by_role("banner")
    parts = bar.locator(".combo, .compared, .brush, .bar-tools")
    expect(bar.locator(".compared")).to_be_visible()
    expect(bar.locator(".brush")).to_be_visible()
    boxes = parts.evaluate_all("(all) => all.map((each) => each.getBoundingClientRect().toJSON())")
    assert len(boxes) > 4
    assert max(box["top"] for box in boxes) < min(box["bottom"] for box in boxes)
    for left, right in itertools.pairwise(boxes):
        assert left["right"] <= right["left"]
    # The other trace can be told, and what ends the comparison is not cut.
    assert bar.locator(".compared-name").bounding_box()["width"] > 120
    end, chip = bar.locator(".compared-end").bounding_box(), bar.locator(".compared").bounding_box()
    assert end["x"] + end["width"] <= chip["x"] + chip["width"]
