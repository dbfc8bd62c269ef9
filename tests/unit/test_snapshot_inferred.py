"""What the state at the end says of a failed allocation that no record names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.snapshots import Allocator, MiB, dumped, stack
from tests.unit.test_memory_command import said
from tests.unit.test_snapshot_analysis import model_of
from torch_tb_profiler.analysis.snapshot.oom import InferredOom, ooms
from torch_tb_profiler.analysis.snapshot.summary import memory_snapshot
from torch_tb_profiler.words.sentences import memory_text


def in_pieces() -> Allocator:
    """20 MiB segments of a block that stays and one that was released; memory of another stream and of small blocks."""
    allocator = Allocator(capacity=640 * MiB)
    holes = []
    for _ in range(30):
        assert allocator.malloc(8 * MiB, stack("kept")) is not None
        holes.append(allocator.malloc(12 * MiB, stack("hole")))
    for hole in holes:
        assert hole is not None
        allocator.free(hole, stack("main"))
    for stream, size in ((7, 4 * MiB), (0, 4096)):
        address = allocator.malloc(size, stack("other"), stream=stream)
        assert address is not None
        allocator.free(address, stack("main"))
    return allocator


def inferred(allocator: Allocator, last: int | None = 0) -> InferredOom | None:
    (device,) = memory_snapshot(model_of(dumped(allocator.snapshot(last=last)))).devices
    return device.inferred_oom


def test_the_state_says_what_the_record_of_the_failure_says() -> None:
    allocator = in_pieces()
    with_history = model_of(dumped(allocator.snapshot()))
    found = inferred(allocator)
    assert found is not None
    assert (found.reason, found.pieces, found.free) == ("fragmented", 30, 30 * 12 * MiB)
    assert found.largest == 12 * MiB
    assert (found.in_use, found.reserved) == (30 * 8 * MiB, allocator.reserved)
    assert found.in_use + found.free + found.other == found.reserved
    (holder,) = found.holders
    assert (holder.line, holder.blocks, holder.segments) == ("/app/train.py(14): kept", 30, 30)
    assert holder.joins == 20 * MiB
    text = memory_text("inferred_oom", found)
    assert text.startswith("If the snapshot was taken when memory ran out")
    assert "360 MiB was free in 30 pieces, the largest of 12 MiB" in text
    held = (
        "30 segments cannot go back to the device because of 30 blocks (240 MiB) allocated at /app/train.py(14): kept."
    )
    assert held in text
    assert memory_snapshot(with_history).devices[0].inferred_oom is None

    # the same moment with its record: then nothing is inferred, and the numbers of the request's own pool are the same
    taken = Allocator(capacity=allocator.capacity, segments=allocator.segments, live=allocator.live)
    assert taken.malloc(300 * MiB, stack("large")) is None
    model = model_of(dumped(taken.snapshot(last=1)))
    (oom,) = ooms(model)
    assert (oom.reason, oom.free, oom.pieces, oom.largest) == ("fragmented", found.free, found.pieces, found.largest)
    assert memory_snapshot(model).devices[0].inferred_oom is None


def test_without_a_history_the_peak_is_not_known() -> None:
    allocator = in_pieces()
    (device,) = memory_snapshot(model_of(dumped(allocator.snapshot(last=0)))).devices
    assert not device.has_history
    assert device.text == (
        f"240 MiB was in use and {allocator.reserved // MiB} MiB reserved when the snapshot was taken. "
        "It has no history, so the peak is unknown."
    )
    (device,) = memory_snapshot(model_of(dumped(allocator.snapshot()))).devices
    assert device.has_history
    assert device.text.startswith("At most ")


def test_a_device_that_is_full() -> None:
    allocator = Allocator()
    for _ in range(80):
        assert allocator.malloc(9 * MiB, stack("weights")) is not None
    for last in (0, 1):  # `max_entries=1` leaves the record of an allocation
        found = inferred(allocator, last)
        assert found is not None
        assert (found.reason, found.largest) == ("full", 2 * MiB)
        assert "full; 720 MiB of 800 MiB reserved was in use" in memory_text("inferred_oom", found)
    assert inferred(allocator, 2) is None


def test_nothing_is_inferred_of_nothing() -> None:
    (*devices,) = memory_snapshot(model_of(dumped(Allocator().snapshot()))).devices
    assert [each.inferred_oom for each in devices if each.inferred_oom] == []


def test_the_command_says_that_it_is_inferred(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "oom_snapshot.pickle"
    file.write_bytes(dumped(in_pieces().snapshot(last=0)))
    assert "If the snapshot was taken when memory ran out" in said(capsys, tmp_path, str(file))
    found = json.loads(said(capsys, tmp_path, str(file), "--json"))
    assert found["oom"] is None
    assert found["inferred_oom"]["reason"] == "fragmented"
