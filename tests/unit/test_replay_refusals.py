"""What the replay refuses, and files that hold anything: their recorded times come back all the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.events import Event, annotation, kernel, launch, model_of, op
from tests.replay_checks import CHANGES, check_base
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, free, kernels, scale
from torch_tb_profiler.analysis.replay.graph import GraphNode
from torch_tb_profiler.analysis.replay.on_path import recorded_quality
from torch_tb_profiler.analysis.replay.savings import savings, what_if
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.analysis.waterfall.waterfall import unknown_time

REFUSED: dict[str, tuple[list[Event], str, Change]] = {
    "nothing": ([], "no_step", free("data")),
    "no launches": (
        [
            annotation("ProfilerStep#1", 0, 300),
            op("aten::mm", 5, 10),
            *(kernel(10 + 20 * i, 10, i + 1) for i in range(9)),
        ],
        "no_launches",
        scale("launch", 0.5),
    ),
    "lost work": (
        [annotation("ProfilerStep#1", 0, 900), op("aten::mm", 5, 10)]
        + [launch(20 + 20 * i, i + 1) for i in range(20)]
        + [kernel(30 + 20 * i, 10, i + 1) for i in range(10)],
        "lost_work",
        kernels(0.5),
    ),
    "clocks": (
        [annotation("ProfilerStep#1", 0, 900), op("aten::mm", 5, 10)]
        + [launch(100 + 20 * i, i + 1) for i in range(20)]
        + [kernel(50 + 20 * i, 10, i + 1) for i in range(20)],
        "clocks",
        kernels(0.5),
    ),
    "clocks far apart": (
        [annotation("ProfilerStep#1", 5000, 900), op("aten::mm", 5005, 10)]
        + [launch(5100 + 20 * i, i + 1) for i in range(20)]
        + [kernel(50 + 20 * i, 10, i + 1) for i in range(20)],
        "clocks",
        kernels(0.5),
    ),
    "one correlation for all": (
        [annotation("ProfilerStep#1", 0, 900), op("aten::mm", 5, 10)]
        + [launch(100 + 20 * i, 7) for i in range(20)]
        + [kernel(505 + 10 * i, 10, 7) for i in range(30)],
        "lost_work",
        kernels(0.5),
    ),
    "unexplained": (
        [annotation("ProfilerStep#1", 0, 900), op("aten::mm", 5, 10), launch(20, 1), kernel(800, 200, 1)],
        "unexplained",
        kernels(0.5),
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_known_is_refused(why: str) -> None:
    events, name, change = REFUSED[why]
    found = what_if(model_of(events), [change])
    assert name in [each.id for each in found.refused]
    assert (found.after_ns, found.saved_ns, found.path) == (None, None, None)
    (row,) = savings(model_of(events), [[change]]).changes
    assert row.alone is None
    assert row.refused is not None


def test_time_without_a_cause_is_said_of_the_path_and_not_of_steps_that_the_device_fills() -> None:
    """The host is silent for 9.9 of 10 ms, while the device computes for 9: little of the waterfall is unknown."""
    events = [
        each
        for i in range(5)
        for each in (
            op("aten::mm", 10_000 * i, 50),
            launch(10_000 * i + 10, i + 1),
            kernel(10_000 * i + 60, 9_000, i + 1),
        )
    ]
    model = model_of(events)
    assert unknown_time(model) < 0.1
    (refusal,) = recorded_quality(model).refusals
    assert refusal.text == "81 % of the critical path has no cause in the trace."


def test_host_changes_need_launches_but_device_changes_do_not() -> None:
    events = REFUSED["no launches"][0]
    found = what_if(model_of(events), [kernels(0.5)])
    assert found.refused == ()
    assert found.after_ns == 300_000


@pytest.mark.parametrize("factor", [-0.1, float("nan"), float("inf")])
def test_a_factor_is_a_number_from_0_on(factor: float) -> None:
    with pytest.raises(ValueError, match="factor"):
        what_if(model_of(HOSTILE["all at once"]), [kernels(factor)])


HOSTILE: dict[str, list[Event]] = {
    "one event": [op("aten::mm", 0, 10)],
    "a kernel alone": [kernel(5, 10, 1)],
    "negative durations": [annotation("ProfilerStep#1", 0, 100), op("a", 5, -3), launch(9, 1, -2), kernel(20, -7, 1)],
    "all at once": [annotation("ProfilerStep#1", 0, 0), launch(0, 1, 0), kernel(0, 0, 1), kernel(0, 0, 1)],
    "many streams": [annotation("ProfilerStep#1", 0, 9000)]
    + [e for i in range(1500) for e in (launch(i * 5, i + 1, 3), kernel(i * 5 + 9, 4, i + 1, stream=i))]
    + [{**launch(8000, 9999, 50), "name": "cudaDeviceSynchronize"}],
    "one correlation": [annotation("ProfilerStep#1", 0, 500)]
    + [e for i in range(20) for e in (launch(20 * i, 1), kernel(20 * i + 7, 9, 1))],
    "waits for nothing": [annotation("ProfilerStep#1", 0, 500)]
    + [{**launch(20 * i, i), "name": "cudaStreamWaitEvent"} for i in range(5)],
    "overlap on a stream": [
        annotation("ProfilerStep#1", 0, 500),
        launch(1, 1),
        launch(8, 2),
        kernel(20, 100, 1),
        kernel(60, 100, 2),
    ],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_a_file_holds_the_recorded_times_come_back(name: str) -> None:
    model = model_of(HOSTILE[name])
    check_base(model)
    graph = graph_of(model)
    assert np.count_nonzero(graph.kind == GraphNode.ITEM) == len(graph.items)
    base = unchanged(graph)
    for change, _ in CHANGES.values():
        assert (apply_changes(model.trace, graph, [change]).time <= base.time).all()
        what_if(model, [change])
