"""The cache keeps its limit, whatever is asked, and is tried again when there is room; nothing is left of the dead."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.served import client_of, get
from tests.tiny import write_trace
from tests.workspaces import Opener, settled
from torch_tb_profiler.model import patterns
from torch_tb_profiler.storage.local import LocalStorage
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.workspace import Key, pack
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder
from torch_tb_profiler.workspace.cache.checksummed import part_of, remove_parts, write_checksummed
from torch_tb_profiler.workspace.cache.trace_cache import LIMIT_VARIABLE, TraceCache
from torch_tb_profiler.workspace.reading import worker
from torch_tb_profiler.workspace.reading.protocol import Failed, Job

OF_TRACE = "run=run&worker=w"
#: of a trace
KEY = "a" * 40


def size_of(folder: Path) -> int:
    return sum({s.st_ino: s.st_size for s in (path.stat() for path in folder.rglob("*") if path.is_file())}.values())


@pytest.mark.slow
def test_the_limit_is_kept_after_many_questions(
    logs: Path, tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 400_000
    monkeypatch.setenv(LIMIT_VARIABLE, str(limit))
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened(60.0)
    settled(workspace)
    trace = workspace.find("run", "w")
    chance = random.Random(8)
    largest = 0
    for number in range(800):
        workspace.remember(Key((trace,), f"question {number}"), lambda: pack(chance.randbytes(5_000)), "disk")
        if number % 20 == 0:
            largest = max(largest, size_of(tmp_path / "cache"))
    folder = AnswerFolder(workspace._cache.answers(trace.key))
    assert limit // 2 < largest <= limit
    assert workspace._cache.find(trace.key) is not None
    assert any(path.stat().st_size > 5_000 for path in folder._path.iterdir())


def test_what_was_used_last_of_the_last_trace_stays_longest(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path, limit=35_000)
    cache.columns(KEY).write_bytes(b"x" * 10_000)
    folder = AnswerFolder(cache.answers(KEY))
    for age, name in ((30, "old"), (20, "middle"), (10, "new")):
        folder.put(name, pack(random.Random(name).randbytes(10_000)))
        when = time.time() - age
        os.utime(cache.answers(KEY) / name, (when, when))
    assert folder.get("old")
    cache.sweep()
    assert [name for name in ("old", "middle", "new") if folder.get(name)] == ["old", "new"]
    assert cache.has_columns(KEY)
    assert size_of(tmp_path) <= cache.limit


def test_begun_files_of_the_dead_are_removed_wherever_they_are(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path)
    AnswerFolder(cache.answers(KEY)).put("x", pack(b"answer"))
    begun = [tmp_path / f"{KEY}.v.json.1-2-3.part", cache.answers(KEY) / "y.1-2-3.part"]
    young = cache.answers(KEY) / "z.1-2-3.part"
    for path in (*begun, young):
        path.touch()
    for path in begun:
        os.utime(path, (1e9, 1e9))
    cache.sweep()
    assert [path.exists() for path in (*begun, young)] == [False, False, True]
    assert AnswerFolder(cache.answers(KEY)).get("x") == pack(b"answer")


def test_a_process_removes_only_its_own_unfinished_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes in two containers that share a cache may have the same number."""
    with monkeypatch.context() as patch:
        patch.setattr("torch_tb_profiler.trace.files._namespace", lambda: 7)
        elsewhere = part_of(tmp_path / "x")
    own = part_of(tmp_path / "x")
    for path in (elsewhere, own):
        path.touch()
    with column_file.Writer(tmp_path / "x"):
        assert len(list(tmp_path.iterdir())) == 3
        remove_parts([tmp_path], "x", os.getpid())
        assert list(tmp_path.iterdir()) == [elsewhere]


def test_a_full_disk_leaves_nothing_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = AnswerFolder(tmp_path / "a")
    folder.put("x", pack(b"answer"))

    def full(*_: object) -> Path:
        raise OSError(errno.ENOSPC, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        assert folder.put("y", pack(b"another")) == 0
        with pytest.raises(OSError, match="no room"):
            write_checksummed(tmp_path / "b", b"content")
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "x"]
    assert folder.put("y", pack(b"another"))
    assert folder.get("y") == pack(b"another")


def test_a_trace_without_room_for_its_columns_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_trace(tmp_path / "w.pt.trace.json")
    job = Job(1, LocalStorage().stat(str(path)), str(tmp_path / "w.columns"))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    with monkeypatch.context() as patch:
        patch.setattr(column_file.Writer, "add", full)
        outcome = worker.perform(job, lambda _: None)
        assert isinstance(outcome, Failed)
        assert outcome.passes
        assert [each.name for each in tmp_path.iterdir()] == ["w.pt.trace.json"]
    assert not isinstance(worker.perform(job, lambda _: None), Failed)


def test_a_refusal_for_want_of_time_is_not_kept(logs: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    client = client_of(workspace)
    url = f"/api/overview?{OF_TRACE}&step_pattern=Profiler"

    def slow(self: patterns.TimedPattern, _: float) -> object:
        raise patterns.SlowPattern(f"{self._source!r} takes too long to match")

    with monkeypatch.context() as patch:
        patch.setattr(patterns.TimedPattern, "matcher", slow)
        assert "too long" in get(client, url, 400)["error"]
    assert get(client, url)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_a_temporary_cache_of_a_killed_process_is_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "file").touch()
    (tmp_path / "torch_tb_profiler-of-the-user").mkdir()
    code = (
        "import sys, time, pathlib; from torch_tb_profiler.workspace.cache.trace_cache import TraceCache;"
        "cache = TraceCache(pathlib.Path(sys.argv[1])); print(cache.directory, flush=True); time.sleep(600)"
    )
    variables = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, str(tmp_path / "file" / "cache")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables, text=True) as process:
        try:
            assert process.stdout is not None
            directory = Path(process.stdout.readline().strip())
            assert directory.parent == tmp_path
            os.utime(directory / "in-use", (1e9, 1e9))
            TraceCache(tmp_path / "cache").close()
            assert directory.is_dir(), "it is in use, however old"
        finally:
            process.send_signal(signal.SIGKILL)
    TraceCache(tmp_path / "cache").close()
    assert not directory.exists()
    assert (tmp_path / "torch_tb_profiler-of-the-user").is_dir()
