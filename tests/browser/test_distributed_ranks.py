"""The Distributed view with many, few and missing ranks."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Keep, StartServer
from tests.browser.distributed import OPERATIONS, OVERLAP, WAITS, answer_of, chart, told
from tests.browser.profiler import Profiler, definition
from tests.browser.servers import Server
from tests.tracegen import Config, write_run

MANY = 64


SLOW = 41


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
