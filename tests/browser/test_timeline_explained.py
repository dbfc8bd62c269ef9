"""The Trace page explains: the critical path, why devices idle, what is not critical, the instances of a finding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.axe import Axe
from tests.browser.conftest import PICTURED, Keep
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.browser.timeline import WHERE, Timeline, leaf, open_trace
from tests.recorded import recorded
from tests.tiny import wait_until

RECORDED = [
    ("kineto", "resnet50_num_workers_0", "worker0"),
    ("HTA", "v100_ddp_profile_memory_rank1_of_2", "rank1"),
]
PATH, IDLE = "rank0:path", "rank0:idle:0"


def settled(profiler: Profiler) -> Timeline:
    return Timeline(profiler).settle()


def pieces(
    server: Server, of: str, level: int, tile: int = 0, **where: str
) -> list[tuple[float, float, int, int, int]]:
    """Start, end, row, number and part of the items of a tile (docs/maintainers/timeline-protocol.md)."""
    body = server.binary("timeline/derived/tiles", **(where or WHERE), of=of, level=str(level), tile=str(tile))
    begin, tick = np.frombuffer(body, "<f8", 2, 16)
    lanes, items = np.frombuffer(body, "<u4", 2, 32)
    at = 44 + 8 * int(lanes)
    start, end = np.frombuffer(body, "<i4", 2 * items, at).reshape(2, items) * tick + begin
    row, _, count, _ = np.frombuffer(body, "<u4", 4 * items, at + 8 * items).reshape(4, items)
    part = np.frombuffer(body, "u1", items, at + 24 * items)
    return list(zip(*(column.tolist() for column in (start, end, row, count, part)), strict=True))


@pytest.mark.parametrize("theme", PICTURED)
def test_lanes_of_a_sample(alone: Server, page: Page, keep: Keep, theme: Any) -> None:
    page.emulate_media(color_scheme=theme)
    profiler = Profiler(page, alone).open(v="trace", r=GPU_RUN, k="rank0", u="path,idle,phases")
    timeline = settled(profiler)
    keep(f"timeline-explained-{theme}")
    assert {"Critical path", "Idle, by cause", "Phases"} <= set(timeline.names())
    # the path leaves no gap between the first step and the last
    steps = alone.api("timeline", **WHERE)["steps"]
    begin, end = steps["start_ns"][0], steps["start_ns"][-1] + steps["duration_ns"][-1]
    colours = timeline.colours(timeline.y(PATH, 0) + 5).astype(int)
    inside = colours[int(timeline.x(begin)) + 2 : int(timeline.x(end)) - 2]
    page_colour = np.array(timeline.colour("--surface"))
    assert (np.abs(inside - page_colour).sum(axis=1) > 12).mean() > 0.95


def test_a_piece_leads_to_its_event(on_its_own: Profiler) -> None:
    server = on_its_own.server
    level = server.api("timeline", **WHERE)["levels"][-4]["level"]
    parts = server.api("timeline/derived", **WHERE, of="path")["parts"]
    start, end, row, _, _ = max(
        (each for each in pieces(server, "path", level) if each[3] == 1 and parts[each[4]] == "compute"),
        key=lambda each: each[1] - each[0],
    )
    timeline = open_trace(on_its_own, u="path", t=f"{int(start - 200_000)}-{int(end + 200_000)}")
    timeline = settled(on_its_own)
    on_its_own.page.mouse.move(*timeline.point((start + end) / 2, PATH, 0))
    tip = on_its_own.ui.locator(".pointer-tip")
    expect(tip).to_contain_text("Computing")
    expect(tip).to_contain_text("Then")
    timeline.click((start + end) / 2, PATH, 0)
    wait_until(lambda: on_its_own.state.get("e") == str(row), "the event in the address")
    found = server.api("timeline/slice", **WHERE, row=str(row))
    assert found["category"] == "kernel"
    expect(on_its_own.ui.get_by_role("heading", name=found["name"][:20])).to_be_visible()


def test_the_keys_go_along_the_path(on_its_own: Profiler) -> None:
    server = on_its_own.server
    steps = server.api("timeline", **WHERE)["steps"]
    middle = steps["start_ns"][1] + steps["duration_ns"][1] // 2
    open_trace(on_its_own, u="path", t=f"{middle}-{middle + 400_000}")
    settled(on_its_own)
    on_its_own.page.keyboard.press("c")
    wait_until(lambda: "e" in on_its_own.state, "an event of the path")
    first = on_its_own.state["e"]
    settled(on_its_own)
    on_its_own.page.keyboard.press("c")
    wait_until(lambda: on_its_own.state["e"] != first, "the next event of the path")
    settled(on_its_own)
    rows = [int(first), int(on_its_own.state["e"])]
    starts = [server.api("timeline/slice", **WHERE, row=str(row))["start_ns"] for row in rows]
    assert starts[0] < starts[1]


def test_what_is_not_critical_is_dimmed_as_far_as_the_slider_says(on_its_own: Profiler, keep: Keep) -> None:
    timeline = open_trace(on_its_own, f="stream 7", i="0")
    timeline = settled(on_its_own)
    key, _ = leaf(on_its_own.server.api("timeline", **WHERE), "rank0", "stream 7")
    dimmed = timeline.colours(timeline.y(key, 0) + 7)
    on_its_own.ui.get_by_role("button", name="Explain (4)").click()
    slider = on_its_own.ui.get_by_role("slider", name="By more than")
    expect(slider).to_have_attribute("aria-valuetext", "0 ns")
    keep("timeline-explain-menu")
    slider.press("End")
    wait_until(lambda: int(on_its_own.state["i"]) > 10**7, "the whole step in the address")
    assert (settled(on_its_own).colours(timeline.y(key, 0) + 7) != dimmed).any()
    box = on_its_own.ui.get_by_role("checkbox", name="Dim what is not critical")
    box.press("Space")
    wait_until(lambda: "i" not in on_its_own.state, "no slack in the address")


def test_a_trace_without_kernels_says_why_it_has_no_lane_of_idle_time(on_its_own: Profiler) -> None:
    worker = on_its_own.server.api("status")["runs"]
    worker = next(each for each in worker if each["name"] == CPU_RUN)["traces"][0]["worker"]
    on_its_own.open(v="trace", r=CPU_RUN, k=worker, u="path,idle")
    settled(on_its_own)
    expect(on_its_own.ui.get_by_text("no device ran kernels in the steps")).to_be_visible()
    assert "Critical path" in Timeline(on_its_own).names()
    assert "Idle, by cause" not in Timeline(on_its_own).names()


def test_the_instances_of_a_finding(on_its_own: Profiler, keep: Keep) -> None:
    """Of a finding that is added to the answer of the Overview."""
    server = on_its_own.server
    level = server.api("timeline", **WHERE)["levels"][-4]["level"]
    rows = [each[2] for each in pieces(server, "idle", level) if each[3] == 1 and each[2] < 2**32 - 1][:40:4]
    slices = [server.api("timeline/slice", **WHERE, row=str(row)) for row in rows]
    instances = [{key: each[key] for key in ("row", "start_ns", "duration_ns", "step", "name")} for each in slices]

    def with_instances(route: Route) -> None:
        answer = route.fetch().json()
        shape = answer["findings"][0]
        planted = {"key": "planted", "title": "A planted finding", "instances": instances, "count": 99}
        answer["findings"].append({**shape, "id": "planted", "values": {}, **planted})
        route.fulfill(json=answer)

    on_its_own.page.route("**/api/overview*", with_instances)
    timeline = open_trace(on_its_own, mark="planted")
    expect(on_its_own.ui.get_by_text(f"{len(instances)} instances")).to_be_visible()
    keep("timeline-instances")
    on_its_own.page.keyboard.press("n")
    wait_until(lambda: "e" in on_its_own.state, "an instance is selected")
    settled(on_its_own)
    expect(on_its_own.ui.get_by_text(f" of {len(instances)}").first).to_be_visible()
    keep("timeline-instance")
    first = on_its_own.state["e"]
    on_its_own.ui.get_by_role("button", name="Next instance").click()
    wait_until(lambda: on_its_own.state["e"] != first, "the next instance")
    on_its_own.ui.get_by_role("button", name="Clear the marks").click()
    wait_until(lambda: "mark" not in on_its_own.state, "no finding in the address")
    expect(on_its_own.ui.get_by_text("A planted finding")).to_have_count(0)
    assert timeline.names()


def test_usable_by_everybody(axe: Axe) -> None:
    open_trace(axe.profiler, u="path,idle", i="0", mark="none")
    settled(axe.profiler)
    axe.look("explained")
    axe.profiler.ui.get_by_role("button", name="Explain (3)").click()
    axe.look("the settings")
    axe.check()


@pytest.mark.parametrize("theme", PICTURED)
@pytest.mark.parametrize(("folder", "run", "worker"), [RECORDED[0], pytest.param(*RECORDED[1], marks=pytest.mark.long)])
def test_lanes_of_recorded_traces(
    serve_logs: Callable[[Path], Server],
    page: Page,
    keep: Keep,
    theme: Any,
    folder: str,
    run: str,
    worker: str,
) -> None:
    server = serve_logs(recorded(f"{folder}/{run}"))
    server.wait_for_traces()
    runs = server.api("status")["runs"]
    span = next(each for each in runs if each["name"] == run)["traces"][0]["span"]
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": 1400, "height": 1000})
    steps = server.api("timeline", run=run, worker=worker, span=span)["steps"]
    middle = len(steps["start_ns"]) // 2
    start, length = steps["start_ns"][middle], steps["duration_ns"][middle]
    profiler = Profiler(page, server)
    last = steps["start_ns"][-1] + steps["duration_ns"][-1]
    profiler.open(
        v="trace", r=run, k=worker, s=span, u="path,idle", i="100000", t=f"{steps['start_ns'][0] + 1000}-{last - 1000}"
    )
    settled(profiler)
    keep(f"timeline-explained-{run}-{theme}")
    profiler.open(v="trace", r=run, k=worker, s=span, u="path,idle", i="100000", t=f"{start}-{start + length}")
    settled(profiler)
    keep(f"timeline-explained-{run}-step-{theme}")
    profiler.open(
        v="trace",
        r=run,
        k=worker,
        u="path,idle",
        i="0",
        t=f"{start + length // 2}-{start + length // 2 + length // 50}",
    )
    settled(profiler)
    keep(f"timeline-explained-{run}-near-{theme}")
