"""The Diff view, with the numbers of /api/compare, and the comparison that it sets for other views."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import events, tiny
from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.compare import (
    BASELINE,
    HERE,
    OTHER_RUN,
    PART,
    WORKER,
    ServeLogs,
    answer_of,
    chip,
    open_compare,
    plain,
    saved,
    trail,
)
from tests.browser.conftest import PICTURED, Keep, OpenPage, StartServer, screenshot
from tests.browser.history import back
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, rows_of
from tests.browser.servers import Server
from tests.browser.test_keyboard import tab_to
from tests.browser.watch import Watch
from tests.recorded import recorded

MARKUP = "<img src=stolen onerror=alert(1)>{a|b}"


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    return open_compare(on_its_own)


# ---- what is compared


def test_the_baseline_is_chosen_and_said_why(opened: Profiler) -> None:
    expect(opened.picker("Baseline run")).to_have_accessible_name(f"Baseline run {CPU_RUN}")
    expect(opened.picker("Baseline worker")).to_have_accessible_name(f"Baseline worker {WORKER}")
    expect(opened.picker("Experiment run")).to_have_accessible_name(f"Experiment run {OTHER_RUN}")
    expect(opened.ui.get_by_text("the same worker in the run that is most like this one")).to_be_visible()
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
    back(opened.page)
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


def change_of(profiler: Profiler) -> dict[str, Any]:
    both = {"run": CPU_RUN, "worker": WORKER, "exp_run": OTHER_RUN, "exp_worker": WORKER}
    answer: dict[str, Any] = profiler.server.api("compare/change", **both)
    return answer


def test_the_headline_says_how_much_and_why(opened: Profiler) -> None:
    answer = change_of(opened)
    before, after = (answer[side]["step_ns"] for side in ("baseline", "experiment"))
    panel = opened.panel("What changed")
    found = re.findall(r"[\d.,]+ [mµn]?s\b", plain(panel.get_by_text(re.compile("^Step ")).inner_text()))
    assert numbers.all_same(found, [before, after])
    said = panel.get_by_text(re.compile("^Steps are .* faster"))
    assert numbers.all_same(re.findall(r"are ([\d.,]+ \S+)", plain(said.inner_text())), [-answer["delta_ns"]])
    expect(panel.get_by_text(re.compile("^Most of it: Data loading"))).to_be_visible()
    expect(panel.get_by_text("significantly shorter")).to_be_visible()

    table = panel.get_by_role("table", name="Waterfall of the change")
    rows = rows_of(table)
    assert [row[0] for row in rows[:2]] == ["Data loading", "Operators on the host"]
    for row, cause in zip(rows, answer["causes"], strict=False):
        assert numbers.all_same([plain(row[2]).partition("(")[0].strip()], [cause["delta_ns"]])
    expect(table.locator("tr:has(> .noise)")).to_have_count(
        sum(c["low_ns"] <= 0 <= c["high_ns"] for c in answer["causes"])
    )


def test_a_cause_leads_to_what_it_is_made_of(opened: Profiler) -> None:
    grid = opened.grid("What the change is made of")
    work = change_of(opened)["work"]
    expect(grid.count).to_have_text(f"{len(work)} rows")
    waterfall = opened.panel("What changed").get_by_role("table", name="Waterfall of the change")
    waterfall.get_by_role("button", name="Operators on the host").click()
    expect(grid.count).to_have_text(f"{sum('host.operator' in row['causes'] for row in work)} rows")
    opened.page.wait_for_function("() => location.hash.includes('f=host.operator')")
    waterfall.get_by_role("button", name="Data loading").click()
    expect(opened.ui.get_by_text("Data loading has no kernels or operators.")).to_be_visible()
    opened.ui.get_by_role("button", name="Show the intervals of Data loading in the experiment").click()
    expect(opened.heading("Overview")).to_be_visible()
    opened.page.wait_for_function("() => location.hash.includes('f=host.data')")


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
    counted = "Compared 2 baseline steps with 5 experiment steps (warm-up steps excluded: 1)."
    expect(profiler.ui.get_by_text(counted)).to_be_visible()
    expect(grid.panel.get_by_text("divided by 2 steps of the baseline and 6 of the experiment")).to_be_visible()
    assert [saved(grid)[0][key] for key in ("calls", "exp_calls", "delta_device_self_ns")] == ["1", "1", "0"]
    profiler.switch("Sum", "All steps")
    expect(grid.row("aten::mm")).to_contain_text("more")
    assert [saved(grid)[0][key] for key in ("calls", "exp_calls")] == ["2", "6"]
    page.wait_for_function("() => location.hash.includes('c=all')")


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
    expect(on_its_own.grid("What the change is made of").filter).to_be_focused()
    tab_to(page, grid.filter)
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


def test_no_rule_of_accessibility_is_broken(axe: Axe) -> None:
    profiler = axe.profiler.open(v="compare", r=GPU_RUN, k="rank1")
    expect(profiler.grid("Kernels compared").count).to_be_visible()
    axe.look("suggested")
    profiler.ui.get_by_role("button", name="Compare in other views, too").click()
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
    profiler.ui.get_by_role("button", name="Compare in other views, too").click()
    expect(chip(profiler)).to_contain_text(f"Compared with 1{MARKUP}")
    profiler.grid("Parts").row(MARKUP).click()
    expect(trail(profiler).locator("[aria-current]")).to_have_text(MARKUP)
    assert page.locator("img, b, iframe").count() == 0
    assert watch.dialogs == []


@pytest.mark.long
@pytest.mark.parametrize("theme", PICTURED)
def test_pictures(theme: Any, open_page: OpenPage, alone: Server, output: Path) -> None:
    """Of the states that the pictures of all views do not have."""
    profiler = Profiler(open_page(color_scheme=theme, viewport={"width": 1440, "height": 1750}), alone)
    for name, state in {
        "set": {"v": "compare", "r": GPU_RUN, "k": "rank1", "b": f"{GPU_RUN}~rank0~1"},
        "by-name": {**HERE, "g": "name", "b": BASELINE},
        "operators": {"v": "operators", "r": GPU_RUN, "k": "rank1", "b": f"{GPU_RUN}~rank0~1"},
        "kernels": {"v": "kernels", "r": GPU_RUN, "k": "rank1", "b": f"{GPU_RUN}~rank0~1"},
    }.items():
        profiler.open(**state)
        expect(profiler.ui.get_by_role("heading", level=1)).to_be_visible()
        profiler.loaded()
        expect(profiler.ui.get_by_role("img").locator("canvas").first).to_be_visible()
        profiler.page.wait_for_timeout(300)
        screenshot(profiler.page, output, f"compare-{name}-{theme}")


@pytest.mark.long
def test_what_data_loader_workers_brought(start: StartServer, page: Page, keep: Keep) -> None:
    """The comparison that the old plugin's documentation shows."""
    server = start("resnet50_compared", "torch_tb_profiler", "serve", str(recorded("kineto")))
    server.wait_for_traces()
    page.set_viewport_size({"width": 1440, "height": 1750})
    profiler = Profiler(page, server).open(v="compare", r="resnet50_num_workers_4", s="1")
    expect(profiler.picker("Baseline run")).to_have_accessible_name("Baseline run resnet50_num_workers_0")
    panel = profiler.panel("What changed")
    expect(panel.get_by_text(re.compile(r"^Steps are 42\.67 ms faster \(−24\.3 %"))).to_be_visible()
    expect(panel.get_by_text("Most of it: Input data −56.19 ms.")).to_be_visible()
    expect(profiler.grid("Kernels compared").count).to_be_visible()
    page.wait_for_timeout(150)  # charts are drawn anew once their place has had its width for a moment
    keep("compare-resnet50")
