"""The timeline under mouse and keys: moving, selecting, searching, measuring, and what of it is in the address."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.browser.history import back, forward
from tests.browser.profiler import GPU_RUN, Profiler, definition
from tests.browser.timeline import STREAM, WHERE, Timeline, hits_of, leaf, open_trace
from tests.browser.watch import Watch
from tests.tiny import wait_until


@pytest.fixture
def opened(on_its_own: Profiler) -> Timeline:
    return open_trace(on_its_own)


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
    assert definition(same, "Position").inner_text() == f"1 of {slice_['same_name']['count']}"
    stack = panel.get_by_role("region", name="Python stack")
    assert stack.get_by_role("listitem").count() == len(slice_["stack"])
    launched = panel.get_by_role("region", name=re.compile("^Launched: 1,"))
    launched.get_by_role("button").click()
    expect(panel.get_by_role("heading", name=slice_["launched"]["slices"][0]["name"], exact=True)).to_be_visible()
    assert definition(panel, "Operator").inner_text() == slice_["name"]
    # Back in place: what was selected is no page of its own.
    wait_until(lambda: profiler.state["e"] == str(slice_["launched"]["slices"][0]["row"]), "the kernel is selected")


def test_the_arguments_as_the_file_has_them(opened: Timeline, samples: Path) -> None:
    profiler = opened.profiler
    stored = next((samples / GPU_RUN).glob("rank0.*")).read_bytes()
    events = json.loads(gzip.decompress(stored))["traceEvents"]
    row = profiler.server.api("timeline/search", **WHERE, q="nccl")["hits"]["row"][0]
    open_trace(profiler, e=str(row))
    panel = profiler.panel("Selection")
    panel.get_by_role("button", name="Arguments as in the file").click()
    raw = panel.get_by_role("region", name="Arguments as in the file")
    expect(raw.locator("pre")).to_be_visible()
    assert json.loads(raw.locator("pre").inner_text()) == events[row]["args"]


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
    time = start + (end - start) * round(0.3 * opened.width) / opened.width
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
    profiler = opened.profiler
    key, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    opened.show(key)
    start, end = opened.window()
    opened.mark(key, 0.2, 0.3, 0.4)
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


def test_search_goes_from_hit_to_hit(opened: Timeline) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    answer = profiler.server.api("timeline/search", **WHERE, q="LOCAL_scalar")
    page.keyboard.press("/")
    field = profiler.ui.get_by_role("searchbox", name="Search names")
    expect(field).to_be_focused()
    field.press_sequentially("LOCAL_scalar")
    expect(profiler.ui.get_by_text(hits_of(answer["count"], answer["names_total"]))).to_be_visible()
    for at in (0, 1):
        field.press("Enter")
        wait_until(lambda at=at: profiler.state.get("e") == str(answer["hits"]["row"][at]), f"hit {at}")
        expect(profiler.ui.get_by_text(f"{at + 1} of {answer['count']}", exact=True).first).to_be_visible()
    field.press("Shift+Enter")
    wait_until(lambda: profiler.state.get("e") == str(answer["hits"]["row"][0]), "the first hit again")
    profiler.ui.get_by_role("button", name="Regular expression").click()
    field.fill("^aten::(mm|addmm)$")
    both = profiler.server.api("timeline/search", **WHERE, q="^aten::(mm|addmm)$", mode="regex")
    expect(profiler.ui.get_by_text(hits_of(both["count"], both["names_total"]))).to_be_visible()
    field.fill("(")
    expect(profiler.ui.locator(".trace-search [role=status]")).to_have_class("trace-wrong")


def test_enter_waits_for_the_answer_of_what_was_typed(opened: Timeline) -> None:
    """Whoever types and presses Enter at once means what was typed, not what was found for a part of it."""
    profiler, page = opened.profiler, opened.profiler.page
    first = {q: profiler.server.api("timeline/search", **WHERE, q=q)["hits"]["row"][0] for q in ("aten::", "aten::mm")}
    assert first["aten::"] != first["aten::mm"]
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("timeline/search.*mm&"), hold)
    page.keyboard.press("/")
    page.keyboard.insert_text("aten::")
    expect(profiler.ui.get_by_text(re.compile(r"^\d[\d,]* hits, "))).to_be_visible()
    page.keyboard.insert_text("mm")
    page.keyboard.press("Enter")
    wait_until(lambda: page.wait_for_timeout(20) or held, "the question")
    assert "e" not in profiler.state
    for route in held:
        route.continue_()
    wait_until(lambda: profiler.state.get("e") == str(first["aten::mm"]), "the first hit")
    assert len(held) == 1


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
    back(on_its_own.page)
    expect(on_its_own.heading("Operator")).to_be_visible()
    forward(on_its_own.page)
    expect(on_its_own.panel("Selection").get_by_role("heading", name="aten::addmm", exact=True)).to_be_visible()


def test_bookmarks_are_in_the_address(opened: Timeline) -> None:
    profiler, page = opened.profiler, opened.profiler.page
    page.keyboard.press("w")
    opened.settle()
    window = profiler.state["t"]
    page.keyboard.press("b")
    wait_until(lambda: profiler.state.get("y") == window, "the bookmark in the address")
    page.keyboard.press("0")
    wait_until(lambda: profiler.state.get("t") != window, "the whole trace")
    opened.settle()
    profiler.ui.get_by_role("button", name="Bookmarks (1)").click()
    profiler.ui.get_by_role("button", name=re.compile("^from ")).click()
    wait_until(lambda: profiler.state.get("t") == window, "back at the bookmark")


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


VIEWER = """<script>
    addEventListener("message", (event) => {
      if (event.data === "PING") event.source.postMessage("PONG", event.origin);
      else window.got = event.data.perfetto;
    });
