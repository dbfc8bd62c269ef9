"""The routes about modules and about two traces, over a real workspace."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from werkzeug.test import Client

from tests.events import Event
from tests.served import everything_read, get
from tests.tiny import write_trace
from tests.unit.test_modules import lightning
from tests.unit.test_program import training
from torch_tb_profiler.workspace import Workspace

NN, PL, TINY = ("run=nn&worker=w", "run=pl&worker=w", "run=tiny&worker=w")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("web_modules")

    def write(run: str, events: list[Event]) -> None:
        path = root / "logs" / run / "w.pt.trace.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": events}))

    write("nn", training())
    write("slower", training(2))
    write("pl", lightning("cpu_op"))
    write_trace(root / "logs" / "tiny" / "w.pt.trace.json")
    with everything_read(root / "logs", root / "cache", 1) as workspace:
        yield workspace


def exp(run: str) -> str:
    return f"&span=default&exp_run={run}&exp_worker=w&exp_span=default"


def test_views(client: Client) -> None:
    assert get(client, "/views?run=nn")[-1] == "Module"
    assert get(client, "/views?run=pl") == ["Overview", "Operator", "Trace", "Lightning"]
    assert get(client, "/workers?run=nn&view=Module") == ["w"]
    assert get(client, "/workers?run=pl&view=Module") == []
    assert get(client, "/workers?run=pl&view=Lightning") == ["w"]
    assert "Module" not in get(client, "/views?run=tiny")


def test_modules(client: Client) -> None:
    answer = get(client, f"/api/modules?{NN}")
    assert (answer["meta"]["source"], answer["meta"]["sources"], answer["meta"]["total"]) == ("nn", ["nn"], 3)
    assert [c["key"] for c in answer["columns"]] == list(answer["rows"])
    assert answer["rows"]["name"] == ["Net_0", "Linear_0", "Linear_1"]
    assert answer["rows"]["parent"] == [-1, 0, 0]
    assert answer["rows"]["backward_device_ns"] == [70_000, 40_000, 30_000]
    assert answer["hooks"] is None

    answer = get(client, f"/api/modules?{PL}")
    assert answer["meta"]["source"] == "lightning"
    assert "device_total_ns" not in answer["rows"]
    assert answer["hooks"]["rows"]["name"][0] == "run_training_batch"
    assert get(client, f"/api/modules?{PL}&source=nn")["rows"]["name"] == []

    answer = get(client, f"/api/modules?{TINY}")
    assert [note["kind"] for note in answer["meta"]["notes"]] == ["no_modules"]
    get(client, f"/api/modules?{NN}&source=x", 400)


def test_old_routes(client: Client) -> None:
    assert get(client, f"/module?{NN}")["data"][0]["name"] == "Net_0"
    assert get(client, f"/tree?{NN}")["children"][0]["name"] == "ProfilerStep#1"
    get(client, f"/module?{TINY}", 404)
    get(client, "/module?run=nn", 400)
    whole = get(client, f"/diff?{NN}{exp('slower')}")
    node = get(client, f"/diffnode?{NN}{exp('slower')}")
    assert node["path"] == "0"
    assert len(node["children"]) == len(whole["children"])
    assert get(client, f"/diffnode?{NN}{exp('slower')}&path=0-0")["left"]["name"] == "nn.Module: Net_0"
    get(client, f"/diffnode?{NN}{exp('slower')}&path=7-7", 404)
    get(client, f"/diff?{NN}{exp('none')}", 404)
    for missing in ("span", "exp_run", "exp_worker", "exp_span"):
        query = "&".join(p for p in f"{NN}{exp('slower')}".split("&") if not p.startswith(missing + "="))
        for route in ("/diff", "/diffnode"):
            assert get(client, f"{route}?{query}", 400)["error"] == f"Must specify {missing} in request url"


def test_compare(client: Client) -> None:
    answer = get(client, f"/api/compare?{NN}&exp_run=slower&exp_worker=w")
    assert (answer["meta"]["run"], answer["meta"]["exp"]["run"]) == ("nn", "slower")
    assert (answer["meta"]["steps"], answer["meta"]["exp_steps"]) == (1, 1)
    assert answer["totals"]["delta_duration_ns"] == 0
    parts = answer["parts"]["rows"]
    assert parts["kind"] == ["module", "group", "backward", "rest"]
    assert parts["has_parts"] == [True, True, True, False]
    assert parts["path"] == ["0-0", "0-1", "0-2", None]
    for key in ("duration_ns", "exp_duration_ns", "device_ns", "delta_device_ns", "total_ns", "exp_total_ns"):
        assert sum(parts[key]) == answer["totals"][key]
    assert set(parts) == {c["key"] for c in answer["parts"]["columns"]}
    for table in ("operators", "kernels"):
        assert set(answer[table]["rows"]) == {c["key"] for c in answer[table]["columns"]}
    assert answer["kernels"]["rows"]["delta_calls"] == [0]
    assert answer["meta"]["trail"] == []
    assert get(client, f"/api/compare?{NN}&exp_run=slower&exp_worker=w&path=0-0")["meta"]["name"] == "Net_0"
    inside = get(client, f"/api/compare?{NN}&exp_run=slower&exp_worker=w&path=0-0-0")["meta"]
    assert [(part["path"], part["kind"]) for part in inside["trail"]] == [("0-0", "module"), ("0-0-0", inside["kind"])]
    assert inside["trail"][0]["name"] == inside["trail"][0]["exp_name"] == "Net_0"
    assert (inside["trail"][1]["name"], inside["trail"][1]["exp_name"]) == (inside["name"], inside["exp_name"])
    get(client, f"/api/compare?{NN}&exp_run=slower&exp_worker=w&path=0-9", 404)
    get(client, f"/api/compare?{NN}", 400)
    get(client, f"/api/compare?{NN}&exp_run=slower&exp_worker=x", 404)


def test_compare_some_steps(client: Client) -> None:
    """Of each side those that are named, with the numbers that the routes about one trace have of them."""
    route = "/api/compare?run=tiny&worker=w&exp_run=tiny&exp_worker=w"
    whole = get(client, route)
    first, *_, last = get(client, f"/api/overview?{TINY}")["steps"]["names"]
    answer = get(client, f"{route}&exp_from_step={last}&exp_to_step={last}")
    assert (answer["meta"]["steps"], answer["meta"]["exp_steps"]) == (whole["meta"]["steps"], 1)
    one = get(client, f"/api/operators?{TINY}&from_step={last}&to_step={last}")["rows"]
    rows = answer["operators"]["rows"]
    assert dict(zip(rows["name"], rows["exp_host_self_ns"], strict=True)) == dict(
        zip(one["name"], one["host_self_ns"], strict=True)
    )
    assert rows["host_self_ns"] != rows["exp_host_self_ns"]
    both = get(client, f"{route}&from_step={first}&to_step={first}&exp_from_step={last}&exp_to_step={last}")
    assert (both["meta"]["steps"], both["meta"]["exp_steps"]) == (1, 1)
    get(client, f"{route}&exp_from_step={last}", 400)
    assert "no step" in get(client, f"{route}&from_step=77&to_step=77", 404)["error"]


def test_compare_steps_found_another_way(client: Client) -> None:
    route = "/api/compare?run=tiny&worker=w&exp_run=tiny&exp_worker=w"
    steps = get(client, route)["meta"]["steps"]
    assert steps > 1
    for choice, number in (
        ("steps=whole_trace", 0),
        ("step_pattern=ProfilerStep.1$", 1),
        ("step_pattern=no such name", steps),
    ):
        meta = get(client, f"{route}&{choice}")["meta"]
        assert (meta["steps"], meta["exp_steps"]) == (number, number), choice
    get(client, f"{route}&step_pattern=(", 400)
    get(client, f"{route}&steps=by_magic", 400)


@pytest.mark.parametrize("run", ["nn", "pl", "tiny"])
def test_a_trace_and_itself(client: Client, run: str) -> None:
    waiting = ["0"]
    while waiting:
        answer = get(client, f"/api/compare?run={run}&worker=w&exp_run={run}&exp_worker=w&path={waiting.pop()}")
        waiting += [path for path in answer["parts"]["rows"]["path"] if path is not None]
        assert not any(v for k, v in answer["totals"].items() if k.startswith("delta_"))
        for table in ("parts", "operators", "kernels"):
            for key, values in answer[table]["rows"].items():
                assert not key.startswith("delta_") or not any(values)
