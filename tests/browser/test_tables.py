"""What every table does, also those of which the browser has only the rows that somebody looks at."""

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

from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.conftest import Keep, OpenPage, StartServer, screenshot
from tests.browser.cost import MOST_TIMES_BARE, scroll_cost
from tests.browser.profiler import GPU_RUN, Grid, Profiler, as_table, definition
from tests.browser.servers import Server
from tests.many import write_many_launches
from tests.tiny import wait_until
from torch_tb_profiler.tables.query.columns import natural_key

LAUNCHES = 24_000
NAMES = 37
WHERE = {"run": "many", "worker": "w"}
BY_LAUNCH = {**WHERE, "group_by": "name_op_launch"}

Answer = dict[str, Any]
Rows = list[dict[str, Any]]


# ---- a table of the server's


@pytest.fixture(scope="session")
def many(start_for_all: StartServer, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Of a trace with more different launches than are sent at once, and one with as many names of kernels."""
    logs = tmp_path_factory.mktemp("many")
    write_many_launches(logs / "many" / "w.pt.trace.json", LAUNCHES, NAMES)
    write_many_launches(logs / "names" / "w.pt.trace.json", LAUNCHES, LAUNCHES)
    server = start_for_all("many", "torch_tb_profiler", "serve", str(logs))
    server.wait_for_traces()
    return server


@pytest.fixture(scope="session")
def everything(many: Server) -> Answer:
    answer: Answer = many.api("kernels", **BY_LAUNCH, limit="all")
    assert len(answer["rows"]["name"]) == answer["meta"]["total"] == LAUNCHES
    return answer


def rows_of(answer: Answer, *, like: Callable[[dict[str, Any]], bool], by: Callable[[dict[str, Any]], Any]) -> Rows:
    """The rows of an answer, filtered and sorted without any of our code."""
    keys = list(answer["rows"])
    rows = [dict(zip(keys, values, strict=True)) for values in zip(*answer["rows"].values(), strict=True)]
    return sorted(filter(like, rows), key=by)


@pytest.fixture
def large(page: Page, many: Server) -> Profiler:
    profiler = Profiler(page, many)
    profiler.open(v="kernels", r="many", g="name_op_launch")
    expect(profiler.grid("Kernels").count).to_have_text(f"{LAUNCHES:,} rows")
    return profiler


def row_at(grid: Grid, place: int) -> Locator:
    """The row at a place of the whole table, from 0."""
    return grid.root.locator(f"[aria-rowindex='{place + 2}']")


def shown(grid: Grid, place: int) -> list[str]:
    """What stands in a row, once it has come."""
    row = row_at(grid, place)
    expect(row).to_be_visible()
    expect(row).not_to_have_class(re.compile("waiting"))
    return [cell.strip() for cell in row.get_by_role("gridcell").all_inner_texts()]


def assert_row(grid: Grid, place: int, expected: dict[str, Any]) -> None:
    """By its grid, which no other row has."""
    assert expected["grid"] in shown(grid, place)
    assert expected["operator"] in shown(grid, place)


def hold(page: Page, address: str) -> list[Route]:
    """Requests that are answered when the test says so."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(re.compile(address), keep)
    return held


def largest_first(row: dict[str, Any]) -> Any:
    return -row["total_ns"]


def test_pages_come_as_they_are_looked_at(large: Profiler, everything: Answer, keep: Keep) -> None:
    grid = large.grid("Kernels")
    rows = rows_of(everything, like=lambda _: True, by=largest_first)
    expect(grid.root).to_have_attribute("aria-rowcount", str(LAUNCHES + 1))
    for place in range(5):
        assert_row(grid, place, rows[place])
    grid.root.hover()
    large.page.mouse.wheel(0, 28 * 7_000)
    for place in (7_000, 7_005):
        assert_row(grid, place, rows[place])
    grid.root.press("End")
    assert_row(grid, LAUNCHES - 1, rows[-1])
    keep("tables-large-end")
    grid.root.press("PageUp")
    assert_row(grid, LAUNCHES - 16, rows[-16])
    grid.root.press("Home")
    assert_row(grid, 0, rows[0])
    assert grid.root.get_by_role("row").count() < 100


def test_pages_that_only_fly_past_are_not_asked_for(large: Profiler) -> None:
    asked: list[str] = []
    large.page.on("request", lambda request: asked.append(request.url) if "offset=" in request.url else None)
    grid = large.grid("Kernels")
    grid.root.evaluate(
        """async (grid) => {
            for (let frame = 0; frame < 60; frame++) {
                grid.scrollTop += 28 * 300;
                await new Promise(requestAnimationFrame);
            }
        }"""
    )
    shown(grid, 60 * 300 + 3)
    assert len(asked) < 45, "of 90 pages; the slower the machine, the more"


def test_scrolling_costs_little(large: Profiler) -> None:
    assert scroll_cost(large.grid("Kernels"), 10) <= MOST_TIMES_BARE


def test_flying_past_costs_little(large: Profiler) -> None:
    """How many pages come meanwhile, each to be parsed and drawn, is a matter of the machine's pace: here none does."""
    held = hold(large.page, "offset=(?!0)")
    assert scroll_cost(large.grid("Kernels"), 100) <= MOST_TIMES_BARE
    for route in held:
        route.abort()


def test_sorts(large: Profiler, everything: Answer) -> None:
    grid = large.grid("Kernels")
    grid.sort_by("Name")
    expect(grid.header("Name")).to_have_attribute("aria-sort", "ascending")
    grid.header("Max").get_by_role("button").click(modifiers=["Shift"])
    expect(grid.header("Max")).to_have_attribute("aria-sort", "descending")
    rows = rows_of(everything, like=lambda _: True, by=lambda row: (natural_key(row["name"]), -row["max_ns"]))
    assert rows[0]["name"] == "gemm_0_kernel"
    assert_row(grid, 0, rows[0])
    assert "gemm_0_kernel" in shown(grid, 0)[0]
    grid.root.focus()
    grid.root.press("End")
    assert_row(grid, LAUNCHES - 1, rows[-1])
    assert "gemm_36_kernel" in shown(grid, LAUNCHES - 1)[0], "numbers count by their value"
    expect(large.page).to_have_url(re.compile(r"o=name(,|%2C)-max_ns"))


def test_filters(large: Profiler, everything: Answer) -> None:
    grid = large.grid("Kernels")
    grid.filter.fill("gemm_1 total>=30us")
    kept = rows_of(everything, like=lambda row: "gemm_1" in row["name"] and row["total_ns"] >= 30_000, by=largest_first)
    assert 100 < len(kept) < LAUNCHES / 2
    expect(grid.count).to_have_text(f"{len(kept):,} of {LAUNCHES:,} rows")
    assert_row(grid, 0, kept[0])

    grid.filter.fill(r"name~_3\d_ operator=aten::mm")
    kept = rows_of(
        everything,
        like=lambda row: row["name"].startswith("gemm_3") and len(row["name"]) == 14 and row["operator"] == "aten::mm",
        by=largest_first,
    )
    expect(grid.count).to_have_text(f"{len(kept):,} of {LAUNCHES:,} rows")
    assert_row(grid, 0, kept[0])

    grid.filter.fill("total>many")
    expect(large.ui.get_by_text("Still showing the last filter that worked.")).to_be_visible()
    expect(grid.count).to_have_text(f"{len(kept):,} of {LAUNCHES:,} rows")
    grid.filter.fill("nothing is called this")
    large.ui.get_by_role("button", name="Clear the filter").click()
    expect(grid.count).to_have_text(f"{LAUNCHES:,} rows")


def test_a_filter_by_a_column_that_the_browser_made(large: Profiler, everything: Answer) -> None:
    total = everything["meta"]["kernel_ns"]
    share = 30_000 / total * 100
    large.grid("Kernels").filter.fill(f"total_share>={share!r}")
    kept = sum(ns / total * 100 >= share for ns in everything["rows"]["total_ns"])
    assert 0 < kept < LAUNCHES
    expect(large.grid("Kernels").count).to_have_text(f"{kept:,} of {LAUNCHES:,} rows")


def test_link(large: Profiler, everything: Answer, many: Server, open_page: OpenPage) -> None:
    grid = large.grid("Kernels")
    grid.filter.fill("gemm_2")
    grid.sort_by("Grid")
    kept = rows_of(everything, like=lambda row: "gemm_2" in row["name"], by=lambda row: natural_key(row["grid"]))
    wait_until(lambda: kept[0]["grid"] in shown(grid, 0), "filtered and ordered rows")
    assert_row(grid, 0, kept[0])
    wait_until(lambda: {"gemm_2", "grid"} <= set(large.state.values()), "filter and order in the address")
    other = Profiler(open_page(), many)
    other.page.goto(large.page.url)
    expect(other.grid("Kernels").count).to_have_text(f"{len(kept):,} of {LAUNCHES:,} rows")
    expect(other.grid("Kernels").filter).to_have_value("gemm_2")
    expect(other.grid("Kernels").header("Grid")).to_have_attribute("aria-sort", "ascending")
    for place in (0, 5):
        assert_row(other.grid("Kernels"), place, kept[place])


def test_export_is_what_is_shown(large: Profiler, everything: Answer) -> None:
    grid = large.grid("Kernels")
    grid.filter.fill("gemm_1 total>=30us")
    expect(grid.count).to_have_text(re.compile(" of "))
    kept = rows_of(everything, like=lambda row: "gemm_1" in row["name"] and row["total_ns"] >= 30_000, by=largest_first)
    saved = list(csv.DictReader(io.StringIO(grid.export("CSV"))))
    assert [row["grid"] for row in saved] == [row["grid"] for row in kept]
    assert [row["total_ns"] for row in saved] == [str(row["total_ns"]) for row in kept]
    assert "shared_memory_bytes" not in saved[0]
    assert "total_share" in saved[0]

    grid.panel.get_by_role("button", name="Export").click()
    grid.panel.get_by_role("checkbox", name="With hidden columns").check()
    grid.panel.get_by_role("button", name="Export").click()
    rows = json.loads(grid.export("JSON"))
    # a file has whole names only
    keys = [key for key in everything["rows"] if key != "short_name"]
    assert [{key: row[key] for key in keys} for row in rows] == [{key: row[key] for key in keys} for row in kept]


def test_a_row_opens_and_is_selected(large: Profiler, everything: Answer) -> None:
    grid = large.grid("Kernels")
    grid.root.hover()
    large.page.mouse.wheel(0, 28 * 3_000)
    rows = rows_of(everything, like=lambda _: True, by=largest_first)
    assert_row(grid, 3_000, rows[3_000])
    row_at(grid, 3_000).click()
    name = rows[3_000]["name"]
    expect(large.inspector.get_by_role("heading", name=name, exact=True)).to_be_visible()
    row_at(grid, 3_000).get_by_role("button", name="Show details").click()
    launches = [row for row in rows if row["name"] == name]
    table = grid.root.get_by_role("table", name="By operator and launch")
    expect(table.get_by_role("row")).to_have_count(101)
    expect(grid.root.get_by_text(f"The 100 that take longest, of {len(launches)} different launches.")).to_be_visible()
    row_at(grid, 3_000).get_by_role("button", name="Hide details").click()
    expect(table).to_have_count(0)
    operators = large.inspector.get_by_role("table", name="By operator").get_by_role("row")
    expect(operators).to_have_count(1 + len({row["operator"] for row in launches}))


def test_what_the_first_page_does_not_have(page: Page, many: Server) -> None:
    """Charts and the inspector ask for what is not among the first rows."""
    profiler = Profiler(page, many)
    answer = many.api("kernels", run="names", worker="w", limit="all")
    names, times = answer["rows"]["name"], answer["rows"]["total_ns"]
    assert len(many.api("kernels", run="names", worker="w")["rows"]["name"]) < 2_000 < len(names)
    profiler.open(v="kernels", r="names", c="donut", sel=f"kernel:{names[-1]}")
    inspector = profiler.inspector
    expect(inspector.get_by_role("heading", name=names[-1], exact=True)).to_be_visible()
    assert numbers.same(definition(inspector, "Total").inner_text(), times[-1])
    expect(inspector.get_by_role("table", name="By operator").get_by_role("row")).to_have_count(2)
    slices = as_table(profiler.panel("Total time of kernels"))
    assert [row[0] for row in slices[:10]] == names[:10]
    assert slices[10][0] == f"{LAUNCHES - 10} others"
    assert numbers.same(slices[10][1], sum(times[10:]))
    share = profiler.panel("Tensor cores").get_by_role("listitem").last.inner_text()
    assert numbers.same(re.findall(r"[\d.]+ [mµn]?s", share)[0], sum(times))


def test_what_cannot_be_fetched_is_said(large: Profiler, everything: Answer) -> None:
    page = large.page
    grid = large.grid("Kernels")
    broken = re.compile(r"offset=(?!0)")
    page.route(broken, lambda route: route.fulfill(status=500, json={"error": "the disk is gone"}))
    grid.root.press("End")
    alert = grid.panel.get_by_role("alert")
    expect(alert.get_by_text("the disk is gone")).to_be_visible()
    expect(row_at(grid, LAUNCHES - 1)).to_have_class(re.compile("waiting"))
    page.unroute(broken)
    alert.get_by_role("button", name="Retry").click()
    rows = rows_of(everything, like=lambda _: True, by=largest_first)
    assert_row(grid, LAUNCHES - 1, rows[-1])
    expect(alert).to_have_count(0)


def test_a_slow_answer_is_waited_for_with_the_old_rows(large: Profiler, keep: Keep) -> None:
    held = hold(large.page, "filter=gemm_7")
    grid = large.grid("Kernels")
    before = shown(grid, 0)
    grid.filter.fill("gemm_7")
    expect(grid.root).to_have_attribute("aria-busy", "true")
    assert shown(grid, 0) == before
    keep("tables-waiting")
    held[0].continue_()
    expect(grid.root).to_have_attribute("aria-busy", "false")
    kept = len(range(7, LAUNCHES, NAMES))
    expect(grid.count).to_have_text(f"{kept:,} of {LAUNCHES:,} rows")


def test_anybody_can_use_it(page: Page, many: Server, output: Path) -> None:
    profiler = Profiler(page, many)
    profiler.open(v="kernels", r="many", g="name_op_launch", q="gemm_1")
    grid = profiler.grid("Kernels")
    shown(grid, 0)
    held = hold(page, "offset=(?!0)")
    grid.root.press("End")
    expect(row_at(grid, 5_000)).to_have_count(0)
    expect(grid.root.locator(".waiting").first).to_be_visible()
    grid.panel.get_by_role("button", name="Export").click()
    axe = Axe(profiler)
    axe.look("rows that are waited for", lambda theme: screenshot(page, output, f"tables-large-{theme}"))
    axe.check()
    for route in held:
        route.abort()


# ---- a table of the browser's own


@pytest.fixture
def operators(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="operators", r=GPU_RUN, k="rank0")
    expect(on_its_own.grid("Operators").count).to_be_visible()
    return on_its_own
