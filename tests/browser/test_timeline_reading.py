"""What makes the timeline readable: order, names and colours of lanes, chains, measuring, tracks that are dragged."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Keep, StartServer
from tests.browser.profiler import Profiler, definition
from tests.browser.timeline import STREAM, WHERE, Slice, Timeline, exact_slices, leaf, open_trace
from tests.tiny import wait_until

COMMUNICATION = "stream 20"


@pytest.fixture
def opened(on_its_own: Profiler) -> Timeline:
    return open_trace(on_its_own)


def slices_of(timeline: Timeline, name: str) -> tuple[str, list[Slice]]:
    """The key of a stream, and what runs on it."""
    meta = timeline.meta("rank0")
    key, lanes = leaf(meta, "rank0", name)
    window = {"from": str(meta["begin_ns"]), "to": str(meta["end_ns"]), "limit": "50000"}
    numbers = ",".join(map(str, lanes))
    return key, exact_slices(timeline.profiler.server, **WHERE, **window, lanes=numbers)


def longest(timeline: Timeline, name: str) -> tuple[str, Slice]:
    key, slices = slices_of(timeline, name)
    return key, max(slices, key=lambda each: each.duration)


def zoom_to(timeline: Timeline, each: Slice, share: float = 0.25) -> None:
    """A slice takes this share of the window."""
    around = each.duration * (1 / share - 1) / 2
    start, end = max(0, round(each.start - around)), round(each.start + each.duration + around)
    open_trace(timeline.profiler, t=f"{start}-{end}")
    timeline.settle()


def tip(timeline: Timeline) -> Locator:
    return timeline.profiler.page.locator(".pointer-tip")


def test_devices_first_then_the_main_thread_the_rest_is_folded(opened: Timeline) -> None:
    names = opened.names()
    assert names[:3] == ["rank0", "Critical path", "Phases"]
    assert opened.recorded()[:3] == ["rank0", "GPU 0", STREAM]
    threads = [name for name in names if name.startswith("thread ")]
    assert threads[0].startswith("thread 4200")
    assert names.index("Device busy") < names.index("Counters of GPU0") < names.index("CPU python 4200")
    for folded in ("Counters of GPU0", "PyTorch Profiler"):
        expect(opened.root.get_by_role("button", name=re.compile(f"^Collapse .*{folded}"))).to_have_count(0)
    key, lanes = leaf(opened.meta("rank0"), "rank0", next(name for name in threads))
    assert opened.label(key).get_attribute("data-collapsed") == "false", lanes
    opened.root.get_by_role("button", name="Expand Counters of GPU0").click()
    wait_until(lambda: "Kernels running" in opened.names(), "the counters")
    wait_until(lambda: opened.profiler.state.get("x") == "rank0:counters.GPU0", "the group in the address")


def test_idle_threads_are_one_line_that_opens(on_its_own: Profiler) -> None:
    on_its_own.open(v="trace", r="cnn_workers2", k="worker0")
    timeline = Timeline(on_its_own).settle()
    row = timeline.root.locator("li", has_text="2 idle threads")
    assert row.evaluate("(row) => row.offsetHeight") == 24
    before = set(timeline.names())
    row.get_by_role("button", name="Expand 2 idle threads").click()
    wait_until(lambda: any("thread " in name for name in {*timeline.names()} - before), "its threads")


def test_names_are_short_on_slices_and_whole_on_hover(opened: Timeline) -> None:
    key, kernel = longest(opened, STREAM)
    found = opened.profiler.server.api("timeline/slice", **WHERE, row=str(kernel.row))
    zoom_to(opened, kernel)
    opened.show(key)
    page = opened.profiler.page
    page.mouse.move(*opened.point(kernel.start + kernel.duration / 2, key, 0))
    expect(tip(opened)).to_contain_text(found["short_name"])
    expect(tip(opened)).to_contain_text(found["name"][:60])
    opened.click(kernel.start + kernel.duration / 2, key, 0)
    panel = opened.profiler.panel("Selection")
    expect(panel.get_by_role("heading", name=found["name"], exact=True)).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_communication_is_the_pink_of_all_views(on_its_own: Profiler, theme: str, keep: Keep) -> None:
    on_its_own.page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    timeline = open_trace(on_its_own)
    key, collective = longest(timeline, COMMUNICATION)
    zoom_to(timeline, collective, 0.5)
    timeline.show(key)
    drawn = timeline.colours(timeline.y(key, 0) + 7)[round(timeline.x(collective.start + collective.duration / 2))]
    pink, surface = (np.array(timeline.colour(name)) for name in ("--part-communication", "--surface"))
    # Mixed with the page, so that names can be read on it.
    share = (drawn - surface) / np.where(pink == surface, 1, pink - surface)
    assert share.min() > 0.3, (drawn, pink, surface)
    assert share.max() - share.min() < 0.06, (drawn, pink, surface)
    keep(f"timeline-communication-{theme}")


def test_keys_zoom_at_the_pointer_and_the_tooltip_follows(opened: Timeline) -> None:
    key, kernel = longest(opened, STREAM)
    opened.show(key)
    page = opened.profiler.page
    time = kernel.start + kernel.duration / 2
    page.mouse.move(*opened.point(time, key, 0))
    before = opened.x(time)
    for _ in range(4):
        page.keyboard.press("w")
    opened.settle()
    assert opened.x(time) == pytest.approx(before, abs=2)
    expect(tip(opened)).to_be_visible()
    # What the tooltip says is what is under the pointer now.
    page.keyboard.press("d")
    opened.settle()
    start, end = opened.window()
    under = start + before / opened.width * (end - start)
    _, slices = slices_of(opened, STREAM)
    there = [each for each in slices if each.start <= under < each.start + each.duration]
    if there:
        name = opened.profiler.server.api("timeline/slice", **WHERE, row=str(there[0].row))["short_name"]
        expect(tip(opened)).to_contain_text(name)
    else:
        expect(tip(opened)).to_have_count(0)


def test_from_a_kernel_to_the_line_and_back_by_one_key(opened: Timeline) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    for _, each in [longest(opened, STREAM)]:
        chain = profiler.server.api("timeline/slice", **WHERE, row=str(each.row))["chain"]
        rows = [str(link["slice"]["row"]) for link in chain]
        assert [link["place"] for link in chain][-2:] == ["launch", "work"]
        open_trace(profiler, e=str(each.row))
        shown = profiler.panel("Selection").get_by_role("navigation", name="From the program to the device")
        expect(shown.get_by_role("button")).to_have_count(len(chain))
        for row in rows[-2::-1]:
            page.keyboard.press("u")
            wait_until(lambda row=row: profiler.state.get("e") == row, f"up to {row}")
        page.keyboard.press("u")
        for row in rows[1:]:
            page.keyboard.press("Shift+U")
            wait_until(lambda row=row: profiler.state.get("e") == row, f"down to {row}")


def test_forward_and_backward_by_one_key(opened: Timeline) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    flows = profiler.server.api("timeline/flows", **WHERE, **{"from": "0", "to": "99000000"}, kinds="forward_backward")
    row = str(flows["from_row"][0])
    open_trace(profiler, e=row)
    backward = profiler.server.api("timeline/slice", **WHERE, row=row)["backward"][0]["row"]
    expect(profiler.panel("Selection").get_by_text("its backward operator")).to_be_visible()
    page.keyboard.press("r")
    wait_until(lambda: profiler.state.get("e") == str(backward), "the backward operator")
    expect(profiler.panel("Selection").get_by_text("its forward operator")).to_be_visible()
    page.keyboard.press("r")
    wait_until(lambda: profiler.state.get("e") == row, "the forward operator again")


def test_the_time_between_two_slices(opened: Timeline, keep: Keep) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    key, slices = slices_of(opened, COMMUNICATION)
    first, second = sorted(slices, key=lambda each: each.start)[:2]
    opened.show(key)
    opened.click(first.start + first.duration / 2, key, 0)
    wait_until(lambda: profiler.state.get("e") == str(first.row), "the first one")
    opened.settle()
    page.keyboard.down("Shift")
    opened.click(second.start + second.duration / 2, key, 0)
    page.keyboard.up("Shift")
    wait_until(lambda: profiler.state.get("from") == str(first.row), "from the first one")
    wait_until(lambda: profiler.state.get("e") == str(second.row), "to the second one")
    panel = profiler.panel("Between two slices")
    told = {
        "Start to start": second.start - first.start,
        "End to start": second.start - first.start - first.duration,
        "Start to end": second.start + second.duration - first.start,
    }
    for term, ns in told.items():
        text = definition(panel, term).inner_text()
        number = float(re.sub(r"[^\d.]", "", text)) * {"ns": 1, "µs": 1e3, "ms": 1e6}[text.split()[-1]]
        assert number == pytest.approx(ns, rel=0.01)
    keep("timeline-between")
    # The other way: by keys, and from the address.
    page.keyboard.press("x")
    expect(panel).to_have_count(0)
    page.keyboard.press("x")
    expect(panel.get_by_text("select another slice")).to_be_visible()
    page.keyboard.press(",")
    wait_until(lambda: profiler.state.get("e") == str(first.row), "the one before")
    expect(definition(panel, "Start to start")).to_contain_text("−")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(definition(panel, "Start to start")).to_contain_text("−")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def drag(timeline: Timeline, name: str, x: float, y: float) -> None:
    """The name of a track, to a point of the window."""
    page = timeline.profiler.page
    box = timeline.root.locator(".timeline-name", has_text=name).first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(x, y - 10)
    page.mouse.move(x, y)


def middle(place: Locator) -> tuple[float, float]:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_tracks_are_moved_pinned_and_hidden_by_dragging(opened: Timeline) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    key, _ = leaf(opened.meta("rank0"), "rank0", COMMUNICATION)
    x, y = middle(opened.root.locator("li", has_text=STREAM).first)
    drag(opened, COMMUNICATION, x, y - 8)
    expect(opened.root.locator(".timeline-landing")).to_be_visible()
    page.mouse.up()
    wait_until(lambda: opened.recorded()[2] == COMMUNICATION, "it stands first")
    order = ["rank0:idle:0", key]
    wait_until(lambda: profiler.state.get("o", "").split(",")[:2] == order, "the order in the address")
    box = opened.root.locator(".timeline-scroll").bounding_box()
    assert box is not None
    # It is dropped on one of two places that show while it is dragged.
    drag(opened, COMMUNICATION, x, y + 40)
    page.mouse.move(*middle(opened.root.locator("[data-drop=pin]")))
    page.mouse.up()
    wait_until(lambda: profiler.state.get("p") == key, "it is pinned")
    expect(opened.root.locator("li").first).to_contain_text(COMMUNICATION)
    hidden, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    drag(opened, STREAM, x, y + 60)
    page.mouse.move(*middle(opened.root.locator("[data-drop=hide]")))
    page.mouse.up()
    wait_until(lambda: profiler.state.get("d") == hidden, "it is hidden")
    # Escape takes a drag back.
    before = opened.names()
    drag(opened, "Device busy", x, y)
    page.keyboard.press("Escape")
    page.mouse.up()
    assert opened.names() == before
    expect(opened.root.locator(".timeline-drops")).to_have_count(0)


def test_sums_of_a_range_begin_with_kernels(opened: Timeline) -> None:
    profiler = opened.profiler
    open_trace(profiler, a="0-30000000")
    grid = profiler.grid("By name")
    assert set(grid.first_rows("Category", 3)) == {"Kernel"}
    categories = profiler.panel("Range").get_by_role("table").last.get_by_role("row")
    assert categories.nth(1).inner_text().startswith("Kernel")


def test_a_collective_is_marked_on_all_ranks(opened: Timeline, keep: Keep) -> None:
    profiler = opened.profiler
    _, collective = longest(opened, COMMUNICATION)
    timeline = open_trace(profiler, e=str(collective.row), w="rank1", f=COMMUNICATION)
    members = profiler.server.api("timeline/collective", **WHERE, span="1", row=str(collective.row))["members"]
    other = next(each for each in members if each["worker"] == "rank1")
    meta = timeline.meta("rank1")
    key = f"rank1:{meta['lanes']['track'][other['lane']]}"
    timeline.show(key)
    accent = np.array(timeline.colour("--accent"))

    def is_outlined() -> bool:
        top = timeline.y(key, 0) - 8
        return any(
            (np.abs(timeline.colours(top + dy).astype(int) - accent).sum(axis=1) < 40).sum() > 8 for dy in (-1, 0, 1)
        )

    wait_until(is_outlined, "the collective of the other rank is outlined")
    keep("timeline-collective")


def test_counters_of_the_file_are_lanes(start: StartServer, open_page: object, tmp_path: Path) -> None:
    events = [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 1000, "args": {}}]
    events += [
        {"ph": "C", "name": "power", "pid": 1, "tid": 0, "ts": at, "args": {"W": 100 + at}}
        for at in range(100, 900, 100)
    ]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "w.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
    server = start("counters", "torch_tb_profiler", "serve", str(tmp_path))
    profiler = Profiler(open_page(), server)  # type: ignore[operator]
    profiler.open(v="trace", r="run", k="w")
    timeline = Timeline(profiler).settle()
    wait_until(lambda: "power" in timeline.names(), "the counter is a track")
    # What is drawn is not told as left out.
    expect(profiler.ui.locator(".trace-events")).to_have_text(
        "1 of 9 events are on the tracks. The counters of the file have 8 values."
    )
    key = "w:recorded:0"
    row = timeline.label(key)
    top = row.evaluate("(row) => row.offsetTop - row.closest('.timeline-scroll').scrollTop")
    drawn = timeline.colours(top + 34).astype(int)
    surface = np.array(timeline.colour("--surface"))
    filled = np.abs(drawn - surface).sum(axis=1) > 20
    # Nothing before the first value, something after it.
    assert not filled[3 : round(timeline.x(90_000))].any()
    assert filled[round(timeline.x(120_000)) : round(timeline.x(800_000))].all()
