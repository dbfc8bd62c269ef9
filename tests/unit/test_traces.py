"""Any number of traces in one table: the same numbers as the views of each of them have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

import torch_tb_profiler
from tests.many import write_many_launches
from tests.served import client_of, everything_read, get
from tests.tiny import write_trace
from torch_tb_profiler.analysis.operators.table import OperatorTable
from torch_tb_profiler.analysis.tabular import WHOLE
from torch_tb_profiler.analysis.traces import side_by_side
from torch_tb_profiler.trace import column_file

GPU_RUN = "generated_4gpu_h100"
CPU_RUNS = ("cnn_workers0", "cnn_workers2")


@pytest.fixture(scope="module")
def client(samples: Path, samples_cache: Path) -> Iterator[Client]:
    with everything_read(samples, samples_cache) as workspace:
        yield client_of(workspace)


def rows_of(answer: Any) -> list[dict[str, Any]]:
    rows: dict[str, list[Any]] = answer["rows"]
    return [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]


def traces_of(client: Client) -> Iterator[str]:
    """The run of each trace; memory snapshots have no numbers of this kind."""
    for run in get(client, "/api/status")["runs"]:
        yield from (run["name"] for trace in run["traces"] if trace["kind"] == "trace")


def test_the_numbers_are_those_of_the_views(client: Client) -> None:
    rows = rows_of(get(client, "/api/traces?of=all"))
    assert len(rows) == len(list(traces_of(client))) == 8
    for row in rows:
        trace = f"run={row['run']}&worker={row['worker']}&span={row['span']}"
        overview = get(client, f"/api/overview?{trace}")
        assert row["steps"] == len(overview["steps"]["names"])
        assert row["step"] == overview["average"]["step_ns"]
        assert row["slowest_step_ns"] == max(overview["steps"]["duration_ns"])
        for category, mean in overview["average"]["category_ns"].items():
            assert row[category] == mean
        for key in ("busy", "computing", "communicating", "exposed_communication"):
            shares = [device[key] for device in overview["devices"]]
            assert row[key] == (pytest.approx(sum(shares) / len(shares)) if shares else None)
        assert row["top_operator"] == overview["top_operators"][0]["name"]
        curves = get(client, f"/api/memory/curve?{trace}")["devices"]
        peaks = [curve["peak"]["allocated"] for curve in curves if curve["device"] != "CPU"] or [
            curve["peak"]["allocated"] for curve in curves
        ]
        assert row["peak_bytes"] == (max(peaks) if peaks else None)


def test_exposed_communication_is_that_of_the_distributed_view(client: Client) -> None:
    rows = rows_of(get(client, f"/api/traces?of=run&run={GPU_RUN}"))
    workers = {each["worker"]: each["steps"] for each in get(client, f"/api/distributed?run={GPU_RUN}")["workers"]}
    assert [row["trace"] for row in rows] == [row["worker"] for row in rows] == list(workers)
    for row in rows:
        steps = workers[row["worker"]]
        exposed = steps["exposed_communication_ns"]
        assert row["exposed_communication_ns"] == pytest.approx(sum(exposed) / len(exposed))
        assert row["exposed_communication"] == pytest.approx(sum(exposed) / sum(steps["duration_ns"]))
        assert row["exposed_communication_ns"] > 0


def test_one_of_each_run_is_that_of_the_same_worker(client: Client) -> None:
    workers = dict.fromkeys(traces_of(client), "worker0") | {GPU_RUN: "rank2", "ddp_gloo_2ranks": "rank0"}
    rows = rows_of(get(client, "/api/traces?worker=rank2"))
    assert {row["run"]: row["worker"] for row in rows} == workers


def test_is_asked_as_every_table(client: Client) -> None:
    answer = get(client, "/api/traces?of=all&sort=-step&filter=run~cnn&limit=1")
    assert answer["meta"]["matched"] == len(CPU_RUNS)
    (row,) = rows_of(answer)
    steps = {row["run"]: row["step"] for row in rows_of(get(client, "/api/traces"))}
    assert row["step"] == max(steps[run] for run in CPU_RUNS)
    assert get(client, "/api/traces?sort=nothing", 400)["problem"]["name"] == "nothing"
    assert get(client, "/api/traces?of=run", 400)
    assert get(client, "/api/traces?of=run&run=nothing", 404)
    assert get(client, "/api/traces?of=others", 400)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("of=run", "Must specify run in request url"),
        ("of=others", "of must be one of runs, run, all"),
        ("what=modules", "what must be one of operators, kernels"),
        ("measure=total_ns", "measure must be one of host_self_ns, device_self_ns, calls"),
        ("what=kernels&measure=host_self_ns", "measure must be one of total_ns, calls"),
        ("per=year", "per must be one of step, all"),
        ("steps=some", "steps must be one of profiler_step, "),
        ("step_pattern=(", "step_pattern "),
    ],
)
def test_names_are_refused_with_a_reason(client: Client, query: str, message: str) -> None:
    assert message in get(client, f"/api/traces/names?{query}", 400)["error"]


def test_what_is_known_of_each_trace_is_enough(client: Client, samples: Path, samples_cache: Path) -> None:
    """The tables are made of kept answers: no trace is opened again."""
    urls = ("/api/traces?of=all", "/api/traces/names?of=all", "/api/traces/names?of=all&what=kernels")
    known = [get(client, url) for url in urls]
    with everything_read(samples, samples_cache) as later, pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_file, "open_trace", lambda _: pytest.fail("the columns are opened"))
        assert [get(client_of(later), url) for url in urls] == known


def test_how_steps_are_found_is_the_same_for_all(client: Client) -> None:
    assert {row["steps"] for row in rows_of(get(client, "/api/traces?of=all&steps=whole_trace"))} == {1}


@pytest.mark.parametrize(
    ("what", "measure", "per"),
    [("operators", "host_self_ns", "step"), ("operators", "calls", "all"), ("kernels", "total_ns", "step")],
)
def test_names_side_by_side_are_those_of_each_trace(client: Client, what: str, measure: str, per: str) -> None:
    answer = get(client, f"/api/traces/names?of=all&what={what}&measure={measure}&per={per}")
    traces = answer["meta"]["traces"]
    assert len(traces) == 8
    assert answer["meta"]["per"] == per
    names = answer["rows"]["name"]
    for at, trace in enumerate(traces):
        asked = f"run={trace['run']}&worker={trace['worker']}&span={trace['span']}"
        names_of_steps = get(client, f"/api/overview?{asked}")["steps"]["names"]
        if per == "step":
            asked += f"&from_step={names_of_steps[0]}&to_step={names_of_steps[-1]}"
        table = get(client, f"/api/{what}?{asked}")["rows"]
        steps = len(names_of_steps) if per == "step" else 1
        theirs = {name: value / steps for name, value in zip(table["name"], table[measure], strict=True)}
        ours = dict(zip(names, answer["rows"][f"t{at}"], strict=True))
        assert {name: value for name, value in ours.items() if value is not None} == pytest.approx(theirs)
    spread = answer["rows"]["spread"]
    assert spread == sorted(spread, reverse=True)


def test_side_by_side() -> None:
    found = side_by_side([{"x": 1.0, "y": 5.0}, {"x": 1.0, "z": 7.0}])
    defined, values = found.with_traces(["a", "b"], OperatorTable.columns["host_self_ns"])
    assert [d.key for d in defined] == ["name", "spread", "t0", "t1"]
    assert [d.label for d in defined][2:] == ["a", "b"]
    assert values["name"] == ["z", "y", "x"]
    assert values["t0"].tolist() == [None, 5.0, 1.0]
    assert values["t1"].tolist() == [7.0, None, 1.0]
    assert values["spread"].tolist() == [7.0, 5.0, 0.0]


def test_nothing_side_by_side() -> None:
    for sums in ([], [{}]):
        _, values = side_by_side(sums).with_traces(["a"][: len(sums)], OperatorTable.columns["calls"])
        assert values["name"] == []
        assert len(values["spread"]) == 0


@pytest.mark.slow
def test_more_traces_than_columns_are_said(tmp_path: Path) -> None:
    for rank in range(34):
        write_trace(tmp_path / "run" / f"rank{rank}.1.pt.trace.json")
    with everything_read(tmp_path, tmp_path / "cache") as workspace:
        answer = get(client_of(workspace), "/api/traces/names?of=all")
        assert len(answer["meta"]["traces"]) == 32
        assert answer["meta"]["left_out"] == 2


@pytest.mark.slow
def test_a_trace_with_more_names_than_are_sent_at_once_has_all_of_them(tmp_path: Path) -> None:
    names = WHOLE + 5
    write_many_launches(tmp_path / "run" / "w.1.pt.trace.json", names, names)
    with everything_read(tmp_path, tmp_path / "cache") as workspace:
        answer = get(client_of(workspace), "/api/traces/names?what=kernels&measure=calls&per=all&limit=1")
        assert answer["meta"]["total"] == names


def test_what_could_not_be_read_is_said(tmp_path: Path) -> None:
    write_trace(tmp_path / "good" / "w.1.pt.trace.json")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "w.1.pt.trace.json").write_text('{"traceEvents": 1}')
    with everything_read(tmp_path, tmp_path / "cache") as workspace:
        answer = get(client_of(workspace), "/api/traces")
        assert answer["rows"]["run"] == ["good"]
        (note,) = answer["meta"]["notes"]
        assert (note["kind"], note["count"]) == ("traces_failed", 1)
        assert "w.1.pt.trace.json" in note["text"]


def test_in_python(client: Client, samples: Path, samples_cache: Path) -> None:
    profile = torch_tb_profiler.open(samples, cache_dir=samples_cache)
    columns = profile.figures().to_columns()
    for key, values in get(client, "/api/traces?of=all")["rows"].items():
        if key != "trace":
            assert [value or "" for value in columns[key]] == [value or "" for value in values], key
    assert len(profile.run(GPU_RUN).figures().to_pandas()) == 4
