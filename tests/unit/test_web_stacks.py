"""/api/stacks over a real workspace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.test import Client

from tests.events import op
from tests.served import everything_read, get
from tests.unit.test_stacks import MAIN, training
from torch_tb_profiler.analysis.stacks.stack_table import SMALLER
from torch_tb_profiler.workspace import Workspace

GPU, BARE, EMPTY = (f"/api/stacks?run={run}&worker=w" for run in ("gpu", "bare", "empty"))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("web_stacks")
    meta = {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": "python"}}
    for run, events in {"gpu": training(), "bare": [op("a", 0, 10), op("b", 2, 5)], "empty": [meta]}.items():
        path = root / "logs" / run / "w.pt.trace.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": events}))
    with everything_read(root / "logs", root / "cache", 1) as workspace:
        yield workspace


def row(answer: Any, name: str) -> dict[str, Any]:
    at = answer["rows"]["name"].index(name)
    return {key: values[at] for key, values in answer["rows"].items()}


def test_both_weights(client: Client) -> None:
    answer = get(client, GPU)
    assert [c["key"] for c in answer["columns"]] == list(answer["rows"])
    meta = answer["meta"]
    assert (meta["weight"], meta["weights"], meta["direction"], meta["root"]) == (
        "device",
        ["device", "host"],
        "top_down",
        0,
    )
    assert (meta["whole_ns"], meta["all_ns"], meta["no_stack_ns"], meta["above"]) == (60_000, 60_000, 0, None)
    assert row(answer, "gemm")["self_ns"] == 60_000
    host = get(client, f"{GPU}&weight=host")
    assert host["meta"]["whole_ns"] == row(host, MAIN)["total_ns"] == 1_000_000
    assert sum(host["rows"]["self_ns"]) == 1_000_000
    up = get(client, f"{GPU}&weight=host&direction=bottom_up")
    assert row(up, "aten::linear")["total_ns"] == 80_000
    assert sum(up["rows"]["self_ns"]) == 1_000_000


def test_a_part(client: Client) -> None:
    host = get(client, f"{GPU}&weight=host")
    net = row(host, "Net_0")
    answer = get(client, f"{GPU}&weight=host&root={net['id']}&smallest_share=0.5")
    assert answer["meta"]["whole_ns"] == net["total_ns"]
    assert answer["meta"]["all_ns"] == 1_000_000
    assert answer["meta"]["above"]["name"] == [MAIN, "ProfilerStep#…"]
    assert answer["rows"]["name"][0] == "Net_0"
    assert SMALLER in answer["rows"]["name"]
    assert sum(answer["rows"]["self_ns"]) == net["total_ns"]
    assert "no call stack 77" in get(client, f"{GPU}&root=77", 404)["error"]


def test_files(client: Client) -> None:
    answer = get(client, f"{GPU}&weight=host&files=+train.py+")
    assert answer["meta"]["files"] == "train.py"
    assert answer["meta"]["whole_ns"] == 1_000_000
    assert "profiler.py(7): step" not in answer["rows"]["name"]


def test_without_frames(client: Client) -> None:
    answer = get(client, BARE)
    assert answer["meta"]["has_frames"] is False
    assert [note["kind"] for note in answer["meta"]["notes"]] == ["no_stacks"]
    assert answer["rows"]["name"] == ["a", "b"]
    assert not any(note["kind"] == "no_stacks" for note in get(client, GPU)["meta"]["notes"])
    assert get(client, EMPTY)["rows"]["id"] == []
    assert get(client, f"{EMPTY}&direction=bottom_up")["meta"]["entries"] == 0


@pytest.mark.parametrize(
    "query",
    [
        "weight=x",
        "direction=up",
        "root=-1",
        "root=x",
        "smallest_share=2",
        "smallest_share=nan",
        "smallest_share=x",
        "steps=x",
    ],
)
def test_what_cannot_be_meant(client: Client, query: str) -> None:
    get(client, f"{GPU}&{query}", 400)


def test_the_rule_for_steps_changes_nothing_of_the_whole_trace(client: Client) -> None:
    assert get(client, f"{GPU}&steps=whole_trace") == get(client, GPU)


def test_of_one_step(client: Client) -> None:
    """Named as the rule that the request asks for names it."""
    whole = get(client, GPU)["meta"]["whole_ns"]
    assert 0 < get(client, f"{GPU}&from_step=1&to_step=1")["meta"]["whole_ns"] < whole
    assert "no step '1'" in get(client, f"{GPU}&steps=whole_trace&from_step=1&to_step=1", 404)["error"]


def test_the_status_names_the_view(client: Client) -> None:
    views = {run["name"]: run["traces"][0]["views"] for run in get(client, "/api/status")["runs"]}
    assert "stacks" in views["gpu"]
    assert "stacks" in views["bare"]
    assert "stacks" not in views["empty"]
