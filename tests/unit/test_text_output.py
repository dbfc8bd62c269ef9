"""Numbers and tables for people, and cells of CSV."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.analysis.tabular import Column, PageMeta, Table
from torch_tb_profiler.analysis.text_format import in_column, with_unit
from torch_tb_profiler.cli.work.outputs import as_csv
from torch_tb_profiler.cli.work.text_table import LEAST, cells_of, cut, has_colors, safe, text_table
from torch_tb_profiler.tables.query import TableAnswer

NAME = Column(key="name", label="Name", type="string", unit=None, help="", id="")
TIME = Column(key="time_ns", label="Time", type="number", unit="ns", help="", id="")


class Terminal:
    def __init__(self, is_one: bool) -> None:
        self.isatty = lambda: is_one


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        ([1_500_000, 2_000, None], "ns", ("ms", ["1.500", "0.002", "–"])),
        ([2_000_000_000, 1], "ns", ("s", ["2.000", "<0.001"])),
        ([999], "ns", ("ns", ["999"])),
        ([0, 0.0], "ns", ("ns", ["0", "0"])),
        ([float("nan")], "bytes", ("B", ["–"])),
        ([3 << 30, 1 << 20], "bytes", ("GiB", ["3.00", "<0.01"])),
        ([1.5e12], "bytes_per_second", ("TB/s", ["1.50"])),
        ([2.5e15], "flop", ("PFLOP", ["2.50"])),
        ([0.5, 1.0, 0.0001], "fraction", ("%", ["50.0", "100.0", "<0.1"])),
        ([12.34], "percent", ("%", ["12.3"])),
        ([-1_500_000, -1], "ns", ("ms", ["-1.500", ">-0.001"])),
        ([1234567, 3], "count", ("", ["1,234,567", "3"])),
        ([0.001234, 12.3456, 1e-9], None, ("", ["0.001", "12.35", "1e-09"])),
        ([], "ns", ("ns", [])),
    ],
)
def test_numbers_of_a_column_share_a_unit(values: list[Any], unit: Any, expected: tuple[str, list[str]]) -> None:
    assert in_column(values, unit) == expected


def test_a_number_alone() -> None:
    assert [with_unit(12_340_000, "ns"), with_unit(None, "ns"), with_unit(3, "count")] == ["12.340 ms", "–", "3"]


def test_cells_of_a_terminal() -> None:
    assert [cells_of(text) for text in ("abc", "模型", "é", "e\u0301", "")] == [3, 4, 1, 1, 0]
    assert cut("模型模型", 5) == "模型…"
    assert cut("abc", 3) == "abc"


def test_a_line_fits_and_numbers_are_at_the_right() -> None:
    rows = {"time_ns": [1_000_000, 20_000_000], "name": ["模" * 50, "x" * 100]}
    for width in (30, 40, 80):
        lines = text_table([TIME, NAME], rows, width).splitlines()
        assert all(cells_of(line) <= width for line in lines)
    whole = text_table([TIME, NAME], rows).splitlines()
    assert whole[0].startswith("Time ms  Name")
    assert whole[1].startswith("  1.000  模")
    assert whole[2] == " 20.000  " + "x" * 100


def test_no_line_begins_with_what_a_trace_says() -> None:
    hostile = ["::error ::owned", "##[command]rm", "\n::add-mask::x", "\x1b]0;title\x07", "\u202eabc"]
    for columns in ([NAME], [NAME, TIME], [TIME, NAME]):
        text = text_table(columns, {"name": hostile, "time_ns": [1, 2, 3, None, 5]})
        lines = text.splitlines()
        assert len(lines) == 1 + len(hostile)
        assert all(line.lstrip()[0] in "#0123456789–T" for line in lines)
        assert not any(line.lstrip().startswith(("::", "##")) for line in lines)
        assert all(sign.isprintable() for line in lines for sign in line)


@given(st.lists(st.text(), min_size=1, max_size=5), st.integers(1, 200))
def test_any_text_stays_in_its_line(names: list[str], width: int) -> None:
    lines = text_table([TIME, NAME], {"time_ns": [1] * len(names), "name": names}, width).split("\n")
    assert len(lines) == 1 + len(names)
    least = len("Time ns") + 2 + LEAST
    assert all(cells_of(line) <= max(width, least) for line in lines)
    assert all(safe(line) == line for line in lines)


def test_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    there: Any = Terminal(True)
    elsewhere: Any = Terminal(False)
    assert has_colors("auto", there)
    assert not has_colors("auto", elsewhere)
    assert has_colors("always", elsewhere)
    assert not has_colors("never", there)
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colors("auto", there)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert has_colors("auto", elsewhere)
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colors("auto", there)
    assert has_colors("always", there)
    assert text_table([TIME], {"time_ns": [1]}, None, True).startswith("\x1b[1mTime ns\x1b[0m\n")


def test_cells_of_csv_are_those_of_the_page(repository: Path) -> None:
    cases = json.loads((repository / "tests" / "cases" / "csv_cells.json").read_text("utf-8"))
    assert "tests/cases/csv_cells.json" in (repository / "fe/src/table/text.test.ts").read_text("utf-8")
    for case in cases:
        kind: Any = {str: "string", bool: "bool", type(None): "string"}.get(type(case["cell"]), "number")
        table = Table(PageMeta(), [Definition("name", "Name", kind, None, "")], {"name": [case["cell"]]})
        assert as_csv(TableAnswer(table).page()) == f"name\n{case['csv']}\n", case
