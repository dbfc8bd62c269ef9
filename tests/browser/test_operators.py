"""The Operator view: its table does what tables do, with the numbers of /api/operators."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import numbers
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of

Answer = dict[str, Any]


def answer_of(profiler: Profiler, run: str = GPU_RUN, group_by: str = "name") -> Answer:
    worker = "rank0" if run == GPU_RUN else "worker0"
    answer: Answer = profiler.server.api("operators", run=run, worker=worker, group_by=group_by)
    return answer


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    """The view of the GPU run."""
    on_its_own.open(v="operators", r=GPU_RUN, k="rank0")
    expect(on_its_own.grid("Operators").count).to_be_visible()
    return on_its_own


@pytest.mark.parametrize(
    ("choice", "group_by", "column"),
    [("Operator", "name", "Name"), ("+ Input shape", "name_shape", "Input"), ("+ Call stack", "name_stack", "Call")],
)
def test_groups(opened: Profiler, choice: str, group_by: str, column: str) -> None:
    opened.switch("Group by", choice)
    answer = answer_of(opened, group_by=group_by)
    grid = opened.grid("Operators")
    expect(grid.count).to_have_text(f"{answer['meta']['total']} rows")
    expect(grid.root).to_have_attribute("aria-rowcount", str(answer["meta"]["total"] + 1))
    expect(grid.root.get_by_role("columnheader", name=re.compile(f"^{column}")).first).to_be_visible()
    assert grid.first_rows("Name", 8) == answer["rows"]["name"][:8]


def test_filter(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    grid = opened.grid("Operators")
    total = len(rows["name"])
    grid.filter.fill("flash calls>10")
    kept = [n for n, calls in zip(rows["name"], rows["calls"], strict=True) if "flash" in n.lower() and calls > 10]
    assert 0 < len(kept) < total
    expect(grid.count).to_have_text(f"{len(kept)} of {total} rows")
    assert sorted(grid.first_rows("Name")) == sorted(kept)

    grid.filter.fill("device_self>1ms")
    kept = [n for n, time in zip(rows["name"], rows["device_self_ns"], strict=True) if time > 1_000_000]
    expect(grid.count).to_have_text(f"{len(kept)} of {total} rows")

    grid.filter.fill("calls>many")
    expect(opened.ui.get_by_text("Still showing the last filter that worked.")).to_be_visible()
    expect(grid.count).to_have_text(f"{len(kept)} of {total} rows")

    grid.filter.fill("nothing is called this")
    opened.ui.get_by_role("button", name="Clear the filter").click()
    expect(grid.count).to_have_text(f"{total} rows")


def test_sort(opened: Profiler) -> None:
    calls = answer_of(opened)["rows"]["calls"]
    grid = opened.grid("Operators")
    expect(grid.header("Device self")).to_have_attribute("aria-sort", "descending")
    grid.sort_by("Calls")
    expect(grid.header("Calls")).to_have_attribute("aria-sort", "descending")
    assert [numbers.read(text) for text in grid.first_rows("Calls")] == sorted(calls, reverse=True)[:10]
    grid.sort_by("Calls")
    expect(grid.header("Calls")).to_have_attribute("aria-sort", "ascending")
    assert [numbers.read(text) for text in grid.first_rows("Calls")] == sorted(calls)[:10]


def test_select_shows_the_numbers(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    name = rows["name"][1]
    row = opened.grid("Operators").row(name)
    row.click()
    expect(row).to_have_attribute("aria-selected", "true")
    inspector = opened.inspector
    expect(inspector.get_by_role("heading", name=name, exact=True)).to_be_visible()
    for label, key in (("Calls", "calls"), ("Device self", "device_self_ns"), ("Host total", "host_total_ns")):
        shown = definition(inspector, label).inner_text()
        assert numbers.same(shown, rows[key][1]), f"{label}: {shown}"
    inspector.get_by_role("button", name="Show in GPU Kernel").click()
    expect(opened.heading("GPU Kernel")).to_be_visible()
    assert opened.state["q"] == f'operator="{name}"'


def test_expand_shows_stacks_and_kernels(opened: Profiler) -> None:
    name = "aten::addmm"
    where = {"run": GPU_RUN, "worker": "rank0", "name": name}
    stacks = opened.server.api("operators/stacks", **where)["rows"]
    kernels = opened.server.api("operators/kernels", **where)["rows"]
    grid = opened.grid("Operators")
    grid.row(name).get_by_role("button", name="Show details").click()

    expect(grid.root.get_by_role("heading", name="Call stacks")).to_be_visible()
    heads = grid.root.locator("summary")
    expect(heads).to_have_count(len(stacks["call_stack"]))
    assert [text.split(" ")[0] for text in heads.all_inner_texts()] == [str(calls) for calls in stacks["calls"]]
    frames = grid.root.get_by_role("list").first.get_by_role("listitem")
    assert [text.strip() for text in frames.all_inner_texts()] == stacks["call_stack"][0].split("\n")

    launched = rows_of(grid.root.get_by_role("table", name="Kernels it launched"))
    assert [row[0] for row in launched] == kernels["short_name"]
    assert [numbers.read(row[1]) for row in launched] == kernels["calls"]

    grid.row(name).get_by_role("button", name="Hide details").click()
    expect(grid.root.get_by_role("heading", name="Call stacks")).to_have_count(0)


def test_bars_and_donuts(opened: Profiler) -> None:
    answer = answer_of(opened)
    panel = opened.panel("Largest operators")
    panel.get_by_label("Top").fill("3")
    shown = as_table(panel)
    assert [row[0] for row in shown] == answer["rows"]["name"][:3]
    assert numbers.all_same([row[1] for row in shown], answer["rows"]["device_self_ns"][:3])
    assert numbers.all_same(
        [row[2] for row in shown], [ns / answer["meta"]["device_ns"] for ns in answer["rows"]["device_self_ns"][:3]]
    )

    panel.get_by_role("radiogroup", name="Metric").get_by_role("radio", name="Host total time").click()
    largest = max(answer["rows"]["host_total_ns"])
    assert numbers.same(rows_of(panel.get_by_role("table"))[0][1], largest)

    opened.switch("Chart", "Donuts")
    expect(panel.get_by_role("img")).to_have_count(5)
    expect(panel.get_by_role("heading", name="Blocked in API")).to_be_visible()
    for metric in ("Device self", "Device total", "Host self", "Host total"):
        expect(panel.get_by_role("heading", name=f"{metric} time")).to_be_visible()


def test_a_cpu_run_has_no_device_columns(on_its_own: Profiler) -> None:
    on_its_own.open(v="operators", r=CPU_RUN)
    grid = on_its_own.grid("Operators")
    expect(grid.count).to_have_text(f"{answer_of(on_its_own, CPU_RUN)['meta']['total']} rows")
    expect(grid.root.get_by_role("columnheader", name=re.compile("[Dd]evice"))).to_have_count(0)
    expect(grid.header("Host self")).to_have_attribute("aria-sort", "descending")


def test_export(opened: Profiler) -> None:
    answer = answer_of(opened)
    grid = opened.grid("Operators")
    saved = list(csv.DictReader(io.StringIO(grid.export("CSV"))))
    keys = ["name", "calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns"]
    assert [[row[key] for key in keys] for row in saved] == [
        [str(answer["rows"][key][at]) for key in keys] for at in range(answer["meta"]["total"])
    ]

    grid.filter.fill("aten::mm")
    expect(grid.count).to_have_text(re.compile(r"^\d+ of "))
    names = [row["name"] for row in json.loads(grid.export("JSON"))]
    assert names == [name for name in answer["rows"]["name"] if "aten::mm" in name], "only the rows shown"


def test_columns_can_be_hidden(opened: Profiler) -> None:
    grid = opened.grid("Operators")
    grid.panel.get_by_role("button", name="Columns").click()
    grid.panel.get_by_role("checkbox", name="Calls", exact=True).uncheck()
    expect(grid.header("Calls")).to_have_count(0)
    opened.page.reload()
    expect(grid.count).to_be_visible()
    expect(grid.header("Calls")).to_have_count(0)
    grid.panel.get_by_role("button", name="Columns").click()
    grid.panel.get_by_role("button", name="Reset").click()
    expect(grid.header("Calls")).to_have_count(1)
