"""The GPU Kernel view, with the numbers of /api/kernels."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import numbers
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of

WHERE = {"run": GPU_RUN, "worker": "rank0"}


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="kernels", r=GPU_RUN, k="rank0")
    expect(on_its_own.grid("Kernels").count).to_be_visible()
    return on_its_own


def answer_of(profiler: Profiler, group_by: str = "name") -> dict[str, Any]:
    answer: dict[str, Any] = profiler.server.api("kernels", **WHERE, group_by=group_by)
    return answer


def test_by_name(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    grid = opened.grid("Kernels")
    expect(grid.count).to_have_text(f"{len(rows['name'])} rows")
    saved = list(csv.DictReader(io.StringIO(grid.export("CSV"))))
    for key in ("name", "calls", "total_ns", "max_ns", "min_ns"):
        assert [row[key] for row in saved] == [str(value) for value in rows[key]]


def test_by_properties_and_operator(opened: Profiler) -> None:
    opened.switch("Group by", "Properties + operator")
    rows = answer_of(opened, "name_op_launch")["rows"]
    grid = opened.grid("Kernels")
    expect(grid.count).to_have_text(f"{len(rows['name'])} rows")
    saved = list(csv.DictReader(io.StringIO(grid.export("CSV"))))
    for key in ("operator", "grid", "block", "calls", "total_ns"):
        assert [row[key] for row in saved] == ["" if value is None else str(value) for value in rows[key]]


def test_largest(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    panel = opened.panel("Total time of kernels")
    panel.get_by_label("Top").fill("4")
    shown = as_table(panel)
    assert [row[0] for row in shown] == rows["name"][:4]
    assert numbers.all_same([row[1] for row in shown], rows["total_ns"][:4])
    opened.switch("Chart", "Donut")
    panel.get_by_role("button", name="Show as table").click()
    shown = rows_of(panel.get_by_role("table"))
    assert numbers.same(shown[-1][1], sum(rows["total_ns"][4:])), "the rest is one slice"


def test_tensor_core_share(opened: Profiler) -> None:
    meta = answer_of(opened)["meta"]
    shown = opened.panel("Tensor cores").get_by_role("listitem")
    parts = [re.findall(r"[\d.]+ \S+", text)[:2] for text in shown.all_inner_texts()]
    for part, key in zip(parts, ("yes", "no", "unknown"), strict=True):
        share = meta["tensor_cores"][key]
        assert numbers.same(part[-1], share * meta["compute_ns"])
        assert numbers.same(part[0], share) or (part[0] == "0.1 %" and share < 0.001), "below it is said so"


def test_copies_and_memsets(opened: Profiler) -> None:
    meta = answer_of(opened)["meta"]
    for caption, key in (("Memory copies", "memcpy"), ("Memory sets", "memset")):
        table = opened.ui.get_by_role("table", name=caption)
        heads = table.get_by_role("columnheader").all_inner_texts()
        time, moved = (next(head for head in heads if name in head).split()[-1] for name in ("Total", "Bytes"))
        for row, copies in zip(rows_of(table), meta[key], strict=True):
            assert row[0] == copies["name"]
            assert numbers.read(row[1]) == copies["calls"]
            assert numbers.same(numbers.with_unit(row[2], time), copies["total_ns"])
            assert numbers.same(numbers.with_unit(row[3], moved), copies["bytes"])
            assert numbers.same(numbers.with_unit(row[4], "GB/s"), 1e9 * copies["bytes"] / copies["total_ns"])


def test_select_leads_to_the_operator(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    name = rows["name"][1]
    opened.grid("Kernels").row(name).click()
    inspector = opened.inspector
    expect(inspector.get_by_role("heading", name=name, exact=True)).to_be_visible()
    assert numbers.same(definition(inspector, "Total").inner_text(), rows["total_ns"][1])
    launches = answer_of(opened, "name_op_launch")["rows"]
    operators = {op for kernel, op in zip(launches["name"], launches["operator"], strict=True) if kernel == name}
    shown = inspector.get_by_role("table", name="By operator")
    assert {row[0] for row in rows_of(shown)} == operators
    first = min(operators)
    shown.get_by_role("button", name=first, exact=True).click()
    expect(opened.heading("Operator")).to_be_visible()
    expect(inspector.get_by_role("heading", name=first, exact=True)).to_be_visible()


def test_a_cpu_run_says_why_there_are_none(on_its_own: Profiler) -> None:
    on_its_own.open(v="kernels", r=CPU_RUN)
    note = on_its_own.server.api("kernels", run=CPU_RUN, worker="worker0")["meta"]["notes"][0]
    panel = on_its_own.panel("Kernels")
    expect(panel.get_by_text("This trace has no kernels")).to_be_visible()
    expect(panel.get_by_text(note["text"])).to_be_visible()
    expect(panel.get_by_text(note["remedy"])).to_be_visible()
    expect(panel.get_by_role("button", name="Copy")).to_be_visible()
