"""The Steps view, with the numbers of /api/overview."""

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
from tests.browser.axe import Axe
from tests.browser.conftest import Keep, OpenPage
from tests.browser.history import back
from tests.browser.profiler import GPU_RUN, Profiler, as_table, definition
from tests.browser.servers import Server
from tests.events import Event, annotation, kernel, launch, memory, op
from tests.tiny import wait_until

CHART = "Time of each step"
MANY = 3000
SLOW = (700, 2222)
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def training(steps: int, slow: tuple[int, ...] = ()) -> list[Event]:
    """Steps of 1,000 µs with a kernel of 400; the data loader of the slow ones takes 900 longer than its 100."""
    events: list[Event] = []
    at = 0
    for step in range(steps):
        wait = 1000 if step in slow else 100
        events += [
            annotation(f"ProfilerStep#{step}", at, 900 + wait),
            annotation(LOADER, at + 5, wait),
            op("aten::mm", at + wait + 50, 500),
            launch(at + wait + 60, step + 1),
            kernel(at + wait + 100, 400, step + 1),
        ]
        at += 900 + wait
    return events


@pytest.fixture
def serve_events(tmp_path: Path, serve_logs: Callable[[Path], Server], page: Page) -> Callable[..., Profiler]:
    """`serve_events(run=events, …)`: the page of a server over hand-made traces, each a run of one worker `w`."""

    def serve(**runs: list[Event]) -> Profiler:
        for run, events in runs.items():
            (tmp_path / "logs" / run).mkdir(parents=True)
            (tmp_path / "logs" / run / "w.1.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
        server = serve_logs(tmp_path / "logs")
        server.wait_for_traces()
        return Profiler(page, server)

    return serve


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="steps", r=GPU_RUN, k="rank0")
    expect(on_its_own.grid("Steps").count).to_be_visible()
    return on_its_own


def chart(profiler: Profiler) -> Locator:
    return profiler.panel(CHART).get_by_role("slider", name=CHART)


def drag(profiler: Profiler, left: float, right: float) -> None:
    """Over the chart, between two shares of its plot."""
    chart(profiler).scroll_into_view_if_needed()
    box = chart(profiler).bounding_box()
    assert box
    start, width = box["x"] + 68, box["width"] - 78
    mouse = profiler.page.mouse
    mouse.move(start + left * width, box["y"] + 100)
    mouse.down()
    mouse.move(start + (left + right) / 2 * width, box["y"] + 110)
    mouse.move(start + right * width, box["y"] + 100)
    mouse.up()


def answer_of(profiler: Profiler, run: str = GPU_RUN, worker: str = "rank0") -> dict[str, Any]:
    answer: dict[str, Any] = profiler.server.api("overview", run=run, worker=worker)["steps"]
    return answer


def test_tiles(opened: Profiler) -> None:
    durations = answer_of(opened)["duration_ns"]
    tiles = opened.ui.get_by_role("main")
    for label, exact in (
        ("Steps", len(durations)),
        ("Median", statistics.median(durations)),
        ("Min", min(durations)),
        ("Max", max(durations)),
        ("Outliers", 0),
    ):
        assert numbers.same(definition(tiles, label).inner_text(), exact), label


def test_the_table_is_the_answer(opened: Profiler) -> None:
    steps = answer_of(opened)
    saved = list(csv.DictReader(io.StringIO(opened.grid("Steps").export("CSV"))))
    for key, values in {
        "name": steps["names"],
        "start_ns": steps["start_ns"],
        "duration_ns": steps["duration_ns"],
        **steps["category_ns"],
    }.items():
        assert [row[key] for row in saved] == [str(value) for value in values], key
    for key in ("busy", "computing", "exposed_communication"):
        shown = [float(row[f"{key}_percent"]) for row in saved]
        of_step = zip(steps["use"][f"{key}_ns"], steps["duration_ns"], strict=True)
        assert shown == pytest.approx([100 * part / whole for part, whole in of_step])
        assert all(0 < share <= 100 for share in shown)


def test_the_chart_tells_the_numbers_by_keyboard(opened: Profiler) -> None:
    steps = answer_of(opened)
    chart(opened).focus()
    for at, name in enumerate(steps["names"]):
        told = chart(opened).get_attribute("aria-valuetext") or ""
        assert told.startswith(f"Step {name}: ")
        assert numbers.same(told.split(": ")[1].split(",")[0], steps["duration_ns"][at])
        found = re.search(r"Communication ([\d.,]+ \S+?)(?:,|$)", told)
        assert found
        assert numbers.same(found[1], steps["category_ns"]["communication"][at])
        opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("Home")
    opened.page.keyboard.press("Enter")
    expect(opened.inspector.get_by_role("heading", name=steps["names"][0], exact=True)).to_be_visible()


