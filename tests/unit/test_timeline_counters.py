"""Counters against each ns of small traces, coarse against fine bins, and against the analyses of the house."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import Event, memory
from tests.properties import examples
from tests.timelines import ns, tiles_of, timeline_of
from torch_tb_profiler.analysis.launch_queue import stream_queues
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline import counters as counters_module
from torch_tb_profiler.timeline.counters import counter_tile, extremes, with_counters
from torch_tb_profiler.timeline.pyramid import BUCKETS_OF_TILE, tile_length
from torch_tb_profiler.timeline.series import Counter, StepCurve, bins_of, coarser
from torch_tb_profiler.timeline.timeline import Timeline

pytestmark = pytest.mark.slow

work = st.tuples(st.sampled_from(["kernel", "nccl", "gpu_memcpy"]), st.integers(0, 70_000), st.integers(0, 30_000))
works = st.lists(work, min_size=1, max_size=12)
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"


def trace_of(given: list[tuple[str, int, int]]) -> list[Event]:
    found: list[Event] = [ns("cpu_op", "whole", 0, 100_000)]
    for number, (kind, start, length) in enumerate(given, start=1):
        is_copy = kind == "gpu_memcpy"
        args = {"bytes": 1000 * number} if is_copy else {"blocks per SM": 0.3}
        name = NCCL if kind == "nccl" else kind
        found.append(ns("cuda_runtime", "cudaLaunchKernel", start // 2, 5, correlation=number))
        found.append(ns("gpu_memcpy" if is_copy else "kernel", name, start, length, 7, correlation=number, **args))
    return found


def of_kind(timeline: Timeline, kind: str) -> Counter | None:
    return next((counter for counter in timeline.counters.listed if counter.kind == kind), None)


def by_the_ns(kind: str, given: list[tuple[str, int, int]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The counter at each ns of 0 … 100,000."""
    running, computing, talking, copying, filled, rate, queue = (np.zeros(100_000) for _ in range(7))
    for number, (what, start, length) in enumerate(given, start=1):
        queue[start // 2 : start] += 1
        span = slice(start, start + length)
        if what == "gpu_memcpy":
            copying[span] = 1
            rate[span] += 1000 * number * 1e9 / length if length else 0
            continue
        running[span] += 1
        if what != "nccl":
            filled[span] += 0.3
        (talking if what == "nccl" else computing)[span] = 1
    return {
        "busy": ((running > 0) | (copying > 0)).astype(float),
        "computing": computing,
        "kernels_running": running,
        "sm_efficiency": np.minimum(filled, 1.0),
        "memcpy_bandwidth": rate,
        "exposed_communication": talking * (1 - computing),
        "queue_length": queue,
    }[kind]


def last(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return float(values[-1])


@pytest.mark.parametrize(
    "kind",
    [
        "busy",
        "computing",
        "kernels_running",
        "sm_efficiency",
        "memcpy_bandwidth",
        "exposed_communication",
        "queue_length",
    ],
)
@given(works)
@examples(15)
def test_bins_are_what_each_ns_says(kind: str, given: list[tuple[str, int, int]]) -> None:
    timeline = timeline_of(trace_of(given))
    assert timeline.end == 100_000
    counter = of_kind(timeline, kind)
    expected = by_the_ns(kind, given)
    if counter is None:
        assert not expected.any()
        return
    for level in (0, timeline.highest_level):
        width = tile_length(level) // BUCKETS_OF_TILE
        for tile in tiles_of(timeline, level):
            found = counter_tile(timeline, counter, level, tile)
            cuts = np.arange(BUCKETS_OF_TILE + 1) * width + tile * tile_length(level)
            parts = [expected[low:high] for low, high in pairwise(np.clip(cuts, 0, len(expected)).tolist())]
            wanted = [[f(part) if len(part) else np.nan for part in parts] for f in (np.min, np.max, last, np.mean)]
            np.testing.assert_allclose(list(found.columns().values()), wanted, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(extremes(timeline, counter), (expected.min(), expected.max()), rtol=1e-9, atol=1e-6)


@given(works)
@examples(15)
def test_kept_bins_say_the_same_as_the_slices(given: list[tuple[str, int, int]]) -> None:
    timeline = timeline_of(trace_of(given))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counters_module, "_SLICES_OF_BIN", 1e-3)  # as in a trace of very many slices
        fine = with_counters(timeline, ())
    assert fine.counters.level < timeline.counters.level
    for counter in timeline.counters.listed:
        for level in range(timeline.highest_level + 1):
            for tile in tiles_of(timeline, level):
                one, other = counter_tile(timeline, counter, level, tile), counter_tile(fine, counter, level, tile)
                for name, values in one.columns().items():
                    np.testing.assert_allclose(values, other.columns()[name], rtol=1e-9, atol=1e-3)


def test_queues_are_those_of_the_analysis() -> None:
    given = [("kernel", 10_000 + 500 * i, 700) for i in range(40)]
    timeline = timeline_of(trace_of(given))
    counter = of_kind(timeline, "queue_length")
    assert counter is not None
    (queue,) = stream_queues(Model(timeline.trace))
    assert extremes(timeline, counter)[1] == queue.length.max()
    area = (queue.length * (queue.end_ns - queue.start_ns)).sum()
    means = [np.nansum(counter_tile(timeline, counter, 1, tile).mean * 256) for tile in tiles_of(timeline, 1)]
    assert sum(means) == pytest.approx(area, rel=0.01)


def test_memory_in_use() -> None:
    timeline = timeline_of(
        [
            ns("cpu_op", "whole", 0, 2000),
            memory(0.3, 1000, 1, 5000, 8000),
            memory(1.0, 500, 2, 5500, 8000),
            memory(1.2, -1000, 1, 4500, 6000),
        ]
    )
    allocated, reserved = of_kind(timeline, "memory_allocated"), of_kind(timeline, "memory_reserved")
    assert allocated is not None
    assert reserved is not None
    found = counter_tile(timeline, allocated, 0, 0)
    assert found.last[:8].tolist() == [4000, 5000, 5000, 5500, 4500, 4500, 4500, 4500]
    assert found.low[3:6].tolist() == [5000, 4500, 4500]
    assert found.high[3:6].tolist() == [5500, 5500, 4500]
    assert found.mean[3] == pytest.approx((232 * 5000 + 24 * 5500) / 256)
    assert np.isnan(found.last[8:]).all()
    assert extremes(timeline, allocated) == (4000, 5500)
    assert counter_tile(timeline, reserved, 0, 0).last[:8].tolist() == [8000] * 4 + [6000] * 4
    assert (allocated.id, allocated.device) == ("memory_allocated:GPU0", "GPU0")


def test_a_trace_without_devices_or_memory_has_no_counters() -> None:
    assert timeline_of([ns("cpu_op", "a", 0, 10)]).counters.listed == ()
    assert timeline_of([]).counters.listed == ()


def test_bins_of_steps_by_hand() -> None:
    steps = StepCurve(np.array([0, 10, 20]), np.array([1.0, 3.0, 0.0]))
    found = bins_of(steps, np.array([0, 5, 15, 15, 40]))
    assert found.low.tolist()[:2] == [1, 1]
    assert found.high.tolist()[:2] == [1, 3]
    assert found.last.tolist()[:2] == [1, 3]
    assert found.mean.tolist()[:2] == [1, 2]
    assert np.isnan(found.mean[2])
    assert (found.low[3], found.high[3], found.last[3], found.mean[3]) == (0, 3, 0, 15 / 25)
    twice = coarser(found, np.array([5, 10, 0, 25]), 2)
    assert twice.last.tolist() == [3, 0]
    assert twice.mean.tolist() == pytest.approx([25 / 15, 0.6])
