"""What the Trace view draws of a snapshot, against what an allocator knows after every record."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.snapshots import Allocator, MiB, dumped, fragmented, out_of_memory, random_run, stack
from tests.unit.test_snapshot_analysis import RUNS, first, model_of
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.question import NotFound, Subject
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.tracks import CALLS, OTHER_LINES, SnapshotTracksTileAnswer, tracks
from torch_tb_profiler.analysis.snapshot.tracks_question import (
    SNAPSHOT_RECORD,
    SNAPSHOT_TRACKS,
    SNAPSHOT_TRACKS_TILE,
    WhichColumns,
    WhichRecord,
)
from torch_tb_profiler.model import Model


def subject(model: Model) -> Subject:
    return Subject(model, "r", "w", "s", 1, 1, troubles)


def tile(model: Model, start: int, width: int, columns: int) -> SnapshotTracksTileAnswer:
    asked = WhichColumns(start=start, width=width, columns=columns)
    found: SnapshotTracksTileAnswer = SNAPSHOT_TRACKS_TILE.compute(subject(model), asked)
    return found


def windows(model: Model) -> list[tuple[int, int, int]]:
    """The whole and stretches of it, coarse and as fine as it can be."""
    time = first(model).device.records.time.tolist()
    length = time[-1] - time[0] + 1
    third = time[0] + length // 3
    return [
        (time[0], length, 1),
        (time[0] - 5000, -(-length // 50), 64),
        (third, -(-length // 400), 100),
        (third, 1, 1000),
        (time[-1] + 1, 10, 5),
        (time[0] - 100, 10, 5),
    ]


@pytest.mark.parametrize("how", RUNS)
def test_columns_are_what_the_records_say(how: dict[str, Any]) -> None:
    allocator = random_run(steps=6, **how)
    model = model_of(dumped(allocator.snapshot()))
    time = first(model).device.records.time.tolist()
    truths = {kind: [getattr(truth, kind) for truth in allocator.log] for kind in ("requested", "reserved", "active")}
    for start, width, columns in windows(model):
        found = tile(model, start, width, columns)
        inside: dict[int, list[int]] = {}
        for position, at in enumerate(time):
            if start <= at < start + width * columns:
                inside.setdefault((at - start) // width, []).append(position)
        assert found.column == list(inside)
        before = sum(at < start for at in time)
        for curve in found.curves:
            if curve.kind not in truths:
                continue
            truth = truths[curve.kind]
            assert curve.before == (truth[before - 1] if 0 < before < len(time) else None)
            assert curve.least == [min(truth[p] for p in places) for places in inside.values()]
            assert curve.most == [max(truth[p] for p in places) for places in inside.values()]
            assert curve.last == [truth[places[-1]] for places in inside.values()]


@pytest.mark.parametrize("how", RUNS)
def test_lines_add_up_to_the_curve_and_are_those_of_the_blocks_in_use(how: dict[str, Any]) -> None:
    allocator = random_run(steps=6, **how)
    model = model_of(dumped(allocator.snapshot()))
    history, names = first(model), stack_names(model)
    lines = SNAPSHOT_TRACKS.compute(subject(model), SNAPSHOT_TRACKS.parameters()).lines
    requested = history.curves.requested.tolist()
    for start, width, columns in windows(model):
        found = tile(model, start, width, columns)
        curve = next(each for each in found.curves if each.kind == "requested")
        assert [sum(each) for each in zip(*found.lines, strict=True)] == curve.most
        assert [sum(each) for each in zip(*found.last, strict=True)] == curve.last
        assert (None if found.before is None else sum(found.before)) == curve.before
    # as fine as it can be: a record in each column
    for position in range(0, len(requested) - 1, 7):
        at = int(history.device.records.time[position])
        found = tile(model, at, 1, 1)
        alive: dict[str, int] = dict.fromkeys(lines, 0)
        for born, released, size, of in zip(
            history.lifetimes.born.tolist(),
            history.lifetimes.released.tolist(),
            history.lifetimes.requested.tolist(),
            history.lifetimes.stack.tolist(),
            strict=True,
        ):
            if born <= position < released:
                name = names.line_of(of)
                alive[name if name in alive else OTHER_LINES] += size
        assert [each[0] for each in found.lines] == [each[0] for each in found.last] == list(alive.values())


def test_calls_of_one_column_and_kind_are_one_and_none_is_lost() -> None:
    allocator = out_of_memory()
    model = model_of(dumped(allocator.snapshot()))
    history = first(model)
    time = history.device.records.time.tolist()
    expected: dict[str, list[int]] = {}
    for record in allocator.records:
        if record["action"] in CALLS.values():
            expected.setdefault(record["action"], []).append(record["size"])
    length = time[-1] - time[0] + 1
    for columns in (1, 7, 1000):
        calls = tile(model, time[0], -(-length // columns), columns).calls
        assert len(set(zip(calls.column, calls.call, strict=True))) == len(calls.column)
        for kind, sizes in expected.items():
            own = [place for place, call in enumerate(calls.call) if call == kind]
            assert sum(calls.count[place] for place in own) == len(sizes)
            assert sum(calls.bytes[place] for place in own) == sum(sizes)
        for call, position, at, size in zip(calls.call, calls.position, calls.time_ns, calls.bytes, strict=True):
            assert allocator.records[position]["action"] == call
            assert time[position] == at
            assert allocator.records[position]["size"] <= size
    coarse = tile(model, time[0], length, 1).calls
    largest = max(expected["segment_alloc"])
    position = coarse.position[list(coarse.call).index("segment_alloc")]
    assert allocator.records[position]["size"] == largest


def test_what_is_said_of_the_whole() -> None:
    allocator = fragmented()
    model = model_of(dumped(allocator.snapshot()))
    found = SNAPSHOT_TRACKS.compute(subject(model), SNAPSHOT_TRACKS.parameters())
    assert {each.kind: each.most for each in found.curves} == {
        "requested": max(truth.requested for truth in allocator.log),
        "allocated": max(truth.allocated for truth in allocator.log),
        "active": max(truth.active for truth in allocator.log),
        "reserved": max(truth.reserved for truth in allocator.log),
    }
    assert {each.call: each.count for each in found.calls}["oom"] == 1
    assert [each.kind for each in found.moments] == ["peak", "reserved_peak", "oom"]
    assert found.lines[0].endswith(": kept")
    assert (found.contradictions, found.device) == (0, 0)


def test_no_more_lines_than_can_be_told_apart() -> None:
    allocator = Allocator()
    for number in range(20):
        allocator.malloc((20 - number) * MiB, stack(f"layer{number:02}", "main"))
    found = SNAPSHOT_TRACKS.compute(subject(model_of(dumped(allocator.snapshot()))), SNAPSHOT_TRACKS.parameters())
    assert len(found.lines) == 9
    assert found.lines[-1] == OTHER_LINES
    assert found.lines[0].endswith(": layer00")


@pytest.mark.parametrize(
    ("skip", "known"),
    [
        ((), ["requested", "allocated", "active", "reserved"]),
        (("free_requested",), ["active", "reserved"]),
        (("free_completed",), ["requested", "allocated", "reserved"]),
        (("free_requested", "free_completed"), ["reserved"]),
        (("segment_free", "segment_unmap"), ["requested", "allocated", "active"]),
    ],
)
def test_a_curve_that_needs_what_was_not_recorded_is_not_there(skip: tuple[str, ...], known: list[str]) -> None:
    allocator = Allocator()
    for number in range(6):
        address = allocator.malloc((2 + number) * 11 * MiB, stack("act", "main"))
        assert address is not None
        allocator.free(address, stack("main"))
        allocator.empty_cache(stack("main"))
        allocator.malloc(1000, stack("kept", "main"))
    model = model_of(dumped(allocator.snapshot(skip=skip)))
    found = SNAPSHOT_TRACKS.compute(subject(model), SNAPSHOT_TRACKS.parameters())
    assert [each.kind for each in found.curves] == known
    assert bool(found.lines) == ("requested" in known)
    assert found.start_ns is not None
    part = tile(model, found.start_ns, 10**6, 100)
    assert [each.kind for each in part.curves] == known


def test_without_times_nothing_can_be_drawn() -> None:
    allocator = random_run(1)
    for record in allocator.records:
        del record["time_us"]
    model = model_of(dumped(allocator.snapshot()))
    found = SNAPSHOT_TRACKS.compute(subject(model), SNAPSHOT_TRACKS.parameters())
    assert (found.start_ns, found.end_ns, list(found.curves)) == (None, None, [])
    part = tile(model, 0, 1000, 10)
    assert (list(part.column), list(part.curves), list(part.lines)) == ([], [], [])


def test_a_clock_that_was_set_back_does_not_lead_back() -> None:
    allocator = random_run(2, steps=4)
    half = len(allocator.records) // 2
    for record in allocator.records[half:]:
        record["time_us"] -= 500
    model = model_of(dumped(allocator.snapshot()))
    time = tracks(model)[0].time
    assert (time[1:] >= time[:-1]).all()
    start, length = int(time[0]), int(time[-1] - time[0]) + 1
    found = tile(model, start, -(-length // 300), 300)
    curve = next(each for each in found.curves if each.kind == "requested")
    assert (curve.last[-1], max(curve.most)) == (
        allocator.log[-1].requested,
        max(truth.requested for truth in allocator.log),
    )


def test_a_record_is_found_by_its_moment_and_by_its_time() -> None:
    allocator = out_of_memory()
    model = model_of(dumped(allocator.snapshot()))
    time = first(model).device.records.time.tolist()
    by_word = SNAPSHOT_RECORD.compute(subject(model), WhichRecord(at="oom"))
    record = allocator.records[by_word.position]
    assert by_word.action == record["action"] == "oom"
    assert (by_word.bytes, by_word.device_free, by_word.address) == (record["size"], record["device_free"], "")
    assert by_word.line == "/app/model.py(49): attention"
    assert by_word.frames[-1] == "/app/train.py(105): main"
    truth = allocator.log[by_word.position]
    assert {each.kind: each.bytes for each in by_word.curves} == {
        "requested": truth.requested,
        "allocated": truth.allocated,
        "active": truth.active,
        "reserved": truth.reserved,
    }
    for position in (0, 5, len(time) - 1):
        found = SNAPSHOT_RECORD.compute(subject(model), WhichRecord(time=time[position]))
        assert (found.position, found.time_ns) == (position, time[position])
        assert found.address == hex(allocator.records[position].get("addr", 0)) or found.action == "oom"
    between = SNAPSHOT_RECORD.compute(subject(model), WhichRecord(time=time[5] + 1))
    assert between.position == 5
    for outside in (time[0] - 1, time[-1] + 1):
        with pytest.raises(NotFound):
            SNAPSHOT_RECORD.compute(subject(model), WhichRecord(time=outside))
    start = SNAPSHOT_RECORD.compute(subject(model), WhichRecord(at="start"))
    assert (start.position, start.action, start.bytes, start.stream, list(start.frames)) == (-1, "", None, None, [])


def test_an_answer_is_bounded_however_many_records_there_are() -> None:
    model = model_of(dumped(random_run(7, steps=120).snapshot()))
    time = first(model).device.records.time.tolist()
    length = time[-1] - time[0] + 1
    found = tile(model, time[0], -(-length // 1024), 1024)
    assert len(found.column) <= 1024
    assert len(found.calls.column) <= 1024 * len(CALLS)
    assert len(msgspec.json.encode(found)) < 1_000_000
