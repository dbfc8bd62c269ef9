"""The Distributed view, with the numbers of /api/distributed."""

from __future__ import annotations

import csv
import io
import json
import re
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import numbers
from tests.browser.conftest import OpenPage
from tests.browser.distributed import OPERATIONS, OVERLAP, WAITS, answer_of, chart, told
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of
from tests.browser.servers import Server
from tests.browser.test_accessibility import AXE, Axe
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
    workers = answer_of(opened)["workers"]
    means = [
        {key: statistics.fmean(w["steps"][key]) for key in (*PARTS, "exposed_communication_ns", "duration_ns")}
        for w in workers
    ]
    main = opened.ui.get_by_role("main")
    assert definition(main, "Ranks").inner_text() == "4 of 4"
    assert numbers.same(definition(main, "Step time").inner_text(), statistics.median(m["duration_ns"] for m in means))
    exposed = statistics.median(m["exposed_communication_ns"] / m["duration_ns"] for m in means)
    assert numbers.same(definition(main, "Exposed communication").inner_text(), exposed)


def test_the_table_of_ranks(opened: Profiler) -> None:
    workers = {worker["worker"]: worker["steps"] for worker in answer_of(opened)["workers"]}
    saved = list(csv.DictReader(io.StringIO(opened.grid("Ranks").export("CSV"))))
    assert {row["worker"] for row in saved} == workers.keys()
    for row in saved:
        for part in (*PARTS, "transfer_ns", "wait_ns"):
            assert float(row[part]) == pytest.approx(statistics.fmean(workers[row["worker"]][part]))


def test_who_is_waited_for(opened: Profiler) -> None:
    """Rank 2 of the sample loses 7 ms in every step."""
    remark = opened.panel("Who is waited for")
    expect(remark).to_contain_text("Rank 2 comes last")
    expect(remark).to_contain_text("(Other)")
    remark.get_by_role("button", name="Show it in Operator").click()
    expect(opened.heading("Operator")).to_be_visible()
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank2")


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
    groups = opened.panel("Process groups").get_by_role("table")
    assert rows_of(groups) == [["default_pg (0)", "4", "4", "0–3"]]


def test_picking_a_rank_and_back(opened: Profiler) -> None:
    slider = chart(opened)
    slider.focus()
    opened.page.keyboard.press("End")
    opened.page.keyboard.press("Enter")
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank3")
    expect(opened.grid("Ranks").row("rank3")).to_have_attribute("aria-selected", "true")
    expect(opened.panel(OPERATIONS).get_by_role("button", name="Operations of rank3")).to_be_visible()
    opened.page.go_back()
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank0")
    opened.grid(DEVICES).row("rank1").click()
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank1")


def test_the_heat_map_is_a_picture_with_numbers(opened: Profiler) -> None:
    workers = answer_of(opened)["workers"]
    panel = opened.panel("Ranks × steps")
    panel.get_by_role("radio", name="Synchronizing").click()
    picture = panel.get_by_role("slider")
    waits = [value for worker in workers for value in worker["steps"]["wait_ns"]]
    text = picture.get_attribute("aria-label") or ""
    found = re.search(r"of 4 ranks in 5 steps, from (.+?) to (.+?)\. ", text)
    assert found
    assert numbers.all_same([found[1], found[2]], [min(waits), max(waits)])
    picture.scroll_into_view_if_needed()
    box = picture.bounding_box()
    assert box
    # The second cell of the last row.
    place = {"x": 68 + (box["width"] - 68) * 0.3, "y": 8 + 3.5 * (box["height"] - 30) / 4}
    picture.hover(position=place)
    expect(panel.get_by_text(re.compile(r"^rank3, step 4: "))).to_be_visible()
    shown = panel.get_by_text(re.compile(r"^rank3, step 4: ")).inner_text().split(": ")[1]
    assert numbers.same(shown, workers[3]["steps"]["wait_ns"][1])
    picture.click(position=place)
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank3")
    expect(opened.picker("Numbers of")).to_have_accessible_name("Numbers of step 4")


def test_the_heat_map_by_keyboard(opened: Profiler) -> None:
    worker = answer_of(opened)["workers"][2]
    panel = opened.panel("Ranks × steps")
    picture = panel.get_by_role("slider")
    tab_to(opened.page, picture)
    for key in ("ArrowDown", "ArrowDown", "End", "ArrowLeft", "ArrowRight", "ArrowRight"):
        opened.page.keyboard.press(key)
    said = picture.get_attribute("aria-valuetext") or ""
    name, _, shown = said.partition(": ")
    assert name == f"rank2, step {worker['steps']['names'][-1]}"
    assert numbers.same(shown, worker["steps"]["duration_ns"][-1])
    expect(panel.locator(".heat-foot")).to_contain_text(said)
    opened.page.keyboard.press("Enter")
    expect(opened.picker("Worker")).to_have_accessible_name("Worker rank2")


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
        v="distributed", r=GPU_RUN, k="rank1", t="5", p="slowest", c="percent", m="wait_ns", d="rank2", q2="rank<3"
    )
    expect(on_its_own.picker("Numbers of")).to_have_accessible_name("Numbers of step 5")
    for group, choice in (("Order", "Longest first"), ("Scale", "Percent"), ("Colour", "Synchronizing")):
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


def test_an_error_and_retry(on_its_own: Profiler) -> None:
    page = on_its_own.page
    page.route("**/api/distributed*", lambda route: route.fulfill(status=422, json={"error": "mark 4711"}))
    on_its_own.open(v="distributed", r=GPU_RUN)
    alert = on_its_own.ui.get_by_role("alert")
    expect(alert).to_contain_text("mark 4711")
    page.unroute("**/api/distributed*")
    alert.get_by_role("button", name="Retry").click()
    expect(on_its_own.grid("Ranks").count).to_be_visible()


def test_names_are_text(on_its_own: Profiler) -> None:
    image = "<img src=stolen onerror=alert(1)>"
    answer = json.loads(json.dumps(answer_of(on_its_own)).replace("NVIDIA H100 80GB HBM3", image))
    answer["workers"][0].update(worker=image, node=image, rank=None)
    answer["operations"]["rows"]["name"] = [image for _ in answer["operations"]["rows"]["name"]]
    answer["groups"][0]["description"] = image
    on_its_own.page.route("**/api/distributed*", lambda route: route.fulfill(json=answer))
    on_its_own.open(v="distributed", r=GPU_RUN, k="rank1")
    expect(on_its_own.grid(DEVICES).root.get_by_role("gridcell", name=image, exact=True).first).to_be_visible()
    chart(on_its_own).focus()
    assert image in (chart(on_its_own).get_attribute("aria-valuetext") or "")
    expect(on_its_own.grid(OPERATIONS).row(image)).to_be_visible()
    assert on_its_own.page.locator("img").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_usable_by_everybody(open_page: OpenPage, alone: Server, repository: Path, theme: str) -> None:
    profiler = Profiler(open_page(color_scheme=theme), alone)
    axe = Axe(profiler, (repository / AXE).read_text())
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
