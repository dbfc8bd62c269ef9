"""The timeline: what is drawn is what the server says, whatever happens meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.axe import Axe
from tests.browser.conftest import PICTURED, Keep, OpenPage, screenshot
from tests.browser.profiler import GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.browser.timeline import STREAM, WHERE, Timeline, assert_drawn, exact_slices, leaf, open_trace
from tests.events import kernel, launch, op
from tests.tiny import wait_until


@pytest.fixture
def opened(on_its_own: Profiler) -> Timeline:
    return open_trace(on_its_own)


@pytest.mark.parametrize("window", ["", "20000000-24000000", "20100000-20400000", "20200000-20203000"])
def test_what_is_drawn_is_what_the_server_says(on_its_own: Profiler, window: str) -> None:
    timeline = open_trace(on_its_own, t=window)
    meta = timeline.meta("rank0")
    start, end = timeline.window()
    for name in (STREAM, "thread 4260 (python)"):
        key, lanes = leaf(meta, "rank0", name)
        timeline.show(key)
        for depth, lane in enumerate(lanes[:4]):
            query = {**WHERE, "lanes": str(lane), "from": str(int(start)), "to": str(int(end) + 1)}
            assert_drawn(timeline, key, depth, exact_slices(on_its_own.server, **query, limit="50000"))


def test_every_event_is_accounted_for(opened: Timeline) -> None:
    events = opened.meta("rank0")["events"]
    shown = events["slices"] + events["instants"]
    text = opened.profiler.ui.locator(".trace-events")
    expect(text).to_contain_text(f"{shown:,} of {events['total']:,} events are on the tracks")
    rest = sum(events[kind] for kind in events if kind not in {"total", "slices", "instants"})
    assert sum(int(number.replace(",", "")) for number in re.findall(r"([\d,]*\d) ", text.inner_text())[2:]) == rest
    assert shown + rest == events["total"]


def overlapping() -> list[dict[str, Any]]:
    """Two kernels on one stream of which neither is inside the other, and one that is hidden behind a longer one."""
    return [
        op("aten::mm", 0, 100),
        launch(10, 1),
        launch(20, 2),
        launch(30, 3),
        kernel(200, 100, 1, "first"),
        kernel(250, 100, 2, "second"),
        kernel(700, 10, 3, "third"),
    ]


ServeEvents = Callable[[list[dict[str, Any]]], Timeline]


@pytest.fixture
def serve_events(tmp_path: Path, serve_logs: Callable[[Path], Server], page: Any) -> ServeEvents:
    """A timeline of a trace of the test's own."""

    def serve(events: list[dict[str, Any]]) -> Timeline:
        (tmp_path / "logs" / "run").mkdir(parents=True)
        content = json.dumps({"traceEvents": events})
        (tmp_path / "logs" / "run" / "w.1.pt.trace.json").write_text(content)
        server = serve_logs(tmp_path / "logs")
        server.wait_for_traces()
        profiler = Profiler(page, server).open(v="trace", r="run", k="w")
        return Timeline(profiler)

    return serve


def test_overlapping_kernels_are_all_seen(serve_events: ServeEvents) -> None:
    timeline = serve_events(overlapping()).settle()
    key, lanes = leaf(timeline.meta("w"), "w", STREAM)
    assert len(lanes) == 2
    seen = 0
    for depth in range(2):
        drawn = timeline.drawn(key, depth)
        seen += int((np.diff(np.concatenate([[False], drawn]).astype(int)) == 1).sum())
    assert seen == 3
    for name, middle, depth in (("first", 225_000, 0), ("second", 320_000, 1), ("third", 705_000, 0)):
        # what is selected stands beside the picture, which is narrower then
        timeline.settle().click(middle, key, depth)
        panel = timeline.profiler.panel("Selection")
        expect(panel.get_by_role("heading", name=name, exact=True)).to_be_visible()


def test_colours_and_short_slices(opened: Timeline) -> None:
    profiler = opened.profiler
    key, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    opened.show(key)
    by_category = opened.colours(opened.y(key, 0) + 7)
    profiler.ui.get_by_role("button", name="Display").click()
    profiler.choose("Colour by", "Name")
    opened.settle()
    by_name = opened.colours(opened.y(key, 0) + 7)
    assert (by_category != by_name).any()
    assert len(np.unique(by_name, axis=0)) > len(np.unique(by_category, axis=0))
    drawn = opened.drawn(key, 0)
    profiler.ui.get_by_label("At least (µs)").fill("100000")
    opened.settle()
    faint = opened.colours(opened.y(key, 0) + 7).astype(int)
    page = np.array(opened.colour("--surface"))
    # Paler, and still there.
    assert np.abs(faint - page)[drawn].sum() < 0.5 * np.abs(by_name.astype(int) - page)[drawn].sum()
    assert np.abs(faint - page)[drawn].sum(axis=1).min() > 0


