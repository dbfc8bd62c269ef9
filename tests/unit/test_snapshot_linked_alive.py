"""What was alive in a snapshot is called by the trace of the same process, where that has its allocation."""

from __future__ import annotations

import pytest

from tests.events import annotation, frame, memory, op
from tests.events import model_of as trace_of
from tests.snapshots import Allocator, dumped, random_run, stack
from tests.unit.test_snapshot_analysis import first, model_of
from tests.unit.test_snapshot_link import US, trace_beside
from torch_tb_profiler.analysis.question import NotFound, Subject
from torch_tb_profiler.analysis.snapshot.alive import NO_ANNOTATION, NO_MODULE
from torch_tb_profiler.analysis.snapshot.link import link
from torch_tb_profiler.analysis.snapshot.linked_alive import (
    NO_OPERATOR,
    NOT_LINKED,
    SNAPSHOT_LINKED_ALIVE,
    WhichLinked,
    linked_alive,
)
from torch_tb_profiler.model import Model


def subject(model: Model) -> Subject:
    return Subject(model, "run", "worker", "1", 0, 1, lambda _: ())


def both() -> tuple[Model, Allocator]:
    """Ten allocations in a module, ten of the loop in an annotation; two more before the trace began."""
    allocator = Allocator()
    for _ in range(2):
        allocator.malloc(700, stack("early"))
    allocator.time += 100_000
    start = allocator.time
    for number in range(20):
        if number == 10:
            allocator.time = start + 500
        allocator.malloc(1000 + number, stack("any"))
    records = [each for each in allocator.records if each["action"] == "alloc"][2:]
    events = [
        frame("nn.Module: Linear_0", 1, 400),
        op("aten::linear", 2, 390),
        annotation("loop", 450, 300),
    ]
    total = 1 << 20
    for record in records:
        total += 1024
        events.append(memory(record["time_us"] - start, 1024, record["addr"], total, 1 << 30))
    return trace_of(events, baseTimeNanoseconds=(start + 2000) * US), allocator


@pytest.mark.parametrize(
    ("by", "inside", "loop"),
    [
        ("module", "Linear_0", NO_MODULE),
        ("operator", "aten::linear", NO_OPERATOR),
        ("annotation", NO_ANNOTATION, "loop"),
    ],
)
def test_allocations_are_called_by_what_is_around_them_in_the_trace(by: str, inside: str, loop: str) -> None:
    trace, allocator = both()
    snapshot = model_of(dumped(allocator.snapshot()))
    found = SNAPSHOT_LINKED_ALIVE.compute(subject(trace), subject(snapshot), WhichLinked(at="end", by=by))  # type: ignore[arg-type]
    assert found.link.reason == "linked"
    rows = dict(zip(found.rows.group, zip(found.rows.blocks, found.rows.bytes, strict=True), strict=True))
    assert rows == {inside: (10, 10_045), loop: (10, 10_145), NOT_LINKED: (2, 1400)}
    assert found.moment is not None
    assert sum(found.rows.bytes) == found.moment.requested
    assert found.linked == 20_190 / 21_590


@pytest.mark.parametrize("offset_us", [-3000, 0, 3000])
def test_each_allocation_meets_its_own_record(offset_us: int) -> None:
    allocator = random_run(3, steps=30)
    trace, snapshot = trace_beside(allocator, offset_us), model_of(dumped(allocator.snapshot()))
    history, found = first(snapshot), link(trace, snapshot)
    allocations = [each for each in allocator.records if each["action"] in ("alloc", "free_requested")]
    inside = allocations[len(allocations) // 10 : len(allocations) * 8 // 10]
    times = {each["time_us"] for each in inside if each["action"] == "alloc"}
    for position in range(0, history.last, 97):
        lives = history.lifetimes
        alive = lives.wanted(position) & (lives.requested > 0)
        born = history.device.records.time[lives.born] + snapshot.trace.origin_ns
        expected = alive & (lives.born >= 0) & [int(time) // US in times for time in born.tolist()]
        rows = linked_alive(trace, snapshot, history, found, position, "module")
        assert rows.linked_blocks == int(expected.sum())
        assert rows.linked_bytes == int(lives.requested[expected].sum())
        assert int(rows.bytes.sum()) == int(history.curves.requested[position + 1])


def test_nothing_is_said_where_the_two_are_of_other_processes() -> None:
    trace, other = trace_beside(random_run(3, steps=30), 0), model_of(dumped(random_run(4, steps=30).snapshot()))
    found = SNAPSHOT_LINKED_ALIVE.compute(subject(trace), subject(other), WhichLinked())
    assert (found.link.reason, found.moment, found.linked) == ("other_process", None, None)
    assert found.rows.group == []
    with pytest.raises(NotFound):
        SNAPSHOT_LINKED_ALIVE.compute(subject(other), subject(trace), WhichLinked())
