"""The counters of a device: known answers, and what the old plugin got wrong."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.events import US, event, kernel, model_of, op
from torch_tb_profiler.analysis.counters import counters, window
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.web.trace_file import counter_events

Piece = tuple[float, float]


def test_known_answers() -> None:
    """Item 14 of the old plugin's own tests: overlapping, empty and over-full kernels."""
    found = counters(
        model_of(
            [
                op("aten::mat_mul", 100, 120),
                kernel(130, 10, 1, device=1, **{"blocks per SM": 0.5}),
                kernel(135, 15, 2, device=1, **{"blocks per SM": 0.6}),
                kernel(150, 0, 3, device=1, **{"blocks per SM": 0.3}),
                kernel(145, 25, 4, device=1, **{"blocks per SM": 0.3}),
                kernel(200, 20, 5, device=1, **{"blocks per SM": 10.5}),
            ]
        )
    )
    (device,) = found.devices
    assert device.device == 1
    assert (device.start // US).tolist() == [*range(0, 120, 10), 120]
    assert device.utilization.tolist() == [0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0]
    segments = zip(*(array.tolist() for array in device.efficiency), strict=True)
    assert [(low // US, high // US, round(value, 9)) for low, high, value in segments] == [
        (30, 35, 0.5),
        (35, 40, 1.0),
        (40, 45, 0.6),
        (45, 50, 0.9),
        (50, 70, 0.3),
        (100, 120, 1.0),
    ]


def test_the_window_is_what_the_profiler_says() -> None:
    span = event("Trace", "PyTorch Profiler (0)", 0, 1300, tid=0)
    found = counters(model_of([span, op("aten::mm", 100, 10), kernel(110, 45, 1)]))
    (device,) = found.devices
    assert (device.start // US).tolist() == [*range(0, 1301, 100)]
    assert device.utilization[:3].tolist() == [0, 0.45, 0]
    assert window(model_of([op("aten::mm", 100, 10)])) == (0, 10 * US)


def test_traces_shorter_than_a_bucket() -> None:
    (device,) = counters(model_of([kernel(100, 0.4, 1, **{"blocks per SM": 0.5}), op("aten::mm", 100, 0.8)])).devices
    assert device.start.tolist() == [0, 800]
    assert device.utilization.tolist() == [0.5, 0]
    (empty,) = counters(model_of([kernel(100, 0, 1, **{"blocks per SM": 0.5})])).devices
    assert (len(empty.start), len(empty.efficiency.start)) == (0, 0)
    assert b"".join(counter_events(counters(model_of([kernel(100, 0, 1)])), 0)) == b""


def test_devices_in_order_and_none_without_kernels() -> None:
    found = counters(model_of([kernel(0, 10, 1, device=3), kernel(0, 10, 2, device=0), op("aten::mm", 0, 50)]))
    assert [device.device for device in found.devices] == [0, 3]
    assert counters(model_of([op("aten::mm", 0, 50)])).devices == ()
    nowhere = kernel(0, 10, 1)
    del nowhere["args"]["device"]
    assert counters(model_of([{**nowhere, "pid": "a GPU"}, op("aten::mm", 0, 50)])).devices == ()


def test_the_events() -> None:
    model = model_of(
        [op("aten::mm", 100.25, 4), kernel(101.25, 1, 1, **{"blocks per SM": 0.25})], baseTimeNanoseconds=10**18
    )
    zero = model.trace.origin_ns - 10**18
    assert zero == 100_250
    text = b", ".join(counter_events(counters(model), zero)).decode()
    first = '{"ph":"C", "name":"GPU 0 Utilization", "pid":0, "ts":100.250, "args":{"GPU Utilization":1}}'
    assert text.startswith(first)
    found = [(e["name"], e["ts"], *e["args"].values()) for e in json.loads(f"[{text}]")]
    busy, filled = "GPU 0 Utilization", "GPU 0 Est. SM Efficiency"
    assert found == [
        (busy, 100.25, 1),
        (busy, 100.25, 0),
        (busy, 100.25, 0.0),
        (busy, 101.25, 1.0),
        (busy, 102.25, 0.0),
        (busy, 103.25, 0.0),
        (busy, 104.25, 0.0),
        (filled, 100.25, 1),
        (filled, 100.25, 0),
        (filled, 101.25, 0.25),
        (filled, 102.25, 0),
    ]


SOME_KERNELS = st.lists(
    st.tuples(st.integers(0, 5_000), st.integers(0, 700), st.floats(0.001, 3)), min_size=1, max_size=20
)


@given(SOME_KERNELS)
def test_buckets_hold_all_busy_time_and_segments_only_what_runs(pieces: list[tuple[int, int, float]]) -> None:
    events = [kernel(start, length, i + 1, **{"blocks per SM": b}) for i, (start, length, b) in enumerate(pieces)]
    (device,) = counters(model_of(events)).devices
    first = min(start for start, *_ in pieces)
    starts = np.array([start - first for start, *_ in pieces], np.int64) * US
    ends = starts + np.array([length for _, length, _ in pieces], np.int64) * US
    busy = intervals.union(starts, ends)
    lengths = np.diff(device.start)
    assert len(lengths) < 1100
    assert round(float((lengths * device.utilization[:-1]).sum())) == intervals.total(busy)
    assert ((device.utilization >= 0) & (device.utilization <= 1)).all()
    low, high, value = device.efficiency
    assert ((value > 1e-4) & (value <= 1)).all()
    assert intervals.union(low, high).start.tolist() == busy.start.tolist()
