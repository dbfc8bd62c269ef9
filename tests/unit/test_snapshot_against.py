"""What is in use in one snapshot and not in another, and in use by module and annotation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torch_tb_profiler
from tests.recorded import ROOT
from tests.snapshots import Allocator, MiB, dumped, random_run, stack
from tests.unit.test_memory_command import refused, said
from tests.unit.test_snapshot_analysis import first, model_of
from torch_tb_profiler.analysis.question import Refused, Subject
from torch_tb_profiler.analysis.snapshot.alive import (
    BEFORE_RECORDING,
    NO_ANNOTATION,
    NO_MODULE,
    SNAPSHOT_AGAINST_ANOTHER,
    Side,
    WhichTwo,
    against,
    alive_rows,
)
from torch_tb_profiler.analysis.snapshot.allocation_patterns import growth
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.model import Model

pytestmark = pytest.mark.slow

SAMPLE = ROOT / "samples" / "out_of_memory" / "snapshot.pickle"
CALL = {"name": "_call_impl", "filename": "C:\\py\\site-packages\\torch\\nn\\modules\\module.py", "line": 1787}
EVAL = {"name": "_PyEval_EvalFrameDefault", "filename": "??", "line": 0}


def side(model: Model, at: int | None = None) -> Side:
    history = first(model)
    return history, stack_names(model), history.last if at is None else at


@pytest.mark.parametrize("by", ["line", "stack", "size", "module", "annotation"])
def test_differences_of_two_snapshots_add_up(by: Any) -> None:
    models = [model_of(dumped(random_run(seed).snapshot(last=80))) for seed in (0, 1)]
    before, after = map(side, models)
    found = against(before, after, by)
    ends = [int(first(model).curves.requested[-1]) for model in models]
    assert (int(found.bytes_before.sum()), int(found.bytes.sum())) == tuple(ends)
    assert int(found.difference.sum()) == ends[1] - ends[0]
    assert np.all(np.diff(np.abs(found.difference)) <= 0)
    # turned round it is the same with the other sign, and against itself nothing
    assert sorted(against(after, before, by).difference.tolist()) == sorted((-found.difference).tolist())
    assert not against(after, after, by).difference.any()


def test_rows_of_two_files_meet_by_their_names() -> None:
    """The stacks of the second file are numbered the other way round."""
    runs = [Allocator(), Allocator()]
    for allocator, names in zip(runs, (("a", "bb"), ("bb", "a")), strict=True):
        for name in names:
            assert allocator.malloc(len(name) * MiB, stack(name, "main")) is not None
    runs[1].malloc(3 * MiB, stack("bb", "main"))
    before, after = (side(model_of(dumped(run.snapshot()))) for run in runs)
    found = against(before, after, "stack")
    assert list(zip(found.name, found.difference.tolist(), found.blocks_before.tolist(), strict=True)) == [
        ("/app/train.py(12): bb", 3 * MiB, 1),
        ("/app/train.py(11): a", 0, 1),
    ]
    assert found.size.tolist() == [-1, MiB]


def test_what_is_in_use_by_module() -> None:
    allocator = Allocator()
    inner, outer = stack("forward", file="/app/head.py")[1], stack("forward", file="/app/model.py")[1]
    own = stack("helper", file="/app/head.py")[1]
    stacks = [
        [EVAL, own, EVAL, inner, EVAL, CALL, CALL, outer, CALL],  # helper of the head, which the model calls
        [{**inner, "line": 99}, CALL, outer, CALL],  # another line of the head
        [outer, EVAL, CALL],
        stack("main"),
    ]
    for size, frames in enumerate(stacks, 1):
        assert allocator.malloc(size * MiB, frames) is not None
    model = model_of(dumped(allocator.snapshot()))
    rows = alive_rows(*side(model)[:2], first(model).last, "module")
    assert dict(zip(rows.group, rows.bytes.tolist(), strict=True)) == {
        "/app/head.py: forward": 3 * MiB,
        "/app/model.py: forward": 3 * MiB,
        NO_MODULE: 4 * MiB,
    }


def test_what_is_in_use_by_annotation() -> None:
    """The one that was begun last holds; what one thread ends may lie across what another one does."""
    allocator = Allocator()

    def mark(stage: str, name: str) -> None:
        allocator.time += 5
        allocator.annotations.append({"stage": stage, "name": name, "device": 0, "time_us": allocator.time})

    allocator.malloc(MiB, stack("a"))  # the ring buffer loses it
    allocator.malloc(2 * MiB, stack("a"))
    mark("START", "outer")
    allocator.malloc(4 * MiB, stack("a"))
    mark("START", "inner")
    allocator.malloc(8 * MiB, stack("a"))
    mark("END", "outer")
    allocator.malloc(16 * MiB, stack("a"))
    mark("END", "inner")
    allocator.malloc(32 * MiB, stack("a"))
    records = allocator.snapshot()["device_traces"][0]
    lost = next(at for at, record in enumerate(records) if record["action"] == "alloc") + 1
    model = model_of(dumped(allocator.snapshot(last=len(records) - lost)))
    rows = alive_rows(*side(model)[:2], first(model).last, "annotation")
    assert dict(zip(rows.group, (rows.bytes // MiB).tolist(), strict=True)) == {
        BEFORE_RECORDING: 1,
        NO_ANNOTATION: 34,
        "outer": 4,
        "inner": 24,
    }


def test_a_cache_that_fills_in_the_first_steps_does_not_grow() -> None:
    allocator = Allocator()
    for step in range(8):
        sizes = (40, 10) if step == 0 else (30, 22) if step == 1 else (28, 24) if step == 2 else (25, 20)
        held = [allocator.malloc(size * MiB, stack("varies")) for size in sizes]
        for address in held:
            assert address is not None
            allocator.free(address, stack("main"))
        allocator.note(f"ProfilerStep#{step}")
    assert growth(model_of(dumped(allocator.snapshot())))[0].reserved == 0


def test_the_command_compares_two_snapshots_and_two_moments(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capsys, tmp_path, str(SAMPLE), "--at", "end", "--since", "start", "--by", "module")
    assert "More in use:" in text
    assert NO_MODULE in text
    other = tmp_path / "other" / "snapshot.pickle"
    other.parent.mkdir()
    allocator = Allocator()
    allocator.malloc(5 * MiB, stack("kept"))
    other.write_bytes(dumped(allocator.snapshot()))
    text = said(capsys, tmp_path, str(other), "--against", str(SAMPLE), "--at", "end")
    lines = text[text.index("More in use than") :].splitlines()
    assert lines[1].split()[:2] == ["−350", "MiB"]  # what the sample caches
    assert any(line.endswith("1 × /app/train.py(14): kept") for line in lines)
    assert "needs --at" in refused(capsys, tmp_path, str(SAMPLE), "--since", "start")
    own, theirs = (torch_tb_profiler.open(path).memory_snapshot for path in (other, SAMPLE))
    found = own.against(theirs, at="end")
    assert int(found.difference.sum()) == 5 * MiB - theirs.summary.devices[0].requested


def test_a_moment_that_only_one_of_two_snapshots_has() -> None:
    """A program that ran out of memory beside one that did not: its peak is compared, and said to be it."""
    fine, full = Allocator(), Allocator(capacity=30 * MiB)
    for allocator in (fine, full):
        kept = allocator.malloc(12 * MiB, stack("kept"))
        assert kept is not None
    address = fine.malloc(4 * MiB, stack("act"))
    assert address is not None
    fine.free(address, stack("main"))
    assert full.malloc(40 * MiB, stack("large")) is None
    other, own = (
        Subject(model_of(dumped(run.snapshot())), "run", "worker", "1", 0, 1, lambda _: ()) for run in (fine, full)
    )
    compute = SNAPSHOT_AGAINST_ANOTHER.compute
    found = compute(other, own, WhichTwo(at="oom", exp_at="oom"))
    assert (found.before.kind, found.before.requested) == ("peak", 16 * MiB)
    assert (found.moment.kind, found.moment.requested) == ("oom", 12 * MiB)
    both = compute(own, own, WhichTwo(at="oom", exp_at="0"))
    assert (both.before.kind, both.moment.kind, both.moment.position) == ("oom", "record", 0)
    with pytest.raises(Refused, match="no moment 'oom'"):
        compute(own, other, WhichTwo(at="end", exp_at="oom"))


def test_a_peak_without_a_history_is_unknown_not_the_end(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Then all are compared by what they have in common: what was in use at the end."""
    run = tmp_path / "job"
    run.mkdir()
    for rank, kept in enumerate((10, 12, 30)):
        allocator = Allocator()
        allocator.malloc(kept * MiB, stack("act"))
        freed = allocator.malloc(100 * MiB, stack("tmp"))
        assert freed is not None
        allocator.free(freed, stack("tmp"))
        taken = allocator.snapshot()
        if rank == 1:
            taken["device_traces"] = [[]]
        (run / f"rank{rank}_memory_snapshot.pickle").write_bytes(dumped(taken))
    profile = torch_tb_profiler.open(run)
    rows = profile.compare_snapshots()
    assert rows.place.tolist() == [2, 0, 1]
    assert rows.difference.tolist() == [18 * MiB, -2 * MiB, 0]
    assert rows.as_grid().values["peak_requested"].tolist() == [130 * MiB, 110 * MiB, None]
    assert rows.requested.tolist() == [30 * MiB, 10 * MiB, 12 * MiB]
    lines = said(capsys, tmp_path, str(run), "--ranks").splitlines()
    assert lines[2].startswith("rank1 (memory)")
    assert ": 12 MiB in use at the end (the median)" in lines[2]
    assert "peak unknown" in lines[2]
    found = json.loads(said(capsys, tmp_path, str(run), "--ranks", "--json"))["snapshots"]
    assert [each["peak_requested"] for each in found] == [130 * MiB, 110 * MiB, None]
    alone = json.loads(said(capsys, tmp_path, str(run / "rank1_memory_snapshot.pickle"), "--json"))
    assert (alone["peak_requested"], alone["peak_allocated"], alone["requested"]) == (None, None, 12 * MiB)


def test_ranks_beside_each_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Rank 2 keeps what the others release."""
    run = tmp_path / "job"
    run.mkdir()
    for rank in range(4):
        allocator = Allocator()
        for step in range(3):
            address = allocator.malloc((10 + rank) * MiB, stack("act"))
            assert address is not None
            if rank != 2 or step == 0:
                allocator.free(address, stack("main"))
        (run / f"rank{rank}_memory_snapshot.pickle").write_bytes(dumped(allocator.snapshot()))
    rows = torch_tb_profiler.open(run).compare_snapshots()
    assert rows.place.tolist() == [2, 3, 0, 1]
    assert rows.peak_requested.tolist() == [24 * MiB, 13 * MiB, 10 * MiB, 11 * MiB]
    assert rows.difference.tolist() == [13 * MiB, 2 * MiB, -1 * MiB, 0]
    assert rows.line[0] == "/app/train.py(13): act"
    assert (rows.line[-1], rows.line_bytes.tolist()[-1]) == ("", 0)
    lines = said(capsys, tmp_path, str(run), "--ranks").splitlines()
    assert lines[0].startswith("rank2 (memory)")
    assert "+13 MiB to the median" in lines[0]
    assert "(the median)" in lines[-1]
