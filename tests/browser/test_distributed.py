"""The Distributed view, with the numbers of /api/distributed."""

from __future__ import annotations

import csv
import io
import re
import statistics
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.distributed import OPERATIONS, OVERLAP, WAITS, answer_of, chart, ranks_of, told
from tests.browser.history import back
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of
from tests.browser.test_keyboard import tab_to

DEVICES = "Device Information"
PARTS = ("computation_ns", "overlap_ns", "communication_only_ns", "other_ns")


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="distributed", r=GPU_RUN, k="rank0")
    expect(on_its_own.grid("Ranks").count).to_be_visible()
    return on_its_own


def assert_columns(profiler: Profiler, answer: dict[str, Any], value: Callable[[list[float]], float]) -> None:
    """Both charts show `value` of each part of each rank."""
    labels = {d["key"]: d["label"] for d in answer["definitions"]}
    for title, parts in ((OVERLAP, PARTS), (WAITS, ("transfer_ns", "wait_ns"))):
        columns = told(profiler, title)
        assert len(columns) == len(answer["workers"])
        for column, worker in zip(columns, answer["workers"], strict=True):
            assert column["name"] == f"Rank {worker['rank']}"
            exact = {part: value(worker["steps"][part]) for part in parts}
            assert numbers.same(column["total"], sum(exact.values()))
            for part in parts:
                assert numbers.same(column[labels[part]], exact[part]), (title, worker["rank"], part)


def test_columns_of_the_average_and_of_one_step(opened: Profiler) -> None:
    answer = answer_of(opened)
    assert_columns(opened, answer, statistics.fmean)
    opened.choose("Numbers of", "step 5")
    expect(opened.page).to_have_url(re.compile("t=5"))
    at = answer["workers"][0]["steps"]["names"].index("5")
    assert_columns(opened, answer, lambda values: values[at])


def test_tiles(opened: Profiler) -> None:
    tiles = ranks_of(opened)["tiles"]
    main = opened.ui.get_by_role("main")
    assert definition(main, "Ranks").inner_text() == "4 of 4"
    for label, key in (
        ("Step time", "step_ns"),
        ("Exposed wait", "exposed_wait_ns"),
        ("Exposed transfer", "exposed_transfer_ns"),
        ("Hidden", "hidden_ns"),
    ):
        assert numbers.same(definition(main, label).inner_text(), tiles[key]), label
    assert definition(main, "Slowest rank").inner_text() == "Rank 2"


def test_the_table_of_ranks(opened: Profiler) -> None:
    ranks = ranks_of(opened)["ranks"]
    saved = list(csv.DictReader(io.StringIO(opened.grid("Ranks").export("CSV"))))
    assert sorted(row["worker"] for row in saved) == sorted(ranks["worker"])
    for row in saved:
        at = ranks["worker"].index(row["worker"])
        for key in ("step_ns", "compute_ns", "exposed_wait_ns", "own_ns", "late_ns"):
            assert row[key] == ("" if ranks[key][at] is None else str(ranks[key][at])), key


def test_who_is_slow(opened: Profiler) -> None:
    """Rank 2 of the sample loses 3 ms in every step, in one operator."""
    main = opened.ui.get_by_role("main")
    expect(main.get_by_role("region", name="Who is slow")).to_contain_text("Rank 2")
    panel = opened.panel("Slow ranks")
    expect(panel.get_by_role("row", name=re.compile("^Rank 2"))).to_contain_text("aten::nonzero")
    panel.get_by_role("button", name="Show both in Trace").first.click()
    expect(opened.heading("Trace")).to_be_visible()
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank2")


def test_compared_with_a_typical_rank(opened: Profiler) -> None:
    opened.panel("Slow ranks").get_by_role("button", name="Compare with a typical rank").first.click()
    expect(opened.heading("Diff")).to_be_visible()
    baseline = re.escape(GPU_RUN) + "~rank[013]~1"
    expect(opened.page).to_have_url(re.compile(rf"k=rank2.*b={baseline}|b={baseline}.*k=rank2"))


def test_a_collective_leads_to_its_longest_wait(opened: Profiler) -> None:
    rows = opened.server.api("ranks/collectives", run=GPU_RUN)["rows"]
    longest = max(rows, key=lambda row: row["wait_ns"] or 0)
    grid = opened.grid("Collectives")
    expect(grid.count).to_have_text(f"{len(rows)} rows" if len(rows) > 1 else "1 row")
    grid.row(longest["name"]).first.click()
    expect(opened.heading("Trace")).to_be_visible()
    expect(opened.picker("Worker")).to_have_accessible_name(f"Worker {longest['worker']}")
    expect(opened.page).to_have_url(re.compile(rf"\b{longest['row']}\b"))


