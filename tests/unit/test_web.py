"""The WSGI application over a real workspace: routes, errors, validators, compression, files."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from werkzeug.test import Client

from tests.served import everything_read, get
from tests.tiny import write_trace
from tests.unit.web_errors import error
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.reason import Reason, Why
from torch_tb_profiler.web import logdir
from torch_tb_profiler.web.app import ROUTES
from torch_tb_profiler.workspace import Skipped, Status, Workspace

TRACE = "run=run&worker=w&span=1"
OF_TRACE = (
    "/api/overview",
    "/api/operators",
    "/api/operators/stacks",
    "/api/operators/kernels",
    "/api/kernels",
    "/api/health",
    "/api/memory/curve",
    "/api/memory/events",
    "/api/memory/operators",
    "/api/memory/alive",
    "/overview",
    "/operation",
    "/operation/table",
    "/kernel",
    "/kernel/table",
    "/kernel/tc_pie",
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("web")
    logs = root / "logs"
    for number in (1, 2, 10):
        write_trace(logs / "run" / f"w.{number}.pt.trace.json")
    write_trace(logs / "run" / "v.pt.trace.json.gz", gpu=False)
    write_trace(logs / "cpu" / "w.pt.trace.json", gpu=False)
    (logs / "run10").mkdir()
    (logs / "run10" / "w.pt.trace.json").write_text("{}")
    (logs / "run10" / "my_trace.json").touch()
    (logs / "stray.json.gz").touch()
    with everything_read(logs, root / "cache") as workspace:
        yield workspace


def test_status(client: Client, workspace: Workspace) -> None:
    status = get(client, "/api/status")
    assert status["logdir"] == workspace.status().logdir
    assert (status["scanning"], status["error"]) == (False, None)
    assert [(run["name"], run["state"]) for run in status["runs"]] == [
        ("cpu", "ready"),
        ("run", "ready"),
        ("run10", "failed"),
    ]
    assert [t["span"] for t in status["runs"][1]["traces"]] == ["default", "1", "2", "3"]
    trace = status["runs"][1]["traces"][1]
    assert trace | {"size": 0, "bytes_done": 0, "bytes_total": 0, "notes": 0} == {
        "kind": "trace",
        "worker": "w",
        "span": "1",
        "file": "w.1.pt.trace.json",
        "size": 0,
        "state": "ready",
        "bytes_done": 0,
        "bytes_total": 0,
        "events": 8,
        "reason": None,
        "why": None,
        "notes": 0,
        "views": ["overview", "operators", "kernels", "stacks"],
        "rank": None,
        "world_size": None,
        "host_name": None,
        "devices": ["<b>Tiny</b>"],
        "program": trace["program"],
    }
    assert len(trace["program"]) == 64
    assert trace["size"] == trace["bytes_done"] == trace["bytes_total"] > 0
    assert [s["file"] for s in status["runs"][2]["skipped"]] == ["my_trace.json"]
    assert [s["file"] for s in status["skipped"]] == ["stray.json.gz"]


def test_long_lists_of_skipped_files_are_cut() -> None:
    skipped = tuple(Skipped(str(number), Reason("empty", "is empty")) for number in range(500))
    shown = logdir.status_of(Status("logs", scanning=False, error=None, runs=(), skipped=skipped)).skipped
    assert len(shown) == logdir.MOST_SKIPPED + 1
    assert shown[0].why == Why(kind="empty", values={})
    assert shown[-1].reason == "and 400 more files"
    assert shown[-1].why == Why(kind="more_files", values={"count": 400})


def test_old_lists(client: Client) -> None:
    assert get(client, "/runs") == {"runs": ["cpu", "run", "run10"], "loading": False}
    assert get(client, "/views?run=run") == ["Overview", "Operator", "Kernel", "Trace"]
    assert get(client, "/views?run=cpu") == ["Overview", "Operator", "Trace"]
    assert get(client, "/views?run=run10") == []
    assert get(client, "/workers?run=run&view=Overview") == ["v", "w"]
    assert get(client, "/workers?run=run&view=Kernel") == ["w"]
    assert get(client, "/workers?run=run&view=Nonsense") == []
    assert get(client, "/spans?run=run&worker=w") == ["1", "2", "3"]
    assert get(client, "/spans?run=run&worker=v") == ["default"]
    assert get(client, "/spans?run=run&worker=nobody") == []


@pytest.mark.parametrize("route", OF_TRACE)
def test_every_route_about_a_trace_answers(client: Client, route: str) -> None:
    gpu = get(client, f"{route}?{TRACE}&name=aten::mm")
    cpu = get(client, f"{route}?run=cpu&worker=w&name=aten::mm")
    if route.startswith("/api"):
        assert (gpu["meta"]["run"], gpu["meta"]["worker"], gpu["meta"]["span"]) == ("run", "w", "1")
        assert (gpu["meta"]["device_type"], cpu["meta"]["device_type"]) == ("GPU", "CPU")
        assert cpu["meta"]["span"] == "default"
    elif route.startswith("/kernel"):
        assert cpu is None


def test_the_stack_route_of_an_operator_without_stacks(client: Client) -> None:
    error(client.get(f"/operation/stack?{TRACE}&op_name=aten::mm"), 404)
    error(client.get(f"/operation/stack?{TRACE}&op_name=nonsense&group_by=OperationAndInputShape&input_shape="), 404)
    error(client.get(f"/operation/stack?{TRACE}&op_name=aten::mm&group_by=OperationAndInputShape"), 400)
    assert error(client.get(f"/operation/stack?{TRACE}"), 400)["error"] == "Must specify op_name in request url"


def test_overview(client: Client) -> None:
    answer = get(client, f"/api/overview?{TRACE}")
    assert answer["steps"]["names"] == ["0", "1"]
    assert answer["workers"] == 2
    assert set(answer["steps"]["categories"]) == set(answer["steps"]["category_ns"])
    for i, duration in enumerate(answer["steps"]["duration_ns"]):
        assert sum(of[i] for of in answer["steps"]["category_ns"].values()) == duration
    assert answer["devices"][0]["name"] == "<b>Tiny</b>"
    assert answer["devices"][0]["sm_efficiency"] is None
    assert answer["top_operators"][0] | {"host_self_ns": 0} == {
        "name": "aten::mm",
        "is_communication": False,
        "host_self_ns": 0,
        "device_self_ns": 600_000,
        "calls": 2,
    }
    names = {"name": "volta_sgemm_128x64_nn", "short_name": "volta_sgemm_128x64_nn"}
    assert answer["top_kernels"] == [names | {"kind": "gemm", "total_ns": 600_000, "calls": 2}]
    cpu = get(client, "/api/overview?run=cpu&worker=w")
    assert cpu["devices"] == cpu["top_kernels"] == []
    assert cpu["top_operators"][0]["device_self_ns"] is None


def test_operator_tables(client: Client) -> None:
    for group_by, extra in (("name", set()), ("name_shape", {"input_shape"}), ("name_stack", {"call_stack"})):
        table = get(client, f"/api/operators?{TRACE}&group_by={group_by}")
        keys = [column["key"] for column in table["columns"]]
        assert keys == list(table["rows"])
        assert set(keys) & {"input_shape", "call_stack"} == extra
        assert {len(column) for column in table["rows"].values()} == {table["meta"]["total"]} == {1}
        assert table["meta"]["group_by"] == group_by
        assert (table["meta"]["device_ns"], table["meta"]["unattributed_device_ns"]) == (600_000, 0)
        assert all(column["help"] and column["label"] for column in table["columns"])
    cpu = get(client, "/api/operators?run=cpu&worker=w")
    assert not {"device_self_ns", "device_total_ns", "kernels"} & set(cpu["rows"])
    assert cpu["rows"]["tensor_core_self"] == [None]  # NaN
    assert cpu["meta"]["device_ns"] is None
    launched = get(client, f"/api/operators/kernels?{TRACE}&name=aten::mm")
    assert launched["rows"] == {
        "name": ["volta_sgemm_128x64_nn"],
        "short_name": ["volta_sgemm_128x64_nn"],
        "calls": [2],
        "total_ns": [600_000],
        "mean_ns": [300_000.0],
        "max_ns": [300_000],
        "min_ns": [300_000],
    }
    assert get(client, f"/api/operators/kernels?{TRACE}&name=nonsense")["meta"]["total"] == 0


def test_kernel_tables(client: Client) -> None:
    table = get(client, f"/api/kernels?{TRACE}&group_by=name_op_launch")
    assert table["rows"]["operator"] == ["aten::mm"]
    assert table["rows"]["registers_per_thread"] == [None]
    assert (table["meta"]["kernel_ns"], table["meta"]["compute_ns"]) == (600_000, 600_000)
    assert table["meta"]["tensor_cores"]["yes"] == 0
    assert "operator" not in get(client, f"/api/kernels?{TRACE}")["rows"]
    none = get(client, "/api/kernels?run=cpu&worker=w")
    assert none["meta"]["total"] == 0
    assert [note["kind"] for note in none["meta"]["notes"]] == ["no_kernels"]


@pytest.mark.parametrize("route", [*OF_TRACE, "/views", "/workers", "/spans", "/operation/stack"])
def test_bad_parameters_are_never_a_500(client: Client, route: str) -> None:
    assert error(client.get(route), 400)["error"] == "Must specify run in request url"
    error(client.get(f"{route}?run=no&worker=w&span=1&view=Overview&name=x&op_name=x"), 404)


@pytest.mark.parametrize("route", OF_TRACE)
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("run=run", 400),
        ("run=run&worker=no", 404),
        ("run=run&worker=w&span=99", 404),
        ("run=run&worker=w&span=", 404),
        ("run=run&worker=w", 404),
        ("run=run10&worker=w", 422),
        ("run=%ff%fe&worker=%00", 404),
    ],
)
def test_names_of_nothing(client: Client, route: str, query: str, status: int) -> None:
    error(client.get(f"{route}?{query}&name=x"), status)


@pytest.mark.parametrize(
    ("path", "status", "kind", "values"),
    [
        ("/api/overview?run=no&worker=w", 404, "no_such_run", {"run": "no"}),
        ("/api/overview?run=run&worker=no", 404, "no_such_worker", {"run": "run", "worker": "no"}),
        ("/api/overview?run=run&worker=w&span=99", 404, "no_such_span", {"span": "99", "worker": "w"}),
        ("/api/stacks?run=run&worker=w&span=1&root=7", 404, "no_such_stack", {"root": 7}),
        ("/api/timeline/slice?run=run&worker=w&span=1&row=999999", 404, "no_such_slice", {"row": 999999}),
    ],
)
def test_refusals_say_what_they_say(client: Client, path: str, status: int, kind: str, values: dict[str, Any]) -> None:
    for _ in range(2):  # the second is the one that is remembered
        assert error(client.get(path), status)["why"] == {"kind": kind, "values": values}


def test_what_could_not_be_read_says_why(client: Client) -> None:
    body = error(client.get("/api/overview?run=run10&worker=w"), 422)
    assert body["why"]["kind"] == "trace_failed"
    values = body["why"]["values"]
    assert body["error"] == f"{values['file']} {values['said']}"
    assert values["why_kind"] != "other"


def test_values_that_are_not_choices(client: Client) -> None:
    for route in ("/api/operators", "/api/kernels"):
        assert "must be one of name, " in error(client.get(f"{route}?{TRACE}&group_by=x"), 400)["error"]
    for route in ("/api/operators/stacks", "/api/operators/kernels"):
        error(client.get(f"{route}?{TRACE}"), 400)


def test_the_reason_of_a_failed_trace_is_told(client: Client) -> None:
    text = error(client.get("/api/overview?run=run10&worker=w"), 422)["error"]
    assert text == "w.pt.trace.json is not a PyTorch trace: it has no traceEvents"


def test_a_loading_trace_is_told_with_its_progress(
    client: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = next(held for held in workspace._runs._traces.values() if held.file.entry.path == "run/w.1.pt.trace.json")
    monkeypatch.setattr(held, "state", "loading")
    monkeypatch.setattr(held, "summary", None)
    monkeypatch.setattr(held, "bytes_done", 10)
    monkeypatch.setattr(held, "events", 3)
    body = error(client.get(f"/api/overview?{TRACE}"), 409)
    assert body["state"] == "loading"
    assert body["progress"] == {"bytes_done": 10, "bytes_total": held.file.entry.size, "events": 3}
    assert get(client, "/runs") == {"runs": ["cpu", "run", "run10"], "loading": True}


def test_our_own_mistakes_are_a_500_with_a_mark(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(ROUTES, "/api/status", lambda workspace, parameters: 1 // 0)
    monkeypatch.setattr(logging.getLogger("torch_tb_profiler"), "propagate", True)
    text = error(client.get("/api/status"), 500)["error"]
    assert "ZeroDivisionError" not in text
    assert text.split()[-1] in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_etags(client: Client) -> None:
    first = client.get("/api/status")
    etag = first.headers["ETag"]
    assert etag.startswith('"')
    for header in (etag, f'"other", W/{etag}', "*"):
        again = client.get("/api/status", headers={"If-None-Match": header})
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == etag
        assert again.headers["X-Content-Type-Options"] == "nosniff"
    assert client.get("/api/status", headers={"If-None-Match": '"other"'}).status_code == 200
    packed = client.get("/api/status", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["ETag"] != etag
    assert client.get("/api/status", headers={"If-None-Match": packed.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("*", True),
        ("gzip;q=0.5", True),
        ("", False),
        ("identity", False),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip;q=0.0, *;q=1", False),
        ("gzip;q=0.2, identity;q=0.8", False),
        ("gzip, identity", True),
    ],
)
def test_gzip_is_for_those_who_ask(client: Client, accepted: str, packed: bool) -> None:
    plain = client.get(f"/api/overview?{TRACE}")
    response = client.get(f"/api/overview?{TRACE}", headers={"Accept-Encoding": accepted})
    assert response.headers["Vary"] == "Accept-Encoding"
    assert (response.headers.get("Content-Encoding") == "gzip") is packed
    assert (gzip.decompress(response.data) if packed else response.data) == plain.data
    assert int(response.headers["Content-Length"]) == len(response.data)


def test_small_answers_are_not_compressed(client: Client) -> None:
    response = client.get("/runs", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in response.headers


@pytest.mark.parametrize("path", ["/runs", "/api/status", "/index.js", "/index.html", "/", "/nonsense"])
def test_head_is_get_without_a_body(client: Client, path: str) -> None:
    got, head = client.get(path), client.head(path)
    assert head.data == b""
    assert head.status_code == got.status_code
    assert dict(head.headers) == dict(got.headers)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(client: Client, method: str) -> None:
    for path in ("/runs", "/", "/assets/x.js", "/nonsense"):
        response = client.open(path, method=method)
        error(response, 405)
        assert response.headers["Allow"] == "GET, HEAD"


def test_unknown_routes(client: Client) -> None:
    for path in ("/nonsense", "/api", "/api/nonsense", "/assets", "/api/status/x"):
        error(client.get(path), 404)


def test_a_trailing_slash_does_not_matter(client: Client) -> None:
    assert get(client, "/runs/") == get(client, "/runs")


def test_the_first_of_equal_parameters_counts(client: Client) -> None:
    assert get(client, "/spans?run=run&run=no&worker=v") == ["default"]


def test_json_has_no_nan() -> None:
    assert dumps({"a": [float("nan"), float("inf"), 1.5]}) == b'{"a":[null,null,1.5]}'
    assert dumps([np.float64(0.5), np.int64(3), np.bool_(True)]) == b"[0.5,3,true]"


def test_every_documented_route_exists(repository: Path) -> None:
    text = (repository / "docs" / "api.md").read_text()
    documented = {word.rstrip("`") for word in text.split() if word.startswith("/api/") and "…" not in word}
    assert documented
    assert documented <= set(ROUTES)


# the UI's files ----------------------------------------------------------------------------------------------