</script>"""


def test_perfetto_gets_what_is_in_sight(opened: Timeline, samples: Path, watch: Watch) -> None:
    stored = next((samples / GPU_RUN).glob("rank0.*")).read_bytes()
    profiler, page = opened.profiler, opened.profiler.page
    page.context.route("https://ui.perfetto.dev/**", lambda route: route.fulfill(body=VIEWER, content_type="text/html"))
    menu = profiler.ui.get_by_role("button", name="Trace file")
    menu.click()
    expect(profiler.ui.get_by_role("button", name="Open in Perfetto")).to_be_visible()
    expect(profiler.ui.get_by_role("button", name="Open the visible window in Perfetto")).to_have_count(0)
    page.keyboard.press("Escape")
    profiler.open(v="trace", r=GPU_RUN, k="rank0", t="1000000-2000000")
    opened.settle()
    menu.click()
    with page.context.expect_page() as other:
        profiler.ui.get_by_role("button", name="Open the visible window in Perfetto").click()
    other.value.wait_for_function("window.got !== undefined")
    sent = json.loads(bytes(other.value.evaluate("Array.from(new Uint8Array(window.got.buffer))")))["traceEvents"]
    whole = json.loads(gzip.decompress(stored))["traceEvents"]
    at = [e for e in whole if e["ph"] not in "MC"]
    zero = min(e["ts"] for e in at)
    inside = [e for e in at if e["ts"] <= zero + 2000 and e["ts"] + e.get("dur", 0) >= zero + 1000]
    assert [e for e in sent if e["ph"] not in "MC"] == inside
    assert [e for e in sent if e["ph"] == "M"] == [e for e in whole if e["ph"] == "M"]
    assert other.value.evaluate("window.got.title").endswith(".window.json")
    watch.elsewhere.clear()


def test_perfetto_gets_the_file_from_this_page_and_only_on_a_click(
    opened: Timeline, samples: Path, watch: Watch
) -> None:
    stored = next((samples / GPU_RUN).glob("rank0.*")).read_bytes()
    page = opened.profiler.page
    page.context.route("https://ui.perfetto.dev/**", lambda route: route.fulfill(body=VIEWER, content_type="text/html"))
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
