"""A trace and a memory snapshot of one process are joined by the addresses that both name."""

from __future__ import annotations

import random

import pytest

from tests.events import memory, op
from tests.events import model_of as trace_of
from tests.snapshots import Allocator, dumped, random_run
from tests.unit.test_snapshot_analysis import model_of
from torch_tb_profiler.analysis.snapshot.link import SnapshotLink, link
from torch_tb_profiler.model import Model

US = 1000


def trace_beside(allocator: Allocator, offset_us: int, drift: float = 0.0, device: int = 0) -> Model:
    """A trace of the middle of what an allocator did; its clock is `offset_us` ahead and goes faster by `drift`."""
    rng = random.Random(7)
    records = [each for each in allocator.records if each["action"] in ("alloc", "free_requested")]
    records = records[len(records) // 10 : len(records) * 8 // 10]
    first = records[0]["time_us"]
    events, total = [op("aten::empty", 0, 10)], 1 << 33
    for record in records:
        size = -(-record["size"] // 512) * 512 * (1 if record["action"] == "alloc" else -1)
        total += size
        at = (record["time_us"] - first) * (1 + drift) + 50 + rng.random()
        events.append(memory(at, size, record["addr"], total, 1 << 34, device=(1, device)))
    return trace_of(events, baseTimeNanoseconds=(first + offset_us - 50) * US)


def found(trace: Model, allocator: Allocator, skip: tuple[str, ...] = ()) -> SnapshotLink:
    return link(trace, model_of(dumped(allocator.snapshot(skip=skip))))


@pytest.mark.parametrize("offset_us", [-3000, 0, 3000, 2_000_000])
@pytest.mark.parametrize("drift", [0.0, 2e-5])
def test_the_difference_of_the_clocks_is_found(offset_us: int, drift: float) -> None:
    allocator = random_run(3, steps=30)
    linked = found(trace_beside(allocator, offset_us, drift), allocator)
    assert linked.reason == "linked"
    assert linked.offset_ns is not None
    assert abs(linked.offset_ns - offset_us * US) <= 5 * US
    assert linked.spread_ns is not None
    assert linked.spread_ns <= 5 * US
    assert linked.matched == 1.0


def test_frees_that_were_not_recorded_do_not_count() -> None:
    allocator = random_run(3, steps=30)
    linked = found(trace_beside(allocator, 100), allocator, skip=("free_requested", "free_completed"))
    assert (linked.reason, linked.matched) == ("linked", 1.0)


def test_another_process_is_not_linked() -> None:
    other = found(trace_beside(random_run(3, steps=30), 0), random_run(4, steps=30))
    assert (other.reason, other.offset_ns) == ("other_process", None)
    assert other.matched is None or other.matched < 0.5


def test_another_time_or_device_and_files_without_records_are_not_linked() -> None:
    allocator = random_run(3, steps=30)
    assert found(trace_beside(allocator, 3600 * 10**6), allocator).reason == "other_time"
    assert found(trace_beside(allocator, 0, device=1), allocator).reason == "nothing_recorded"
    assert found(trace_of([op("aten::empty", 0, 10)]), allocator).reason == "nothing_recorded"
    old = random_run(3, steps=30)
    for record in old.records:
        del record["time_us"]
    assert found(trace_beside(allocator, 0), old).reason == "no_times"
