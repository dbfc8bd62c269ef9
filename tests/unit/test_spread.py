"""Tests of one trace are found whatever their files, and come last."""

from __future__ import annotations

import gc
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.recorded import ROOT, sample_traces, short
from tests.spread import pytest_collection_modifyitems, scope_of


@pytest.mark.parametrize("path", sample_traces(), ids=lambda path: path.parent.name)
def test_tests_of_one_trace_have_one_scope(path: Path) -> None:
    files = ("tests/real/test_bounds.py", "tests/invariants/test_sums.py")
    assert {scope_of(f"{file}::test_it[{short(path)}]") for file in files} == {short(path)}


@pytest.mark.parametrize(
    "name", ["test_it", "test_it[docs/command-line.md]", "test_it[cnn_workers0-light]", "test_it[]"]
)
def test_others_are_of_their_file(name: str) -> None:
    assert scope_of(f"tests/unit/test_a.py::{name}") == "tests/unit/test_a.py"


def test_files_take_turns_and_traces_come_last() -> None:
    trace = "run/rank0/worker0.1.pt.trace.json.gz"
    names = [
        f"tests/real/test_a.py::test_it[{trace}]",
        "tests/real/test_a.py::test_other",
        *(f"tests/{folder}/test_{n}.py::test_it" for folder in ("browser", "unit") for n in (1, 2)),
        "tests/storage/test_b.py::test_it",
        f"tests/invariants/test_c.py::test_it[{trace}]",
    ]
    items: list[Any] = [SimpleNamespace(nodeid=name, path=ROOT / name.partition("::")[0]) for name in names]
    pytest_collection_modifyitems(items)
    assert [item.nodeid.removeprefix("tests/") for item in items] == [
        "real/test_a.py::test_other",
        "browser/test_1.py::test_it",
        "unit/test_1.py::test_it",
        "browser/test_2.py::test_it",
        "unit/test_2.py::test_it",
        "storage/test_b.py::test_it",
        f"real/test_a.py::test_it[{trace}]",
        f"invariants/test_c.py::test_it[{trace}]",
    ]


def test_what_was_collected_is_not_looked_at_again() -> None:
    assert gc.get_freeze_count() > 0
