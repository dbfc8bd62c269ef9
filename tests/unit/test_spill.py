"""Large arrays that are kept in a file, and that answers are the same with them."""

from __future__ import annotations

import gc
import mmap
import os
import resource
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import torch_tb_profiler
from tests.recorded import model_of, sample_traces, short
from torch_tb_profiler import spill
from torch_tb_profiler.cli import main as command
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.spill import SpillFiles, spilled
from torch_tb_profiler.storage import Entry, StorageError
from torch_tb_profiler.timeline import timeline_file
from torch_tb_profiler.timeline.timeline_file import build
from torch_tb_profiler.trace.lazy_columns import LazyColumns
from torch_tb_profiler.web.prefetch import questions
from torch_tb_profiler.workspace import OpenTrace, open_workspace
from torch_tb_profiler.workspace.cache.answer_store import StoredAnswer, stored
from torch_tb_profiler.workspace.reading import worker
from torch_tb_profiler.workspace.reading.protocol import Job

LINUX = pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="needs madvise")
pytestmark = LINUX


class Parts(msgspec.Struct, frozen=True, dict=True):
    values: Any
    more: Any = ()


class Plain:
    def __init__(self, values: object, other: object) -> None:
        self.values, self.other = values, other


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SpillFiles]:
    found = SpillFiles(tmp_path, least=1)
    monkeypatch.setattr(spill, "_used", found)
    with found.watched():
        yield found


def is_aside(values: np.ndarray[Any, Any]) -> bool:
    assert isinstance(values, np.ndarray)
    return not values.flags.writeable


def test_nothing_is_put_aside_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_used", None)
    values = np.arange(10**6)
    assert spilled(values) is values


@pytest.mark.parametrize(
    "values",
    [
        np.arange(12).reshape(3, 4),
        np.arange(12, dtype=np.int8)[::2],
        np.array([1.5, np.nan]),
        np.array([True, False]),
        np.array([("a", 1), ("b", 2)], "U3,i4"),
    ],
    ids=str,
)
def test_values_are_the_same_and_cannot_be_changed(files: SpillFiles, values: np.ndarray[Any, Any]) -> None:
    found = spilled(values)
    files.let_go()
    assert (found.dtype, found.shape) == (values.dtype, values.shape)
    assert is_aside(found)
    np.testing.assert_array_equal(found, values)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = values[0]


def test_what_is_small_or_no_plain_array_stays(tmp_path: Path) -> None:
    found = SpillFiles(tmp_path, least=100)
    for values in (
        np.arange(12),
        np.array([object()] * 100),
        np.broadcast_to(np.int64(3), (1000,)),
        np.empty(0),
    ):
        assert found.put(values) is values


def test_an_array_is_written_once(files: SpillFiles) -> None:
    values = np.arange(1000)
    found = spilled(values)
    assert spilled(values) is found
    assert spilled(found) is found
    part = found[10:]
    assert spilled(part) is part


def test_many_arrays_share_files_that_go_with_them(files: SpillFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "FILE", 4 * mmap.PAGESIZE)
    before = len(list(Path("/proc/self/fd").iterdir()))
    kept = [spilled(np.full(1000, k)) for k in range(20)]  # two pages each
    large = spilled(np.arange(10_000))
    assert len(files._maps) == 11
    files.let_go()
    assert [int(each.sum()) for each in kept] == [1000 * k for k in range(20)]
    assert int(large[-1]) == 9_999
    assert not list(files.directory.iterdir())
    del kept, large
    gc.collect()
    assert len(files._maps) == 1
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2


def test_without_room_or_directory_arrays_stay_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.arange(1000)
    assert SpillFiles(tmp_path / "gone", least=1).put(values) is values
    monkeypatch.setattr(spill, "ROOM", 1 << 62)
    assert SpillFiles(tmp_path, least=1).put(values) is values
    assert not list(tmp_path.iterdir())


def test_few_open_files_are_left_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (8, 8))
    found = SpillFiles(tmp_path, least=1)
    monkeypatch.setattr(spill, "FILE", mmap.PAGESIZE)
    kept = [found.put(np.full(1000, k)) for k in range(4)]  # two pages each
    assert [not each.flags.writeable for each in kept] == [True, True, False, False]


def test_open_files_without_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert spill._files_allowed() == 1024


def test_only_disks_of_this_machine_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "_used", None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(spill, "_MOUNTS", mounts)
    line = "36 35 {}:{} / {} rw,noatime shared:1 - {} source rw\n"
    for kind in ("tmpfs", "nfs4", "fuse.sshfs"):
        mounts.write_text(line.format(os.major(device), os.minor(device), tmp_path, kind))
        spill.use(tmp_path)
        assert spill._used is None
    mounts.write_text(
        line.format(0, 12345, "/other", "tmpfs") + line.format(os.major(device), os.minor(device), tmp_path, "ext4")
    )
    spill.use(tmp_path)
    used = spill._used
    assert used is not None
    assert used.directory == tmp_path
    spill.use(tmp_path)
    assert spill._used is used


def test_without_a_place_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(spill, "_used", None)
    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    monkeypatch.setattr(spill, "_is_disk", lambda directory: directory == tmp_path)
    spill.use(tmp_path / "memory")
    assert spill._used is None
    spill.use(tmp_path)
    assert spill._used is not None


