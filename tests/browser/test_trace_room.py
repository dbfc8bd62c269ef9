"""The Trace page gives its room to the tracks: nothing of what explains or describes them stands above or below."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.axe import Axe
from tests.browser.conftest import PICTURED, Keep
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.browser.timeline import EXPLAINED, Timeline, leaf, open_trace
from tests.tiny import wait_until


def room_of_tracks(timeline: Timeline) -> float:
    """Pixels of the window in which tracks are seen."""
    box = timeline.area.bounding_box()
    window = timeline.profiler.page.viewport_size
    assert box is not None
    assert window is not None
    return min(box["y"] + box["height"], window["height"]) - box["y"]


@pytest.mark.parametrize("theme", PICTURED)
@pytest.mark.parametrize(("selected", "least"), [("", 700), ("2309", 600)])
def test_tracks_have_the_room(alone: Server, page: Page, keep: Keep, theme: str, selected: str, least: int) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 1440, "height": 900})
    profiler = Profiler(page, alone)
    timeline = open_trace(profiler, **({"e": selected} if selected else {}))
    assert set(timeline.names()) >= EXPLAINED
    assert room_of_tracks(timeline) >= least
    keep(f"trace-room{'-selected' * bool(selected)}-{theme}")


def test_what_is_selected_says_first_how_long_it_took(on_its_own: Profiler) -> None:
    on_its_own.page.set_viewport_size({"width": 1440, "height": 900})
    timeline = open_trace(on_its_own, e="2309")
    panel = on_its_own.panel("Selection")
    first = panel.locator(".trace-details").get_by_role("paragraph").first
    expect(first).to_have_text("14.64 ms · thread 4200 (python) · step 3")
    picture, side = timeline.canvas.bounding_box(), panel.bounding_box()
    assert picture is not None
    assert side is not None
    assert side["x"] >= picture["x"] + picture["width"], "the details stand beside the tracks"


def test_tracks_do_not_wait_for_what_explains_them(on_its_own: Profiler) -> None:
    page = on_its_own.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/timeline/derived?*", hold)
    on_its_own.open(v="trace", r=GPU_RUN, k="rank0")
    timeline = Timeline(on_its_own)
    expect(timeline.root).to_have_attribute("aria-busy", "false")
    expect(timeline.area).to_be_visible()
    assert not EXPLAINED & set(timeline.names())
    wait_until(lambda: len(held) == len(EXPLAINED), "they are asked for")
    for route in held:
        route.continue_()
    timeline.settle()
    assert set(timeline.names()) >= EXPLAINED


def test_a_double_click_fits_the_slice_that_it_began_on(on_its_own: Profiler) -> None:
    """Its first click opens the details, which makes the picture narrower below the second one."""
    timeline = open_trace(on_its_own)
    key, _ = leaf(timeline.meta("rank0"), "rank0", "thread 4200 (python)")
    steps = timeline.meta("rank0")["steps"]
    start, length = steps["start_ns"][4], steps["duration_ns"][4]
    timeline.show(key)
    on_its_own.page.mouse.dblclick(*timeline.point(start + length / 2, key, 0))
    timeline.settle()
    low, high = timeline.window()
    assert low <= start < start + length <= high < low + 2 * length
    expect(on_its_own.panel("Selection").get_by_role("heading", name="ProfilerStep#7")).to_be_visible()


def test_an_address_says_which_lanes_explain(on_its_own: Profiler) -> None:
    timeline = open_trace(on_its_own, u="path")
    assert EXPLAINED & set(timeline.names()) == {"Critical path"}
    on_its_own.ui.get_by_role("button", name="Explain (1)").click()
    on_its_own.ui.get_by_role("checkbox", name="Critical path").press("Space")
    timeline.settle()
    assert on_its_own.state["u"] == "none"
    assert not EXPLAINED & set(timeline.names())


def test_what_cannot_be_computed_is_said_where_it_is_chosen(on_its_own: Profiler) -> None:
    timeline = open_trace(on_its_own, r=CPU_RUN, k="worker0")
    reason = on_its_own.ui.get_by_text("no device ran kernels in the steps")
    expect(reason).to_have_count(0)
    on_its_own.ui.get_by_role("button", name="Explain (3)").click()
    expect(reason).to_be_visible()
    assert "Idle, by cause" not in timeline.names()


def test_colours_are_explained_on_hover_and_focus(on_its_own: Profiler, axe: Axe) -> None:
    timeline = open_trace(on_its_own)
    label = timeline.label("rank0:path")
    label.hover()
    tip = on_its_own.ui.locator(".pointer-tip")
    expect(tip).to_contain_text("Launch latency")
    on_its_own.page.mouse.move(700, 5)
    expect(tip).to_have_count(0)
    label.get_by_role("button").first.focus()
    expect(tip).to_contain_text("Launch latency")
    axe.look("the colours of a track")
    axe.check()
