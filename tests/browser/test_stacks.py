"""The Stacks view, with the numbers of /api/stacks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.conftest import Appearances, Keep
from tests.browser.cost import meter_of
from tests.browser.history import back
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, saved_whole
from tests.browser.servers import Server
from tests.browser.test_safety import FRAME, IMAGE, KERNEL, OPERATOR, hostile_trace
from tests.browser.watch import Watch
from tests.tiny import wait_until

WHERE = {"run": CPU_RUN, "worker": "worker0"}
GPU_WHERE = {"run": GPU_RUN, "worker": "rank0"}
NO_FRAMES_RUN = "ddp_gloo_2ranks"


def answer_of(profiler: Profiler, **query: str) -> dict[str, Any]:
    answer: dict[str, Any] = profiler.server.api("stacks", **{**WHERE, **query})
    return answer


def row_of(rows: dict[str, Any], name: str) -> dict[str, Any]:
    at = rows["name"].index(name)
    return {key: values[at] for key, values in rows.items()}


def flame(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("application", name="Call stacks")


def crumbs(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("navigation", name="Zoom")


def details(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("region", name="Selected frame")


def shown_number(profiler: Profiler, term: str) -> tuple[str, str]:
    """A number of the chosen box, and its share."""
    text = details(profiler).locator("div", has=profiler.ui.get_by_role("term").get_by_text(term, exact=True)).last
    value, _, share = text.get_by_role("definition").inner_text().partition(" (")
    return value, share.rstrip(")")


def spoken(profiler: Profiler) -> Locator:
    return profiler.ui.locator(".flame [role=status]")


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="stacks", r=CPU_RUN)
    expect(flame(on_its_own)).to_be_visible()
    return on_its_own


def test_the_table_has_the_numbers(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    opened.switch("Show as", "Table")
    panel = opened.panel("Call stacks")
    expect(panel.get_by_text(f"{len(rows['id'])} rows")).to_be_visible()
    saved = saved_whole(panel)
    keys = ("id", "name", "kind", "role", "self_ns", "total_ns", "calls", "folded")
    # spreadsheets would run what begins with a sign; everything else is as the server says
    expected = {
        tuple("" if rows[key][i] is None else str(rows[key][i]) for key in keys) for i in range(len(rows["id"]))
    }
    assert {tuple(row[key].removeprefix("'") for key in keys) for row in saved} == expected
    grid = panel.get_by_role("treegrid", name="Call stacks")
    main = grid.get_by_role("row").filter(has_text="main").first
    assert numbers.same(
        main.get_by_role("gridcell").nth(4).inner_text(),
        100 * row_of(rows, "cnn_dataloader.py(129): main")["total_ns"] / sum(rows["self_ns"]),
    )


def test_totals(opened: Profiler) -> None:
    meta = answer_of(opened)["meta"]
    text = opened.panel("Call stacks").get_by_text("different stacks").inner_text()
    found = re.fullmatch(r"Host time (.+) in (\S+) different stacks, all threads together", text)
    assert found
    assert numbers.same(found[1], meta["all_ns"])
    assert numbers.read(found[2]) == meta["entries"]
    opened.open(v="stacks", r=GPU_RUN)
    meta = answer_of(opened, **GPU_WHERE)["meta"]
    outside = opened.panel("Call stacks").get_by_text("launched outside any stack")
    assert numbers.same(outside.inner_text().split(" (")[0], meta["no_stack_ns"])


def test_zoom_by_keys_and_its_link(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    flame(opened).focus()
    for name in ("cnn_dataloader.py(134): <module>", "cnn_dataloader.py(129): main", "ProfilerStep#…"):
        opened.page.keyboard.press("ArrowDown")
        expect(spoken(opened)).to_contain_text(name)
    step = row_of(rows, "ProfilerStep#…")
    assert numbers.same(spoken(opened).inner_text().split(": ")[-1].split(", ")[0], step["total_ns"])
    opened.page.keyboard.press("Enter")
    expect(crumbs(opened).get_by_text("ProfilerStep#…")).to_have_attribute("aria-current", "location")
    value, share = shown_number(opened, "Total")
    assert numbers.same(value, step["total_ns"])
    assert numbers.same(share, step["total_ns"] / sum(rows["self_ns"]))
    assert numbers.same(shown_number(opened, "Self")[0], step["self_ns"])
    wait_until(lambda: "f" in opened.state, "the address has the zoom")
    assert opened.state["f"] == str(step["id"])

    opened.open(**opened.state)
    expect(crumbs(opened).get_by_text("ProfilerStep#…")).to_have_attribute("aria-current", "location")
    expect(details(opened)).to_contain_text("ProfilerStep#…")
    crumbs(opened).get_by_role("button", name="Everything").click()
    expect(crumbs(opened).get_by_text("Everything")).to_have_attribute("aria-current", "location")
    flame(opened).focus()
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("Enter")
    opened.page.keyboard.press("Escape")
    expect(crumbs(opened).get_by_text("<module>")).to_have_attribute("aria-current", "location")


def test_zoom_by_click_shows_what_was_folded(opened: Profiler) -> None:
    everything = answer_of(opened)
    path = ["cnn_dataloader.py(134): <module>", "cnn_dataloader.py(129): main"]
    step = row_of(everything["rows"], "torch/profiler/profiler.py(1227): step")
    assert any(everything["rows"]["folded"])
    part = answer_of(opened, root=str(step["id"]))
    assert len(part["rows"]["id"]) > 7
    with opened.page.expect_response(lambda answer: f"root={step['id']}" in answer.url):
        opened.open(v="stacks", r=CPU_RUN, f=str(step["id"]))
    expect(crumbs(opened).get_by_text("step")).to_have_attribute("aria-current", "location")
    opened.switch("Show as", "Table")
    expect(opened.panel("Call stacks").get_by_text(f"{len(part['rows']['id']) + len(path)} rows")).to_be_visible()

    opened.open(v="stacks", r=CPU_RUN)
    box = flame(opened).bounding_box()
    assert box
    flame(opened).click(position={"x": box["width"] * 0.2, "y": 3 * 20 + 10})
    expect(details(opened)).to_contain_text("<built-in function next>")
    entry = row_of(everything["rows"], "<built-in function next>")
    assert numbers.same(shown_number(opened, "Total")[0], entry["total_ns"])


def test_a_link_to_what_is_not_there(on_its_own: Profiler) -> None:
    on_its_own.open(v="stacks", r=CPU_RUN, f="12345")
    expect(on_its_own.ui.get_by_text("is not in this trace. Everything is shown.")).to_be_visible()
    expect(crumbs(on_its_own).get_by_text("Everything")).to_have_attribute("aria-current", "location")
    on_its_own.open(v="stacks", r=CPU_RUN, f="<img>", g="<b>", m="x", c="y")
    expect(flame(on_its_own)).to_be_visible()


def test_search_says_the_share(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    hits = [i for i, name in enumerate(rows["name"]) if "forward" in name]
    outermost, above = 0, set(hits)
    for i in hits:
        parent = rows["parent"][i]
        while parent >= 0 and parent not in above:
            parent = rows["parent"][parent]
        outermost += rows["total_ns"][i] if parent < 0 else 0
    opened.page.keyboard.press("/")
    opened.page.keyboard.type("forward")
    found = opened.ui.locator(".stacks-found")
    expect(found).to_contain_text(f"{len(hits)} found")
    share = re.search(r", (.+ %) of", found.inner_text())
    assert share
    assert numbers.same(share[1], outermost / sum(rows["self_ns"]))
    opened.page.keyboard.type(" nothing like it")
    expect(found).to_have_text("Nothing found in what is shown")


def test_bottom_up_and_weights(on_its_own: Profiler) -> None:
    on_its_own.open(v="stacks", r=GPU_RUN, c="table")
    on_its_own.switch("Order", "Bottom-up")
    panel = on_its_own.panel("Call stacks")
    for weight, label in (("device", "Device time"), ("host", "Host time")):
        on_its_own.switch("Weight", label)
        answer = answer_of(on_its_own, **GPU_WHERE, weight=weight, direction="bottom_up")
        rows = answer["rows"]
        expect(panel.get_by_text(f"{len(rows['id']):,} rows")).to_be_visible()
        top = max((i for i, p in enumerate(rows["parent"]) if p < 0), key=lambda i: rows["total_ns"][i])
        first = panel.get_by_role("treegrid").locator("[aria-rowindex='2']")
        expect(first.get_by_role("gridcell").first).to_have_text(rows["short_name"][top] or rows["name"][top])
    wait_until(lambda: "m" in on_its_own.state, "the address has the weight")
    assert {key: on_its_own.state[key] for key in "gmc"} == {"g": "bottom_up", "m": "host", "c": "table"}


def test_only_some_files(opened: Profiler) -> None:
    opened.switch("Show as", "Table")
    opened.ui.get_by_label("Files", exact=True).fill("cnn_dataloader")
    rows = answer_of(opened, files="cnn_dataloader")["rows"]
    panel = opened.panel("Call stacks")
    expect(panel.get_by_text(f"{len(rows['id'])} rows")).to_be_visible()
    panel.get_by_role("button", name="Expand all").click()
    expect(panel.get_by_role("treegrid").get_by_text("fetch.py")).to_have_count(0)
    wait_until(lambda: opened.state.get("p") == "cnn_dataloader", "the address has the files")


def test_without_call_stacks_it_says_so(on_its_own: Profiler) -> None:
    on_its_own.open(v="stacks", r=NO_FRAMES_RUN)
    panel = on_its_own.panel("Call stacks")
    expect(panel.get_by_text("Call stacks are not recorded")).to_be_visible()
    expect(panel.get_by_text("profile(with_stack=True)")).to_be_visible()
    expect(flame(on_its_own)).to_be_visible()


def test_empty(on_its_own: Profiler) -> None:
    empty = answer_of(on_its_own)
    empty["rows"] = {key: [] for key in empty["rows"]}
    empty["meta"]["entries"] = 0
    on_its_own.page.route("**/api/stacks?*", lambda route: route.fulfill(json=empty))
    on_its_own.open(v="stacks", r=CPU_RUN)
    expect(on_its_own.ui.get_by_text("No call stacks in this trace")).to_be_visible()


def test_back(opened: Profiler) -> None:
    opened.switch("Order", "Left heavy")
    opened.go_to("kernels")
    back(opened.page)
    expect(opened.heading("Stacks")).to_be_visible()
    expect(opened.ui.get_by_role("radio", name="Left heavy")).to_be_checked()


def test_ways_to_the_source_and_to_other_views(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    opened.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    batches = row_of(rows, "cnn_dataloader.py(79): batches")
    opened.open(v="stacks", r=CPU_RUN, f=str(batches["id"]))
    details(opened).get_by_role("button", name="cnn_dataloader.py:79").click()
    expect(details(opened).get_by_text("Copied")).to_be_visible()
    assert opened.page.evaluate("navigator.clipboard.readText()") == "cnn_dataloader.py:79"
    conv = row_of(rows, "aten::mkldnn_convolution")
    opened.open(v="stacks", r=CPU_RUN, f=str(conv["id"]))
    details(opened).get_by_role("button", name="Operator in the inspector").click()
    expect(opened.inspector.get_by_role("heading", name="aten::mkldnn_convolution")).to_be_visible()
    module = row_of(rows, "Conv2d_1")
    opened.open(v="stacks", r=CPU_RUN, f=str(module["id"]))
    details(opened).get_by_role("button", name="Module in the inspector").click()
    path = "SmallCNN_0/Sequential_0/Sequential_2/Conv2d_1"
    expect(opened.inspector.get_by_role("heading", name=path)).to_be_visible()
    expect(opened.inspector.get_by_text("Host total", exact=True)).to_be_visible()


def test_names_are_text(tmp_path: Path, serve_logs: Callable[[Path], Server], page: Page, watch: Watch) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "w.1.pt.trace.json").write_text(json.dumps(hostile_trace()))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="stacks")
    expect(flame(profiler)).to_be_visible()
    for level, name in enumerate((FRAME, OPERATOR, KERNEL)):
        flame(profiler).hover(position={"x": 40, "y": (level + 1) * 20 + 10})
        expect(page.locator(".pointer-tip").get_by_text(name, exact=True)).to_be_visible()
    flame(profiler).click(position={"x": 40, "y": 50})
    expect(details(profiler).get_by_role("heading")).to_contain_text(OPERATOR)
    with page.expect_download() as download:
        profiler.ui.get_by_role("button", name="SVG").click()
    svg = download.value.path().read_text()
    assert "&lt;img src=stolen" in svg
    assert "<img" not in svg
    profiler.switch("Show as", "Table")
    expect(profiler.ui.get_by_role("treegrid").get_by_text(OPERATOR)).to_be_visible()
    assert page.locator("img, b, script:not([src])").count() == 0
    assert IMAGE in OPERATOR
    assert [url for url in watch.requests if "stolen" in url] == []


LEVELS = 50
PER_LEVEL = 2_000
MOST_TIMES_BARE = 2.5
"""Script time of a drawing, beside filling a tenth as many rectangles: most boxes are too narrow to be drawn alone."""

_FILL = """async ([times, boxes]) => {
    const context = document.createElement("canvas").getContext("2d");
    context.canvas.width = 2400;
    context.canvas.height = 1600;
    for (let time = 0; time < times; time++) {
        await new Promise((done) => requestAnimationFrame(() => {
            for (let i = 0; i < boxes; i++) {
                context.fillStyle = `hsl(${i % 360} 60% 60%)`;
                context.fillRect((i * 7) % 2400, (i * 13) % 1600, 1, 17);
            }
            done();
        }));
    }
}"""


def many(answer: dict[str, Any]) -> dict[str, Any]:
    """100,000 boxes, each of which can be seen: columns of 50 levels."""
    size = LEVELS * PER_LEVEL
    column = [i // LEVELS for i in range(size)]
    level = [i % LEVELS for i in range(size)]
    answer["rows"] = {
        "id": [i + 1 for i in range(size)],
        "parent": [i - 1 if level[i] else -1 for i in range(size)],
        "name": [f"m.py({column[i]}): f{level[i]}" for i in range(size)],
        "kind": ["frame" if level[i] % 2 else "operator" for i in range(size)],
        "role": [None] * size,
        "short_name": [None] * size,
        "self_ns": [1000 if level[i] == LEVELS - 1 else 0 for i in range(size)],
        "total_ns": [1000] * size,
        "calls": [1] * size,
        "folded": [0] * size,
    }
    whole = 1000 * PER_LEVEL
    answer["meta"] |= {"whole_ns": whole, "all_ns": whole, "entries": size}
    return answer


def test_a_hundred_thousand_boxes(on_its_own: Profiler) -> None:
    answer = many(answer_of(on_its_own))
    page = on_its_own.page
    page.set_viewport_size({"width": 2400, "height": 1600})
    page.route("**/api/stacks?*", lambda route: route.fulfill(json=answer))
    on_its_own.open(v="stacks", r=CPU_RUN)
    expect(flame(on_its_own)).to_be_visible(timeout=30_000)
    draw = """async (times) => {
        for (let i = 0; i < times; i++) {
            window.dispatchEvent(new Event("resize"));
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }
    }"""
    page.evaluate(draw, 3)
    with meter_of(page) as meter:
        begin = meter.milliseconds("ScriptDuration")
        page.evaluate(draw, 20)
        drawn = meter.milliseconds("ScriptDuration")
        page.evaluate(_FILL, [20, LEVELS * PER_LEVEL // 10])
        filled = meter.milliseconds("ScriptDuration")
    assert drawn - begin < MOST_TIMES_BARE * (filled - drawn), (drawn - begin, filled - drawn)
    flame(on_its_own).focus()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(crumbs(on_its_own).get_by_text("m.py(0): f2")).to_have_attribute("aria-current", "location")
    on_its_own.switch("Show as", "Table")
    grid = on_its_own.ui.get_by_role("treegrid")
    on_its_own.ui.get_by_role("button", name="Expand all").click()
    expect(grid).to_have_attribute("aria-rowcount", str(LEVELS * PER_LEVEL + 1))
    assert grid.get_by_role("row").count() < 200


def test_accessible(axe: Axe) -> None:
    profiler = axe.profiler
    profiler.open(v="stacks", r=GPU_RUN)
    expect(flame(profiler)).to_be_visible()
    axe.look("flame graph")
    flame(profiler).click(position={"x": 600, "y": 30})
    flame(profiler).hover(position={"x": 600, "y": 50})
    expect(details(profiler)).to_be_visible()
    profiler.page.keyboard.press("/")
    profiler.page.keyboard.type("calls>x")
    axe.look("zoomed, bad filter")
    profiler.ui.get_by_role("searchbox").fill("Linear")
    profiler.switch("Show as", "Table")
    expect(profiler.ui.get_by_role("treegrid")).to_be_visible()
    axe.look("table")
    profiler.choose("Run", NO_FRAMES_RUN)
    expect(profiler.ui.get_by_text("Call stacks are not recorded")).to_be_visible()
    axe.look("without frames")
    axe.check()


@pytest.mark.long
def test_pictures(on_its_own: Profiler, appearances: Appearances, keep: Keep) -> None:
    for width, theme in appearances:
        on_its_own.open(v="stacks", r=CPU_RUN, q="conv")
        expect(flame(on_its_own)).to_be_visible()
        flame(on_its_own).click(position={"x": width * 0.45, "y": 90})
        flame(on_its_own).hover(position={"x": width * 0.3, "y": 190})
        expect(on_its_own.page.locator(".pointer-tip")).to_be_visible()
        keep(f"stacks-zoomed-{width}-{theme}")
        on_its_own.open(v="stacks", r=GPU_RUN, g="bottom_up", c="table")
        expect(on_its_own.ui.get_by_role("treegrid")).to_be_visible()
        keep(f"stacks-table-{width}-{theme}")
