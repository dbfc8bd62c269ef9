"""A table of 100,000 rows, all in the browser. For those of which the server keeps the rows see test_tables.py."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.cost import MOST_TIMES_BARE, scroll_cost
from tests.browser.profiler import GPU_RUN, Grid, Profiler

ROWS = 100_000
MOST_ROWS_IN_THE_DOCUMENT = 2_000


def many(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with as many rows, each with other values."""
    rows = answer["rows"]
    numbers = {column["key"] for column in answer["columns"] if column["type"] == "number"}
    first = {key: values[0] for key, values in rows.items()}
    answer["rows"] = {
        key: [ROWS - at for at in range(ROWS)] if key in numbers else [value] * ROWS for key, value in first.items()
    }
    answer["rows"]["name"] = [f"operator {at}" for at in range(ROWS)]
    answer["meta"]["total"] = ROWS
    return answer


@pytest.fixture
def grid(on_its_own: Profiler) -> Grid:
    answer = many(on_its_own.server.api("operators", run=GPU_RUN, worker="rank0"))
    on_its_own.page.route("**/api/operators?*", lambda route: route.fulfill(json=answer))
    on_its_own.open(v="operators", r=GPU_RUN)
    grid = on_its_own.grid("Operators")
    expect(grid.count).to_have_text("100,000 rows", timeout=30_000)
    return grid


def assert_small(grid: Grid) -> None:
    assert 5 < grid.root.get_by_role("row").count() < MOST_ROWS_IN_THE_DOCUMENT


def test_scrolls_filters_and_sorts(grid: Grid) -> None:
    expect(grid.root).to_have_attribute("aria-rowcount", str(ROWS + 1))
    expect(grid.row("operator 0")).to_be_visible()
    assert_small(grid)
    grid.root.hover()
    grid.root.page.mouse.wheel(0, 28 * 5_000)
    expect(grid.row("operator 0")).to_have_count(0)
    expect(grid.row("operator 5000")).to_be_visible()
    assert_small(grid)
    grid.root.press("End")
    expect(grid.row(f"operator {ROWS - 1}")).to_be_visible()
    expect(grid.row(f"operator {ROWS - 1}")).to_have_attribute("aria-rowindex", str(ROWS + 1))
    assert_small(grid)

    grid.filter.fill("12345")
    expect(grid.count).to_have_text("1 of 100,000 rows")
    expect(grid.row("operator 12345")).to_be_visible()
    grid.filter.fill("calls<=10")
    expect(grid.count).to_have_text("10 of 100,000 rows")
    grid.filter.fill("")
    expect(grid.count).to_have_text("100,000 rows")
    grid.sort_by("Calls")
    grid.sort_by("Calls")
    expect(grid.row(f"operator {ROWS - 1}")).to_have_attribute("aria-rowindex", "2")
    assert_small(grid)


@pytest.mark.long
@pytest.mark.parametrize("rows_a_frame", [3, 10, 500])
def test_scrolling_costs_little(grid: Grid, rows_a_frame: int) -> None:
    """From slowly by the wheel to the scrollbar dragged along."""
    assert scroll_cost(grid, rows_a_frame) <= MOST_TIMES_BARE
