"""The steps to look at: chosen on a strip, kept in the address, sent with every question about time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, expect

from tests.browser import numbers
from tests.browser.conftest import OpenPage
from tests.browser.history import back
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server


class Brush:
    def __init__(self, profiler: Profiler) -> None:
        self.page = profiler.page
        self.group = profiler.ui.get_by_role("group", name="Steps", exact=True)
        self.first = self.group.get_by_role("slider", name="First step")
        self.last = self.group.get_by_role("slider", name="Last step")
        self.chip = profiler.ui.locator(".range-chip")
        self.clear = profiler.ui.get_by_role("button", name="Show all steps")
        self.strip: Locator = self.group.locator(".brush-strip")

    def drag(self, start: float, end: float) -> None:
        """From one place to another, 0…1 of the width."""
        box = self.strip.bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + start * box["width"], y)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + (start + end) / 2 * box["width"], y)
        self.page.mouse.move(box["x"] + end * box["width"], y)
        self.page.mouse.up()


@pytest.fixture
def names(alone: Server) -> list[str]:
    steps: list[str] = alone.api("overview", run=GPU_RUN, worker="rank0")["steps"]["names"]
    assert len(steps) == 5
    return steps


@pytest.fixture
def profiler(on_its_own: Profiler) -> Profiler:
    on_its_own.open(r=GPU_RUN, v="kernels")
    expect(on_its_own.grid("Kernels").count).to_be_visible()
    return on_its_own


@contextmanager
def questions(profiler: Profiler) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Routes and parameters of what the page asks meanwhile."""
    asked: list[tuple[str, dict[str, Any]]] = []

    def note(url: str) -> None:
        parts = urlsplit(url)
        if "/api/" in parts.path:
            route = parts.path.split("/api/")[1]
            asked.append((route, {key: values[0] for key, values in parse_qs(parts.query).items()}))

    def listen(request: Any) -> None:
        note(request.url)

    profiler.page.on("request", listen)
    yield asked
    profiler.page.remove_listener("request", listen)


def test_dragging_chooses_steps_for_every_view(profiler: Profiler, names: list[str]) -> None:
    brush = Brush(profiler)
    expect(brush.chip).to_have_count(0)
    with questions(profiler) as asked:
        with profiler.page.expect_request(re.compile(r"/api/kernels\?")):
            brush.drag(0.3, 0.7)
        expect(brush.chip).to_contain_text(f"Steps {names[1]}–{names[3]} of 5")
        profiler.loaded()
    assert profiler.state["st"] == f"{names[1]}~{names[3]}"
    limited = {route for route, query in asked if query.get("from_step") == names[1] and query["to_step"] == names[3]}
    assert limited == {"kernels"}
    # While it is dragged nothing is asked.
    assert len([route for route, _ in asked if route == "kernels"]) == 1

    with questions(profiler) as asked:
        for view in ("overview", "operators"):
            with profiler.page.expect_request(re.compile(rf"/api/{view}\?")):
                profiler.go_to(view)
            expect(brush.chip).to_be_visible()
        profiler.go_to("health")
        expect(brush.chip).to_contain_text(f"Covers the whole file, not only steps {names[1]}–{names[3]}")
    for route, query in asked:
        if route in {"overview", "operators"}:
            assert (query["from_step"], query["to_step"]) == (names[1], names[3]), route
        if route == "health":
            assert "from_step" not in query

    # The strip itself still shows all steps.
    expect(brush.last).to_have_attribute("aria-valuemax", "5")


def test_taking_it_back(profiler: Profiler, names: list[str]) -> None:
    brush = Brush(profiler)
    brush.drag(0.5, 0.5)
    expect(brush.chip).to_contain_text(f"Step {names[2]} of 5")
    brush.clear.click()
    expect(brush.chip).to_have_count(0)
    assert "st" not in profiler.state
    back(profiler.page)
    expect(brush.chip).to_contain_text(f"Step {names[2]} of 5")
    back(profiler.page)
    expect(brush.chip).to_have_count(0)
    expect(profiler.heading("GPU Kernel")).to_be_visible()


