"""What is asked for: nothing twice, nothing any longer when nobody wants it, never an old answer for a new question."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Error, Page, Request, Route, expect

from tests.browser.history import back
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.tiny import wait_until


@pytest.fixture
def held(page: Page) -> Iterator[list[Route]]:
    """Requests for operators of rank1, which are not answered unless a test does."""
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route(re.compile(r"/api/operators\?.*worker=rank1"), hold)
    yield waiting
    page.unroute_all(behavior="ignoreErrors")


@pytest.fixture
def cancelled(page: Page) -> list[str]:
    """Addresses of requests for operators that the page itself gave up."""
    found: list[str] = []

    def failed(request: Request) -> None:
        if request.failure == "net::ERR_ABORTED" and "/api/operators?" in request.url:
            found.append(request.url)

    page.on("requestfailed", failed)
    return found


@pytest.mark.parametrize("change", ["worker", "run", "view", "steps", "back"])
def test_changing_what_is_shown_cancels_what_was_asked(
    change: str, on_its_own: Profiler, held: list[Route], cancelled: list[str]
) -> None:
    profiler, page = on_its_own, on_its_own.page
    profiler.open(r=GPU_RUN, k="rank0", v="operators")
    grid = profiler.grid("Operators")
    expect(grid.count).to_be_visible()
    profiler.choose("Worker", "rank1")
    # Both panels ask the same question, which is asked once.
    wait_until(lambda: page.evaluate("1") and len(held) == 1, "the question about rank1")
    assert cancelled == []

    if change == "worker":
        profiler.choose("Worker", "rank2")
    elif change == "run":
        profiler.choose("Run", CPU_RUN)
    elif change == "view":
        profiler.go_to("kernels")
    elif change == "steps":
        profiler.ui.get_by_role("slider", name="First step").press("ArrowRight")
    else:
        back(page)
        expect(profiler.picker("Worker")).to_have_accessible_name("Worker rank0")
    wait_until(lambda: page.evaluate("1") and len(cancelled) == 1, "the question is taken back")
    assert "worker=rank1" in cancelled[0]
    if change in {"worker", "run", "back"}:
        expect(grid.count).to_be_visible()
        expect(profiler.ui.get_by_role("alert")).to_have_count(0)


def test_a_late_answer_does_not_replace_a_newer_one(on_its_own: Profiler, held: list[Route]) -> None:
    """Even if the browser delivered it: the answer belongs to its question."""
    profiler, page = on_its_own, on_its_own.page
    profiler.open(r=GPU_RUN, k="rank0", v="operators", sel="op:aten::mm")
    grid = profiler.grid("Operators")
    expect(grid.count).to_be_visible()
    profiler.choose("Worker", "rank1")
    wait_until(lambda: page.evaluate("1") and held, "the question about rank1")
    profiler.choose("Worker", "rank2")
    # The rows of rank0 are shown, as old ones, until the answer is here.
    expect(grid.panel.locator(".panel-stale")).to_have_count(0)
    rows = profiler.server.api("operators", run=GPU_RUN, worker="rank2")["rows"]
    shown = grid.first_rows("Name", 5)
    assert shown == rows["name"][:5]
    with contextlib.suppress(Error):
        held[0].continue_()
    page.wait_for_load_state("networkidle")
    assert grid.first_rows("Name", 5) == shown


def test_old_numbers_are_marked_as_old(on_its_own: Profiler, held: list[Route]) -> None:
    profiler, page = on_its_own, on_its_own.page
    profiler.open(r=GPU_RUN, k="rank0", v="operators")
    grid = profiler.grid("Operators")
    expect(grid.count).to_be_visible()
    profiler.choose("Worker", "rank1")
    wait_until(lambda: page.evaluate("1") and held, "the question about rank1")
    expect(grid.panel.get_by_text("Refreshing")).to_be_visible()
    expect(grid.panel.locator(".panel-stale")).to_be_visible()
    # They can be read, and not be acted upon.
    expect(grid.panel.locator(".panel-content")).to_have_attribute("inert", "")
    held[0].continue_()
    expect(grid.panel.get_by_text("Refreshing")).to_have_count(0)
    expect(grid.panel.locator(".panel-stale")).to_have_count(0)


def test_what_is_known_is_not_asked_again(on_its_own: Profiler) -> None:
    profiler, page = on_its_own, on_its_own.page
    # The Overview asks about the run when its own answer is there, which "Loading…" does not tell.
    with page.expect_response(re.compile(r"/api/run_findings\?")):
        profiler.open(r=GPU_RUN)
    for view in ("operators", "kernels", "overview"):
        profiler.go_to(view)
        profiler.loaded()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for view in ("operators", "kernels", "overview"):
        profiler.go_to(view)
        profiler.loaded()
    assert [url for url in asked if "/api/" in url and "/status" not in url] == []
