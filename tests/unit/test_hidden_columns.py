"""What is declared hidden is left out of the tables of people and agents, and is there for those who ask for it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np
import pytest

import torch_tb_profiler
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.tabular import PageMeta
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.cli import main
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import InvalidRequest, key_of
from torch_tb_profiler.mcp.tools.tables import TABLE, TABLES, TablePage, WhichRows
from torch_tb_profiler.tables.query import TableAnswer

RUN = "generated_4gpu_h100"
#: tables for agents with a column that is declared hidden
HIDING = sorted(name for name, table in TABLES.items() if any(each.hidden for each in table.defined.values()))


class Calls(Result, group=""):
    """Made up."""

    name: tuple[str, ...] = column("Name", "Its name.")
    row: Int64 = column("Event number", "Number of the event.", hidden=True)
    calls: Int64 = column("Calls", "How often.")


@pytest.fixture
def calls() -> Calls:
    return Calls(name=("a", "b"), row=np.array([70, 80]), calls=np.array([1, 2]))


@pytest.fixture(scope="module")
def catalog(samples: Path, cache: Path) -> TraceCatalog:
    return TraceCatalog(str(samples), cache)


@pytest.fixture(scope="module")
def trace(samples: Path, cache: Path) -> TraceProfile:
    return torch_tb_profiler.open(samples, cache_dir=cache).run(RUN).trace(worker="rank0")


def test_an_answer_says_so_of_hidden_columns_only(calls: Calls) -> None:
    page = json.loads(msgspec.json.encode(TableAnswer(calls.table(PageMeta())).page()))
    assert [(each["key"], each.get("hidden")) for each in page["columns"]] == [
        ("name", None),
        ("row", True),
        ("calls", None),
    ]
    lists = json.loads(msgspec.json.encode(calls.as_columns()))
    assert [each.get("hidden") for each in lists["columns"]] == [None, True, None]
    assert page["rows"]["row"] == lists["rows"]["row"] == [70, 80]


def test_notebooks_leave_them_out_and_data_frames_have_them(calls: Calls) -> None:
    texts = {**calls._repr_mimebundle_(), "repr": repr(calls)}
    for kind, text in texts.items():
        assert "Calls" in text, kind
        assert "Event number" not in text, kind
        assert "70" not in text, kind
        assert "2 of 3 columns" in text, kind
    assert list(calls.to_pandas()) == ["name", "row", "calls"]


def test_some_tables_hide_columns_and_none_its_first() -> None:
    assert {"kernels", "modules", "operators", "ranges", "roofline", "stacks"} <= set(HIDING)
    assert not any(next(iter(table.defined.values())).hidden for table in TABLES.values())


@pytest.mark.parametrize("name", HIDING)
def test_agents_are_told_their_names_and_ask_for_them(name: str, catalog: TraceCatalog, trace: TraceProfile) -> None:
    hidden = {key_of(each) for each in TABLES[name].defined.values() if each.hidden}
    which = f"{RUN}~rank0~1"
    told: TablePage = TABLE.compute(catalog, WhichRows(trace=which, what=name))
    assert not hidden & set(told.table.columns)
    assert set(told.hidden) <= hidden
    assert told.hidden
    asked = TABLE.compute(catalog, WhichRows(trace=which, what=name, columns=told.hidden))
    assert list(asked.table.columns) == list(told.hidden)
    assert not asked.hidden
    with pytest.raises(InvalidRequest, match=told.hidden[0]):
        TABLE.compute(catalog, WhichRows(trace=which, what=name, columns=["nothing"]))


def test_commands_show_them_where_they_are_named(
    samples: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["kernels", str(samples / RUN), "--worker", "rank0", "--cache-dir", str(cache), "--limit", "1"]
    assert main(words) == 0
    assert "library" not in capsys.readouterr().out.lower()
    assert main([*words, "--columns", "name,library"]) == 0
    assert "library" in capsys.readouterr().out.lower()