def test_without_threads_pages_go_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    found = SpillFiles(tmp_path, least=1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none_left)
        with found.watched():
            assert int(found.put(np.arange(1000))[-1]) == 999
    with found.watched():
        assert found._blocks == 1


def test_without_handles_pages_are_looked_at_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked = threading.Semaphore(0)

    def few() -> int:
        looked.release()
        raise OSError(24, "Too many open files")

    found = SpillFiles(tmp_path, least=1)
    monkeypatch.setattr(spill, "_of_files", few)
    with found.watched():
        assert all(looked.acquire(timeout=60) for _ in range(2))


def test_what_cannot_be_written_stays_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError("No space left on device")

    found, values = SpillFiles(tmp_path, least=1), np.arange(1000)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        assert found.put(values) is values
    again = found.put(values)
    assert is_aside(again)
    np.testing.assert_array_equal(again, values)


def test_arrays_are_found_in_what_was_computed(files: SpillFiles) -> None:
    values = np.arange(1000)

    class Late(LazyColumns):
        pass

    late: Any = Late.of_fields_read_by(frozenset({"column"}), lambda _: np.arange(10))
    whole = Parts((values, [values, "text"]), {"a": Parts(values)})
    whole.__dict__["cached"] = values
    found = spilled(whole)
    assert found is whole
    first = found.values[0]
    assert is_aside(first)
    assert found.values[1] == [first, "text"]
    assert found.values[1][0] is first
    assert found.more["a"].values is first
    assert found.__dict__["cached"] is first
    assert is_aside(late.column)


def test_what_belongs_to_others_is_left_alone(files: SpillFiles) -> None:
    inner = Plain(np.arange(10), None)
    found = spilled(Plain(np.arange(10), inner))
    assert is_aside(found.values)  # type: ignore[arg-type]
    assert not is_aside(inner.values)  # type: ignore[arg-type]
    many = [np.arange(10) for _ in range(100)]
    assert spilled(many) is many
    assert not is_aside(many[0])


def test_pages_are_let_go_while_something_is_computed(files: SpillFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spill, "HELD", 1 << 20)
    values = spilled(np.arange(1 << 20))
    let_go: list[int] = []
    kept = files.let_go
    monkeypatch.setattr(files, "let_go", lambda: (let_go.append(spill._of_files()), kept()))
    for _ in range(1000):
        assert int(values[-1]) == len(values) - 1
        values.sum()
        if let_go:
            break
        files._done.wait(0.01)
    assert let_go


@pytest.mark.slow
@pytest.mark.parametrize("path", sample_traces(), ids=short)
def test_all_that_is_prepared_is_the_same(
    path: Path, files: SpillFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a model whose every array is in a file, and cannot be written to."""
    trace = OpenTrace("run", "worker", "span", "key", path.stat().st_size, 1)

    def answers() -> dict[str, StoredAnswer | bytes]:
        model = model_of(path)
        found: dict[str, StoredAnswer | bytes] = {
            name: stored(compute(model)) for asked in questions(trace, model) for name, compute in asked
        }
        timeline_file.write(build(model), tmp_path / "timeline")
        return {**found, "timeline": (tmp_path / "timeline").read_bytes()}

    here = answers()
    assert files._maps
    with monkeypatch.context() as patch:
        patch.setattr(spill, "_used", None)
        there = answers()
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []


# who puts arrays aside --------------------------------------------------------------------------------------


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The directories that `use` was called with."""
    found: list[Path] = []
    monkeypatch.setattr(spill, "use", found.append)
    return found


def test_a_worker_process_does(used: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Performed(Exception):
        pass

    def perform(*_: object) -> None:
        raise Performed

    job = Job(1, Entry("url", "url", 1, 1), str(tmp_path / "columns"))
    monkeypatch.setattr(worker, "_take_stdout", BytesIO)
    monkeypatch.setattr(worker, "_listen", lambda _, jobs, *__: jobs.put(job))
    monkeypatch.setattr(worker, "perform", perform)
    with pytest.raises(Performed):
        worker.main()
    assert used == [tmp_path]


def test_the_process_for_large_traces_does(tmp_path: Path) -> None:
    code = (
        "import sys; from torch_tb_profiler import spill; spill.use = lambda path: print(path, file=sys.stderr)\n"
        "from torch_tb_profiler.workspace.answering.answering_process import main; main(sys.argv[1], 10, '')"
    )
    asked = [sys.executable, "-c", code, str(tmp_path)]
    found = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60)
    assert found.stderr == f"{tmp_path}\n"


def test_a_server_of_its_own_and_commands_do_and_the_python_api_does_not(used: list[Path], tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    roots = parse_logdir(str(tmp_path / "logs"))
    for is_alone in (False, True):
        open_workspace(roots, tmp_path / "server", 1, is_alone=is_alone).close()
    assert used == [tmp_path / "server"]
    trace = sample_traces()[0]
    torch_tb_profiler.open(trace, cache_dir=tmp_path / "python").trace().overview()
    assert used == [tmp_path / "server"]
    assert command(["summary", str(trace), "--cache-dir", str(tmp_path / "command")]) == 0
    assert used == [tmp_path / "server", tmp_path / "command"]


def test_serve_is_a_server_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[object] = []

    def opened(*_: object, is_alone: bool = False, **__: object) -> None:
        given.append(is_alone)
        raise StorageError("enough")

    monkeypatch.setattr("torch_tb_profiler.serving.open_for_page", opened)
    assert command(["serve", str(tmp_path)]) != 0
    assert given == [True]
