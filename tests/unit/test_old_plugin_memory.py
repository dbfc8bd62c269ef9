"""The old plugin's shapes of memory: keys, units, rounding, thinning. Numbers: tests/golden."""

from __future__ import annotations

import numpy as np
import pytest

from tests.events import annotation, memory, model_of, op
from torch_tb_profiler.analysis.memory.records import memory_curves
from torch_tb_profiler.web.old_plugin.memory import MOST_POINTS, corners, display, memory_curve, memory_events
from torch_tb_profiler.web.old_plugin.memory import memory as memory_table

EVENTS = [
    annotation("ProfilerStep#1", 1000, 100),
    op("aten::zeros", 1010, 10),
    op("aten::empty", 1012, 2),
    memory(1013, 2048, 1, 2048, 4096),
    op("aten::empty", 1030, 2),
    memory(1031, 1024, 2, 3072, 4096),
    memory(1050, -2048, 1, 1024, 4096),
    memory(1060, -8, 3, 0, 0, (0, -1)),
]


def test_the_table() -> None:
    answer = memory_table(model_of(EVENTS), None, None, "KB")
    assert answer["metadata"] == {
        "title": "Memory View",
        "default_device": "GPU0",
        "search": "Operator Name",
        "sort": "Self Size Increase (KB)",
    }
    assert [column["name"] for column in answer["columns"]] == [
        *("Operator Name", "Calls", "Size Increase (KB)", "Self Size Increase (KB)", "Allocation Count"),
        *("Self Allocation Count", "Allocation Size (KB)", "Self Allocation Size (KB)"),
    ]
    assert answer["rows"] == {
        "GPU0": [
            ["aten::empty", 2, 3.0, 3.0, 2, 2, 3.0, 3.0],
            ["aten::zeros", 1, 2.0, 0.0, 1, 0, 2.0, 0.0],
        ]
    }


def test_the_curve_has_corners() -> None:
    answer = memory_curve(model_of(EVENTS), "ms", "KB")
    assert answer["metadata"] == {
        "default_device": "GPU0",
        "devices": ["CPU", "GPU0"],
        "peaks": {"GPU0": "Peak Memory Usage: 3.0KB", "CPU": "Peak Memory Usage: 0.0KB"},
        "totals": {},
        "first_ts": 1000,
        "time_metric": "ms",
        "memory_metric": "KB",
        "time_factor": 0.001,
        "memory_factor": 1 / 1024,
    }
    expected = [[0.013, 2, 4], [0.031, 2, 4], [0.031, 3, 4], [0.05, 3, 4], [0.05, 1, 4]]
    assert np.allclose(answer["rows"]["GPU0"], expected)


def test_events_by_release_then_by_what_is_missing() -> None:
    answer = memory_events(model_of(EVENTS), None, None, "us", "B")
    assert answer["metadata"] == {"title": "Memory Events", "default_device": "GPU0"}
    assert answer["rows"] == {
        "GPU0": [
            ["aten::zeros (aten::empty)", 2048.0, 13.0, 50.0, 37.0],
            ["ProfilerStep#1 (aten::empty)", 1024.0, 31.0, None, None],
        ],
        "CPU": [["<unknown>", 8.0, None, 60.0, None]],
    }


def test_an_end_outside_of_the_time_range_is_not_shown() -> None:
    rows = memory_events(model_of(EVENTS), 20_000, 55_000, "us", "B")["rows"]
    assert rows == {
        "GPU0": [
            ["ProfilerStep#1 (aten::empty)", 1024.0, 31.0, None, None],
            ["aten::zeros (aten::empty)", 2048.0, None, 50.0, None],
        ]
    }


def test_nothing_but_sizes() -> None:
    model = model_of([op("a", 0, 10), memory(5, 8, None)])
    assert memory_curve(model, "ms", "MB")["rows"] == {}
    assert memory_curve(model, "ms", "MB")["metadata"]["default_device"] == "CPU"
    assert memory_events(model, None, None, "ms", "KB")["rows"] == {}


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, 0), (0.0039, 0.004), (0.0099, 0.01), (0.00051, 0.0005), (123.456, 123.46), (2.675, 2.67), (-0.0039, -0.004)],
)
def test_display_rounding(value: float, shown: float) -> None:
    assert display(value) == shown


@pytest.mark.slow
def test_a_long_curve_keeps_its_peaks() -> None:
    total, at = 0, 0
    events = []
    rng = np.random.default_rng(7)
    for address, size in enumerate(rng.integers(1, 100, 6000).tolist()):
        for change in (size * 1000 if address == 4321 else size, -(size * 1000 if address == 4321 else size)):
            total += change
            events.append(memory(at, change, address, total, 9999 if address == 17 else 100))
            at += 1
    (curve,) = memory_curves(model_of(events)).curves
    time, allocated, reserved = corners(curve)
    assert len(time) <= MOST_POINTS
    assert (np.diff(time) >= 0).all()
    assert int(allocated.max()) == curve.peak.allocated
    assert int(allocated.min()) == 0
    assert int(reserved.max()) == 9999
    assert (int(time[0]), int(time[-1]), int(allocated[-1])) == (0, (at - 1) * 1000, 0)
