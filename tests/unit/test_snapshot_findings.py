"""What is to be changed in a snapshot, and what is not said of one that is fine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.snapshots import Allocator, MiB, dumped, fragmented, stack
from tests.unit.test_snapshot_analysis import model_of
from torch_tb_profiler.analysis.shared.thresholds import VARIABLE
from torch_tb_profiler.analysis.snapshot.summary import SnapshotFinding, snapshot_findings
from torch_tb_profiler.words.sentences import memory_text


def found(allocator: Allocator) -> Sequence[SnapshotFinding]:
    rows = snapshot_findings(model_of(dumped(allocator.snapshot())))
    assert all(memory_text(each.id, each) for each in rows)
    return rows


def steady(steps: int = 6, size: int = 8 * MiB, held: int = 64) -> Allocator:
    """Steps that release all that they allocate, beside parameters that stay."""
    allocator = Allocator()
    for _ in range(held):
        allocator.malloc(4 * MiB, stack("build"))
    for step in range(steps):
        address = allocator.malloc(size, stack("act", "forward"))
        assert address is not None
        allocator.time += 1000  # µs
        allocator.free(address, stack("backward"))
        allocator.note(f"ProfilerStep#{step}")
    return allocator


def test_nothing_is_said_of_a_program_that_is_fine() -> None:
    assert found(steady()) == ()
    assert found(Allocator()) == ()


def test_a_peak_near_the_capacity_of_the_device() -> None:
    def run(held: int, asked: int) -> Allocator:
        """Blocks of 20 MiB, a segment each, on a device of 1000 MiB."""
        allocator = Allocator(capacity=1000 * MiB)
        for number in range(held):
            assert allocator.malloc(20 * MiB, stack("weights" if number % 4 else "cache")) is not None
        allocator.time += 1000
        assert allocator.malloc(asked, stack("large")) is None
        return allocator

    (finding,) = found(run(held=46, asked=200 * MiB))
    assert (finding.id, finding.severity, finding.bytes) == ("near_capacity", "high", 20 * MiB)
    assert (finding.count, finding.line, finding.blocks) == (46, "/app/train.py(17): weights", 34)
    cleared = run(held=46, asked=200 * MiB)  # it runs out again, when it holds little
    for address in list(cleared.live)[:40]:
        cleared.free(address, stack("main"))
    assert cleared.malloc(900 * MiB, stack("large")) is None
    cleared.records = [each for each in cleared.records if each["action"] != "oom"] + cleared.records[-1:]
    assert [(each.id, each.severity) for each in found(cleared)] == [("near_capacity", "medium")]
    assert found(run(held=44, asked=200 * MiB)) == ()  # 880 of 1000 MiB
    fine = Allocator(capacity=1000 * MiB)  # as full, but nothing says how much there is
    for _ in range(46):
        fine.malloc(20 * MiB, stack("weights"))
    assert found(fine) == ()
    silent = run(held=46, asked=200 * MiB)
    del silent.records[-1]["device_free"]  # a file that does not say it
    assert found(silent) == ()


def test_a_leak_is_named_with_its_line_and_bytes_per_step() -> None:
    (leak,) = found(fragmented(leak=8192, steps=6))[:1]
    assert (leak.id, leak.bytes, leak.count) == ("leak", 8192, 6)
    assert leak.line == "/app/train.py(13): log"
    assert [each for each in found(fragmented(leak=512, steps=6)) if each.id == "leak"] == []


def test_memory_in_pieces_is_named_with_who_lies_between() -> None:
    allocator = Allocator()
    pairs = [(allocator.malloc(5 * MiB, stack("kept")), allocator.malloc(5 * MiB, stack("hole"))) for _ in range(60)]
    for _, hole in pairs:
        assert hole is not None
        allocator.time += 1000
        allocator.free(hole, stack("main"))
    allocator.malloc(400 * MiB, stack("large"))
    (finding,) = found(allocator)
    assert (finding.id, finding.severity) == ("fragmentation", "high")
    assert finding.bytes == 60 * 5 * MiB
    assert (finding.line, finding.blocks, finding.count) == ("/app/train.py(14): kept", 60, 30)


def test_a_cache_that_is_emptied_in_a_loop() -> None:
    allocator = Allocator()
    for _ in range(12):
        address = allocator.malloc(30 * MiB, stack("act"))
        assert address is not None
        allocator.time += 1000
        allocator.free(address, stack("main"))
        allocator.empty_cache(stack("main"))
    (finding,) = found(allocator)
    assert (finding.id, finding.count, finding.bytes) == ("empty_cache", 11, 11 * 30 * MiB)


def test_short_lived_allocations() -> None:
    allocator = steady()
    for number in range(120):
        address = allocator.malloc(2 * MiB, stack("temporary" if number % 4 else "other"))
        assert address is not None
        allocator.free(address, stack("main"))
    (finding,) = found(allocator)
    assert (finding.id, finding.severity, finding.count, finding.bytes) == ("churn", "low", 120, 240 * MiB)
    assert (finding.line, finding.blocks) == ("/app/train.py(19): temporary", 90)


def test_reserved_memory_that_grows_though_the_peak_does_not() -> None:
    allocator = Allocator()
    for step in range(6):
        sizes = (40 - 2 * step) * MiB, (10 + 2 * step) * MiB  # the second never fits into what was free before
        addresses = [allocator.malloc(size, stack("varies")) for size in sizes]
        allocator.time += 1000
        for address in addresses:
            assert address is not None
            allocator.free(address, stack("main"))
        allocator.note(f"ProfilerStep#{step}")
    (finding,) = found(allocator)
    ends = [truth.reserved for truth in allocator.log if truth.requested == 0]
    assert finding.id == "reserved_growth"
    assert finding.bytes == (ends[-1] - 50 * MiB) // 5 > 0


def test_limits_are_those_of_the_users_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    allocator = fragmented(leak=8192, steps=6)
    usual = [each.id for each in found(allocator)]
    assert usual[0] == "leak"
    file = tmp_path / "findings.toml"
    monkeypatch.setenv(VARIABLE, str(file))
    for text in ("[snapshot_leak]\nleast_bytes = 8193\n", 'mute = ["snapshot_leak"]\n'):
        file.write_text(text)
        assert [each.id for each in found(allocator)] == usual[1:]
    file.write_text("[snapshot_leak]\nleast_bytes = 8192\n")
    assert [each.id for each in found(allocator)] == usual
