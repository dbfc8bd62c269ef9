"""What was alive, allocations and operators: the tables of the Memory view."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.memory import (
    CPU,
    asked,
    comes,
    cursor,
    curve_of,
    goes,
    open_allocations,
    open_memory,
    plot,
    range_of,
    saved,
    written,
)
from tests.browser.profiler import Profiler
from tests.browser.test_keyboard import tab_to


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    return open_memory(on_its_own)


@pytest.fixture
def of_many(on_its_own: Profiler) -> Profiler:
    return open_allocations(on_its_own)


def count_of(profiler: Profiler) -> Locator:
    """ "8,694 rows" above the allocations."""
    return profiler.panel("Allocations").get_by_role("status").filter(has_text="rows")


def test_alive_at_the_peak(opened: Profiler) -> None:
    answer = asked(opened, "alive", device="GPU0", limit=10000)
    meta, rows = answer["meta"], answer["rows"]
    panel, grid = opened.panel("Live memory blocks"), opened.grid("Live memory blocks")
    expect(panel.get_by_text("At the peak, 2.16 ms:")).to_be_visible()
    for words, exact in (("in known blocks", meta["known_bytes"]), ("before the recording", meta["unknown_bytes"])):
        part = panel.get_by_role("listitem").filter(has_text=words)
        expect(part.get_by_role("strong").or_(part.locator("strong"))).to_have_attribute("title", f"{exact:,} bytes")
    assert meta["known_bytes"] + meta["unknown_bytes"] == meta["at"]["allocated"]
    expect(grid.count).to_have_text(f"{meta['total']} rows")
    table = saved(opened, "Live memory blocks")
    for key in ("operator", "parent", "bytes", "alloc_ns", "release_ns", "duration_ns"):
        assert [row[key] for row in table] == written(rows[key]), key
    assert [row["share"] for row in table][:1] == [str(rows["bytes"][0] / meta["at"]["allocated"] * 100)]


def test_a_click_sets_the_moment(opened: Profiler) -> None:
    box = plot(opened).bounding_box()
    assert box is not None
    plot(opened).click(position={"x": box["width"] / 2, "y": 40})
    moment = int(comes(opened, "c"))
    meta = asked(opened, "alive", device="GPU0", at_ns=moment)["meta"]
    panel = opened.panel("Live memory blocks")
    expect(panel.locator("strong").first).to_have_attribute("title", f"{moment:,} ns")
    expect(opened.grid("Live memory blocks").count).to_have_text(f"{meta['total']} rows")
    panel.get_by_role("button", name="Back to the peak").click()
    goes(opened, "c")
    expect(panel.locator("strong").first).to_contain_text("At the peak")


def test_arrow_keys_set_the_moment(opened: Profiler) -> None:
    page = opened.page
    tab_to(page, cursor(opened))
    expect(cursor(opened)).to_have_attribute("aria-valuetext", re.compile("^2.16 ms, Allocated 5.513 GiB, Reserved"))
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    moment = int(comes(opened, "c", cursor(opened).input_value()))
    assert moment > curve_of(opened)["peak"]["time_ns"]
    meta = asked(opened, "alive", device="GPU0", at_ns=moment)["meta"]
    panel = opened.panel("Live memory blocks")
    expect(panel.locator("strong").first).to_have_attribute("title", f"{moment:,} ns")
    in_use = panel.get_by_text(re.compile("[KMG]iB in use"))
    expect(in_use).to_have_attribute("title", f"{meta['at']['allocated']:,} bytes")
    page.keyboard.press("Escape")
    goes(opened, "c")


def test_alive_by_operator_adds_up(opened: Profiler) -> None:
    opened.switch("Table", "Alive by operator")
    answer = asked(opened, "alive", device="GPU0", limit=10000)
    rows, meta = answer["rows"], answer["meta"]
    sums: dict[tuple[str, str], list[int]] = {}
    for operator, parent, size in zip(rows["operator"], rows["parent"], rows["bytes"], strict=True):
        sums.setdefault((operator, parent), []).append(size)
    expect(opened.grid("Live memory blocks").header("Blocks")).to_be_visible()
    table = saved(opened, "Live memory blocks")
    shown = {(row["operator"], row["parent"]): row for row in table}
    before = shown.pop(("(allocated before the recording)", ""))
    assert before["bytes"] == str(meta["unknown_bytes"])
    assert {key: (row["blocks"], row["bytes"]) for key, row in shown.items()} == {
        key: (str(len(sizes)), str(sum(sizes))) for key, sizes in sums.items()
    }
    assert sum(int(row["bytes"]) for row in table) == meta["at"]["allocated"]


def test_a_block_leads_to_the_curve(opened: Profiler) -> None:
    rows = asked(opened, "alive", device="GPU0")["rows"]
    grid = opened.grid("Live memory blocks")
    grid.root.focus()
    opened.page.keyboard.press("ArrowRight")
    detail = grid.root.get_by_role("button", name="Zoom to its lifetime")
    tab_to(opened.page, detail)
    opened.page.keyboard.press("Enter")
    assert range_of(opened) == (rows["alloc_ns"][0], rows["release_ns"][0])
    grid.root.get_by_role("button", name=re.compile(r"^Set the moment to .*\(Released\)")).click()
    assert int(comes(opened, "c")) == rows["release_ns"][0]


def test_allocations_are_those_of_the_api(of_many: Profiler) -> None:
    found = asked(of_many, "events", CPU, device="CPU", limit="all")
    total = found["meta"]["total"]
    assert total > 2000
    expect(count_of(of_many)).to_have_text(f"{total:,} rows")  # nothing is hidden by itself
    table = saved(of_many, "Allocations")
    for key in ("operator", "parent", "bytes", "alloc_ns", "release_ns"):
        assert [row[key] for row in table] == written(found["rows"][key]), key


def test_allocations_in_order(of_many: Profiler) -> None:
    grid = of_many.grid("Allocations")
    grid.sort_by("Size")
    expect(grid.header("Size")).to_have_attribute("aria-sort", "descending")
    largest = asked(of_many, "events", CPU, device="CPU", sort="-bytes", limit="all")["rows"]
    assert largest["bytes"] == sorted(largest["bytes"], reverse=True)
    expect(grid.first_row).to_contain_text("8 MiB")
    assert [row["bytes"] for row in saved(of_many, "Allocations")] == written(largest["bytes"])
    grid.sort_by("Size")
    expect(grid.header("Size")).to_have_attribute("aria-sort", "ascending")
    expect(grid.first_row).not_to_contain_text("MiB")


def test_allocations_by_words_and_size(of_many: Profiler) -> None:
    total = asked(of_many, "events", CPU, device="CPU", limit=1)["meta"]["total"]
    of_many.grid("Allocations").filter.fill("Conv bytes>=64KB")
    asked_for = {"device": "CPU", "filter": "Conv bytes>=64KB", "search": "operator", "limit": "all"}
    found = asked(of_many, "events", CPU, **asked_for)
    assert 0 < found["meta"]["matched"] < total
    expect(count_of(of_many)).to_have_text(f"{found['meta']['matched']:,} of {total:,} rows")
    assert [row["bytes"] for row in saved(of_many, "Allocations")] == written(found["rows"]["bytes"])
    comes(of_many, "q", "Conv bytes>=64KB")


def test_operators_and_the_way_to_them(opened: Profiler) -> None:
    opened.switch("Table", "Operators")
    answer = asked(opened, "operators", device="GPU0")
    rows, meta = answer["rows"], answer["meta"]
    grid = opened.grid("Operators")
    expect(grid.count).to_have_text(f"{len(rows['name'])} rows")
    table = saved(opened, "Operators")
    for key in rows:
        assert [row[key] for row in table] == written(rows[key]), key
    sums = opened.panel("Operators").get_by_text(f"in {meta['all']['allocation_count']:,} allocations")
    expect(sums).to_be_visible()
    name = rows["name"][0]
    grid.row(name).click()
    opened.inspector.get_by_role("button", name="Show in Operator").click()
    expect(opened.heading("Operator")).to_be_visible()
    expect(opened.grid("Operators").row(name)).to_have_attribute("aria-selected", "true")