def test_percent_shows_shares_in_the_table(opened: Profiler) -> None:
    grid = opened.grid("Steps")
    expect(grid.header("Kernel")).to_contain_text("µs")
    opened.switch("Scale", "Percent")
    expect(grid.header("Kernel %")).to_be_visible()
    expect(grid.header("Kernel")).not_to_contain_text("µs")
    steps = answer_of(opened)
    shares = [part / whole for part, whole in zip(steps["category_ns"]["kernel"], steps["duration_ns"], strict=True)]
    assert numbers.all_same([f"{text} %" for text in grid.first_rows("Kernel %")], shares)


def test_outliers_and_what_makes_them_slow(serve_events: Callable[..., Profiler]) -> None:
    profiler = serve_events(run=training(40, slow=(7, 22))).open(v="steps")
    panel = profiler.panel("Outliers")
    expect(panel.get_by_role("listitem")).to_have_count(2)
    expect(panel).to_contain_text("2 steps took longer than 1.05 ms")
    first = panel.get_by_role("listitem").first
    expect(first).to_contain_text("1.9 ms")
    expect(first).to_contain_text("+900 µs (90.0 %)")
    expect(first).to_contain_text("DataLoader +900 µs")
    assert numbers.same(definition(profiler.ui.get_by_role("main"), "Outliers").inner_text(), 2)

    first.get_by_role("button", name="step 7").click()
    inspector = profiler.inspector
    expect(inspector.get_by_role("heading", name="7", exact=True)).to_be_visible()
    expect(inspector).to_contain_text("An outlier: DataLoader takes 900 µs more")
    assert definition(inspector, "Duration").inner_text() == "1.9 ms"
    assert definition(inspector, "Δ to median").inner_text() == "+900 µs"
    expect(profiler.grid("Steps").row("7")).to_have_attribute("aria-selected", "true")
    wait_until(lambda: profiler.state.get("sel") == "step:7", "the step in the address")


def test_a_step_leads_to_its_slices_and_back(serve_events: Callable[..., Profiler]) -> None:
    profiler = serve_events(run=training(10, slow=(7,))).open(v="steps", sel="step:7")
    profiler.inspector.get_by_role("button", name="Show in Trace").click()
    expect(profiler.heading("Trace")).to_be_visible()
    wait_until(lambda: profiler.state.get("t") == "7000000-8900000", "the time of the step in the address")
    # The step itself is selected, and the list has what was in it.
    expect(profiler.panel("Selection").get_by_role("heading", name="ProfilerStep#7")).to_be_visible()
    profiler.ui.get_by_role("button", name="List", exact=True).click()
    slices = profiler.panel("Longest slices")
    expect(slices.get_by_label("From (ms)")).to_have_value("7")
    expect(slices.get_by_role("row").filter(has_text="DataLoader")).to_have_count(1)
    profiler.inspector.get_by_role("button", name="Show in Steps").click()
    expect(profiler.panel(CHART)).to_be_visible()
    back(profiler.page)
    expect(profiler.heading("Trace")).to_be_visible()
    back(profiler.page)
    expect(profiler.panel(CHART)).to_be_visible()
    expect(profiler.inspector.get_by_role("heading", name="7", exact=True)).to_be_visible()


def test_thousands_of_steps(serve_events: Callable[..., Profiler], keep: Keep) -> None:
    profiler = serve_events(run=training(MANY, SLOW)).open(v="steps")
    panel = profiler.panel(CHART)
    steps = answer_of(profiler, "run", "w")
    assert len(steps["names"]) == MANY
    expect(panel.get_by_text("Each column is the mean of")).to_be_visible()
    columns = int(chart(profiler).get_attribute("aria-valuemax") or 0)
    assert 100 < columns < MANY
    # The extreme steps are in the text of their columns, not averaged away.
    chart(profiler).focus()
    for _ in range(columns):
        told = chart(profiler).get_attribute("aria-valuetext") or ""
        if "Longest 1.9 ms" in told:
            break
        profiler.page.keyboard.press("ArrowRight")
    else:
        raise AssertionError("the slow steps are in no column")
    keep("steps-thousands")

    drag(profiler, 0.2, 0.3)
    shown = panel.get_by_text(re.compile(rf"^[\d,]+–[\d,]+ of {MANY:,}"))
    expect(shown).to_be_visible()
    low, high = (int(number.replace(",", "")) for number in re.findall(r"[\d,]+", shown.inner_text())[:2])
    assert low == pytest.approx(0.2 * MANY, abs=40)
    assert high == pytest.approx(0.3 * MANY, abs=40)
    grid = profiler.grid("Steps")
    expect(grid.count).to_have_text(f"{high - low + 1} rows")
    expect(grid.first_row.get_by_role("gridcell").first).to_have_text(steps["names"][low - 1])
    expect(profiler.page).to_have_url(re.compile("t="))
    assert profiler.state["t"] == f"{low - 1}-{high}"

    profiler.page.reload()
    expect(grid.count).to_have_text(f"{high - low + 1} rows")
    profiler.switch("Order", "Duration")
    expect(grid.count).to_have_text(f"{MANY:,} rows")
    chart(profiler).focus()
    profiler.page.keyboard.press("Home")
    assert "Longest 1.9 ms" in (chart(profiler).get_attribute("aria-valuetext") or "")
    profiler.page.keyboard.press("Enter")
    expect(panel.get_by_text(f"of {MANY:,}")).to_be_visible()
    assert {int(name) for name in grid.first_rows("Step", 40)} >= set(SLOW)
    panel.get_by_role("button", name="Show all").click()
    expect(grid.count).to_have_text(f"{MANY:,} rows")


