"""Through the levels of the comparison, into a part and out again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import events, tiny
from tests.browser.compare import (
    BASELINE,
    HERE,
    PART,
    ServeLogs,
    answer_of,
    open_compare,
    plain,
    trail,
)
from tests.browser.history import back, forward
from tests.browser.profiler import CPU_RUN, Profiler, as_table

INNER = "forward"


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    return open_compare(on_its_own)


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

    back(opened.page)
    expect(trail(opened).locator("[aria-current]")).to_have_text(PART)
    forward(opened.page)
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
