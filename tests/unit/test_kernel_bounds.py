"""Numbers of kernels and copies that no device can have are not known, and that is said."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import pytest

from torch_tb_profiler.trace import Trace, read_trace

POSSIBLE: dict[str, tuple[str, float]] = {
    "registers per thread": ("registers", 255),
    "shared memory": ("shared_memory", 232_448),
    "blocks per SM": ("blocks_per_sm", 3.3e6),
    "est. achieved occupancy %": ("occupancy", 100),
    "bytes": ("bytes", 80 * 2**30),
    "memory bandwidth (GB/s)": ("bandwidth", 8000.0),
}
BEYOND: dict[str, list[float]] = {
    "registers per thread": [1025, -7, 2**31],
    "shared memory": [2**40, -2],
    "blocks per SM": [-1.5, 1e30],
    "est. achieved occupancy %": [3_300_000, 100.5, -3],
    "bytes": [-5, 2**62],
    "memory bandwidth (GB/s)": [-0.5, 1e9],
}


def traced(*arguments: dict[str, Any]) -> Trace:
    events = [
        {
            "ph": "X",
            "cat": "kernel",
            "name": "k",
            "pid": 0,
            "tid": 7,
            "ts": 10 * i,
            "dur": 5,
            "args": {"stream": 7, **more},
        }
        for i, more in enumerate(arguments)
    ]
    return read_trace(io.BytesIO(json.dumps({"traceEvents": events}).encode()))


def test_what_a_device_can_have_is_kept() -> None:
    trace = traced({key: value for key, (_, value) in POSSIBLE.items()}, dict.fromkeys(POSSIBLE, 0), {})
    for name, value in POSSIBLE.values():
        first, second, missing = getattr(trace.device_work, name).tolist()
        assert (first, second) == (value, 0)
        assert missing == -1 or math.isnan(missing)
    assert not trace.notes


@pytest.mark.parametrize("key", BEYOND)
def test_what_none_can_have_is_missing_and_counted(key: str) -> None:
    values = BEYOND[key]
    trace = traced(*({key: value} for value in values), {key: 1})
    *beyond, kept = getattr(trace.device_work, POSSIBLE[key][0]).tolist()
    assert kept == 1
    assert all(value == -1 or math.isnan(value) for value in beyond)
    assert [(note.kind, note.count) for note in trace.notes] == [("impossible_numbers", len(beyond))]
