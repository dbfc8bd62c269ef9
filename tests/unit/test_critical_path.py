"""/api/critical_path, its pieces, and /api/what_if: sums that add up, and the same numbers as the replay gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from werkzeug.test import Client

from tests.events import Event, annotation, frame, kernel, launch, model_of, op
from tests.served import everything_read, get
from torch_tb_profiler.analysis.critical_path import CRITICAL_PATH, WHAT_IF, CriticalPathParams
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.replay.changes import free, kernels
from torch_tb_profiler.analysis.replay.on_path import names_on_path
from torch_tb_profiler.analysis.replay.path import PARTS, _cut
from torch_tb_profiler.analysis.replay.resources import RESOURCES
from torch_tb_profiler.analysis.replay.savings import what_if
from torch_tb_profiler.workspace import Workspace

LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
STEPS = 4
STEP_US = 1_000


def training(loading: int = 300, kernels: int = 2) -> list[Event]:
    """Steps of 1,000 µs: loading, an operator with a launch, a wait for its kernels (100 µs each), then Python."""
    events: list[Event] = [frame("train.py(7): main", 0, STEPS * STEP_US)]
    for step in range(STEPS):
        at, first = step * STEP_US, step * kernels
        events += [
            annotation(f"ProfilerStep#{step}", at, STEP_US),
            annotation(LOADER, at + 10, loading),
            op("aten::mm", at + 400, 100),
            *(launch(at + 410 + 10 * k, first + k + 1) for k in range(kernels)),
            *(kernel(at + 420 + 101 * k, 100, first + k + 1, name="gemm") for k in range(kernels)),
            {**launch(at + 550, 10_000 + step, 100 * kernels - 100), "name": "cudaDeviceSynchronize"},
        ]
    return events


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    root = tmp_path_factory.mktemp("critical_path")
    nothing = {"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": "python"}}
    whole = training()
    work = [each for each in whole if each["cat"] == "kernel"]
    kept = work[:: len(work) // STEPS]  # without any, the device was not recorded
    lost = [each for each in whole if each["cat"] != "kernel" or each in kept]
    for run, events in {"good": whole, "lost": lost, "empty": [nothing]}.items():
        path = root / "logs" / run / "w.pt.trace.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({"traceEvents": events}))
    with everything_read(root / "logs", root / "cache", 1) as workspace:
        yield workspace


def ask(client: Client, route: str, run: str = "good", status: int = 200, **query: str) -> Any:
    more = "".join(f"&{name}={value}" for name, value in query.items())
    return get(client, f"/api/{route}?run={run}&worker=w{more}", status)


def test_every_part_of_the_path_is_of_one_resource() -> None:
    assert sorted(part for each in RESOURCES for part in each.parts) == sorted(PARTS)


def test_the_sums_add_up(client: Client) -> None:
    found = ask(client, "critical_path")
    steps = found["steps"]
    assert steps["names"] == ["0", "1", "2", "3"]
    assert [sum(of_step) for of_step in zip(*steps["part_ns"].values(), strict=True)] == steps["step_ns"]
    assert sum(steps["step_ns"]) == found["total_ns"] == sum(each["on_path_ns"] for each in found["resources"])
    assert found["mean_step_ns"] == found["total_ns"] / STEPS
    assert found["meta"]["explained"] == 1
    assert found["meta"]["confidence"] == "normal"
    assert found["meta"]["refused"] == []
    by_name = {each["resource"]: each for each in found["resources"]}
    assert by_name["input"]["on_path_ns"] == STEPS * 300_000
    assert by_name["input"]["if_free"]["saved_ns"] == STEPS * 300_000
    assert by_name["input"]["if_free"]["bound"]
    assert by_name["input"]["if_faster"]["saved_ns"] == STEPS * 60_000
    assert by_name["input"]["next"] == "host"
    assert by_name["sync"]["if_faster"]["refused"] == "waits"
    assert by_name["unknown"]["if_free"] is None
    assert by_name["communication"]["if_free"]["saved_ns"] == 0
    assert by_name["communication"]["next"] is None


def test_names_have_the_time_of_the_path_that_is_theirs(client: Client) -> None:
    found = ask(client, "critical_path")
    names = {each["name"]: each for each in found["operators"]}
    assert names[LOADER]["what"] == "annotation"
    assert names[LOADER]["host_ns"] == STEPS * 300_000
    (gemm,) = found["kernels"]
    assert (gemm["name"], gemm["what"], gemm["host_ns"]) == ("gemm", "kernel", 0)
    assert names["aten::mm"]["device_ns"] == gemm["device_ns"] > 0
    # two kernels a step: the path is on the host when the first begins
    assert gemm["all_calls"] == 2 * STEPS
    (main,) = found["functions"]
    assert (main["name"], main["calls"]) == ("train.py(7): main", 1)
    assert main["device_ns"] == gemm["device_ns"]
    parts = found["steps"]["part_ns"]
    host = sum(sum(parts.get(part, [])) for part in ("python", "operator", "data", "launch", "blocking", "api"))
    assert main["host_ns"] == host
    assert "ProfilerStep#0" not in names
    assert len(ask(client, "critical_path", most="1")["operators"]) == 1


def test_some_steps_are_looked_at_in_the_same_replay(client: Client) -> None:
    whole = ask(client, "critical_path")["steps"]
    found = ask(client, "critical_path", from_step="1", to_step="2")
    assert found["steps"]["names"] == ["1", "2"]
    assert found["steps"]["step_ns"] == whole["step_ns"][1:3]
    assert found["steps"]["start_ns"] == whole["start_ns"][1:3]
    after = ask(client, "what_if", from_step="1", to_step="2", changes="data:0")
    assert after["before_ns"] == found["total_ns"]
    assert after["saved"]["saved_ns"] == 2 * 300_000


def test_pieces_follow_one_another(client: Client) -> None:
    steps = ask(client, "critical_path")["steps"]
    whole = ask(client, "critical_path/pieces")
    assert whole["columns"][4]["total"] == sum(steps["step_ns"])
    rows = ask(client, "critical_path/pieces", step="2")["rows"]
    ends = [start + length for start, length in zip(rows["start_ns"], rows["duration_ns"], strict=True)]
    assert rows["start_ns"][1:] == ends[:-1]
    assert rows["start_ns"][0] == steps["start_ns"][2]
    assert ends[-1] == steps["start_ns"][2] + steps["step_ns"][2]
    loading = rows["part"].index("data")
    assert rows["name"][loading] == LOADER
    assert rows["duration_ns"][loading] == 300_000
    python = rows["part"].index("python")
    assert rows["name"][python] == "train.py(7): main"
    assert len(ask(client, "critical_path/pieces", step="2", limit="1", sort="-duration_ns")["rows"]["name"]) == 1
    assert "no step" in ask(client, "critical_path/pieces", status=404, step="9")["error"]


def test_what_if_is_the_replay() -> None:
    model = model_of(training())
    expected = what_if(model, [free("data"), kernels(0.5)])
    subject = Subject(model, "r", "w", "s", 0, 1, lambda _: [])
    found = WHAT_IF.compute(subject, WHAT_IF.parameters("data:0,kernels:0.5"))
    assert (found.before_ns, found.after_ns) == (expected.before_ns, expected.after_ns)
    assert (found.saved.low_ns, found.saved.high_ns) == (expected.low_ns, expected.high_ns)
    assert found.step_after_ns is not None
    assert sum(found.step_after_ns) == found.after_ns == sum((found.parts_after or {}).values())
    assert found.saved.bound
    assert not found.with_waiting


def test_without_changes_nothing_is_saved(client: Client) -> None:
    found = ask(client, "what_if")
    assert found["after_ns"] == found["before_ns"]
    assert found["saved"]["saved_ns"] == 0
    assert found["saved"]["low_ns"] is None
    assert found["parts_after"] == found["parts_before"]


def test_a_name_that_nothing_has_is_left_out(client: Client) -> None:
    found = ask(client, "what_if", changes="operator.no::such:0,data:0.5")
    assert [(each["text"], each["found"]) for each in found["changes"]] == [
        ("operator.no::such:0", 0),
        ("data:0.5", None),
    ]
    assert found["saved"]["saved_ns"] == STEPS * 150_000
    assert not found["saved"]["bound"]


@pytest.mark.parametrize("changes", ["fast", "data:x", "data:0,data:1", "operator:1", "sync.%25%ZZ"])
def test_what_is_no_change_is_refused(client: Client, changes: str) -> None:
    assert "changes" in ask(client, "what_if", status=400, changes=changes)["error"]


def test_what_a_trace_is_too_poor_for_has_no_number(client: Client) -> None:
    path = ask(client, "critical_path", "lost")
    assert [(each["id"], each["scope"]) for each in path["meta"]["refused"]] == [("lost_work", "device")]
    by_name = {each["resource"]: each for each in path["resources"]}
    assert by_name["compute"]["if_free"] == {
        "saved_ns": None,
        "low_ns": None,
        "high_ns": None,
        "bound": True,
        "refused": "lost_work",
    }
    assert by_name["input"]["if_free"]["saved_ns"] == STEPS * 300_000
    found = ask(client, "what_if", "lost", changes="kernels:0.5,data:0")
    assert [each["refused"] for each in found["changes"]] == ["lost_work", None]
    assert (found["after_ns"], found["step_after_ns"], found["parts_after"]) == (None, None, None)
    assert found["saved"]["refused"] == "lost_work"


def test_a_trace_of_nothing_is_refused(client: Client) -> None:
    path = ask(client, "critical_path", "empty")
    assert [each["scope"] for each in path["meta"]["refused"]] == ["everything"]
    assert (path["total_ns"], path["mean_step_ns"], path["largest"]) == (0, None, None)
    assert path["operators"] == path["kernels"] == path["functions"] == path["modules"] == []
    assert ask(client, "critical_path/pieces", "empty")["rows"]["row"] == []
    assert ask(client, "what_if", "empty", changes="data:0")["after_ns"] is None


def test_no_names_of_no_steps() -> None:
    model = model_of(training())
    assert names_on_path(model, []).operators == ()
    subject = Subject(model, "r", "w", "s", 0, 1, lambda _: [])
    assert CRITICAL_PATH.compute(subject, CriticalPathParams()).largest == "host"


def test_parts_of_seconds_keep_their_shares() -> None:
    """Products of their lengths are no int64."""
    second = 10**9
    found = _cut(np.array([6, 4]) * second, 5 * second, share=True)
    assert found.tolist() == [3 * second, 2 * second]
