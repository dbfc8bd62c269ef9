"""The comparison in other views, and what is said when there is nothing to compare."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests import tiny
from tests.browser import numbers
from tests.browser.compare import BASELINE, HERE, OTHER_RUN, WORKER, ServeLogs, chip, saved
from tests.browser.conftest import Keep
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition


def test_operators_and_kernels_show_the_comparison(on_its_own: Profiler) -> None:
    on_its_own.open(v="operators", r=GPU_RUN, k="rank1")
    expect(on_its_own.grid("Operators").count).to_be_visible()
    expect(on_its_own.grid("Operators").root.get_by_role("columnheader", name="Baseline")).to_have_count(0)
    on_its_own.ui.get_by_role("button", name="Compare…").click()
    expect(on_its_own.grid("Parts").count).to_be_visible()
    expect(chip(on_its_own)).to_have_count(0)
    on_its_own.ui.get_by_role("button", name="Compare in other views, too").click()
    expect(chip(on_its_own)).to_contain_text(f"Compared with {GPU_RUN} · rank0")
    for view, name, measure in (("operators", "Operators", "device_self_ns"), ("kernels", "Kernels", "total_ns")):
        on_its_own.go_to(view)
        grid = on_its_own.grid(name)
        expect(grid.panel.get_by_text(f"Compared with {GPU_RUN} · rank0.")).to_be_visible()
        sides = [on_its_own.server.api(view, run=GPU_RUN, worker=worker)["rows"] for worker in ("rank0", "rank1")]
        before, after = (dict(zip(rows["name"], rows[measure], strict=True)) for rows in sides)
        expect(grid.count).to_have_text(f"{len(before.keys() | after.keys())} rows")
        for row in saved(grid):
            old, new = before.get(row["name"], 0), after.get(row["name"], 0)
            assert [row[key] for key in (measure, f"base_{measure}", f"delta_{measure}")] == [
                str(value) for value in (new, old, new - old)
            ]
    on_its_own.page.reload()
    expect(chip(on_its_own)).to_be_visible()
    chip(on_its_own).get_by_role("button", name="End the comparison").click()
    expect(chip(on_its_own)).to_have_count(0)
    expect(on_its_own.grid("Kernels").root.get_by_role("columnheader", name="Baseline")).to_have_count(0)
    assert "b" not in on_its_own.state


@pytest.mark.parametrize(
    ("view", "panel", "measure", "label", "kind"),
    [
        ("operators", "Largest operators", "device_self_ns", "Device self", "op"),
        ("kernels", "Total time of kernels", "total_ns", "Total", "kernel"),
    ],
)
def test_bars_and_the_inspector_show_the_comparison(
    on_its_own: Profiler, view: str, panel: str, measure: str, label: str, kind: str, keep: Keep
) -> None:
    sides = [on_its_own.server.api(view, run=GPU_RUN, worker=worker)["rows"] for worker in ("rank0", "rank1")]
    before, after = (dict(zip(rows["name"], rows[measure], strict=True)) for rows in sides)
    name = sides[1]["name"][1]
    on_its_own.open(v=view, r=GPU_RUN, k="rank1", b=f"{GPU_RUN}~rank0~1", sel=f"{kind}:{name}")
    largest = on_its_own.panel(panel)
    expect(largest.get_by_text("Dashed outlines: the baseline.")).to_be_visible()
    inspector = on_its_own.inspector
    assert numbers.same(definition(inspector, label).inner_text(), after[name])
    assert numbers.same(definition(inspector, f"Baseline {label}").inner_text(), before[name])
    changed = definition(inspector, f"Δ {label}").inner_text()
    assert numbers.same(changed.lstrip("+−"), abs(after[name] - before[name]))
    assert changed.startswith("+" if after[name] > before[name] else "−")
    keep(f"compare-{view}-selected")
    rows = as_table(largest)
    assert [row[0] for row in rows] == sides[1]["name"][:10]
    assert numbers.all_same([row[3] for row in rows], [before.get(row[0], 0) for row in rows])


@pytest.mark.parametrize("group", ["name_shape", "name_stack"])
def test_grouped_operators_are_joined_by_all_that_names_them(on_its_own: Profiler, group: str) -> None:
    on_its_own.open(v="operators", r=OTHER_RUN, g=group, b=BASELINE)
    grid = on_its_own.grid("Operators")
    expect(grid.panel.get_by_text(f"Compared with {CPU_RUN}.")).to_be_visible()
    sides = [
        on_its_own.server.api("operators", run=run, worker=WORKER, group_by=group)["rows"]
        for run in (CPU_RUN, OTHER_RUN)
    ]
    keys = [key for key in ("name", "input_shape", "call_stack") if key in sides[0]]
    named = [set(zip(*(rows[key] for key in keys), strict=True)) for rows in sides]
    expect(grid.count).to_have_text(f"{len(named[0] | named[1])} rows")
    rows = saved(grid)
    assert sum(int(row["base_host_self_ns"]) for row in rows) == sum(sides[0]["host_self_ns"])
    assert sum(int(row["host_self_ns"]) for row in rows) == sum(sides[1]["host_self_ns"])


def test_a_row_that_is_gone_says_so(on_its_own: Profiler) -> None:
    on_its_own.open(v="operators", r=OTHER_RUN, b="ddp_gloo_2ranks~rank0~1", q="status=gone")
    grid = on_its_own.grid("Operators")
    expect(grid.count).to_have_text(re.compile(r"^\d+ of \d+ rows$"))
    grid.first_row.get_by_role("button", name="Show details").click()
    expect(grid.root.get_by_text("Only the baseline has this row.")).to_be_visible()


def test_other_numbers_of_steps_are_said(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> None:
    tiny.write_trace(tmp_path / "a" / "w.1.pt.trace.json", steps=2)
    tiny.write_trace(tmp_path / "b" / "w.1.pt.trace.json", steps=6)
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="kernels", r="b", b="a~w~1")
    expect(profiler.panel("Kernels").get_by_text("sums over all steps: 2 in the baseline, 6 here")).to_be_visible()


def answer_status(profiler: Profiler, **change: Any) -> None:
    """Let the page believe something else about the baseline."""
    status = profiler.server.api("status")
    next(run for run in status["runs"] if run["name"] == CPU_RUN)["traces"][0].update(change)
    profiler.page.route("**/api/status*", lambda route: route.fulfill(json=status))


def test_a_baseline_that_is_loading_shows_how_far(on_its_own: Profiler) -> None:
    page = on_its_own.page
    page.clock.install()
    total = next(t for t in on_its_own.server.traces() if t["worker"] == WORKER)["bytes_total"]
    answer_status(on_its_own, state="loading", bytes_total=total, bytes_done=total * 42 // 100)
    on_its_own.open(**HERE, b=BASELINE)
    panel = on_its_own.panel("What changed")
    expect(panel.get_by_text(f"The baseline is still being read: {CPU_RUN}")).to_be_visible()
    expect(panel.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "42")
    on_its_own.go_to("operators")
    expect(on_its_own.panel("Operators").get_by_text("The baseline is still being read: 42 %")).to_be_visible()
    expect(on_its_own.grid("Operators").count).to_be_visible()
    page.unroute("**/api/status*")
    page.clock.fast_forward(2_500)
    expect(on_its_own.panel("Operators").get_by_text(f"Compared with {CPU_RUN}.")).to_be_visible()
    on_its_own.go_to("compare")
    expect(on_its_own.grid("Parts").count).to_be_visible()


def test_the_server_says_that_it_is_loading(on_its_own: Profiler) -> None:
    waiting = {"error": "is still loading", "state": "loading", "progress": {"bytes_done": 3, "bytes_total": 10}}
    asked: list[str] = []

    def late(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.fulfill(status=409, json=waiting)
        else:
            route.continue_()

    on_its_own.page.route("**/api/compare*", late)
    on_its_own.open(**HERE)
    expect(on_its_own.ui.get_by_text("The trace is still being read: 30 %").first).to_be_visible()
    expect(on_its_own.grid("Parts").count).to_be_visible()


def test_a_baseline_that_could_not_be_read(on_its_own: Profiler) -> None:
    answer_status(on_its_own, state="failed", reason="it is <b>cut</b>")
    on_its_own.open(**HERE, b=BASELINE)
    alert = on_its_own.panel("What changed").get_by_role("alert")
    expect(alert).to_contain_text(f"The baseline could not be read: {CPU_RUN}")
    expect(alert).to_contain_text("it is <b>cut</b>")
    on_its_own.go_to("operators")
    expect(on_its_own.panel("Operators").get_by_text("could not be read: it is <b>cut</b>")).to_be_visible()


def test_the_same_trace_on_both_sides(on_its_own: Profiler) -> None:
    on_its_own.open(v="compare", r=CPU_RUN, k=WORKER, b=BASELINE)
    expect(on_its_own.ui.get_by_text("Both sides are the same trace")).to_be_visible()
    on_its_own.go_to("operators")
    expect(on_its_own.ui.get_by_text("The baseline is this trace itself")).to_be_visible()
    expect(on_its_own.grid("Operators").root.get_by_role("columnheader", name="Baseline")).to_have_count(0)


def test_a_single_trace_is_told_what_another_would_be_for(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> None:
    tiny.write_trace(tmp_path / "run" / "w.1.pt.trace.json")
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="compare")
    expect(profiler.ui.get_by_text("There is only one trace here")).to_be_visible()
    expect(profiler.ui.get_by_text("record the same program again after a change")).to_be_visible()
    expect(profiler.ui.get_by_text(f'tensorboard_trace_handler("{tmp_path}/after_the_change")')).to_be_visible()
    expect(profiler.ui.get_by_role("button", name="Compare…")).to_have_count(0)


def test_a_baseline_that_is_gone(on_its_own: Profiler) -> None:
    on_its_own.open(**HERE, b="<b>gone</b>~w~1")
    notice = on_its_own.ui.get_by_role("status").filter(has_text="There is no trace “<b>gone</b>~w~1”")
    expect(notice).to_be_visible()
    expect(on_its_own.picker("Baseline run")).to_have_accessible_name(f"Baseline run {CPU_RUN}")


def test_an_error_can_be_tried_again(on_its_own: Profiler) -> None:
    page = on_its_own.page
    page.route("**/api/compare*", lambda route: route.fulfill(status=500, json={"error": "mark 4711"}))
    on_its_own.open(**HERE)
    alert = on_its_own.panel("Execution Comparison").get_by_role("alert")
    expect(alert).to_contain_text("mark 4711")
    expect(on_its_own.panel("What changed").get_by_text(re.compile("^Step "))).to_be_visible()
    page.unroute("**/api/compare*")
    alert.get_by_role("button", name="Retry").click()
    expect(on_its_own.grid("Parts").count).to_be_visible()


def test_an_answer_nobody_waits_for_is_not_waited_for(on_its_own: Profiler) -> None:
    page = on_its_own.page
    cancelled: list[str] = []
    page.on("requestfailed", lambda request: cancelled.append(request.url))
    page.route(re.compile(r"/api/compare\?run=cnn_workers0"), lambda _: None)  # never answered
    on_its_own.open(**HERE)
    expect(on_its_own.panel("Parts").get_by_label("Loading…")).to_be_visible()
    on_its_own.choose("Baseline run", "ddp_gloo_2ranks")
    expect(on_its_own.grid("Parts").count.or_(on_its_own.panel("Parts").get_by_text("no level below"))).to_be_visible()
    assert any("run=cnn_workers0" in url for url in cancelled)
