"""The routes about all ranks of a run, over a real workspace."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from werkzeug.test import Client

from tests.served import everything_read, get
from tests.tiny import write_trace
from tests.tracegen import Config, write_run
from torch_tb_profiler.ranks.distributed import OperationTable
from torch_tb_profiler.workspace import Workspace

pytestmark = pytest.mark.slow

RANKS = 3
OLD_ROUTES = ("/distributed/gpuinfo", "/distributed/overlap", "/distributed/waittime", "/distributed/commops")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("distributed")
    logs = root / "logs"
    write_run(Config(ranks=RANKS, steps=2, layers=1), logs / "whole")
    write_run(Config(ranks=RANKS, steps=2, layers=1), logs / "broken")
    sorted((logs / "broken").iterdir())[1].write_bytes(b"")
    write_trace(logs / "alone" / "w.pt.trace.json")
    with everything_read(logs, root / "cache") as workspace:
        yield workspace


def test_lists(client: Client) -> None:
    assert "Distributed" in get(client, "/views?run=whole")
    assert "Distributed" not in get(client, "/views?run=alone")
    assert get(client, "/workers?run=whole&view=Distributed") == ["All"]
    assert get(client, "/workers?run=alone&view=Distributed") == []
    assert len(get(client, "/spans?run=whole&worker=All")) == 1
    assert get(client, "/spans?run=alone&worker=All") == []


def test_the_answer(client: Client) -> None:
    answer = get(client, "/api/distributed?run=whole")
    assert answer["meta"]["notes"] == []
    assert [worker["rank"] for worker in answer["workers"]] == list(range(RANKS))
    for worker in answer["workers"]:
        steps = worker["steps"]
        parts = (steps[key] for key in ("computation_ns", "overlap_ns", "communication_only_ns", "other_ns"))
        assert [sum(of) for of in zip(*parts, strict=True)] == steps["duration_ns"]
        assert {each["key"] for each in answer["definitions"]} <= steps.keys()
        assert len(steps["wait_ns"]) == len(steps["names"]) == 2
    (group,) = answer["groups"]
    assert group == {"name": "0", "description": "default_pg", "ranks": [0, 1, 2], "size": RANKS, "present": RANKS}
    table = answer["operations"]
    assert [column["key"] for column in table["columns"]] == list(table["rows"]) == list(OperationTable.columns)
    rows = table["rows"]
    assert rows["kind"] == ["all_reduce"] * RANKS
    assert rows["busbw"] == pytest.approx([of * 4 / 3 for of in rows["algbw"]])


def test_no_model_is_kept(client: Client, workspace: Workspace) -> None:
    get(client, "/api/distributed?run=whole")
    assert len(workspace._here.models) == 0
    assert len(workspace._in_memory) >= RANKS


def test_a_rank_that_cannot_be_read_is_said(client: Client) -> None:
    answer = get(client, "/api/distributed?run=broken")
    notes = {note["kind"]: note["severity"] for note in answer["meta"]["notes"]}
    assert notes == {"traces_failed": "error", "missing_ranks": "warning"}
    assert len(answer["workers"]) == RANKS - 1
    assert len(get(client, "/distributed/waittime?run=broken")["data"]["all"]) == RANKS - 1


@pytest.mark.parametrize("route", ["/api/distributed", *OLD_ROUTES])
def test_errors(client: Client, route: str) -> None:
    assert get(client, route, 400)["error"] == "Must specify run in request url"
    assert "there is no run" in get(client, f"{route}?run=nobody", 404)["error"]
    assert "has no span" in get(client, f"{route}?run=whole&span=77", 404)["error"]
    assert "no communication" in get(client, f"{route}?run=alone", 404)["error"]


@pytest.mark.parametrize("route", OLD_ROUTES)
def test_the_worker_is_always_all(client: Client, route: str) -> None:
    (span,) = get(client, "/spans?run=whole&worker=All")
    assert get(client, f"{route}?run=whole&span={span}&worker=x") == get(client, f"{route}?run=whole&span={span}")


def test_findings_of_the_run(client: Client) -> None:
    found = get(client, "/api/run_findings?run=whole")
    assert (found["loaded"], found["world"]) == (RANKS, RANKS)
    assert found["collectives"] > 0
    assert found["findings"] == []
    assert found["bound"]["sentence"]
    assert "straggler" in found["checked"]
    broken = get(client, "/api/run_findings?run=broken")
    assert (broken["loaded"], broken["world"]) == (RANKS - 1, RANKS)
    assert [note["kind"] for note in broken["meta"]["notes"]]
    alone = get(client, "/api/run_findings?run=alone")
    assert (alone["loaded"], alone["findings"], alone["checked"]) == (1, [], [])
