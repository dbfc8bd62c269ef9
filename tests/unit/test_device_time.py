"""Time of devices, idle gaps, launches and queues: hand-made traces, and brute force over single points of time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import US, copy, event, kernel, launch, model_of, op
from torch_tb_profiler.analysis.api_calls import launch_stats, launched, queue_lengths, stream_queues
from torch_tb_profiler.analysis.copies import copies
from torch_tb_profiler.analysis.device_time import device_time
from torch_tb_profiler.analysis.idle import CAUSES, idle_gaps, idle_times
from torch_tb_profiler.analysis.kernels import kernel_sequences
from torch_tb_profiler.analysis.shared.distribution import distribution
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.model import Model

NCCL = "ncclDevKernel_AllReduce"
LAST = 30

ranges = st.lists(st.tuples(st.integers(0, LAST), st.integers(0, LAST)), max_size=8)


def anchors() -> Model:
    """The exact anchors of the recorded numbers of HTA, which both its versions agree on."""
    calls = [launch(10 * i, i) for i in range(1, 5)]
    return model_of(
        [
            *calls,
            kernel(100, 100, 1, "gemm"),
            kernel(150, 100, 2, NCCL, stream=20),
            copy(300, 50, 3, bytes=500_000),
            kernel(400, 100, 4, "gemm"),
        ]
    )


def test_anchor_temporal_breakdown_and_types() -> None:
    time = device_time(anchors())
    assert time.window_ns.tolist() == [400 * US]
    assert time.idle_ns.tolist() == [100 * US]
    assert time.computing_ns.tolist() == [200 * US]
    assert (time.compute_only_ns[0], time.communication_only_ns[0]) == (150 * US, 50 * US)
    assert (time.compute_communication_ns[0], time.copy_only_ns[0]) == (50 * US, 50 * US)
    assert time.overlap.tolist() == [0.5]
    assert time.exposed_communication_ns.tolist() == [50 * US]


def test_anchor_idle_of_a_stream() -> None:
    times = idle_times(anchors(), "stream")
    assert list(zip(times.stream.tolist(), times.cause, times.total_ns.tolist(), strict=True)) == [
        (7, "other", 150 * US),
    ]
    assert times.share.tolist() == [1.0]


def test_anchor_queue() -> None:
    seven, twenty = stream_queues(anchors())
    assert [seven.start_ns.tolist(), seven.length.tolist()] == [
        [t * US - 10 * US for t in (10, 30, 40, 100, 300)],
        [1, 2, 3, 2, 1],
    ]
    assert (seven.end_ns[-1], twenty.start_ns[0], twenty.end_ns[0]) == (390 * US, 10 * US, 140 * US)
    found = queue_lengths(anchors())
    assert found.max_length.tolist() == [3, 1]
    assert found.full_ns.tolist() == [0, 0]


def test_anchor_launch_delays() -> None:
    found = launched(anchors())
    assert found.delay_ns.tolist() == [85 * US, 125 * US, 265 * US, 355 * US]
    stats = launch_stats(anchors())
    assert (stats.name, stats.calls.tolist(), stats.late.tolist()) == (("cudaLaunchKernel",), [4], [3])


def test_anchor_bandwidth() -> None:
    found = copies(anchors())
    assert (found.kind, found.bandwidth.tolist(), found.bytes.tolist()) == (("Memcpy HtoD",), [10.0], [500_000])


def test_causes() -> None:
    model = model_of(
        [
            launch(0, 1),
            launch(2, 2, 1),
            launch(3, 3, 1),
            launch(120, 4),
            kernel(10, 10, 1),
            kernel(25, 10, 2),
            kernel(75, 10, 3),
            kernel(130, 10, 4),
            kernel(150, 10, 99),
        ]
    )
    gaps = idle_gaps(model)
    assert [(CAUSES[c], int(ns)) for c, ns in zip(gaps.cause, gaps.duration_ns, strict=True)] == [
        ("kernel_wait", 5 * US),
        ("other", 40 * US),
        ("host_wait", 45 * US),
        ("unknown", 10 * US),
    ]
    assert gaps.largest(1).duration_ns.tolist() == [45 * US]
    assert [CAUSES[c] for c in idle_gaps(model, kernel_wait_ns=50 * US).cause].count("kernel_wait") == 2


def test_a_gap_begins_at_the_latest_end() -> None:
    gaps = idle_gaps(model_of([kernel(0, 100, 1), kernel(10, 20, 2), kernel(120, 10, 3)]), "stream")
    assert gaps.duration_ns.tolist() == [20 * US]
    assert gaps.before.tolist() == [0]


def test_steps_and_devices() -> None:
    model = model_of(
        [
            event("user_annotation", "ProfilerStep#1", 0, 100),
            launch(5, 1),
            launch(12, 2),
            kernel(20, 30, 1),
            kernel(40, 30, 2, device=1),
        ]
    )
    time = device_time(model, "steps")
    assert (time.device.tolist(), time.step) == ([0, 1], ("1", "1"))
    assert time.idle_ns.tolist() == [70 * US, 70 * US]


def test_a_graph_is_one_launch() -> None:
    model = model_of([launch(0, 1), kernel(10, 10, 1), kernel(20, 10, 1), kernel(30, 10, 1)])
    found = launched(model)
    assert (found.pieces.tolist(), found.delay_ns.tolist(), found.device_ns.tolist()) == ([3], [5 * US], [30 * US])
    assert queue_lengths(model).max_length.tolist() == [3]


def test_sequences_of_an_operator() -> None:
    events: list[dict[str, Any]] = []
    for at in (0, 1000):
        events += [op("aten::softmax", at, 200), op("custom::inner", at + 20, 100)]
        events += [launch(at + 30, at + 1), launch(at + 150, at + 2)]
        events += [kernel(at + 50, 10, at + 1, "a"), kernel(at + 170, 10, at + 2, "b")]
    by_innermost = kernel_sequences(model_of(events))
    assert set(zip(by_innermost.operator, by_innermost.kernels, strict=True)) == {
        ("aten::softmax", ("b",)),
        ("custom::inner", ("a",)),
    }
    found = kernel_sequences(model_of(events), lambda name: name.startswith("aten::"))
    assert (found.operator, found.kernels, found.calls.tolist()) == (("aten::softmax",), (("a", "b"),), [2])
    assert (found.launch_delay_ns[0], found.queue_delay_ns[0]) == (30 * US, 20 * US)


def test_nothing() -> None:
    model = model_of([op("aten::mm", 0, 10)])
    assert len(device_time(model)) == len(device_time(model, "steps")) == 0
    assert len(idle_gaps(model)) == len(idle_times(model)) == len(launch_stats(model)) == len(queue_lengths(model)) == 0
    assert len(copies(model)) == len(kernel_sequences(model)) == 0
    assert stream_queues(model) == ()


@given(st.lists(ranges, min_size=1, max_size=3))
def test_overlay(sets: list[list[tuple[int, int]]]) -> None:
    spans = []
    for pairs in sets:
        columns = np.array(pairs, np.int64).reshape(-1, 2)
        spans.append(intervals.union(columns[:, 0], columns[:, 1]))
    found = intervals.overlay(spans)
    assert (found.start[1:] >= found.end[:-1]).all()
    for t in range(LAST):
        wanted = sum(1 << i for i, pairs in enumerate(sets) if any(a <= t < b for a, b in pairs))
        got = found.member[(found.start <= t) & (t < found.end)].tolist()
        assert got == ([wanted] if wanted else [])


@given(st.lists(st.tuples(st.integers(0, LAST), st.integers(0, 6), st.integers(0, LAST)), min_size=1, max_size=10))
def test_idle_and_queue_against_points(pieces: list[tuple[int, int, int]]) -> None:
    """Pieces are (start, duration, launched so long before)."""
    events = [launch(start - min(start, ago), i, 0) for i, (start, _, ago) in enumerate(pieces, start=1)]
    events += [kernel(start, duration, i) for i, (start, duration, _) in enumerate(pieces, start=1)]
    model = model_of(events)
    origin = min(start - min(start, ago) for start, _, ago in pieces)
    low, high = min(p[0] for p in pieces), max(p[0] + p[1] for p in pieces)
    gaps = idle_gaps(model)
    idle = {t for a, n in zip(gaps.start_ns, gaps.duration_ns, strict=True) for t in range(a // US, (a + n) // US)}
    wanted = {t for t in range(low, high) if not any(s <= t < s + d for s, d, _ in pieces)}
    assert {t + origin for t in idle} == wanted
    for queue in stream_queues(model):
        for t in range(LAST):
            at = (t - origin) * US
            length = queue.length[(queue.start_ns <= at) & (at < queue.end_ns)].sum()
            assert length == sum(s - min(s, ago) <= t < s for s, _, ago in pieces)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1000)), min_size=1, max_size=30))
def test_distribution(rows: list[tuple[int, int]]) -> None:
    keys, values = np.array(rows, np.int64).T
    groups = group([keys])
    found = distribution(groups, values)
    for i, first in enumerate(groups.first.tolist()):
        mine = values[keys == keys[first]]
        assert (found.count[i], found.sum[i]) == (len(mine), mine.sum())
        assert found.mean[i] == pytest.approx(mine.mean())
        if len(mine) > 1:
            assert found.std[i] == pytest.approx(mine.std(ddof=1))
        quantiles = [found.min[i], found.p25[i], found.p50[i], found.p75[i], found.p99[i], found.max[i]]
        assert quantiles == pytest.approx(np.quantile(mine, [0, 0.25, 0.5, 0.75, 0.99, 1]))
