"""The shapes of the old plugin: keys and their order, rounding, escaping. Numbers: tests/golden."""

from __future__ import annotations

import json

from tests.events import annotation, frame, kernel, launch, model_of, op
from torch_tb_profiler.analysis.operators.table import operator_details
from torch_tb_profiler.web.old_plugin import shapes


def test_overview() -> None:
    answer = shapes.overview(
        model_of([annotation("ProfilerStep#3", 0, 10.5), op("a", 0, 2.25), kernel(4, 2, 1)]), workers=2
    )
    assert list(answer) == ["steps", "performance", "recommendations", "environments", "gpu_metrics"]
    names = ["Step", "Kernel", "Memcpy", "Memset", "Runtime", "DataLoader", "CPU Exec", "Other"]
    assert [c["name"] for c in answer["steps"]["columns"] if "name" in c] == names
    assert answer["steps"]["columns"][2] == {"type": "string", "role": "tooltip", "p": {"html": "true"}}
    (row,) = answer["steps"]["rows"]
    assert row[:2] == ["3", 2]
    assert "Total: 10.5us<br><b>Kernel: 2us</b><br>Percentage: 19.05%" in row[2]
    (root,) = answer["performance"]
    assert (root["name"], root["value"], root["extra"]) == ("Average Step Time", 10, 100)
    assert root["children"][5] == {"name": "CPU Exec", "description": "", "value": 2, "extra": 21.43}
    assert answer["environments"] == [
        {"title": "Number of Worker(s)", "value": "2"},
        {"title": "Device Type", "value": "GPU"},
    ]


def test_html_from_a_trace_stays_text() -> None:
    evil = "<img src=x onerror=alert(1)>"
    answer = shapes.overview(
        model_of(
            [annotation("ProfilerStep#3", 0, 100), op("aten::a", 0, 90), launch(1, 1), kernel(4, 2, 1)],
            deviceProperties=[{"id": 0, "name": evil, "computeMajor": evil, "computeMinor": 0}],
        ),
        workers=1,
    )
    assert evil not in json.dumps(answer)
    assert "&lt;img" in json.dumps(answer["gpu_metrics"])
    assert answer["recommendations"].startswith("<ul><li>GPU 0 is idle")


def test_operation() -> None:
    model = model_of([op("a", 0, 10, **{"Input Dims": [[2, 3], []]}), op("b", 20, 1.5)])
    answer = shapes.operation(model, "Operation")
    assert list(answer) == ["device_total_time", "device_self_time", "host_total_time", "host_self_time"]
    assert answer["device_total_time"] is None
    assert answer["host_total_time"] == {
        "title": "Host Total Time (us)",
        "columns": [{"type": "string", "name": "name"}, {"type": "number", "name": "value"}],
        "rows": [["a", 10], ["b", 1.5]],
    }
    table = shapes.operation_table(model, "OperationAndInputShape")
    assert table["metadata"]["sort"] == "host_self_duration"
    assert [list(row.items()) for row in table["data"]] == [
        [
            ("name", name),
            ("input_shape", shape),
            ("calls", 1),
            ("host_self_duration", time),
            ("host_total_duration", time),
            ("tc_eligible", "No"),
            ("tc_self_ratio", 0),
            ("tc_total_ratio", 0),
            ("has_call_stack", False),
        ]
        for name, shape, time in (("a", "[[2, 3], []]", 10), ("b", "[]", 2))
    ]


def test_operation_stack() -> None:
    frames = [frame("m.py(1): main", 0, 100), frame("m.py(2): f", 5, 50)]
    model = model_of([*frames, op("a", 10, 5, **{"Input Dims": [[2]]}), op("b", 200, 5)])
    details = operator_details(model)
    answer = shapes.operation_stack(details, "a", None, None)
    assert answer is not None
    assert answer["data"][0]["call_stack"] == "m.py(2): f;m.py(1): main"
    assert "has_call_stack" not in answer["data"][0]
    by_shape = shapes.operation_stack(details, "a", "OperationAndInputShape", "[[2]]")
    assert by_shape is not None
    assert by_shape["data"][0]["input_shape"] == "[[2]]"
    assert shapes.operation_stack(details, "a", "OperationAndInputShape", None) is None
    assert shapes.operation_stack(details, "b", None, None) is None
    assert shapes.operation_stack(details, "nobody", None, None) is None


def test_kernels() -> None:
    events = [
        op("aten::mm", 0, 10),
        launch(5, 1),
        kernel(20, 2.5, 1, "volta_h884gemm", grid=[1, 2, 3]),
        kernel(30, 1, 2),
    ]
    model = model_of(events)
    assert shapes.kernel(model) == {
        "total": {
            "columns": [{"type": "string", "name": "name"}, {"type": "number", "name": "value"}],
            "rows": [["volta_h884gemm", 2.5], ["kernel", 1]],
        }
    }
    by_name = shapes.kernel_table(model, "Kernel")
    assert by_name is not None
    assert by_name["data"]["rows"] == [["volta_h884gemm", "Yes", 1, 2, 2, 2, 2], ["kernel", "No", 1, 1, 1, 1, 1]]
    by_launch = shapes.kernel_table(model, None)
    assert by_launch is not None
    assert by_launch["data"]["rows"] == [
        ["volta_h884gemm", "aten::mm", "[1, 2, 3]", "None", "0", "0", "Yes", "Yes", 1, 2.5, 2, 2.5, 2.5],
        ["kernel", "CallTreeRoot", "None", "None", "0", "0", "No", "No", 1, 1, 1, 1, 1],
    ]
    pie = shapes.kernel_tc_pie(model)
    assert pie is not None
    assert pie["total"]["rows"] == [["Using Tensor Cores", 2.5 / 3.5], ["Not Using Tensor Cores", 1 - 2.5 / 3.5]]


def test_without_kernels_there_is_null() -> None:
    model = model_of([op("a", 0, 1)])
    assert shapes.kernel(model) is None
    assert shapes.kernel_table(model, None) is None
    assert shapes.kernel_tc_pie(model) is None
    assert "gpu_metrics" not in shapes.overview(model, 1)
