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
from playwright.sync_api import Locator, Page, expect

from tests.browser import numbers
from tests.browser.conftest import Keep, OpenPage, StartServer
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of
from tests.browser.servers import Server
from tests.browser.test_accessibility import AXE, Axe
from tests.browser.test_keyboard import tab_to
from tests.tracegen import Config, write_run

OVERLAP = "Computation/Communication Overview"
WAITS = "Synchronizing/Communication Overview"
OPERATIONS = "Communication Operations Stats"
DEVICES = "Device Information"
PARTS = ("computation_ns", "overlap_ns", "communication_only_ns", "other_ns")
MANY = 64
SLOW = 41


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="distributed", r=GPU_RUN, k="rank0")
    expect(on_its_own.grid("Ranks").count).to_be_visible()
    return on_its_own


@pytest.fixture(scope="module")
def runs(start_for_all: StartServer, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """many: 64 small ranks, one of them slow; one: a rank alone; some: two of four, one of them shorter."""
    logs = tmp_path_factory.mktemp("ranks") / "logs"
    small = {"layers": 1, "stacks": False, "memory": False, "shapes": False}
    write_run(Config(ranks=MANY, steps=2, slow_rank=SLOW, **small), logs / "many")
    for run, kept in (("one", [1]), ("some", [0, 3])):
        write_run(Config(ranks=4, steps=3, **small), logs / run)
        for rank, file in enumerate(sorted((logs / run).iterdir())):
            if rank not in kept:
                file.unlink()
    shorter = sorted((logs / "some").iterdir())[1]
    name = shorter.name
    shorter.unlink()
    write_run(Config(ranks=4, steps=2, **small), logs / "spare")
    sorted((logs / "spare").iterdir())[3].rename(logs / "some" / name)
    for file in (logs / "spare").iterdir():
        file.unlink()
    (logs / "spare").rmdir()
    server = start_for_all("ranks", "torch_tb_profiler", "serve", str(logs))
    server.wait_for_traces()
    return server


def chart(profiler: Profiler, title: str = OVERLAP) -> Locator:
    return profiler.panel(title).get_by_role("slider", name=title)


def answer_of(profiler: Profiler, run: str = GPU_RUN) -> dict[str, Any]:
    answer: dict[str, Any] = profiler.server.api("distributed", run=run)
    return answer


def told(profiler: Profiler, title: str) -> list[dict[str, str]]:
    """What a chart says of each column, from left to right: the total and its parts."""
    slider = chart(profiler, title)
    slider.focus()
    profiler.page.keyboard.press("Home")
    found = []
    for at in range(int(slider.get_attribute("aria-valuemax") or 0)):
        if at:
            profiler.page.keyboard.press("ArrowRight")
        expect(slider).to_have_attribute("aria-valuenow", str(at + 1))
        text = slider.get_attribute("aria-valuetext") or ""
        name, total, *parts = re.split(r": |, ", text)
        pairs = [re.fullmatch(r"(.+?) (<?[\d.,]+ \S+)", part) for part in parts]
        found.append({"name": name, "total": total, **{pair[1]: pair[2] for pair in pairs if pair}})
    return found


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
    means = [{key: statistics.fmean(w["steps"][key]) for key in (*PARTS, "duration_ns")} for w in workers]
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


def test_many_ranks(page: Page, runs: Server, keep: Keep) -> None:
    profiler = Profiler(page, runs).open(v="distributed", r="many", k="rank0")
    answer = answer_of(profiler, "many")
    assert len(answer["workers"]) == MANY
    expect(profiler.panel("Who is waited for")).to_contain_text(f"Rank {SLOW} comes last")
    expect(profiler.grid("Ranks").count).to_have_text(f"{MANY} rows")
    keep("distributed-64-ranks")
    # The one that is waited for stands last where the longest operations come first.
    profiler.switch("Order", "Longest first")
    slider = chart(profiler, WAITS)
    slider.focus()
    page.keyboard.press("End")
    assert (slider.get_attribute("aria-valuetext") or "").startswith(f"Rank {SLOW}: ")
    # Pickers find a rank by its number.
    profiler.panel(OPERATIONS).get_by_role("button", name=re.compile("^Operations of ")).click()
    profiler.ui.get_by_role("combobox", name="Filter operations of").fill(f"rank{SLOW}")
    page.keyboard.press("Enter")
    expect(profiler.panel(OPERATIONS).get_by_role("button", name=f"Operations of rank{SLOW}")).to_be_visible()
    # Nothing is wider than the page.
    page.set_viewport_size({"width": 1280, "height": 900})
    main = profiler.ui.get_by_role("main")
    assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth")


def test_a_thousand_ranks(page: Page, runs: Server, keep: Keep) -> None:
    """An answer of 1,024 ranks, made of one of 64: the page is quick, and merges what has no room."""
    answer = runs.api("distributed", run="many")
    ranks = 1024

    def as_rank(rank: int) -> dict[str, Any]:
        base = answer["workers"][rank % MANY if rank == SLOW else rank % SLOW]
        place = {"worker": f"rank{rank}", "rank": rank, "world_size": ranks}
        return {**base, **place, "node": f"node{rank // 8}", "process": str(rank % 8)}

    answer["workers"] = [as_rank(rank) for rank in range(ranks)]
    rows = answer["operations"]["rows"]
    times = ranks // MANY
    answer["operations"]["rows"] = {key: values * times for key, values in rows.items()}
    answer["operations"]["rows"]["worker"] = [f"rank{i}" for i in range(len(rows["name"]) * times)]
    answer["groups"][0].update(ranks=list(range(ranks)), size=ranks, present=ranks)
    page.route("**/api/distributed*", lambda route: route.fulfill(json=answer))
    profiler = Profiler(page, runs).open(v="distributed", r="many", k="rank0")
    expect(profiler.panel("Who is waited for")).to_contain_text(f"Rank {SLOW} comes last")
    expect(profiler.panel(OVERLAP).get_by_text(re.compile(r"Each column is the mean of \d+ ranks"))).to_be_visible()
    expect(profiler.panel("Ranks × steps").get_by_text(re.compile("A cell shows the largest of"))).to_be_visible()
    expect(profiler.grid("Ranks").count).to_have_text("1,024 rows")
    assert page.locator("[role=row]").count() < 300, "rows are virtual"
    keep("distributed-1024-ranks")
    profiler.choose("Worker", "rank7")
    # Changing what is drawn takes no longer than a person notices.
    spent = page.evaluate(
        """async () => {
            const button = [...document.querySelectorAll('button')].find((b) => b.textContent === 'Longest first');
            const start = performance.now();
            button.click();
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            return performance.now() - start;
        }"""
    )
    assert spent < 1500


def test_one_rank_alone(page: Page, runs: Server) -> None:
    profiler = Profiler(page, runs).open(v="distributed", r="one")
    note = answer_of(profiler, "one")["meta"]["notes"][0]
    assert note["kind"] == "one_rank"
    main = profiler.ui.get_by_role("main")
    main.get_by_text("1 note about this data").click()
    expect(main.get_by_text(note["text"])).to_be_visible()
    expect(main.get_by_text("There is one trace only")).to_be_visible()
    assert definition(main, "Ranks").inner_text() == "1 of 4"
    assert definition(main, "Waiting").inner_text() == "–"
    expect(main.get_by_text("cannot be known from one rank")).to_be_visible()
    expect(main.get_by_text("no trace of ranks 0, 2, 3")).to_be_visible()
    expect(chart(profiler)).to_have_attribute("aria-valuemax", "1")
    expect(profiler.grid(OPERATIONS).count).to_be_visible()
    expect(profiler.panel("Ranks × steps")).to_have_count(0)


def test_missing_ranks_and_unequal_counts(page: Page, runs: Server) -> None:
    profiler = Profiler(page, runs).open(v="distributed", r="some")
    answer = answer_of(profiler, "some")
    kinds = {note["kind"] for note in answer["meta"]["notes"]}
    assert {"missing_ranks", "unequal_counts"} <= kinds
    main = profiler.ui.get_by_role("main")
    main.get_by_text("notes about this data").click()
    for note in answer["meta"]["notes"]:
        expect(main.get_by_text(note["text"])).to_be_visible()
    expect(main.get_by_text("no trace of ranks 1, 2")).to_be_visible()
    # A step that only one of them has.
    names = [worker["steps"]["names"] for worker in answer["workers"]]
    (only,) = set(names[0]) ^ set(names[1])
    profiler.choose("Numbers of", f"step {only}")
    expect(main.get_by_text("1 rank has no such step")).to_be_visible()
    assert "not recorded" in {column["total"] for column in told(profiler, OVERLAP)}


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