def test_operations(opened: Profiler) -> None:
    rows = answer_of(opened)["operations"]["rows"]
    grid = opened.grid(OPERATIONS)
    mine = [i for i, worker in enumerate(rows["worker"]) if worker == "rank0"]
    expect(grid.count).to_have_text("1 row" if len(mine) == 1 else f"{len(mine)} rows")
    saved = list(csv.DictReader(io.StringIO(grid.export("CSV"))))
    for key in ("name", "group", "calls", "latency_ns", "wait_ns"):
        assert sorted(row[key] for row in saved) == sorted(str(rows[key][i]) for i in mine)
    # A rate has a decimal unit.
    head = grid.header("Bus bandwidth").inner_text().split()
    assert head[-1] == "GB/s"
    opened.panel(OPERATIONS).get_by_role("button", name=re.compile("^Operations of ")).click()
    opened.ui.get_by_role("combobox", name="Filter operations of").fill("all")
    opened.page.keyboard.press("Enter")
    expect(grid.count).to_have_text(f"{len(rows['name'])} rows")
    assert set(grid.first_rows("Worker", len(rows["name"]))) == set(rows["worker"])
    assert numbers.same(f"{grid.first_rows('Bus bandwidth', 1)[0]} GB/s", rows["busbw"][0])


def test_devices_and_groups(opened: Profiler) -> None:
    answer = answer_of(opened)
    grid = opened.grid(DEVICES)
    saved = list(csv.DictReader(io.StringIO(grid.export("CSV"))))
    for row, worker in zip(saved, answer["workers"], strict=True):
        (device,) = worker["devices"]
        assert (row["node"], row["process"], row["worker"]) == (worker["node"], worker["process"], worker["worker"])
        assert (row["name"], row["memory_bytes"]) == (device["name"], str(device["memory_bytes"]))
        assert row["compute_capability"] == device["compute_capability"]
        assert row["groups"] == "default_pg (0)"
    groups = opened.panel("Process groups and layout").get_by_role("table")
    assert [row[:1] + row[2:5] for row in rows_of(groups)] == [["default_pg (0)", "4", "4", "0–3"]]


def test_picking_a_rank_and_back(opened: Profiler) -> None:
    slider = chart(opened)
    slider.focus()
    opened.page.keyboard.press("End")
    opened.page.keyboard.press("Enter")
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank3")
    expect(opened.grid("Ranks").row("rank3")).to_have_attribute("aria-selected", "true")
    expect(opened.panel(OPERATIONS).get_by_role("button", name="Operations of rank3")).to_be_visible()
    back(opened.page)
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank0")
    opened.grid(DEVICES).row("rank1").click()
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank1")


def test_the_heat_map_is_a_picture_with_numbers(opened: Profiler) -> None:
    heat = opened.server.api("ranks/heatmap", run=GPU_RUN, metric="exposed_wait_ns")
    steps = ranks_of(opened)["steps"]
    panel = opened.panel("Ranks × steps")
    panel.get_by_role("radio", name="Exposed wait").click()
    picture = panel.get_by_role("img", name=re.compile("^Exposed wait of 4 ranks"))
    text = picture.get_attribute("aria-label") or ""
    found = re.search(rf"of 4 ranks in {len(steps)} steps, from (.+?) to (.+?)\. ", text)
    assert found
    assert numbers.all_same([found[1], found[2]], [min(heat["values"]), max(heat["values"])])
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box
    # The second cell of the last row; above the cells is the name of the axis, below them are the steps and the scale.
    place = {"x": 68 + (box["width"] - 78) * 1.5 / len(steps), "y": 20 + 3.5 * (box["height"] - 86) / 4}
    picture.hover(position=place)
    said = panel.get_by_text(re.compile(rf"^Rank 3, step {steps[1]}: "))
    expect(said).to_be_visible()
    assert numbers.same(said.inner_text().split(": ")[1], heat["values"][3 * len(steps) + 1])
    picture.click(position=place)
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank3")
    expect(opened.picker("Numbers of")).to_have_accessible_name(f"Numbers of step {steps[1]}")
    opened.ui.get_by_role("button", name=f"Show step {steps[1]} of rank3").click()
    expect(opened.heading("Steps")).to_be_visible()