def test_by_keyboard(profiler: Profiler, names: list[str]) -> None:
    brush, page = Brush(profiler), profiler.page
    brush.first.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
    expect(brush.first).to_have_attribute("aria-valuenow", "2")
    spoken = (brush.first.get_attribute("aria-valuetext") or "").split(", ")
    steps = profiler.server.api("overview", run=GPU_RUN, worker="rank0")["steps"]
    assert spoken[0] == f"Step {names[1]}"
    assert numbers.same(spoken[1], steps["duration_ns"][1])
    expect(brush.chip).to_contain_text(f"Steps {names[1]}–{names[4]} of 5")
    page.keyboard.press("Tab")
    expect(brush.last).to_be_focused()
    page.keyboard.press("Home")
    expect(brush.last).to_have_attribute("aria-valuenow", "2")
    expect(brush.chip).to_contain_text(f"Step {names[1]} of 5")
    page.keyboard.press("Delete")
    expect(brush.chip).to_have_count(0)


def test_moving_ends_and_the_whole(profiler: Profiler, names: list[str]) -> None:
    brush = Brush(profiler)
    brush.drag(0.1, 0.3)
    expect(brush.chip).to_contain_text(f"Steps {names[0]}–{names[1]}")
    brush.drag(0.4, 0.8)
    expect(brush.chip).to_contain_text(f"Steps {names[0]}–{names[3]}")
    brush.drag(0.5, 0.7)
    expect(brush.chip).to_contain_text(f"Steps {names[1]}–{names[4]}")


def test_a_link_with_steps(open_page: OpenPage, tensorboard: Server, names: list[str]) -> None:
    profiler = Profiler(open_page(), tensorboard)
    with questions(profiler) as asked:
        profiler.open(r=GPU_RUN, v="operators", st=f"{names[3]}~{names[4]}")
        expect(Brush(profiler).chip).to_contain_text(f"Steps {names[3]}–{names[4]} of 5")
        expect(profiler.grid("Operators").count).to_be_visible()
    # Never without the steps that the link names.
    assert all(query.get("from_step") == names[3] for route, query in asked if route == "operators")


def test_steps_that_are_gone_are_a_notice(profiler: Profiler) -> None:
    profiler.open(r=GPU_RUN, v="operators", st="yesterday~<b>today</b>")
    notice = profiler.ui.get_by_role("status").filter(has_text="There are no steps “yesterday–<b>today</b>”")
    expect(notice).to_be_visible()
    expect(profiler.grid("Operators").count).to_be_visible()
    expect(profiler.ui.get_by_role("alert")).to_have_count(0)
    expect(Brush(profiler).chip).to_have_count(0)


def test_another_run_has_other_steps(profiler: Profiler) -> None:
    """Steps of the same name are kept, others are said to be gone; coming back restores them."""
    brush = Brush(profiler)
    brush.drag(0.3, 0.5)
    expect(brush.chip).to_be_visible()
    chosen = profiler.state["st"]
    profiler.choose("Run", CPU_RUN)
    other = profiler.server.api("overview", run=CPU_RUN, worker="worker0")["steps"]["names"]
    if set(chosen.split("~")) <= set(other):
        expect(brush.chip).to_be_visible()
    else:
        expect(profiler.ui.get_by_role("status").filter(has_text="There are no steps")).to_be_visible()
    profiler.choose("Run", GPU_RUN)
    expect(brush.chip).to_contain_text(" of 5")


def test_one_step_needs_no_choice(profiler: Profiler) -> None:
    profiler.open(r=GPU_RUN, v="operators", sr="whole_trace")
    expect(profiler.grid("Operators").count).to_be_visible()
    expect(Brush(profiler).group).to_have_count(0)


def test_the_overview_fails_and_the_rest_works(profiler: Profiler) -> None:
    profiler.page.route("**/api/overview*", lambda route: route.fulfill(status=500, json={"error": "no"}))
    profiler.open(r=GPU_RUN, v="operators", st="1~2")
    expect(profiler.grid("Operators").count).to_be_visible()
    expect(profiler.ui.get_by_role("status").filter(has_text="There are no steps")).to_be_visible()
