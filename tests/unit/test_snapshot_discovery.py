"""Which files are memory snapshots, what they are called, and that they stand beside traces without being any."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest

import torch_tb_profiler
from tests.snapshots import MiB, dumped, fragmented, out_of_memory, random_run
from tests.unit.test_snapshot_reading import tables_of
from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.cli import main
from torch_tb_profiler.discovery import Content, Root, discover, examine, is_candidate
from torch_tb_profiler.storage import Entry

IS_SNAPSHOT = Content(is_snapshot=True)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("first", ["segments", "device_traces", "allocator_settings", "external_annotations"])
def test_a_snapshot_is_known_by_its_first_bytes(protocol: int, first: str) -> None:
    snapshot = random_run(1, steps=1).snapshot()
    head = dumped({first: snapshot[first], **snapshot}, protocol)[:200]
    assert examine(head, whole=False) == IS_SNAPSHOT


@pytest.mark.parametrize("content", [["a", "b"], {"weights": 1}, {"x" * 100: 1, "segments": 2}, 7])
def test_another_pickle_is_none(content: Any) -> None:
    found = examine(dumped(content), whole=True)
    assert not found.is_snapshot
    assert str(found.reason) == "is a pickle, but not a memory snapshot"


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("snapshot.pickle", True),
        ("host_Jan_01_10_00_00.PICKLE", True),
        ("memory_snapshot_rank0_step6.pkl", True),
        ("x.snapshot.gz", True),
        ("oom.pickle.gz", True),
        ("mem_snapshot.html", True),
        ("index.html", False),
        ("memory.txt", False),
    ],
)
def test_names_that_are_looked_at(name: str, is_one: bool) -> None:
    assert is_candidate(name) == is_one


def names(*paths: str) -> dict[str, tuple[str, str, int | None]]:
    """Of each snapshot its run's worker, span and rank."""
    entries = [Entry(path, f"/logs/{path}", 1, 1) for path in paths]
    found = discover([(Root("/logs"), entries)], lambda _: IS_SNAPSHOT)
    return {f.entry.path: (f.worker, f.span, f.rank) for run in found.runs for f in run.traces if f.kind == "snapshot"}


def test_ranks_and_moments() -> None:
    assert names("snapshot.pickle") == {"snapshot.pickle": ("snapshot", "default", None)}
    assert names("oom_rank-3_x.pickle", "oom_rank-4_x.pickle") == {
        "oom_rank-3_x.pickle": ("rank3 (memory)", "default", 3),
        "oom_rank-4_x.pickle": ("rank4 (memory)", "default", 4),
    }
    assert names("snapshot_2026-01-02-03-04_0.pickle", "snapshot_2026-01-02-03-04_1.pickle") == {
        "snapshot_2026-01-02-03-04_0.pickle": ("rank0 (memory)", "default", 0),
        "snapshot_2026-01-02-03-04_1.pickle": ("rank1 (memory)", "default", 1),
    }
    titan = ["m/iteration_5/rank0_memory_snapshot.pickle", "m/iteration_10_exit/rank0_memory_snapshot.pickle"]
    assert list(names(*titan).values()) == [
        ("rank0 (memory)", "iteration_5", 0),
        ("rank0 (memory)", "iteration_10_exit", 0),
    ]
    assert names("snapshot_stop_step_rank0.pickle", "oom_rank0.pickle") == {
        "oom_rank0.pickle": ("rank0 (memory)", "oom", 0),
        "snapshot_stop_step_rank0.pickle": ("rank0 (memory)", "snapshot_stop_step", 0),
    }


@pytest.fixture
def logdir(tmp_path: Path) -> Path:
    """A trace and two snapshots of its rank, and files that are none."""
    folder = tmp_path / "logs" / "run"
    folder.mkdir(parents=True)
    event = '{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":10,"dur":5}'
    (folder / "rank0.1.pt.trace.json").write_text(f'{{"traceEvents":[{event}]}}')
    (folder / "oom_rank0.pickle").write_bytes(dumped(fragmented().snapshot()))
    (folder / "start_rank0.pickle.gz").write_bytes(gzip.compress(dumped(random_run(2).snapshot())))
    (folder / "words.pickle").write_bytes(dumped(["a"]))
    return tmp_path / "logs"


def test_snapshots_stand_beside_the_traces(logdir: Path, tmp_path: Path) -> None:
    profile = torch_tb_profiler.open(logdir, cache_dir=tmp_path / "cache")
    run = profile.run("run")
    assert run.workers == ("rank0",)
    assert [(s.worker, s.moment, s.rank) for s in run.snapshots] == [
        ("rank0 (memory)", "oom", 0),
        ("rank0 (memory)", "start", 0),
    ]
    assert [s.file for s in run.skipped] == ["words.pickle"]
    first = run.snapshots[0]
    assert first.summary.contradictions == 0
    assert first.ooms[0].reason == "fragmented"
    assert first.growth().per_step == 4096
    assert int(first.alive("oom").bytes.sum()) == first.summary.devices[0].requested
    assert int(first.curves().requested.max()) == first.summary.devices[0].peak_requested
    assert first.lifetimes().line[0].startswith("/app/train.py")
    assert first.pools("end")[0].reserved == first.summary.devices[0].reserved - 2 * MiB
    assert first.stacks("end").whole_ns == first.summary.devices[0].requested
    with pytest.raises(ProfileError, match="no moment 'noon'"):
        first.alive("noon")
    with pytest.raises(ProfileError, match="has 2 memory snapshots"):
        _ = profile.memory_snapshot


def test_the_command(logdir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(logdir / "run" / "oom_rank0.pickle")
    cache = ["--cache-dir", str(tmp_path / "cache")]
    assert main(["memory", path, "--json", "--at", "peak", *cache]) == 0
    found = msgspec.json.decode(capsys.readouterr().out)
    allocator = fragmented()
    last = allocator.log[-1]
    assert found["peak_requested"] == max(truth.requested for truth in allocator.log)
    assert found["peak_allocated"] == max(truth.allocated for truth in allocator.log)
    assert (found["reserved"], found["allocated"], found["requested"]) == (
        last.reserved,
        last.allocated,
        last.requested,
    )
    assert found["largest_free"] == max(size for _, size in last.free)
    assert found["entries"] == len(allocator.records)
    assert (found["contradictions"], found["leak_per_step"]) == (0, 4096)
    assert found["oom"].keys() == {"requested", "free", "pieces", "largest", "reason", "holders"}
    assert sum(row["bytes"] for row in found["alive"]) == found["peak_requested"]
    assert main(["memory", str(logdir), "--worker", "rank0 (memory)", "--span", "oom", *cache]) == 0
    assert capsys.readouterr().out.startswith("Fragmented: 256 MiB was requested")
    assert main(["memory", str(logdir / "run" / "words.pickle"), *cache]) == 2
    assert "is a pickle, but not a memory snapshot" in capsys.readouterr().err


def test_the_sample_is_what_its_program_makes(samples: Path) -> None:
    content = (samples / "out_of_memory" / "snapshot.pickle").read_bytes()
    assert tables_of(content) == tables_of(dumped(out_of_memory().snapshot()))
