"""Sorting, filtering and paging of tables: the cases that the UI is held to as well, pages, and limits of cost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from werkzeug.test import Client

from tests.conftest import ROOT
from tests.events import annotation, kernel, launch, memory, op
from tests.growth import beside
from tests.many import write_many_launches
from tests.served import client_of, everything_read, get
from tests.unit.query_tables import table
from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.analysis.kernels import KernelTable
from torch_tb_profiler.analysis.tabular import WHOLE
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.tables.query.answer import FIRST_PAGE, Query, TableAnswer
from torch_tb_profiler.tables.query.columns import natural_key
from torch_tb_profiler.tables.query.grammar import QueryProblem
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.workspace import Workspace

CASES = json.loads((ROOT / "tests" / "cases" / "table_query.json").read_text("utf-8"))


def page_of(table: TableAnswer, query: Query | None = None) -> Any:
    """As it is sent."""
    return json.loads(dumps(table.page(query)))


def table_of(columns: list[dict[str, Any]], rows: dict[str, list[Any]]) -> TableAnswer:
    """As the shared cases describe it, with the position of each row in a column of its own."""
    defined = [Definition(c["key"], c["label"], c["type"], c["unit"], "") for c in columns]
    length = len(rows[columns[0]["key"]])
    return table(
        [*defined, Definition("place", "Place", "number", None, "")],
        {**rows, "place": np.arange(length)},
        {c["key"]: c["total"] for c in columns if "total" in c},
        [c["key"] for c in columns if c.get("average")],
    )


TABLE = table_of(CASES["columns"], CASES["rows"])


def places(query: Query) -> list[int]:
    rows: list[int] = page_of(TABLE, query)["rows"]["place"]
    return rows


@pytest.mark.parametrize("case", CASES["filters"] + CASES["sorts"] + CASES["both"], ids=json.dumps)
def test_cases(case: dict[str, Any]) -> None:
    query = Query(sort=case.get("sort", ""), filter=case.get("filter", ""))
    if "problem" in case:
        with pytest.raises(QueryProblem) as raised:
            places(query)
        assert raised.value.kind == case["problem"]
        assert str(raised.value)
    else:
        assert places(query) == case["rows"]
        assert places(query) == case["rows"], "remembered"


def test_pages() -> None:
    query = Query(sort="-calls", filter="calls>=5")
    found = page_of(TABLE, query)
    assert found["meta"] == {"total": 9, "matched": 6, "offset": 0}
    assert found["rows"]["calls"] == [20, 11, 7, 5, 5, 5]
    page = page_of(TABLE, Query(query.sort, query.filter, offset=2, limit=2))
    assert page["meta"] == {"total": 9, "matched": 6, "offset": 2}
    assert page["rows"]["calls"] == [7, 5]
    assert page["rows"]["name"] == ["kernel_09", "aten::conv2d"]
    assert page_of(TABLE, Query(offset=8, limit=5))["rows"]["place"] == [8]
    assert page_of(TABLE, Query(offset=9))["rows"]["place"] == []
    assert page_of(TABLE, Query(limit="all"))["rows"] == {**CASES["rows"], "place": list(range(9))}


def test_missing_values_are_null_and_kinds_are_kept() -> None:
    rows = page_of(TABLE, Query(sort="place", limit=9))["rows"]
    assert rows["tensor_cores_used"] == CASES["rows"]["tensor_cores_used"]
    assert all(type(value) in (bool, type(None)) for value in rows["tensor_cores_used"])
    assert all(type(value) in (int, type(None)) for value in rows["shared_memory_bytes"])
    masked = table([Definition("n", "N", "number", None, "")], {"n": np.ma.masked_less(np.array([3, -1, 2]), 0)})
    assert page_of(masked, Query(sort="n"))["rows"]["n"] == [2, 3, None]
    assert page_of(masked, Query(filter="n<100"))["rows"]["n"] == [3, 2]


def test_totals_and_averages_are_declared() -> None:
    columns = {column["key"]: column for column in page_of(TABLE)["columns"]}
    assert columns["device_self_ns"]["total"] == 12_000_000
    assert columns["device_self_ns"]["average"] is True
    assert not {"total", "average", "largest"} & set(columns["calls"])
    assert "device_self_share" not in columns, "the client makes them"


def test_words_are_looked_for_where_the_request_says() -> None:
    assert places(Query(filter="mm")) == [1, 2, 4]
    assert places(Query(filter="mm", search="operator")) == [2, 4]
    assert places(Query(filter="mm", search="gone")) == []
    other = table(
        [Definition("device", "D", "string", None, ""), Definition("n", "N", "number", None, "")],
        {"device": ("GPU0", "CPU"), "n": np.arange(2)},
    )  # fmt: skip
    assert page_of(other, Query(filter="gpu"))["rows"]["n"] == [0]


def test_large_tables_are_cut() -> None:
    rows = WHOLE + 1
    values = np.arange(rows) - 5
    defined = [Definition("n", "N", "number", "ns", ""), Definition("name", "Name", "string", None, "")]
    large = table(defined, {"n": values, "name": tuple(map(str, range(rows)))})
    first = page_of(large)
    assert first["meta"] == {"total": rows, "matched": rows, "offset": 0}
    assert first["rows"]["n"] == list(range(-5, FIRST_PAGE - 5))
    assert first["columns"][0] | {"help": ""} == {
        "key": "n", "label": "N", "type": "number", "unit": "ns", "help": "", "id": "",
        "largest": rows - 6, "sum": values.sum(),
    }  # fmt: skip
    assert len(page_of(large, Query(filter="n>=0"))["rows"]["n"]) == rows - 5, "no more than are sent whole"
    assert len(page_of(large, Query(limit="all"))["rows"]["n"]) == rows
    assert page_of(large, Query(sort="-n", offset=rows - 2, limit=10))["rows"]["n"] == [-4, -5]


def test_what_is_asked_too_much() -> None:
    for query, kind in (
        (Query(filter="x" * 10_001), "too_long"),
        (Query(sort=",".join(["calls"] * 11)), "too_many_sorts"),
        (Query(sort="-gone"), "unknown_column"),
        (Query(sort="calls,,name"), "unknown_column"),
    ):
        with pytest.raises(QueryProblem) as raised:
            page_of(TABLE, query)
        assert raised.value.kind == kind


# regular expressions -----------------------------------------------------------------------------------------


# routes ------------------------------------------------------------------------------------------------------

LAUNCHES = WHOLE + 500
WHERE = "run=run&worker=w"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tables")
    write_many_launches(root / "logs" / "run" / "w.pt.trace.json", LAUNCHES)
    return root


@pytest.fixture(scope="module")
def workspace(root: Path) -> Iterator[Workspace]:
    with everything_read(root / "logs", root / "cache", questions="") as workspace:
        yield workspace


def test_a_large_answer_is_its_first_page(client: Client) -> None:
    route = f"/api/kernels?{WHERE}&group_by=name_op_launch"
    answer = get(client, route)
    meta = answer["meta"]
    assert (meta["total"], meta["matched"], meta["offset"]) == (LAUNCHES, LAUNCHES, 0)
    assert {len(values) for values in answer["rows"].values()} == {FIRST_PAGE}
    whole = get(client, f"{route}&limit=all")
    assert {len(values) for values in whole["rows"].values()} == {LAUNCHES}
    assert {key: values[:FIRST_PAGE] for key, values in whole["rows"].items()} == answer["rows"]
    assert whole["columns"] == answer["columns"]
    assert next(c for c in whole["columns"] if c["key"] == "total_ns")["total"] == meta["kernel_ns"]

    page = get(client, f"{route}&sort=name,-total_ns&filter=gemm_%20name~[12]_%20total%3E20us&offset=100&limit=50")
    kept = [
        (natural_key(name), -total, row)
        for row, (name, total) in enumerate(zip(whole["rows"]["name"], whole["rows"]["total_ns"], strict=True))
        if name != "gemm_0_kernel" and total > 20_000
    ]
    rows = [row for *_, row in sorted(kept)]
    assert page["meta"]["matched"] == len(rows) > WHOLE / 4
    assert page["meta"]["offset"] == 100
    assert page["rows"] == {key: [values[row] for row in rows[100:150]] for key, values in whole["rows"].items()}


def test_a_small_answer_is_whole(client: Client) -> None:
    answer = get(client, f"/api/kernels?{WHERE}")
    assert (answer["meta"]["total"], answer["meta"]["matched"]) == (3, 3)
    assert get(client, f"/api/kernels?{WHERE}&sort=-calls&limit=2")["rows"]["calls"] == [6834, 6833]
    assert get(client, f"/api/kernels?{WHERE}&sort=name")["rows"]["name"] == [
        "gemm_0_kernel",
        "gemm_1_kernel",
        "gemm_2_kernel",
    ]
    assert get(client, f"/api/operators?{WHERE}&filter=mm")["rows"]["name"] == ["aten::addmm", "aten::mm"]
    assert get(client, f"/api/operators/kernels?{WHERE}&name=aten::mm&filter=_1_")["meta"]["matched"] == 1


def test_the_table_is_made_once(client: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    route = f"/api/kernels?{WHERE}&group_by=name_op_launch"
    get(client, f"{route}&limit=2")  # the first page may have been prepared, which makes no table here
    monkeypatch.setattr(KernelTable, "answer", lambda *_: pytest.fail("it was made again"))
    get(client, f"{route}&filter=gemm&limit=1")
    get(client, f"{route}&sort=name&limit=1")


def test_the_first_page_is_answered_without_the_columns(
    root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with everything_read(root / "logs", root / "cache") as later:
        with monkeypatch.context() as patch:
            patch.setattr(column_file, "open_trace", lambda _: pytest.fail("the columns are opened"))
            first = get(client_of(later), f"/api/kernels?{WHERE}&group_by=name_op_launch")
        assert (first["meta"]["total"], len(first["rows"]["name"])) == (LAUNCHES, FIRST_PAGE)
        last = get(client_of(later), f"/api/kernels?{WHERE}&group_by=name_op_launch&offset={LAUNCHES - 1}")
        assert len(last["rows"]["name"]) == 1


def test_pages_of_some_steps(tmp_path: Path) -> None:
    """What is asked of a table is asked of the same table as without."""
    events = [
        annotation("ProfilerStep#1", 0, 90),
        op("aten::mm", 10, 30),
        memory(12, 512, total=512),
        launch(15, 1),
        kernel(20, 5, 1, "gemm"),
        annotation("ProfilerStep#2", 100, 90),
        op("aten::add", 110, 30),
        memory(112, 1024, total=1536),
        launch(115, 2),
        kernel(120, 5, 2, "add"),
        op("aten::relu", 150, 10),
        memory(152, 256, total=1792),
    ]
    path = tmp_path / "logs" / "run" / "w.pt.trace.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    with everything_read(tmp_path / "logs", tmp_path / "cache") as workspace:
        client = client_of(workspace)

        def names(route: str) -> list[str]:
            found: list[str] = get(client, f"/api/{route}")["rows"]["name"]
            return found

        for route, all_names, of_second in (
            ("operators", {"aten::mm", "aten::add", "aten::relu"}, {"aten::add", "aten::relu"}),
            ("kernels", {"gemm", "add"}, {"add"}),
            ("memory/operators", {"aten::mm", "aten::add", "aten::relu"}, {"aten::add", "aten::relu"}),
        ):
            second = f"{route}?{WHERE}&from_step=2&to_step=2"
            assert set(names(second)) == of_second
            assert names(f"{second}&sort=name") == sorted(of_second)
            assert names(f"{second}&sort=-name&limit=1") == sorted(of_second)[-1:]
            assert names(f"{route}?{WHERE}&sort=name") == sorted(all_names)
            unknown = f"/api/{route}?{WHERE}&from_step=2&to_step=3"
            refused = get(client, unknown, 404)
            assert [get(client, f"{unknown}&sort=name", 404) for _ in range(2)] == [refused, refused]
            get(client, f"/api/{route}?{WHERE}&from_step=2&sort=name", 400)


def test_what_cannot_be_asked_is_a_400(client: Client) -> None:
    for query, kind in (
        ("sort=gone", "unknown_column"),
        (f"filter={quote('calls>many')}", "bad_number"),
        (f"filter={quote('name~(')}", "bad_regex"),
    ):
        problem = get(client, f"/api/kernels?{WHERE}&{query}", 400)["problem"]
        assert problem["kind"] == kind
    for query in ("offset=-1", "limit=0", "limit=many", "offset=x"):
        get(client, f"/api/kernels?{WHERE}&{query}", 400)


def test_pages_cost_little(client: Client) -> None:
    rows = 300_000
    chance = np.random.default_rng(0)
    names = [f"void cutlass::Kernel<gemm_{i}_bf16>(Params)" for i in range(1000)]
    defined = [Definition("name", "N", "string", None, "")] + [
        Definition(key, key, "number", "ns", "") for key in ("total_ns", "mean_ns", "max_ns", "calls")
    ]
    values = {d.key: chance.integers(0, 10**9, rows) for d in defined[1:]}
    large = table(defined, {"name": [names[i] for i in chance.integers(0, 1000, rows)], **values})
    large.page(Query(sort="name"))

    def page(offset: int) -> Any:
        return large.page(Query("-max_ns,name", "gemm mean>5ms total<900ms", offset=offset, limit=200))

    def sort() -> object:
        return np.lexsort([values["mean_ns"], values["max_ns"]])

    assert beside(lambda: page(1000), sort) < 5, "what NumPy takes to sort as many rows"
    assert beside(lambda: page(9000), sort) < 0.5, "it is sorted and filtered already"
    assert page(1000).meta.matched > 0.8 * rows


def test_the_cases_are_where_the_ui_looks(repository: Path) -> None:
    assert "tests/cases/table_query.json" in (repository / "fe/src/table/query.test.ts").read_text()
