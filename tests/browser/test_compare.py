"""The Diff view, with the numbers of /api/compare, and the comparison that it sets for other views."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests import events, tiny
from tests.browser import numbers
from tests.browser.conftest import Keep, OpenPage, StartServer
from tests.browser.profiler import CPU_RUN, GPU_RUN, Grid, Profiler, as_table, definition, rows_of
from tests.browser.servers import Server
from tests.browser.test_accessibility import AXE, Axe
from tests.browser.test_keyboard import tab_to
from tests.browser.watch import Watch

ServeLogs = Callable[[Path], Server]
OTHER_RUN = "cnn_workers2"
WORKER = "worker0"
BASELINE = f"{CPU_RUN}~{WORKER}~1"
HERE = {"v": "compare", "r": OTHER_RUN, "k": WORKER, "s": "1"}
PART = "aten::to … backward"
"""The part of a step in which the program of the two runs calls its own annotations, among them this:"""
INNER = "forward"
REAL_TRACES = Path(__file__).parents[3] / "shared" / "data" / "traces" / "kineto"
MARKUP = "<img src=stolen onerror=alert(1)>{a|b}"


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    """Two runs of the same program, the one before chosen as the baseline by itself."""
    on_its_own.open(**HERE)
    expect(on_its_own.grid("Parts").count).to_be_visible()
    return on_its_own


def answer_of(profiler: Profiler, path: str = "0") -> dict[str, Any]:
    answer: dict[str, Any] = profiler.server.api(
        "compare", run=CPU_RUN, worker=WORKER, exp_run=OTHER_RUN, exp_worker=WORKER, path=path
    )
    return answer


def saved(grid: Grid) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(grid.export("CSV"))))


def trail(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("navigation", name="Where you are")


def plain(text: str) -> str:
    """Without the signs of differences, which the exact numbers do not have."""
    return text.replace("−", "-").replace("+", "")


def chip(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("group", name="Comparison")


# ---- what is compared


def test_the_baseline_is_chosen_and_said_why(opened: Profiler) -> None:
    expect(opened.picker("Baseline run")).to_have_accessible_name(f"Baseline run {CPU_RUN}")
    expect(opened.picker("Baseline worker")).to_have_accessible_name(f"Baseline worker {WORKER}")
    expect(opened.picker("Experiment run")).to_have_accessible_name(f"Experiment run {OTHER_RUN}")
    expect(opened.ui.get_by_text("the same worker in the run before")).to_be_visible()
    assert "b" not in opened.state, "what is chosen for the user is not written"
    opened.open(v="compare", r=GPU_RUN, k="rank2")
    expect(opened.picker("Baseline worker")).to_have_accessible_name("Baseline worker rank0")
    expect(opened.ui.get_by_text("another worker of the same run")).to_be_visible()


def test_pickers_on_both_sides_and_swap(opened: Profiler) -> None:
    opened.choose("Baseline run", "ddp_gloo_2ranks")
    expect(opened.picker("Baseline worker")).to_have_accessible_name(re.compile(r"Baseline worker rank[01]"))
    opened.choose("Baseline worker", "rank1")
    expect(opened.picker("Baseline worker")).to_have_accessible_name("Baseline worker rank1")
    assert opened.state["b"] == "ddp_gloo_2ranks~rank1~1"
    opened.choose("Experiment run", GPU_RUN)
    opened.choose("Experiment worker", "rank3")
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank3")
    opened.ui.get_by_role("button", name="Swap").click()
    expect(opened.picker("Baseline run")).to_have_accessible_name(f"Baseline run {GPU_RUN}")
    expect(opened.picker("Baseline worker")).to_have_accessible_name("Baseline worker rank3")
    expect(opened.picker("Run")).to_have_accessible_name("Run ddp_gloo_2ranks")
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank1")
    opened.page.go_back()
    expect(opened.picker("Baseline run")).to_have_accessible_name("Baseline run ddp_gloo_2ranks")
    expect(opened.picker("Run")).to_have_accessible_name(f"Run {GPU_RUN}")


def test_the_run_of_the_experiment_as_the_baseline_means_another_rank(on_its_own: Profiler) -> None:
    on_its_own.open(v="compare", r=GPU_RUN, k="rank2", b=BASELINE)
    expect(on_its_own.picker("Baseline run")).to_have_accessible_name(f"Baseline run {CPU_RUN}")
    on_its_own.choose("Baseline run", GPU_RUN)
    expect(on_its_own.picker("Baseline worker")).to_have_accessible_name(re.compile("Baseline worker rank[013]"))
    expect(on_its_own.grid("Parts").count).to_be_visible()


def test_a_link_names_what_was_chosen(open_page: OpenPage, alone: Server) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    profiler = Profiler(page, alone).open(v="compare", r=OTHER_RUN)
    expect(profiler.grid("Parts").count).to_be_visible()
    profiler.ui.get_by_role("button", name="Copy link").click()
    expect(profiler.ui.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == profiler.link(**HERE, b=BASELINE)


# ---- what changed


def test_the_headline_says_how_much_and_why(opened: Profiler) -> None:
    before, after = (opened.server.api("overview", run=run, worker=WORKER)["average"] for run in (CPU_RUN, OTHER_RUN))
    panel = opened.panel("What changed")
    verdict = panel.get_by_text(re.compile("^Step ")).inner_text()
    found = re.findall(r"[-<>]?[\d.,]+ \S+", plain(verdict).replace(",", ""))
    step, exp_step = before["step_ns"], after["step_ns"]
    assert numbers.all_same(found, [step, exp_step, exp_step - step, (exp_step - step) / step])

    rows = rows_of(panel.get_by_role("table", name="Average step by category"))
    scale = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
    unit = scale[panel.get_by_role("columnheader", name="Baseline").inner_text().split()[-1]]
    names = {"DataLoader": "dataloader", "CPU Exec": "cpu_exec", "Other": "other"}
    for name, key in names.items():
        row = next(row for row in rows if row[0] == name)
        sides = [side["category_ns"].get(key, 0) for side in (before, after)]
        assert numbers.all_same(
            [plain(cell) for cell in row[1:4]], [value / unit for value in (*sides, sides[1] - sides[0])]
        )
    largest = max(names, key=lambda name: abs(after["category_ns"][names[name]] - before["category_ns"][names[name]]))
    expect(
        panel.get_by_role("paragraph").filter(has_text="Biggest contributors:").filter(has_text=largest)
    ).to_be_visible()


def test_parts_are_those_of_the_api(opened: Profiler) -> None:
    rows = answer_of(opened)["parts"]["rows"]
    grid = opened.grid("Parts")
    expect(grid.count).to_have_text(f"{len(rows['path'])} rows")
    shown = saved(grid)
    for key in ("total_ns", "exp_total_ns", "delta_total_ns"):
        assert [row[key] for row in shown] == [str(value) for value in rows[key]]
    assert shown[0]["part"] == "DataLoader (SingleProcess → MultiProcessing)"
    picture = as_table(opened.panel("Execution Comparison"))
    assert numbers.all_same([row[1] for row in picture], rows["total_ns"])
    assert numbers.all_same([row[2] for row in picture], rows["exp_total_ns"])
    accumulated = 0
    for row, delta in zip(picture, rows["delta_total_ns"], strict=True):
        accumulated += delta
        assert numbers.same(plain(row[3]), delta)
        assert numbers.same(plain(row[5]), accumulated)


def test_parts_by_name_are_their_sum(opened: Profiler) -> None:
    rows = answer_of(opened)["parts"]["rows"]
    loaders = [i for i, kind in enumerate(rows["kind"]) if kind == "dataloader"]
    opened.switch("Parts", "By name")
    grid = opened.grid("Parts")
    row = grid.row("DataLoader (SingleProcess → MultiProcessing)")
    expect(row).to_be_visible()
    found = next(each for each in saved(grid) if each["kind"] == "dataloader")
    assert found["times"] == str(len(loaders)) != "1"
    assert found["delta_total_ns"] == str(sum(rows["delta_total_ns"][i] for i in loaders))
    row.click()
    expect(grid.count).to_have_text(f"{len(loaders)} of {len(rows['path'])} rows")


def test_operators_and_kernels_are_those_of_the_api(opened: Profiler) -> None:
    rows = answer_of(opened)["operators"]["rows"]
    shown = {row["name"]: row for row in saved(opened.grid("Operators compared"))}
    assert set(shown) == set(rows["name"])
    for i, name in enumerate(rows["name"]):
        for key in ("calls", "exp_calls", "delta_calls", "host_self_ns", "exp_host_self_ns", "delta_host_self_ns"):
            assert shown[name][key] == str(rows[key][i])
    assert next(iter(shown)) == rows["name"][0], "the largest change comes first"
    kernels = opened.panel("Kernels compared")
    expect(kernels.get_by_text("Neither of the two has kernels here.")).to_be_visible()

    opened.open(v="compare", r=GPU_RUN, k="rank1", b=f"{GPU_RUN}~rank0~1")
    where = {"run": GPU_RUN, "worker": "rank0", "exp_run": GPU_RUN, "exp_worker": "rank1"}
    rows = opened.server.api("compare", **where)["kernels"]["rows"]
    grid = opened.grid("Kernels compared")
    expect(grid.count).to_have_text(f"{len(rows['name'])} rows")
    by_name = {row["name"]: row for row in saved(grid)}
    for i, name in enumerate(rows["name"]):
        assert by_name[name]["delta_total_ns"] == str(rows["delta_total_ns"][i])
    grid.filter.fill("delta_total>0 status!=new")
    expect(grid.count).to_have_text(re.compile(r"^\d+ of \d+ rows$"))


def test_new_and_gone_in_place_of_infinity(on_its_own: Profiler) -> None:
    on_its_own.open(v="compare", r=OTHER_RUN, b="ddp_gloo_2ranks~rank0~1")
    grid = on_its_own.grid("Operators compared")
    expect(grid.count).to_be_visible()
    rows = saved(grid)
    new = [row for row in rows if row["status"] == "new"]
    gone = [row for row in rows if row["status"] == "gone"]
    assert new
    assert gone
    assert all(row["delta_host_self_percent"] == "" and row["calls"] == "0" for row in new)
    assert all(row["delta_host_self_percent"] == "-100" and row["exp_calls"] == "0" for row in gone)
    assert not re.search("infinity|nan", json.dumps([list(row.values()) for row in rows]), re.IGNORECASE)
    grid.sort_by("Δ % Host self")
    assert grid.first_rows("Δ % Host self", 1)[0].startswith("+"), "new ones are not the largest"
    grid.filter.fill("status=new")
    expect(grid.count).to_have_text(f"{len(new)} of {len(rows)} rows")
    text = on_its_own.ui.get_by_role("main").inner_text()
    assert "Infinity" not in text
    assert "NaN" not in text


def test_sums_are_per_step_where_the_steps_differ(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> None:
    tiny.write_trace(tmp_path / "a" / "w.1.pt.trace.json", steps=2)
    tiny.write_trace(tmp_path / "b" / "w.1.pt.trace.json", steps=6)
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="compare", r="b")
    grid = profiler.grid("Operators compared")
    expect(grid.row("aten::mm")).to_contain_text("same")
    expect(profiler.ui.get_by_text("The baseline has 2 steps, the experiment 6").first).to_be_visible()
    expect(grid.panel.get_by_text("divided by 2 steps of the baseline and 6 of the experiment")).to_be_visible()
    assert [saved(grid)[0][key] for key in ("calls", "exp_calls", "delta_device_self_ns")] == ["1", "1", "0"]
    profiler.switch("Sum", "All steps")
    expect(grid.row("aten::mm")).to_contain_text("more")
    assert [saved(grid)[0][key] for key in ("calls", "exp_calls")] == ["2", "6"]
    page.wait_for_function("() => location.hash.includes('c=all')")


# ---- through the levels


def test_into_a_part_and_out_again(opened: Profiler) -> None:
    rows = answer_of(opened)["parts"]["rows"]
    at = rows["name"].index(PART)
    path = rows["path"][at]
    opened.grid("Parts").filter.fill("backward")
    # Rows move while the filter is applied, and the name is that of one part in every step.
    expect(opened.grid("Parts").count).to_contain_text(" of ")
    opened.grid("Parts").row(PART).click()
    expect(trail(opened).locator("[aria-current]")).to_have_text(PART)
    tiny.wait_until(lambda: opened.state.get("p") == path, "the part in the address")
    inner = answer_of(opened, path)
    expect(opened.grid("Parts").count).to_have_text(f"{len(inner['parts']['rows']['path'])} rows")
    expect(opened.grid("Operators compared").count).to_have_text(f"{len(inner['operators']['rows']['name'])} rows")
    opened.grid("Parts").row(INNER).click()
    expect(trail(opened).get_by_role("listitem")).to_have_text(["Everything", PART, INNER])

    opened.page.go_back()
    expect(trail(opened).locator("[aria-current]")).to_have_text(PART)
    opened.page.go_forward()
    expect(trail(opened).locator("[aria-current]")).to_have_text(INNER)
    trail(opened).get_by_role("button", name=PART).click()
    expect(trail(opened).locator("[aria-current]")).to_have_text(PART)
    trail(opened).get_by_role("button", name="Everything").click()
    expect(opened.grid("Parts").count).to_have_text(f"{len(rows['path'])} rows")
    assert "p" not in opened.state


def test_a_click_in_the_picture_goes_in(opened: Profiler) -> None:
    rows = answer_of(opened)["parts"]["rows"]
    at = rows["name"].index(PART)
    picture = opened.panel("Execution Comparison").get_by_role("img")
    expect(picture.locator("canvas")).to_be_visible()
    width = picture.evaluate("(picture) => picture.clientWidth")
    # Above the bars, which may be low.
    x = 78 + (width - 78 - 76) * (at + 0.5) / len(rows["path"])
    picture.click(position={"x": x, "y": 60})
    expect(trail(opened).locator("[aria-current]")).to_have_text(PART)


def test_a_link_into_a_part(on_its_own: Profiler) -> None:
    rows = answer_of(on_its_own)["parts"]["rows"]
    path = rows["path"][rows["name"].index(PART)]
    on_its_own.open(**HERE, b=BASELINE, p=f"{path}-1", q2="aten", o2="-delta_host_self_ns")
    expect(trail(on_its_own).get_by_role("listitem").nth(1)).to_have_text(PART)
    grid = on_its_own.grid("Operators compared")
    expect(grid.filter).to_have_value("aten")
    expect(grid.header("Δ Host self")).to_have_attribute("aria-sort", "descending")


def test_the_last_level_says_so(on_its_own: Profiler) -> None:
    answer = answer_of(on_its_own)["parts"]["rows"]
    path = answer["path"][answer["has_parts"].index(True)]
    while answer_of(on_its_own, path)["parts"]["rows"]["path"]:
        path += "-0"
    on_its_own.open(**HERE, b=BASELINE, p=path)
    panel = on_its_own.panel("Execution Comparison")
    expect(panel.get_by_text("There is no level below this one")).to_be_visible()
    expect(on_its_own.grid("Operators compared").count).to_be_visible()


def test_other_traces_are_looked_at_from_the_top(opened: Profiler) -> None:
    opened.grid("Parts").row(PART).first.click()
    expect(trail(opened).locator("[aria-current]")).to_have_text(PART)
    opened.choose("Run", CPU_RUN)
    expect(trail(opened).locator("[aria-current]")).to_have_text("Everything")
    assert "p" not in opened.state


def test_a_part_that_does_not_exist(on_its_own: Profiler) -> None:
    on_its_own.open(**HERE, b=BASELINE, p="0-999")
    expect(on_its_own.ui.get_by_text("This comparison has no such part")).to_be_visible()
    on_its_own.ui.get_by_role("button", name="Show everything").click()
    expect(on_its_own.grid("Parts").count).to_be_visible()


def test_many_parts_come_in_pages(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> None:
    for run, slower in (("a", 0), ("b", 1)):
        found = [events.op(f"op{i}", 10 * i, 5 + slower) for i in range(150)]
        (tmp_path / run).mkdir()
        (tmp_path / run / "w.1.pt.trace.json").write_text(json.dumps({"traceEvents": found}))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="compare", r="b")
    panel = profiler.panel("Execution Comparison")
    expect(panel.get_by_text("Parts 1 to 60 of 150")).to_be_visible()
    expect(panel.get_by_role("button", name="Earlier parts")).to_be_disabled()
    panel.get_by_role("button", name="Later parts").click()
    panel.get_by_role("button", name="Later parts").click()
    expect(panel.get_by_text("Parts 121 to 150 of 150")).to_be_visible()
    shown = as_table(panel)
    assert [shown[0][0], shown[-1][0]] == ["op120", "op149"]
    assert plain(shown[-1][5]) == "150 µs", "accumulated from the first part on"


# ---- the comparison in other views


def test_operators_and_kernels_show_the_comparison(on_its_own: Profiler) -> None:
    on_its_own.open(v="operators", r=GPU_RUN, k="rank1")
    expect(on_its_own.grid("Operators").count).to_be_visible()
    expect(on_its_own.grid("Operators").root.get_by_role("columnheader", name="Baseline")).to_have_count(0)
    on_its_own.ui.get_by_role("button", name="Compare…").click()
    expect(on_its_own.grid("Parts").count).to_be_visible()
    expect(chip(on_its_own)).to_have_count(0)
    on_its_own.ui.get_by_role("button", name="Compare in all views").click()
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


# ---- when there is nothing to compare


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


# ---- for everybody


def test_by_keyboard_alone(on_its_own: Profiler) -> None:
    on_its_own.open(**HERE)
    page = on_its_own.page
    grid = on_its_own.grid("Parts")
    expect(grid.count).to_be_visible()
    tab_to(page, on_its_own.picker("Baseline run"))
    page.keyboard.press("ArrowDown")
    page.keyboard.type("workers0")
    page.keyboard.press("Enter")
    expect(on_its_own.picker("Baseline run")).to_be_focused()
    page.keyboard.press("/")
    expect(grid.filter).to_be_focused()
    page.keyboard.type("backward")
    expect(grid.filter).to_have_value("backward")
    tab_to(page, grid.root)
    page.keyboard.press("Enter")
    expect(trail(on_its_own).locator("[aria-current]")).to_have_text(PART)
    expect(grid.root).to_be_focused()
    page.keyboard.press("Enter")
    expect(trail(on_its_own).get_by_role("listitem")).to_have_count(3)
    for _ in range(80):
        page.keyboard.press("Shift+Tab")
        if trail(on_its_own).get_by_role("button", name="Everything").evaluate("(e) => e === document.activeElement"):
            break
    page.keyboard.press("Enter")
    expect(trail(on_its_own).get_by_role("listitem")).to_have_count(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_rule_of_accessibility_is_broken(theme: Any, open_page: OpenPage, alone: Server, repository: Path) -> None:
    profiler = Profiler(open_page(color_scheme=theme), alone).open(v="compare", r=GPU_RUN, k="rank1")
    axe = Axe(profiler, (repository / AXE).read_text())
    expect(profiler.grid("Kernels compared").count).to_be_visible()
    axe.look("suggested")
    profiler.ui.get_by_role("button", name="Compare in all views").click()
    expect(chip(profiler)).to_be_visible()
    profiler.picker("Baseline worker").click()
    axe.look("set, list open")
    profiler.page.keyboard.press("Escape")
    profiler.panel("Execution Comparison").get_by_role("button", name="Show as table").click()
    axe.look("chart as table")
    for view, name in (("operators", "Operators"), ("kernels", "Kernels")):
        profiler.go_to(view)
        expect(profiler.grid(name).panel.get_by_text("Compared with")).to_be_visible()
        axe.look(view)
    profiler.open(v="compare", r=CPU_RUN, k=WORKER, b=BASELINE)
    expect(profiler.ui.get_by_text("Both sides are the same trace")).to_be_visible()
    axe.look("itself")
    axe.check()


def test_markup_in_names_is_text(tmp_path: Path, serve_logs: ServeLogs, page: Page, watch: Watch) -> None:
    for run, more in ((f"1{MARKUP}", 0), (f"2{MARKUP}", 50)):
        found = [
            events.annotation("ProfilerStep#1", 0, 1000),
            events.annotation(MARKUP, 5, 500 + more),
            events.op(f"aten::{MARKUP}", 10, 300 + more),
            events.annotation(f"after {MARKUP}", 700, 10),
            events.launch(20, 1),
            events.kernel(100, 500 + more, 1, f"kernel {MARKUP}"),
        ]
        folder = tmp_path / run.replace("/", "")
        folder.mkdir()
        (folder / "w.1.pt.trace.json").write_text(json.dumps({"traceEvents": found}))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="compare", r=f"2{MARKUP}")
    expect(profiler.grid("Parts").row(MARKUP)).to_be_visible()
    expect(profiler.grid("Operators compared").row(f"aten::{MARKUP}")).to_be_visible()
    expect(profiler.grid("Kernels compared").row(f"kernel {MARKUP}")).to_be_visible()
    picture = profiler.panel("Execution Comparison").get_by_role("img")
    expect(picture.locator("canvas")).to_be_visible()
    picture.hover(position={"x": picture.evaluate("(p) => p.clientWidth") / 3, "y": 60})
    expect(picture.get_by_text(MARKUP).first).to_be_visible()
    profiler.ui.get_by_role("button", name="Compare in all views").click()
    expect(chip(profiler)).to_contain_text(f"Compared with 1{MARKUP}")
    profiler.grid("Parts").row(MARKUP).click()
    expect(trail(profiler).locator("[aria-current]")).to_have_text(MARKUP)
    assert page.locator("img, b, iframe").count() == 0
    assert watch.dialogs == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures(theme: Any, open_page: OpenPage, alone: Server, output: Path) -> None:
    """Of the states that the pictures of all views do not have."""
    folder = output / "screenshots"
    folder.mkdir(exist_ok=True)
    profiler = Profiler(open_page(color_scheme=theme, viewport={"width": 1440, "height": 1750}), alone)
    for name, state in {
        "set": {"v": "compare", "r": GPU_RUN, "k": "rank1", "b": f"{GPU_RUN}~rank0~1"},
        "by-name": {**HERE, "g": "name", "b": BASELINE},
        "operators": {"v": "operators", "r": GPU_RUN, "k": "rank1", "b": f"{GPU_RUN}~rank0~1"},
        "kernels": {"v": "kernels", "r": GPU_RUN, "k": "rank1", "b": f"{GPU_RUN}~rank0~1"},
    }.items():
        profiler.open(**state)
        expect(profiler.ui.get_by_role("heading", level=1)).to_be_visible()
        expect(profiler.ui.get_by_label("Loading…")).to_have_count(0)
        expect(profiler.ui.get_by_role("img").locator("canvas").first).to_be_visible()
        profiler.page.wait_for_timeout(300)
        profiler.page.screenshot(path=folder / f"compare-{name}-{theme}.png")


@pytest.mark.skipif(not REAL_TRACES.is_dir(), reason="the traces of the project's workshop are not here")
def test_what_data_loader_workers_brought(start: StartServer, page: Page, keep: Keep) -> None:
    """The comparison that the old plugin's documentation shows."""
    server = start("resnet50_compared", "torch_tb_profiler", "serve", str(REAL_TRACES))
    server.wait_for_traces()
    page.set_viewport_size({"width": 1440, "height": 1750})
    profiler = Profiler(page, server).open(v="compare", r="resnet50_num_workers_4", s="1")
    expect(profiler.picker("Baseline run")).to_have_accessible_name("Baseline run resnet50_num_workers_0")
    panel = profiler.panel("What changed")
    expect(panel.get_by_text(re.compile(r"^Step 177\.6 ms → 141\.1 ms.*−20\.6 %$"))).to_be_visible()
    expect(panel.get_by_text("DataLoader −58.08 ms")).to_be_visible()
    expect(profiler.grid("Kernels compared").count).to_be_visible()
    page.wait_for_timeout(150)  # charts are drawn anew once their place has had its width for a moment
    keep("compare-resnet50")
