"""The cache directory forgets the oldest first and never stops the server; the log never stops TensorBoard."""

from __future__ import annotations

import ast
import logging
import os
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.tiny import write_trace
from torch_tb_profiler.storage import storage_for
from torch_tb_profiler.workspace import process
from torch_tb_profiler.workspace.answering.value_cache import Lru
from torch_tb_profiler.workspace.cache import identity
from torch_tb_profiler.workspace.cache.identity import (
    COLUMNS_CODE,
    NOT_ANSWERS,
    WHOLE_BYTES,
    _sampled,
    content_key,
    fingerprint_of,
)
from torch_tb_profiler.workspace.cache.trace_cache import DEFAULT_LIMIT, LIMIT_VARIABLE, TraceCache, default_directory
from torch_tb_profiler.workspace.status import TraceSummary

SUMMARY = TraceSummary(events=1, notes=0, warnings=(), views=("overview",), rank=None, world_size=None, host_name="")


#: keys of traces: only files with such names are the cache's
A, B, C = (digit * 40 for digit in "abc")


def add(cache: TraceCache, key: str, size: int, age: float) -> None:
    cache.columns(key).write_bytes(b"x" * size)
    cache.add(key, SUMMARY)
    for path in cache.directory.glob(f"{key}.*"):
        when = path.stat().st_mtime - age
        os.utime(path, (when, when))


def test_finds_what_was_added(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path / "deep" / "cache")
    assert cache.find("a") is None
    add(cache, "a", 10, 0)
    assert cache.find("a") == SUMMARY
    cache.columns("a").unlink()
    assert cache.find("a") is None
    add(cache, "a", 10, 0)
    (summary,) = (tmp_path / "deep" / "cache").glob("a.*.json")
    summary.write_text("{")
    assert cache.find("a") is None


def test_sweeps_what_was_not_used_for_the_longest_time(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path)
    for key, age in ((A, 300), (B, 200), (C, 100)):
        add(cache, key, 40_000, age)
    cache.touch(A)
    cache.limit = 100_000
    cache.sweep()
    assert [key for key in (A, B, C) if cache.find(key)] == [A, C]


def test_the_newest_stays_however_large(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path, limit=10)
    add(cache, A, 100, 50)
    add(cache, B, 100, 0)
    cache.sweep()
    assert cache.find(A) is None
    assert cache.find(B) == SUMMARY


def test_what_cannot_be_removed_stops_nobody(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path, limit=10)
    add(cache, A, 100, 50)
    cache.columns(A).unlink()
    cache.columns(A).mkdir()
    add(cache, B, 100, 0)
    cache.sweep()
    cache.remove(A)
    assert cache.find(A) is None
    assert cache.find(B) == SUMMARY


def test_left_overs_of_dead_processes_are_removed(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path)
    for name, age in (
        (f"{A}.columns123.part", 10**6),
        (f"ingest-0f-{B}.columns.part", 10**6),
        (f"{C}.columns9.part", 0),
    ):
        path = tmp_path / name
        path.touch()
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    cache.sweep()
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"{C}.columns9.part"]


def test_files_of_the_user_are_never_removed(tmp_path: Path) -> None:
    """Who names a directory with files of their own for the cache, such as the log directory, keeps them."""
    mine = [
        "package.json",
        "w.pt.trace.json",
        "a.columns",
        "b.part",
        "c.run",
        "d.timeline",
        "e.rank",
        f"{'a' * 39}.json",
    ]
    for name in mine:
        (tmp_path / name).write_text("mine")
        os.utime(tmp_path / name, (1e9, 1e9))
    (tmp_path / "my.answers").mkdir()
    (tmp_path / "my.answers" / "x").write_text("mine")
    cache = TraceCache(tmp_path, limit=10)
    for key in (A, B):
        add(cache, key, 100, 0)
    cache.sweep()
    assert cache.find(A) is None
    cache.clear()
    assert cache.find(B) is None
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*mine, "my.answers"])
    assert (tmp_path / "my.answers" / "x").read_text() == "mine"