def test_kernels_have_the_colour_of_the_operator_that_launched_them(opened: Timeline) -> None:
    profiler = opened.profiler
    key, lanes = leaf(opened.meta("rank0"), "rank0", STREAM)
    hits = profiler.server.api("timeline/search", **WHERE, q="coopA_tn", hits="2000")["hits"]
    assert set(hits["lane"]) == {lanes[0]}
    assert len(set(hits["name_id"])) == 1, "one kernel, which two operators launch"
    named: dict[str, list[Any]] = {"aten::addmm": [], "aten::mm": []}
    rows = iter(hits["row"])
    while any(len(some) < 2 for some in named.values()):
        slice_ = profiler.server.api("timeline/slice", **WHERE, row=str(next(rows)))
        named[slice_["operator"]["name"]].append(slice_)

    def colours(by: str) -> dict[str, set[tuple[int, ...]]]:
        """Of each operator, what its kernels look like."""
        found: dict[str, set[tuple[int, ...]]] = {}
        for name, each in ((name, each) for name, some in named.items() for each in some[:2]):
            start, length = each["start_ns"], each["duration_ns"]
            # From one kernel to the next it is the same page.
            state = {"v": "trace", "r": GPU_RUN, "k": "rank0", "c": by}
            profiler.turn_to(**state, t=f"{start - length}-{start + 2 * length}")
            timeline = opened.settle()
            timeline.show(key)
            colour = timeline.colours(timeline.y(key, 0) + 7)[round(timeline.x(start + length / 2))]
            found.setdefault(name, set()).add(tuple(colour.tolist()))
        return found

    by_name, by_operator = colours("name"), colours("operator")
    assert len(set.union(*by_name.values())) == 1
    assert all(len(seen) == 1 for seen in by_operator.values())
    assert len(set.union(*by_operator.values())) > 1


def test_arrows_to_what_was_launched(opened: Timeline) -> None:
    profiler = opened.profiler
    hits = profiler.server.api("timeline/search", **WHERE, q="aten::_local_scalar_dense")["hits"]
    open_trace(profiler, e=str(hits["row"][0]), t="0-100218152")
    image = "(canvas) => canvas.toDataURL()"
    with_arrows = opened.canvas.evaluate(image)
    profiler.ui.get_by_role("button", name="Display").click()
    profiler.switch("Arrows", "Off")
    opened.settle()
    without = opened.canvas.evaluate(image)
    assert with_arrows != without
    profiler.switch("Arrows", "All")
    expect(profiler.ui.get_by_role("radiogroup", name="Arrows").get_by_role("radio", name="All")).to_be_checked()
    opened.settle()
    wait_until(lambda: opened.canvas.evaluate(image) not in (with_arrows, without), "all arrows are drawn")


def test_nothing_is_blank_while_tiles_come(on_its_own: Profiler) -> None:
    timeline = open_trace(on_its_own)
    key, _ = leaf(timeline.meta("rank0"), "rank0", STREAM)
    timeline.show(key)
    on_its_own.page.route("**/api/timeline/tiles*", lambda route: None)
    on_its_own.page.keyboard.press("W")
    on_its_own.page.wait_for_timeout(400)
    expect(timeline.root).to_have_attribute("aria-busy", "true")
    assert timeline.drawn(key, 0).any()


def test_a_part_that_cannot_be_had_is_said_and_asked_for_again(on_its_own: Profiler) -> None:
    page = on_its_own.page
    page.route("**/api/timeline/tiles*", lambda route: route.fulfill(status=500, json={"error": "mark 4711"}))
    on_its_own.open(v="trace", r=GPU_RUN, k="rank0")
    timeline = Timeline(on_its_own)
    alert = timeline.root.get_by_role("alert")
    expect(alert).to_contain_text("mark 4711")
    page.unroute("**/api/timeline/tiles*")
    alert.get_by_role("button", name="Retry").click()
    expect(alert).to_have_count(0)
    timeline.settle()
    key, _ = leaf(timeline.meta("rank0"), "rank0", STREAM)
    timeline.show(key)
    assert timeline.drawn(key, 0).any()


@pytest.mark.long
@pytest.mark.parametrize("theme", PICTURED)
@pytest.mark.parametrize("width", [1280, 1920])
def test_how_it_looks(open_page: OpenPage, alone: Server, output: Path, theme: str, width: int) -> None:
    profiler = Profiler(open_page(color_scheme=theme, viewport={"width": width, "height": 1080}), alone)
    hits = alone.api("timeline/search", **WHERE, q="aten::_local_scalar_dense")["hits"]
    timeline = open_trace(profiler, e=str(hits["row"][1]), t="19000000-45000000", w="rank1", c="name")
    screenshot(profiler.page, output, f"timeline-{theme}-{width}")
    assert timeline.width > width / 3


def test_usable_by_everybody(axe: Axe, alone: Server) -> None:
    profiler = axe.profiler
    hits = alone.api("timeline/search", **WHERE, q="aten::_local_scalar_dense")["hits"]
    timeline = open_trace(profiler, e=str(hits["row"][0]), a="20000000-40000000", q="aten", l="1")
    expect(profiler.panel("Range").get_by_role("grid")).to_be_visible()
    axe.look("everything at once")
    for menu in ("Trace file", "Bookmarks", "Ranks"):
        profiler.ui.get_by_role("button", name=re.compile(f"^{menu}")).click()
        axe.look(menu)
        profiler.page.keyboard.press("Escape")
    timeline.root.get_by_label("Filter tracks").fill("no such track")
    axe.look("no track")
    axe.check()


def test_in_tensorboard(in_tensorboard: Profiler, keep: Keep) -> None:
    in_tensorboard.open(v="trace", r=GPU_RUN, k="rank1")
    timeline = Timeline(in_tensorboard)
    expect(timeline.root).to_have_attribute("aria-busy", "false")
    expect(timeline.root.get_by_text("rank1", exact=True)).to_be_visible()
    keep("timeline-in-tensorboard")
