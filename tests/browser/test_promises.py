"""What a click promises is kept: it opens in place, what it selects is in sight, a mark stands where it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import tiny
from tests.browser import numbers
from tests.browser.profiler import GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.browser.test_palette import Palette
from tests.events import op

PARTS = "Where does the step time go?"


def in_sight(element: Locator) -> None:
    """Wholly, in the part of the window that the page scrolls."""
    expect(element).to_be_in_viewport(ratio=1)


def test_a_part_of_the_step_opens_below_its_row(on_its_own: Profiler) -> None:
    on_its_own.open(r=GPU_RUN, k="rank0", x="all")
    parts = on_its_own.panel(PARTS)
    part = parts.get_by_role("button", name="Exposed communication", exact=True)
    part.click()
    opened = parts.get_by_role("region", name="Where: Exposed communication")
    expect(opened.get_by_role("table")).to_be_visible()
    in_sight(opened)
    row = part.locator("xpath=ancestor::tr/following-sibling::tr[1]")
    expect(row.get_by_role("region")).to_have_count(1)
    opened.get_by_role("button", name="Close").click()
    expect(opened).to_have_count(0)


@pytest.mark.parametrize(
    ("view", "grid", "text", "name"),
    [
        ("operators", "Operators", "_log_softmax", "aten::_log_softmax"),
        ("kernels", "Kernels", "kernel fill", None),
        ("steps", "Steps", "step 6", "6"),
    ],
)
def test_what_the_palette_selects_is_in_sight(
    on_its_own: Profiler, view: str, grid: str, text: str, name: str | None
) -> None:
    """Below the fold of a small window, both from another view and in the view itself."""
    on_its_own.page.set_viewport_size({"width": 1280, "height": 620})
    on_its_own.open(r=GPU_RUN, k="rank0", v="memory")
    on_its_own.heading("Memory").click()
    palette = Palette(on_its_own)
    for _ in range(2):
        palette.choose(text)
        selected = on_its_own.grid(grid).root.get_by_role("row", selected=True)
        if name:
            expect(selected).to_contain_text(name)
        in_sight(selected.get_by_role("gridcell").first)
        on_its_own.page.keyboard.press("Escape")
        expect(selected).to_have_count(0)
        on_its_own.ui.get_by_role("main").evaluate("(main) => main.scrollTo(0, 0)")
    assert on_its_own.state["v"] == view


def test_a_bar_that_is_picked_leaves_the_view_where_it_is(on_its_own: Profiler) -> None:
    on_its_own.page.set_viewport_size({"width": 1280, "height": 620})
    on_its_own.open(r=GPU_RUN, k="rank0", v="operators")
    chart = on_its_own.panel("Largest operators").get_by_role("slider")
    chart.press("Enter")
    expect(on_its_own.grid("Operators").root.get_by_role("row", selected=True)).to_have_count(1)
    assert on_its_own.ui.get_by_role("main").evaluate("(main) => main.scrollTop") == 0


def test_the_slider_of_a_snapshot_stands_under_the_moment(on_its_own: Profiler) -> None:
    on_its_own.open(v="snapshot", r="out_of_memory")
    (device,) = on_its_own.server.api("snapshot", run="out_of_memory", worker="snapshot")["devices"]
    moments = {moment["kind"]: moment for moment in device["moments"]}
    panel = on_its_own.panel("Allocations over time")
    slider = panel.get_by_role("slider")
    for axis, field in [("Records", "position"), ("Time", "time_ns")]:
        panel.get_by_role("radio", name=axis).click()
        expect(slider).to_have_attribute("max", str(moments["end"][field] + (axis == "Records")))
        value, step = slider.evaluate("(slider) => [Number(slider.value), Number(slider.step)]")
        assert value == pytest.approx(moments["peak"][field], abs=step)


@pytest.mark.parametrize("run", [GPU_RUN, "ddp_gloo_2ranks"])
def test_both_ranks_are_shown_in_trace(on_its_own: Profiler, run: str) -> None:
    """Their main threads below each other, in the same step, with the slice of the slow one selected."""
    on_its_own.open(r=run, v="distributed")
    on_its_own.panel("Slow ranks").get_by_role("button", name="Show both in Trace").first.click()
    expect(on_its_own.heading("Trace")).to_be_visible()
    expect(on_its_own.panel("Selection")).to_be_visible()
    tracks = on_its_own.ui.get_by_role("list", name="Tracks").get_by_role("listitem")
    ranks = [on_its_own.state["k"], on_its_own.state["w"]]
    for at, rank in enumerate(ranks):
        expect(tracks.nth(at)).to_contain_text(f"{rank} · thread")
        expect(tracks.nth(at)).to_be_in_viewport(ratio=0.5)


def test_a_file_that_was_written_half_says_so_above_the_verdict(
    tmp_path: Path, serve_logs: Callable[[Path], Server], page: Page
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    text = json.dumps({"traceEvents": tiny.events(steps=30)})
    (run / "cut.1.pt.trace.json").write_text(text[: len(text) * 2 // 3])
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open()
    warning = profiler.ui.get_by_text("The file could not be read to the end")
    in_sight(warning)
    verdict = profiler.ui.get_by_role("region", name="What bounds this run")
    above, below = warning.bounding_box(), verdict.bounding_box()
    assert above
    assert below
    assert above["y"] + above["height"] < below["y"]


def test_compared_is_said_where_the_view_compares(on_its_own: Profiler) -> None:
    """The Overview has the parts of the baseline beside its own; views that show nothing of it do not name it."""
    on_its_own.open(r="cnn_workers2", b="cnn_workers0~worker0~1")
    parts = on_its_own.panel(PARTS)
    expect(parts.get_by_text("Dashed outlines: the baseline.")).to_be_visible()
    before = on_its_own.server.api("overview", run="cnn_workers0", worker="worker0")
    (at,) = parts.get_by_role("columnheader").filter(has_text="Baseline").all()
    column = at.evaluate("(head) => head.cellIndex")
    foot = parts.locator("tfoot td").nth(column).inner_text()
    assert numbers.same(foot, before["average"]["step_ns"])
    compared = on_its_own.ui.get_by_role("group", name="Comparison")
    expect(compared).to_be_visible()
    for view in ("trace", "stacks"):
        on_its_own.go_to(view)
        expect(compared).to_have_count(0)
    on_its_own.go_to("operators")
    expect(compared).to_be_visible()


def test_what_cannot_be_compared_is_refused_with_its_reason(on_its_own: Profiler) -> None:
    on_its_own.open(v="compare", r=GPU_RUN, k="rank0", b="cnn_workers0~worker0~1")
    changed = on_its_own.panel("What changed")
    expect(changed).to_contain_text("These two traces cannot be compared.")
    expect(changed).to_contain_text("Kernels of devices were recorded on one side only")
    assert "%" not in changed.inner_text()


def test_no_baseline_is_suggested_where_no_trace_is_alike(
    tmp_path: Path, serve_logs: Callable[[Path], Server], page: Page
) -> None:
    tiny.write_trace(tmp_path / "a" / "w.1.pt.trace.json")
    (tmp_path / "b").mkdir()
    other = [op("other::work", 100 * at, 50) for at in range(9)]
    (tmp_path / "b" / "w.1.pt.trace.json").write_text(json.dumps({"traceEvents": other}))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(r="b", v="compare")
    expect(profiler.ui.get_by_text("No other trace here is like this one")).to_be_visible()
    profiler.choose("Baseline run", "a")
    expect(profiler.panel("What is compared").get_by_role("button", name="Swap")).to_be_visible()


def test_a_long_view_has_a_bar_that_jumps(many_ranks: Path, serve_logs: Callable[[Path], Server], page: Page) -> None:
    """It opens at its beginning, whichever rank is marked below. Groups that are alike are one row."""
    server = serve_logs(many_ranks)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="distributed")
    bar = profiler.ui.get_by_role("navigation", name="Sections")
    expect(bar.get_by_role("button")).to_have_text(["Stragglers", "Pipeline", "Collectives", "Layout", "Tables"])
    expect(profiler.grid("Ranks").count).to_be_visible()
    in_sight(profiler.heading("Distributed"))
    for name in ("Pipeline", "Layout", "Stragglers"):
        bar.get_by_role("button", name=name).click()
        in_sight(profiler.ui.get_by_role("heading", name=name, exact=True, level=2))
        in_sight(bar)

    groups = server.api("ranks", run=server.api("status")["runs"][0]["name"])["groups"]
    panel = profiler.panel("Process groups and layout")
    rows = panel.get_by_role("table").locator("tbody tr")
    expect(rows.filter(has_text="groups, alike: pipeline").first).to_be_visible()
    assert rows.count() < len(groups) / 3
    panel.get_by_role("button", name=f"Show all {len(groups)} rows").click()
    expect(rows).to_have_count(len(groups))


def test_a_picture_says_what_it_is_of(on_its_own: Profiler) -> None:
    on_its_own.open(r=GPU_RUN, k="rank0", v="operators", st="5~6")
    panel = on_its_own.panel("Largest operators")
    bound = on_its_own.server.api("overview", run=GPU_RUN, worker="rank0", from_step="5", to_step="6")["bound"]
    with on_its_own.page.expect_download() as download:
        panel.get_by_role("button", name="Save as SVG").click()
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", download.value.path().read_text())
    assert texts[0] == "Device self time"
    assert texts[1] == f"{GPU_RUN} · rank0 · Steps 5–6 of 5"
    assert " ".join(texts).replace("\xa0", " ").find(bound["sentence"].split(".")[0].replace("\xa0", " ")) > 0
    on_its_own.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.get_by_role("button", name="Copy picture").click()
    expect(panel.get_by_role("button", name="Copied")).to_be_visible()
