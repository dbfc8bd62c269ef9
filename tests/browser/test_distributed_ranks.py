"""The Distributed view with many, few and missing ranks."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Keep, StartServer
from tests.browser.distributed import OPERATIONS, OVERLAP, answer_of, chart, ranks_of, told
from tests.browser.profiler import Profiler, definition
from tests.browser.servers import Server
from tests.tiny import wait_until
from tests.tracegen import Config, Job, write_job, write_run

MANY = 64
SLOW = 10


@pytest.fixture(scope="module")
def runs(start_for_all: StartServer, many_ranks: Path, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """many: the sample of 64 ranks; one: a rank alone; some: two of four, one of them shorter; shards: FSDP."""
    logs = tmp_path_factory.mktemp("ranks") / "logs"
    shutil.copytree(many_ranks, logs / "many")
    small = {"layers": 1, "stacks": False, "memory": False, "shapes": False}
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
    write_job(Job(dp=4, layers=2, fsdp=True, steps=3), logs / "shards")
    server = start_for_all("ranks", "torch_tb_profiler", "serve", str(logs))
    server.wait_for_traces()
    return server


def test_many_ranks(page: Page, runs: Server, keep: Keep) -> None:
    profiler = Profiler(page, runs).open(v="distributed", r="many", k="rank0")
    answer = ranks_of(profiler, "many")
    assert answer["tiles"]["present"] == MANY
    main = profiler.ui.get_by_role("main")
    assert definition(main, "Ranks").inner_text() == f"{MANY} of {MANY}"
    panel = profiler.panel("Slow ranks")
    expect(panel.get_by_role("row", name=re.compile(f"^Rank {SLOW} "))).to_be_visible()
    expect(profiler.grid("Ranks").count).to_have_text(f"{MANY} rows")
    expect(profiler.panel("Process groups and layout")).to_contain_text("Tensor parallel 2")
    expect(profiler.panel(f"Pipeline stages, step {answer['pipeline']['step']}").get_by_role("slider")).to_be_visible()
    expect(profiler.panel("Expert balance").get_by_role("table")).to_be_visible()
    keep("distributed-64-ranks")
    # Pickers find a rank by its number.
    profiler.panel(OPERATIONS).get_by_role("button", name=re.compile("^Operations of ")).click()
    profiler.ui.get_by_role("combobox", name="Filter operations of").fill(f"rank{SLOW}")
    page.keyboard.press("Enter")
    expect(profiler.panel(OPERATIONS).get_by_role("button", name=f"Operations of rank{SLOW}")).to_be_visible()
    # Nothing is wider than the page.
    page.set_viewport_size({"width": 1280, "height": 900})
    wait_until(lambda: main.evaluate("(main) => main.scrollWidth <= main.clientWidth"), "the width of the window")


def test_a_thousand_ranks(page: Page, runs: Server, keep: Keep) -> None:
    """Answers of 1,024 ranks, made of those of 64: lines of the heat map are shared, rows are virtual."""
    times = 1024 // MANY
    answer = runs.api("ranks", run="many")
    ranks = answer["ranks"]
    answer["ranks"] = {key: values * times for key, values in ranks.items()}
    answer["ranks"].update(
        worker=[f"rank{rank}" for rank in range(1024)],
        rank=list(range(1024)),
        node=[rank // 8 for rank in range(1024)],
        host=[f"node{rank // 8}" for rank in range(1024)],
    )
    answer["tiles"].update(present=1024, expected=1024)
    heat = runs.api("ranks/heatmap", run="many", metric="step_ns")
    heat.update(values=heat["values"] * times, ranks=1024)
    page.route("**/api/ranks?*", lambda route: route.fulfill(json=answer))
    page.route("**/api/ranks/heatmap?*", lambda route: route.fulfill(json=heat))
    profiler = Profiler(page, runs).open(v="distributed", r="many", k="rank0")
    expect(profiler.panel("Ranks × steps").get_by_text("Up to 3 ranks share a line.")).to_be_visible()
    expect(profiler.grid("Ranks").count).to_have_text("1,024 rows")
    expect(profiler.ui.get_by_role("button", name="Show the details of 1,024 ranks")).to_be_visible()
    assert page.locator("[role=row]").count() < 300, "rows are virtual"
    keep("distributed-1024-ranks")


def test_one_rank_alone(page: Page, runs: Server) -> None:
    profiler = Profiler(page, runs).open(v="distributed", r="one")
    main = profiler.ui.get_by_role("main")
    assert definition(main, "Ranks").inner_text() == "1 of 4"
    assert definition(main, "Exposed wait").inner_text() == "–"
    expect(main.get_by_text("Only one rank was read, so waiting cannot be measured").first).to_be_visible()
    expect(main.get_by_text("Waiting 0")).to_have_count(0)
    expect(chart(profiler)).to_have_attribute("aria-valuemax", "1")
    expect(profiler.grid(OPERATIONS).count).to_be_visible()
    expect(profiler.panel("Ranks × steps")).to_have_count(0)


def test_missing_ranks_and_unequal_counts(page: Page, runs: Server) -> None:
    profiler = Profiler(page, runs).open(v="distributed", r="some")
    answer = answer_of(profiler, "some")
    kinds = {note["kind"] for note in answer["meta"]["notes"]}
    assert {"missing_ranks", "unequal_counts"} <= kinds
    main = profiler.ui.get_by_role("main")
    # Below the answer for all ranks, the details say what they lack.
    expect(chart(profiler)).to_be_visible()
    main.get_by_text(re.compile("notes? about this data")).last.click()
    for note in answer["meta"]["notes"]:
        expect(main.get_by_text(note["text"])).to_be_visible()
    expect(main.get_by_text("2 missing")).to_be_visible()
    # A step that only one of them has.
    names = [worker["steps"]["names"] for worker in answer["workers"]]
    (only,) = set(names[0]) ^ set(names[1])
    profiler.choose("Numbers of", f"step {only}")
    expect(main.get_by_text("1 rank has no such step")).to_be_visible()
    assert "not recorded" in {column["total"] for column in told(profiler, OVERLAP)}


# ---- numbers lead to the event behind them


def assert_event(profiler: Profiler, worker: str, row: int) -> None:
    expect(profiler.heading("Trace")).to_be_visible()
    expect(profiler.picker("Worker")).to_have_accessible_name(f"Worker {worker}")
    expect(profiler.page).to_have_url(re.compile(rf"\b{row}\b"))


@pytest.mark.parametrize(
    ("run", "answer", "title"), [("many", "moe", "Expert balance"), ("shards", "fsdp", "Sharded parameters")]
)
def test_a_group_leads_to_its_event(page: Page, runs: Server, run: str, answer: str, title: str) -> None:
    profiler = Profiler(page, runs).open(v="distributed", r=run, k="rank0")
    found = runs.api("ranks", run=run)[answer][0]
    profiler.panel(title).get_by_role("table").get_by_role("button", name=found["group"]).first.click()
    assert_event(profiler, found["worker"], found["row"])


def test_a_span_of_a_stage_leads_to_its_event(page: Page, runs: Server) -> None:
    profiler = Profiler(page, runs).open(v="distributed", r="many", k="rank0")
    pipeline = runs.api("ranks", run="many")["pipeline"]
    picture = profiler.panel(f"Pipeline stages, step {pipeline['step']}").get_by_role("slider")
    picture.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    first = pipeline["stages"][0]
    assert_event(profiler, first["worker"], first["spans"][0]["row"])


def test_a_bubble_leads_to_its_step(page: Page, runs: Server) -> None:
    profiler = Profiler(page, runs).open(v="distributed", r="many", k="rank0")
    pipeline = runs.api("ranks", run="many")["pipeline"]
    panel = profiler.panel(f"Pipeline stages, step {pipeline['step']}")
    last = pipeline["stages"][-1]
    panel.get_by_role("button", name=re.compile(f"^stage {last['stage']}: ")).click()
    expect(profiler.heading("Steps")).to_be_visible()
    expect(profiler.picker("Worker")).to_have_accessible_name(f"Worker {last['worker']}")
