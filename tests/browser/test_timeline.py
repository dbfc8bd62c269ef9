"""The timeline: what is drawn is what the server says, and mouse, keys and address do what they should."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Keep, OpenPage, screenshot
from tests.browser.profiler import GPU_RUN, Profiler, definition
from tests.browser.servers import Server
from tests.browser.test_accessibility import AXE, Axe
from tests.browser.timeline import Slice, Timeline, exact_slices
from tests.browser.watch import Watch
from tests.events import event, kernel, launch, op
from tests.tiny import wait_until

WHERE = {"run": GPU_RUN, "worker": "rank0"}
STREAM = "stream 7"


@pytest.fixture
def opened(on_its_own: Profiler) -> Timeline:
    return open_trace(on_its_own)


def open_trace(profiler: Profiler, **state: str) -> Timeline:
    profiler.open(**{"v": "trace", "r": GPU_RUN, "k": "rank0", **state})
    return Timeline(profiler).settle()


def leaf(meta: Any, worker: str, name: str) -> tuple[str, list[int]]:
    """The key of a stream or thread and its own lanes."""
    track = next(track["id"] for track in meta["tracks"] if track["name"] == name)
    lanes = meta["lanes"]
    own = [
        lane
        for lane, (of, band) in enumerate(zip(lanes["track"], lanes["band"], strict=True))
        if of == track and band in {"host", "device"}
    ]
    return f"{worker}:{track}", own


def assert_drawn(timeline: Timeline, key: str, depth: int, slices: list[Slice]) -> None:
    """Every slice is on the lane, those that are wide enough exactly, and nothing is where nothing ran."""
    drawn = timeline.drawn(key, depth)
    width = len(drawn)
    covered = np.zeros(width, dtype=bool)
    for each in slices:
        left, right = timeline.x(each.start), timeline.x(each.start + each.duration)
        if right < 1 or left > width - 1:
            continue
        assert drawn[max(0, int(left) - 2) : int(right) + 3].any(), f"slice {each.row} is not drawn"
        if right - left > 8:
            inner = drawn[max(0, round(left) + 1) : max(0, round(right) - 3)]
            assert inner.all(), f"slice {each.row} has a hole: {left} – {right}: {inner}"
        # Slices that share a cell are drawn as one, which is no longer than two buckets of three pixels.
        covered[max(0, int(left) - 6) : int(right) + 7] = True
    assert not (drawn & ~covered).any(), "something is drawn where nothing ran"


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
        timeline.click(middle, key, depth)
        panel = timeline.profiler.panel("Selection")
        expect(panel.get_by_role("heading", name=name, exact=True)).to_be_visible()


def test_a_click_selects_and_says_everything(opened: Timeline) -> None:
    profiler = opened.profiler
    answer = profiler.server.api("timeline/search", **WHERE, q="aten::_local_scalar_dense", hits="1")
    row = answer["hits"]["row"][0]
    slice_ = profiler.server.api("timeline/slice", **WHERE, row=str(row))
    lanes = opened.meta("rank0")["lanes"]
    key = f"rank0:{lanes['track'][slice_['lane']]}"
    opened.show(key)
    middle = slice_["start_ns"] + slice_["duration_ns"] / 2
    opened.click(middle, key, lanes["depth"][slice_["lane"]])
    wait_until(lambda: profiler.state.get("e") == str(row), "the event in the address")
    panel = profiler.panel("Selection")
    expect(panel.get_by_role("heading", name=slice_["name"], exact=True)).to_be_visible()
    assert definition(panel, "Step").inner_text() == slice_["step"]
    assert definition(panel, "Event").inner_text() == f"{row:,}"
    same = panel.get_by_role("region", name=f"Same name: {slice_['same_name']['count']}")
    assert definition(same, "In time").inner_text() == f"1 of {slice_['same_name']['count']}"
    stack = panel.get_by_role("region", name="Python stack")
    assert stack.get_by_role("listitem").count() == len(slice_["stack"])
    launched = panel.get_by_role("region", name=re.compile("^Launched: 1,"))
    launched.get_by_role("button").click()
    expect(panel.get_by_role("heading", name=slice_["launched"]["slices"][0]["name"], exact=True)).to_be_visible()
    assert definition(panel, "Operator").inner_text() == slice_["name"]
    # Back in place: what was selected is no page of its own.
    wait_until(lambda: profiler.state["e"] == str(slice_["launched"]["slices"][0]["row"]), "the kernel is selected")


def test_keys(opened: Timeline) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    whole = opened.window()
    page.keyboard.press("w")
    opened.settle()
    start, end = opened.window()
    assert end - start == pytest.approx(0.6 * (whole[1] - whole[0]), rel=1e-3)
    assert (start + end) / 2 == pytest.approx(sum(whole) / 2, rel=1e-3)
    page.keyboard.press("d")
    opened.settle()
    right = opened.window()
    assert right[0] - start == pytest.approx(0.15 * (end - start), rel=1e-3)
    page.keyboard.press("a")
    page.keyboard.press("s")
    opened.settle()
    assert opened.window() == pytest.approx(whole, abs=2)
    # Step by step.
    steps = opened.meta("rank0")["steps"]
    page.keyboard.press("0")
    opened.settle()
    page.keyboard.press("]")
    opened.settle()
    start, end = opened.window()
    inside = [
        at
        for at, (begin, length) in enumerate(zip(steps["start_ns"], steps["duration_ns"], strict=True))
        if start <= begin and begin + length <= end
    ]
    assert len(inside) == 1
    # From slice to slice, up and down.
    opened.area.focus()
    page.keyboard.press("ArrowRight")
    wait_until(lambda: "e" in profiler.state, "a slice is selected")
    first = profiler.server.api("timeline/slice", **WHERE, row=profiler.state["e"])
    expect(profiler.panel("Selection").get_by_role("heading", name=first["name"], exact=True)).to_be_visible()
    page.keyboard.press("ArrowDown")
    wait_until(lambda: profiler.state["e"] != str(first["row"]), "another slice")
    page.keyboard.press("f")
    opened.settle()
    chosen = profiler.server.api("timeline/slice", **WHERE, row=profiler.state["e"])
    start, end = opened.window()
    assert start <= chosen["start_ns"]
    assert chosen["start_ns"] + chosen["duration_ns"] <= end
    page.keyboard.press("m")
    wait_until(
        lambda: profiler.state.get("a") == f"{chosen['start_ns']}-{chosen['start_ns'] + chosen['duration_ns']}",
        "the slice is the range",
    )
    expect(profiler.panel("Range")).to_be_visible()
    page.keyboard.press("m")
    expect(profiler.panel("Range")).to_have_count(0)
    page.keyboard.press("p")
    wait_until(lambda: "p" in profiler.state, "the track is pinned")
    expect(opened.root.locator("li.pinned")).to_have_count(1)
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(profiler.panel("Selection")).to_have_count(0)
    page.keyboard.press("?")
    dialog = profiler.ui.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="In the timeline")).to_be_visible()


def test_previous_and_next_of_the_same_name(opened: Timeline) -> None:
    profiler = opened.profiler
    hits = profiler.server.api("timeline/search", **WHERE, q="aten::_local_scalar_dense")["hits"]
    open_trace(profiler, e=str(hits["row"][0]))
    profiler.page.keyboard.press(".")
    wait_until(lambda: profiler.state["e"] == str(hits["row"][1]), "the next one")
    profiler.page.keyboard.press(",")
    wait_until(lambda: profiler.state["e"] == str(hits["row"][0]), "the one before")


def test_the_wheel_zooms_where_the_pointer_is(opened: Timeline) -> None:
    key, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    opened.show(key)
    start, end = opened.window()
    time = start + (end - start) * 0.3
    page = opened.profiler.page
    page.mouse.move(*opened.point(time, key, 0))
    before = opened.x(time)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -600)
    page.keyboard.up("Control")
    opened.settle()
    assert opened.window()[1] - opened.window()[0] < 0.5 * (end - start)
    assert opened.x(time) == pytest.approx(before, abs=1.5)
    # Dragging moves what lies under the pointer with it.
    x, y = opened.point(time, key, 0)
    page.mouse.down()
    page.mouse.move(x + 40, y)
    page.mouse.move(x + 120, y)
    page.mouse.up()
    opened.settle()
    assert opened.x(time) == pytest.approx(before + 120, abs=3)


def test_a_range_is_summed_exactly(opened: Timeline) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    key, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    opened.show(key)
    start, end = opened.window()
    page.keyboard.down("Shift")
    page.mouse.move(*opened.point(start + 0.2 * (end - start), key, 0))
    page.mouse.down()
    page.mouse.move(*opened.point(start + 0.3 * (end - start), key, 0))
    page.mouse.move(*opened.point(start + 0.4 * (end - start), key, 0))
    page.mouse.up()
    page.keyboard.up("Shift")
    wait_until(lambda: "a" in profiler.state, "the range in the address")
    first, last = profiler.state["a"].split("-")
    assert int(last) - int(first) == pytest.approx(0.2 * (end - start), rel=0.05)
    sums = profiler.server.api("timeline/range", **WHERE, **{"from": first, "to": last})
    panel = profiler.panel("Range")
    expect(panel).to_contain_text(f"{sums['slices']:,} slices, {sums['instants']:,} instants")
    grid = profiler.grid("By name")
    assert grid.first_rows("Name", 3) == [each["name"] for each in sums["by_name"][:3]]
    assert grid.first_rows("Count", 3) == [f"{each['count']:,}" for each in sums["by_name"][:3]]
    panel.get_by_role("button", name="Clear").click()
    expect(panel).to_have_count(0)


def test_measuring_asks_for_no_sums(opened: Timeline, watch: Watch) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    profiler.switch("Dragging", "Measure")
    key, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    opened.show(key)
    page.mouse.move(*opened.point(20e6, key, 0))
    page.mouse.down()
    page.mouse.move(*opened.point(30e6, key, 0))
    page.mouse.move(*opened.point(40e6, key, 0))
    page.mouse.up()
    wait_until(lambda: profiler.state.get("a", "").startswith("m"), "the measure in the address")
    assert not [url for url in watch.requests if "timeline/range" in url]


def test_tracks_collapse_pin_hide_move_and_filter(opened: Timeline) -> None:
    profiler, ui = opened.profiler, opened.root
    key, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    ui.get_by_role("button", name="Collapse CPU python 4200").click()
    expect(ui.get_by_role("button", name="Expand CPU python 4200")).to_have_attribute("aria-expanded", "false")
    wait_until(lambda: "thread 4260 (python)" not in opened.names(), "the threads are folded away")
    opened.settle()
    # Nothing that is collapsed disappears: the outermost lanes are strips.
    group = opened.root.locator("li", has_text="CPU python 4200")
    height = group.evaluate("(row) => row.offsetTop + 5 - row.closest('.timeline-scroll').scrollTop")
    strip = opened.colours(height).astype(int)
    assert (np.abs(strip - np.array(opened.colour("--surface-2"))).sum(axis=1) > 12).mean() > 0.9
    opened.label(key).hover()
    ui.get_by_role("button", name=f"Pin {STREAM} to the top").click()
    expect(opened.root.locator("li").first).to_contain_text(STREAM)
    wait_until(lambda: profiler.state.get("p") == key, "the pinned track in the address")
    ui.get_by_role("button", name=f"Unpin {STREAM}").click()
    opened.label(key).hover()
    ui.get_by_role("button", name=f"Hide {STREAM}", exact=True).click()
    expect(opened.label(key)).to_have_count(0)
    expect(ui.get_by_text("1 track is not shown")).to_be_visible()
    ui.get_by_role("button", name="Show all tracks").click()
    expect(opened.label(key)).to_have_count(1)
    opened.root.locator("li", has_text="GPU 0").hover()
    ui.get_by_role("button", name="Move GPU 0 up").click()
    wait_until(lambda: opened.names()[1] == "GPU 0", "GPU 0 stands first")
    ui.get_by_label("Filter tracks").fill("stream 20")
    expect(opened.root.locator("li", has_text=STREAM)).to_have_count(0)
    wait_until(lambda: opened.names()[:3] == ["rank0", "GPU 0", "stream 20"], "only what fits")
    assert all("stream 20" in name for name in opened.names()[2:])
    ui.get_by_label("Filter tracks").fill("no such track")
    expect(ui.get_by_text("No track is called so.")).to_be_visible()
    # The address has it all.
    link = profiler.page.url
    profiler.page.goto("about:blank")
    profiler.page.goto(link)
    expect(ui.get_by_label("Filter tracks")).to_have_value("no such track")


def test_search_goes_from_hit_to_hit(opened: Timeline) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    answer = profiler.server.api("timeline/search", **WHERE, q="LOCAL_scalar")
    page.keyboard.press("/")
    field = profiler.ui.get_by_role("searchbox", name="Search names")
    expect(field).to_be_focused()
    field.press_sequentially("LOCAL_scalar")
    expect(profiler.ui.get_by_text(f"{answer['count']} hits, {answer['names_total']} names")).to_be_visible()
    for at in (0, 1):
        field.press("Enter")
        wait_until(lambda at=at: profiler.state.get("e") == str(answer["hits"]["row"][at]), f"hit {at}")
        expect(profiler.ui.get_by_text(f"{at + 1} of {answer['count']}", exact=True).first).to_be_visible()
    field.press("Shift+Enter")
    wait_until(lambda: profiler.state.get("e") == str(answer["hits"]["row"][0]), "the first hit again")
    profiler.ui.get_by_role("button", name="Regular expression").click()
    field.fill("^aten::(mm|addmm)$")
    both = profiler.server.api("timeline/search", **WHERE, q="^aten::(mm|addmm)$", mode="regex")
    expect(profiler.ui.get_by_text(f"{both['count']} hits, {both['names_total']} names")).to_be_visible()
    field.fill("(")
    expect(profiler.ui.locator(".trace-search [role=status]")).to_have_class("trace-wrong")


def test_colours_and_short_slices(opened: Timeline) -> None:
    profiler = opened.profiler
    key, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    opened.show(key)
    by_category = opened.colours(opened.y(key, 0) + 7)
    profiler.ui.get_by_label("Colour by").select_option("name")
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


def test_ranks_below_each_other_and_one_collective(opened: Timeline) -> None:
    profiler = opened.profiler
    profiler.ui.get_by_role("button", name=re.compile("^Ranks")).click()
    profiler.ui.get_by_label("rank1", exact=True).check()
    profiler.ui.get_by_label("rank3", exact=True).check()
    profiler.page.keyboard.press("Escape")
    wait_until(lambda: profiler.state.get("w") == "rank1,rank3", "the ranks in the address")
    opened.root.get_by_label("Filter tracks").fill("stream 20")
    opened.settle()
    overview = profiler.server.api("timeline/overview", run=GPU_RUN)
    offset = {each["worker"]: each["offset_ns"] for each in overview["workers"]}
    for worker in ("rank0", "rank1", "rank3"):
        meta = opened.meta(worker)
        key, lanes = leaf(meta, worker, "stream 20")
        opened.show(key)
        start, end = 0, meta["end_ns"]
        query = {"run": GPU_RUN, "worker": worker, "lanes": str(lanes[0]), "from": str(start), "to": str(end)}
        shift = offset[worker] - offset["rank0"]
        shifted = [
            Slice(each.row, each.lane, each.start + shift, each.duration)
            for each in exact_slices(profiler.server, **query)
        ]
        assert_drawn(opened, key, 0, shifted)


def test_a_link_shows_it_all_and_back_leads_back(on_its_own: Profiler) -> None:
    on_its_own.open(v="operators", r=GPU_RUN, k="rank0", sel="op:aten::addmm")
    on_its_own.inspector.get_by_role("button", name="Show in Trace").click()
    expect(on_its_own.heading("Trace")).to_be_visible()
    names = on_its_own.server.api("timeline/search", **WHERE, q="aten::addmm", case="match")["names"]
    longest = next(each["longest_row"] for each in names if each["name"] == "aten::addmm")
    wait_until(lambda: on_its_own.state.get("e") == str(longest), "the longest slice is selected")
    timeline = Timeline(on_its_own).settle()
    found = on_its_own.server.api("timeline/slice", **WHERE, row=str(longest))
    start, end = timeline.window()
    assert start <= found["start_ns"]
    assert found["start_ns"] + found["duration_ns"] <= end < start + 1e9
    assert timeline.x(found["start_ns"] + found["duration_ns"]) - timeline.x(found["start_ns"]) > 50
    on_its_own.page.go_back()
    expect(on_its_own.heading("Operator")).to_be_visible()
    on_its_own.page.go_forward()
    expect(on_its_own.panel("Selection").get_by_role("heading", name="aten::addmm", exact=True)).to_be_visible()


def test_bookmarks_are_in_the_address(opened: Timeline) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    page.keyboard.press("w")
    opened.settle()
    window = profiler.state["t"]
    page.keyboard.press("b")
    wait_until(lambda: profiler.state.get("y") == window, "the bookmark in the address")
    page.keyboard.press("0")
    opened.settle()
    assert "t" not in profiler.state
    profiler.ui.get_by_role("button", name="Bookmarks (1)").click()
    profiler.ui.get_by_role("button", name=re.compile("^from ")).click()
    wait_until(lambda: profiler.state.get("t") == window, "back at the bookmark")


def test_arrows_to_what_was_launched(opened: Timeline) -> None:
    profiler = opened.profiler
    hits = profiler.server.api("timeline/search", **WHERE, q="aten::_local_scalar_dense")["hits"]
    open_trace(profiler, e=str(hits["row"][0]), t="0-100218152")
    image = "(canvas) => canvas.toDataURL()"
    with_arrows = opened.canvas.evaluate(image)
    profiler.switch("Arrows", "Off")
    opened.settle()
    without = opened.canvas.evaluate(image)
    assert with_arrows != without
    profiler.switch("Arrows", "All")
    expect(profiler.ui.get_by_role("group", name="Arrows").get_by_role("button", name="All")).to_have_attribute(
        "aria-pressed", "true"
    )
    opened.settle()
    wait_until(lambda: opened.canvas.evaluate(image) not in (with_arrows, without), "all arrows are drawn")


def test_the_list_is_what_is_in_view(opened: Timeline) -> None:
    profiler = opened.profiler
    profiler.ui.get_by_role("button", name="List", exact=True).click()
    slices = profiler.panel("Longest slices")
    expect(slices.get_by_role("table")).to_be_visible()
    opened.profiler.page.keyboard.press("w")
    opened.settle()
    start, end = profiler.state["t"].split("-")
    total = profiler.server.api("trace/slices", **WHERE, start_ns=start, end_ns=end)["meta"]["total"]
    expect(slices.get_by_text(f"of {total:,} slices")).to_be_visible()
    assert profiler.state["l"] == "1"


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


def test_hostile_names_are_text(serve_events: ServeEvents) -> None:
    name = '<img src=x onerror="alert(1)">'
    frames = event("python_function", f"/tmp/<b>x</b>.py(3): {name}", 0, 500)
    timeline = serve_events([frames, op(name, 10, 400, **{"<i>arg</i>": name}), op("b", 500, 1)]).settle()
    profiler = timeline.profiler
    key = "w:" + str(next(t["id"] for t in timeline.meta("w")["tracks"] if t["kind"] == "thread"))
    timeline.click(200_000, key, 0)
    expect(profiler.panel("Selection").get_by_role("heading", name=name, exact=True)).to_be_visible()
    x, y = timeline.point(210_000, key, 0)
    profiler.page.mouse.move(x, y)
    expect(profiler.page.locator(".pointer-tip")).to_contain_text(name)
    assert profiler.page.locator("main img").count() == 0


def test_perfetto_gets_the_file_from_this_page_and_only_on_a_click(
    opened: Timeline, samples: Path, watch: Watch
) -> None:
    stored = next((samples / GPU_RUN).glob("rank0.*")).read_bytes()
    page = opened.profiler.page
    viewer = """<script>
        addEventListener("message", (event) => {
          if (event.data === "PING") event.source.postMessage("PONG", event.origin);
          else window.got = event.data.perfetto;
        });
    </script>"""
    page.context.route("https://ui.perfetto.dev/**", lambda route: route.fulfill(body=viewer, content_type="text/html"))
    opened.profiler.ui.get_by_role("button", name="Trace file").click()
    assert watch.elsewhere == []
    with page.context.expect_page() as other:
        opened.profiler.ui.get_by_role("button", name="Open in Perfetto").click()
    other.value.wait_for_function("window.got !== undefined")
    assert other.value.evaluate("Array.from(new Uint8Array(window.got.buffer))") == list(stored)
    assert other.value.evaluate("window.got.title").endswith(".pt.trace.json.gz")
    # The window that was opened is all that was asked for.
    assert {url.rstrip("/") for url in watch.elsewhere} == {"https://ui.perfetto.dev"}
    watch.elsewhere.clear()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_usable_by_everybody(open_page: OpenPage, alone: Server, repository: Path, theme: str) -> None:
    profiler = Profiler(open_page(color_scheme=theme), alone)
    axe = Axe(profiler, (repository / AXE).read_text())
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


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 1920])
def test_how_it_looks(open_page: OpenPage, alone: Server, output: Path, theme: str, width: int) -> None:
    profiler = Profiler(open_page(color_scheme=theme, viewport={"width": width, "height": 1080}), alone)
    hits = alone.api("timeline/search", **WHERE, q="aten::_local_scalar_dense")["hits"]
    timeline = open_trace(profiler, e=str(hits["row"][1]), t="19000000-45000000", w="rank1", c="name")
    screenshot(profiler.page, output, f"timeline-{theme}-{width}")
    assert timeline.width > width / 3


def test_in_tensorboard(in_tensorboard: Profiler, keep: Keep) -> None:
    in_tensorboard.open(v="trace", r=GPU_RUN, k="rank1")
    timeline = Timeline(in_tensorboard)
    expect(timeline.root).to_have_attribute("aria-busy", "false")
    expect(timeline.root.get_by_text("rank1", exact=True)).to_be_visible()
    keep("timeline-in-tensorboard")