def test_the_address_is_the_view(open_page: OpenPage, alone: Server) -> None:
    profiler = Profiler(open_page(), alone)
    profiler.open(v="steps", r=GPU_RUN, k="rank1", m="percent", c="duration", t="1-4", q="name~5", sel="step:5")
    expect(profiler.panel(CHART).get_by_role("radio", name="Percent")).to_be_checked()
    expect(profiler.panel(CHART).get_by_role("radio", name="Duration")).to_be_checked()
    expect(profiler.panel(CHART).get_by_text("2–4 of 5")).to_be_visible()
    expect(profiler.grid("Steps").filter).to_have_value("name~5")
    expect(profiler.inspector.get_by_role("heading", name="5", exact=True)).to_be_visible()
    # What cannot be meant means everything.
    profiler.open(v="steps", r=GPU_RUN, m="x", c="y", t="9-2", sel="step:nothing")
    expect(profiler.grid("Steps").count).to_have_text("5 rows")
    expect(profiler.inspector).to_contain_text("This trace has no step of this name.")


def test_without_steps_it_says_why(serve_events: Callable[..., Profiler]) -> None:
    unmarked = [op("aten::mm", 0, 100), op("aten::add", 150, 50), op("aten::mm", 210, 100)]
    profiler = serve_events(unmarked=unmarked, instants=[memory(5, 1024, 1, 1024)], three=training(3))
    main = profiler.ui.get_by_role("main")
    profiler.open(v="steps", r="unmarked")
    expect(main.get_by_text("No steps are marked in this trace, so it is shown as one step.")).to_be_visible()
    expect(main.get_by_text("prof.step()")).to_be_visible()
    expect(profiler.grid("Steps").count).to_have_text("1 row")
    expect(profiler.panel("Outliers")).to_contain_text("fewer than three steps")
    # Another way to find them is at hand.
    ways = profiler.panel("Steps found by").get_by_role("button")
    ways.click()
    profiler.choose("Find steps by", "The whole trace as one step")
    expect(main.get_by_text("There is one step, so there is nothing to compare it with.")).to_be_visible()
    expect(main.get_by_text("No steps are marked")).to_have_count(0)

    profiler.open(v="steps", r="instants")
    expect(main.get_by_text("No steps were found in this trace")).to_be_visible()
    expect(main.get_by_text("prof.step()")).to_be_visible()
    ways.click()
    expect(profiler.picker("Find steps by")).to_be_visible()


def test_usable_by_everybody(axe: Axe) -> None:
    profiler = axe.profiler
    profiler.open(v="steps", r=GPU_RUN, sel="step:5", t="1-4")
    expect(profiler.inspector.get_by_role("table")).to_be_visible()
    axe.look("steps")
    profiler.panel("Outliers").get_by_role("button", name="About").click()
    axe.look("help")
    axe.check()


def test_the_picture_as_a_table(on_its_own: Profiler) -> None:
    on_its_own.open(v="steps", r=GPU_RUN, k="rank0")
    panel = on_its_own.panel("Time of each step")
    expect(panel.get_by_role("slider", name="Time of each step")).to_be_visible()
    rows = as_table(panel)
    steps = on_its_own.server.api("overview", run=GPU_RUN, worker="rank0")["steps"]
    assert [row[0] for row in rows] == steps["names"]
    assert numbers.all_same([row[1] for row in rows], steps["duration_ns"])
    panel.get_by_role("button", name=steps["names"][2], exact=True).click()
    expect(on_its_own.inspector).to_contain_text(steps["names"][2])
    panel.get_by_role("button", name="Show as chart").click()
    expect(panel.get_by_role("slider", name="Time of each step")).to_be_visible()
