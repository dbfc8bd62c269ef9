"""What is asked of every view alike: loading, failing, partial, links, Back, names that contain markup."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Route, expect

from tests.browser.history import back, forward
from tests.browser.profiler import GPU_RUN, VIEWS, Profiler
from tests.tiny import wait_until

QUESTIONS = re.compile(r"/api/(?!status|health)")
"""About what a trace contains. The Capture view asks for nothing but its health."""


def questions(view: str) -> re.Pattern[str]:
    return re.compile(r"/api/health") if view == "health" else QUESTIONS


def note(touched: str) -> dict[str, object]:
    return {
        "kind": "cut",
        "severity": "warning",
        "count": 3,
        "text": "Something <i>was</i> left out.",
        "touches": [touched],
        "remedy": None,
        "first_offset": None,
    }


@pytest.mark.parametrize("view", VIEWS)
def test_loading_then_failing_then_still_read_then_there(view: str, on_its_own: Profiler) -> None:
    """Waits visibly; says what is wrong, and what was asked; Retry brings it back. Then the trace is still being read,
    and the view comes by itself when it is not any more. A note that touches the view stands above it."""
    page, main = on_its_own.page, on_its_own.ui.get_by_role("main")
    health = on_its_own.server.api("health", run=GPU_RUN, worker="rank0")
    health["notes"] = [note(view), note("another")]
    page.route("**/api/health*", lambda route: route.fulfill(json=health))
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(questions(view), hold)
    on_its_own.open(r=GPU_RUN, v=view)
    expect(on_its_own.heading(VIEWS[view])).to_be_visible()
    expect(main.get_by_label("Loading…").first).to_be_visible()
    expect(main.get_by_role("alert")).to_have_count(0)

    def fail(route: Route) -> None:
        route.fulfill(status=500, json={"error": "see the log: mark <b>4711</b>"})

    page.route(questions(view), fail)
    for route in held:
        fail(route)
    alerts = main.get_by_role("alert")
    expect(alerts.first).to_contain_text("see the log: mark <b>4711</b>")
    expect(alerts.first).to_contain_text("api/")
    expect(main.get_by_label("Loading…")).to_have_count(0)

    waiting = {"error": "is still loading", "state": "loading", "progress": {"bytes_done": 3, "bytes_total": 10}}
    page.route(questions(view), lambda route: route.fulfill(status=409, json=waiting))
    retry = alerts.get_by_role("button", name="Retry")

    def all_retried() -> bool:
        if retry.count():
            retry.first.click()
        return alerts.count() == 0

    wait_until(all_retried, "no alert any more")
    expect(main.get_by_text("The trace is still being read: 30 %").first).to_be_visible()
    page.unroute(questions(view))
    expect(main.get_by_text("The trace is still being read")).to_have_count(0)
    expect(main.get_by_label("Loading…")).to_have_count(0)
    expect(main.get_by_role("alert")).to_have_count(0)

    on_its_own.ui.get_by_text("1 note about this data").click()
    expect(main.get_by_text("Something <i>was</i> left out.").first).to_be_visible()


def test_links_and_back(in_tensorboard: Profiler) -> None:
    page = in_tensorboard.page
    last, *others = reversed(VIEWS)
    in_tensorboard.open(v=last, r=GPU_RUN)
    for view in (last, *others):
        in_tensorboard.turn_to(v=view, r=GPU_RUN)
        expect(in_tensorboard.heading(VIEWS[view])).to_be_visible()
        expect(in_tensorboard.ui.get_by_role("button", name="Dismiss")).to_have_count(0)
    for view in VIEWS:
        in_tensorboard.go_to(view)
    for title in list(VIEWS.values())[-2::-1]:
        back(page)
        expect(in_tensorboard.heading(title)).to_be_visible()
    for title in list(VIEWS.values())[1:]:
        forward(page)
        expect(in_tensorboard.heading(title)).to_be_visible()