def test_the_heat_map_by_keyboard(opened: Profiler) -> None:
    answer = ranks_of(opened)
    heat = opened.server.api("ranks/heatmap", run=GPU_RUN, metric="own_ns")
    panel = opened.panel("Ranks × steps")
    picture = panel.get_by_role("slider")
    opened.panel("Own time by node, from the median").get_by_role("slider").focus()
    tab_to(opened.page, picture)
    for key in ("ArrowDown", "ArrowDown", "End", "ArrowLeft", "ArrowRight", "ArrowRight"):
        opened.page.keyboard.press(key)
    said = picture.get_attribute("aria-valuetext") or ""
    name, _, shown = said.partition(": ")
    assert name == f"Rank 2, step {answer['steps'][-1]}"
    assert numbers.same(shown, heat["values"][3 * heat["steps"] - 1])
    expect(panel.get_by_text(said, exact=True)).to_be_visible()
    expect(panel.locator(".chart-mark.reached path")).to_be_visible()
    opened.page.keyboard.press("Enter")
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank2")


def test_the_heat_map_as_a_table(opened: Profiler) -> None:
    heat = opened.server.api("ranks/heatmap", run=GPU_RUN, metric="own_ns")
    rows = as_table(opened.panel("Ranks × steps"))
    assert [row[0] for row in rows] == ["0", "1", "2", "3"]
    assert numbers.all_same([cell for row in rows for cell in row[1:]], heat["values"])


@pytest.mark.parametrize("title", ["Computation/Communication Overview", "Synchronizing/Communication Overview"])
def test_a_picture_as_a_table(opened: Profiler, title: str) -> None:
    workers = answer_of(opened)["workers"]
    rows = as_table(opened.panel(title))
    assert [row[0] for row in rows] == [str(worker["rank"]) for worker in workers]
    parts = (
        ("computation_ns", "overlap_ns", "communication_only_ns", "other_ns")
        if title.startswith("Comp")
        else ("transfer_ns", "wait_ns")
    )
    opened.page.set_viewport_size({"width": 1280, "height": 900})
    head = opened.panel(title).get_by_role("columnheader", name="Rank", exact=True)
    assert head.evaluate("(e) => e.getClientRects()[0].height") < 60, (
        "the head of the first column is in one line or two"
    )
    for row, worker in zip(rows, workers, strict=True):
        steps = worker["steps"]
        means = [sum(steps[part]) / len(steps["names"]) for part in parts]
        assert numbers.all_same(row[1:], [sum(means), *means])


def test_the_address_is_the_view(on_its_own: Profiler) -> None:
    on_its_own.open(
        v="distributed",
        r=GPU_RUN,
        k="rank1",
        t="5",
        p="slowest",
        c="percent",
        m="wait_ns",
        d="rank2",
        q2="rank<3",
        h="node",
    )
    expect(on_its_own.picker("Numbers of")).to_have_accessible_name("Numbers of step 5")
    for group, choice in (
        ("Order", "Longest first"),
        ("Scale", "Percent"),
        ("Colour", "Exposed wait"),
        ("Rows by", "Node"),
    ):
        expect(on_its_own.ui.get_by_role("radiogroup", name=group).get_by_role("radio", name=choice)).to_be_checked()
    expect(on_its_own.panel(OPERATIONS).get_by_role("button", name="Operations of rank2")).to_be_visible()
    expect(on_its_own.grid("Ranks").count).to_have_text("3 of 4 rows")


# ---- many, few and missing ranks


def test_a_run_without_communication_says_so(on_its_own: Profiler) -> None:
    on_its_own.open(v="distributed", r=CPU_RUN)
    panel = on_its_own.panel(OVERLAP)
    expect(panel.get_by_text("No communication between ranks was found")).to_be_visible()
    expect(panel.get_by_text("tensorboard_trace_handler")).to_be_visible()
    expect(on_its_own.ui.get_by_role("alert")).to_have_count(0)
    on_its_own.choose("Run", GPU_RUN)
    expect(on_its_own.grid("Ranks").count).to_be_visible()


def test_usable_by_everybody(axe: Axe) -> None:
    profiler = axe.profiler
    profiler.open(v="distributed", r=GPU_RUN, k="rank2")
    expect(profiler.grid("Ranks").count).to_be_visible()
    axe.look("a GPU run")
    profiler.panel(OVERLAP).get_by_role("button", name="About").click()
    axe.look("help")
    profiler.page.keyboard.press("Escape")
    profiler.picker("Numbers of").click()
    axe.look("list of steps")
    profiler.page.keyboard.press("Escape")
    profiler.choose("Run", CPU_RUN)
    expect(profiler.ui.get_by_text("No communication between ranks was found")).to_be_visible()
    axe.look("without communication")
    axe.check()
