"""Calls of the device's API by caller, and how much of an operator they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.events import annotation, event, kernel, launch, model_of, op
from tests.recorded import model_of as model_of_file
from tests.recorded import sample_traces, short
from torch_tb_profiler.analysis.api_calls.calls import api_calls
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.shared.operator_times import operator_times


def wait(start: float, duration: float) -> dict[str, object]:
    return event("cuda_runtime", "cudaStreamSynchronize", start, duration)


def test_a_call_belongs_to_the_innermost_operator() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#1", 0, 1000),
            op("aten::to", 10, 800),
            op("aten::copy_", 20, 780),
            launch(25, 1, 10),
            wait(40, 700),
            kernel(50, 5, 1),
            wait(900, 50),
        ]
    )
    found = api_calls(model)
    rows = [
        (found.name[i], found.caller[i], bool(found.by_operator[i]), int(found.calls[i]), int(found.total_ns[i]))
        for i in range(len(found))
    ]
    assert rows == [
        ("cudaStreamSynchronize", "aten::copy_", True, 1, 700_000),
        ("cudaStreamSynchronize", "ProfilerStep#1", False, 1, 50_000),
        ("cudaLaunchKernel", "aten::copy_", True, 1, 10_000),
    ]
    table = operators(model)
    assert table.api_self_ns is not None
    blocked = dict(zip(table.name, table.api_self_ns.tolist(), strict=True))
    own = dict(zip(table.name, table.host_self_ns.tolist(), strict=True))
    assert blocked == {"aten::copy_": 710_000, "aten::to": 0}
    assert own == {"aten::copy_": 70_000, "aten::to": 20_000}


def test_a_driver_call_inside_a_runtime_call_counts_once() -> None:
    model = model_of(
        [op("a", 0, 100), launch(10, 1, 40), event("cuda_driver", "cuLaunchKernel", 15, 20), kernel(60, 5, 1)]
    )
    found = api_calls(model)
    assert [(found.name[i], int(found.calls[i]), int(found.total_ns[i])) for i in range(len(found))] == [
        ("cudaLaunchKernel", 1, 40_000)
    ]


def test_without_calls_there_is_no_column() -> None:
    model = model_of([op("a", 0, 100)])
    assert len(api_calls(model)) == 0
    assert operators(model).api_self_ns is None


@pytest.mark.parametrize("path", sample_traces(), ids=short)
def test_what_operators_call_is_what_they_are_blocked_in(path: Path) -> None:
    model = model_of_file(path)
    found = api_calls(model)
    times = operator_times(model)
    assert int(found.total_ns[found.by_operator].sum()) == int(times.api_self.sum())
    assert int(found.total_ns.sum()) == int(model.launch_links.duration.sum())