def test_a_directory_that_cannot_be_written_is_replaced_until_the_end(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = TraceCache(tmp_path / "file" / "cache")
    add(cache, "a", 1, 0)
    assert cache.find("a") == SUMMARY
    assert cache.directory.is_dir()
    cache.close()
    assert not cache.directory.exists()


def test_the_directory_of_the_user_is_kept_at_the_end(tmp_path: Path) -> None:
    TraceCache(tmp_path / "cache").close()
    assert (tmp_path / "cache").is_dir()


@pytest.mark.parametrize(("text", "limit"), [("123", 123), ("", DEFAULT_LIMIT), ("10GB", DEFAULT_LIMIT)])
def test_the_limit_from_the_environment(text: str, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, text)
    assert TraceCache(tmp_path).limit == limit


def test_the_default_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache")
    assert default_directory() == Path("/var/cache/torch_tb_profiler")
    for unusable in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", unusable)
        assert default_directory() == Path("/home/me/.cache/torch_tb_profiler")


def test_a_user_without_a_home_gets_a_temporary_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a container that runs with any number for its user."""
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(OSError, match="no home directory"):
        default_directory()
    cache = TraceCache()
    assert cache.directory.parent == tmp_path
    cache.close()
    assert not cache.directory.exists()


def test_the_key_follows_the_content_even_when_size_and_time_stay(tmp_path: Path) -> None:
    path = write_trace(tmp_path / "w.pt.trace.json")
    storage = storage_for(str(path))
    when = path.stat().st_mtime_ns

    def key() -> str:
        os.utime(path, ns=(when, when))
        return content_key(storage, storage.stat(str(path)))

    before = key()
    assert key() == before
    path.write_bytes(path.read_bytes()[:-1] + b" ")
    assert key() != before


@pytest.mark.parametrize("size", [200_000, 3_000_000])
def test_the_key_follows_the_middle(tmp_path: Path, size: int) -> None:
    """Of a large file between the places that are looked at, too: there the system tells when it was changed."""
    path = tmp_path / "w.pt.trace.json"
    path.write_bytes(b"x" * size)
    storage, when = storage_for(str(path)), path.stat().st_mtime_ns
    known = {content_key(storage, storage.stat(str(path)))}
    versions = {storage.stat(str(path)).version}
    for place in (size // 2, size // 2 + 40_000, 70_000):
        time.sleep(0.02)
        with path.open("r+b") as stream:
            stream.seek(place)
            stream.write(b"y")
        os.utime(path, ns=(when, when))
        known.add(content_key(storage, storage.stat(str(path))))
        versions.add(storage.stat(str(path)).version)
    assert len(known) == len(versions) == 4


def test_samples_of_a_large_file_are_spread_over_it() -> None:
    for size in (WHOLE_BYTES, WHOLE_BYTES + 1, 10_000_000, 5_000_000_000):
        places = list(_sampled(size))
        assert all(begin >= 0 and begin + count <= size for begin, count in places)
        assert places[0][0] == 0
        assert sum(places[-1]) == size
        gaps = [later - sum(place) for place, (later, _) in pairwise(places)]
        assert max(gaps, default=0) <= size / 60
        assert sum(count for _, count in places) <= WHOLE_BYTES


def test_what_other_code_has_made_goes_before_the_columns(tmp_path: Path) -> None:
    before, now = TraceCache(tmp_path, version="before"), TraceCache(tmp_path, version="now")
    add(before, A, 40_000, 100)
    before.timeline(A).write_bytes(b"x" * 40_000)
    os.utime(before.timeline(A), (1e9, 1e9))
    assert now.find(A) is None
    assert now.has_columns(A)
    add(now, A, 40_000, 0)
    now.limit = 60_000
    now.sweep()
    assert now.find(A) == SUMMARY
    assert before.find(A) is None
    assert not before.timeline(A).exists()


def source(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_fingerprint_follows_the_content_of_the_code(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for package in (here, there):
        source(package / "trace" / "a.py", "a = 1")
        source(package / "trace" / "deep" / "b.py", "b = 1")
        source(package / "reason.py", "c = 1")
        source(package / "other" / "d.py", f"# {package}")
    os.utime(there / "trace" / "a.py", (1, 1))
    names = ("reason.py", "trace")
    first = fingerprint_of(here, names)
    assert fingerprint_of(there, names) == first
    assert fingerprint_of(here, ("other",)) != fingerprint_of(there, ("other",))
    changed = set()
    for change in ("a = 2", "a = 1"):
        source(there / "trace" / "a.py", change)
        changed.add(fingerprint_of(there, names))
    assert len(changed - {first}) == 1
    (there / "trace" / "a.py").rename(there / "trace" / "e.py")
    assert fingerprint_of(there, names) not in changed | {first}


def test_folders_without_sources_are_no_code(tmp_path: Path) -> None:
    """Bytecode and what a build leaves come and go while servers run: another build is told by its sources."""
    source(tmp_path / "trace" / "a.py", "a = 1")
    first = fingerprint_of(tmp_path, ("trace",))
    (tmp_path / "__pycache__").mkdir()
    assert fingerprint_of(tmp_path, ("__pycache__", "trace")) == first


def test_columns_are_made_by_nothing_but_the_code_they_are_known_by() -> None:
    package = Path(identity.__file__).parents[2]
    imported: set[str] = set()
    for name in COLUMNS_CODE:
        for path in (package / name).rglob("*.py") if (package / name).is_dir() else [package / name]:
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(package.name):
                    imported.add(node.module.split(".")[1])
    assert imported <= {name.removesuffix(".py") for name in COLUMNS_CODE}


def test_all_other_code_is_of_answers() -> None:
    """A new room determines answers until somebody says otherwise."""
    package = Path(identity.__file__).parents[2]
    assert {name for name in NOT_ANSWERS if not (package / name).exists()} <= {"static"}
    assert not NOT_ANSWERS & set(COLUMNS_CODE)


def test_the_least_recently_used_is_forgotten() -> None:
    memory: Lru[str, bytes] = Lru(10, len)
    memory.put("a", b"1234")
    memory.put("b", b"1234")
    assert memory.get("a") == b"1234"
    memory.put("c", b"1234")
    assert (memory.get("a"), memory.get("b"), memory.get("c")) == (b"1234", None, b"1234")
    memory.put("a", b"1")
    memory.drop("c")
    memory.put("large", b"x" * 100)
    assert memory.get("large")
    assert len(memory) == 1


@pytest.mark.parametrize(
    ("level", "expected"),
    [("debug", logging.DEBUG), ("WARN", logging.WARNING), ("", logging.WARNING), ("ERROR", logging.ERROR)],
)
def test_the_log_level(level: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("torch_tb_profiler")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "propagate", True)
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    monkeypatch.setenv("TORCH_PROFILER_LOG_LEVEL", level)
    process.configure_logging()
    process.configure_logging()
    assert logger.level == expected
    assert len(logger.handlers) == 1
