"""A cache removes its own files alone, and is used only where nobody else can put something in their place."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from pathlib import Path

import pytest

from torch_tb_profiler.cli import main
from torch_tb_profiler.ingest.ingest import ingest
from torch_tb_profiler.ingest.runner import IngestRefused
from torch_tb_profiler.workspace import pack
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder
from torch_tb_profiler.workspace.cache.stores import FolderStore, is_shared
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache, open_cache
from torch_tb_profiler.workspace.process import remove_left_overs

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other rights, and links take a privilege")

KEY, OTHER = "a" * 40, "b" * 40
#: some user that is not this one
SOMEBODY = 12_345
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder with files that are none of the cache's."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name in ("thesis.tex", "x", "begun.1-2-3.part", "c" * 24):
        (folder / name).write_text("mine")
        os.utime(folder / name, (1e9, 1e9))
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_a_link_leads_to_is_neither_removed_nor_counted(tmp_path: Path, foreign: Path) -> None:
    directory = tmp_path / "cache"
    cache = TraceCache(directory, limit=1)
    before = names(foreign)
    cache.answers(KEY).symlink_to(foreign)
    cache.columns(OTHER).symlink_to(foreign / "thesis.tex")
    cache.timeline(OTHER).symlink_to(foreign)
    (directory / f"{OTHER}.columns7.part").symlink_to(foreign / "x")
    cache.sweep()
    TraceCache(directory, limit=1).sweep()
    assert main(["cache", "--prune", "--cache-dir", str(directory)]) == 0
    cache.clear()
    assert names(foreign) == before
    cache.added_to(KEY)
    assert cache._unswept == 0
    cache.remove(KEY)
    assert names(foreign) == before
    assert not cache.answers(KEY).is_symlink()


def test_in_a_folder_of_answers_only_answers_are_removed(tmp_path: Path, foreign: Path) -> None:
    cache = TraceCache(tmp_path / "cache")
    folder = AnswerFolder(cache.answers(KEY))
    folder.put("d" * 24, pack(b"answer"))
    for name in ("thesis", "notes.txt", "e" * 24):
        (cache.answers(KEY) / name).write_text("mine")
    (cache.answers(KEY) / "folder").mkdir()
    (cache.answers(KEY) / ("f" * 24)).symlink_to(foreign)
    cache.clear()
    assert names(cache.answers(KEY)) == sorted(["thesis", "notes.txt", "e" * 24, "folder", "f" * 24])
    assert len(names(foreign)) == 4


def test_answers_are_not_written_through_a_link(tmp_path: Path, foreign: Path) -> None:
    cache = TraceCache(tmp_path / "cache")
    before = names(foreign)
    cache.answers(KEY).symlink_to(foreign)
    assert AnswerFolder(cache.answers(KEY)).get("c" * 24) is None
    assert AnswerFolder(cache.answers(KEY)).put("d" * 24, pack(b"answer"))
    assert names(foreign) == before
    assert names(cache.answers(KEY)) == ["d" * 24]
    when = (foreign / "x").stat().st_mtime
    cache.columns(KEY).symlink_to(foreign / "x")
    cache.touch(KEY)
    assert (foreign / "x").stat().st_mtime == when


def test_names_that_only_begin_like_those_of_a_cache_are_the_users(tmp_path: Path) -> None:
    mine = [f"{KEY}.json", f"{KEY}.tar.gz", f"{KEY}.columns.bak", f"{KEY}-notes.txt", f"{KEY}.v.json.orig", KEY]
    for name in mine:
        (tmp_path / name).write_text("mine")
        os.utime(tmp_path / name, (1e9, 1e9))
    cache = TraceCache(tmp_path, limit=1)
    cache.sweep()
    cache.clear()
    assert names(tmp_path) == sorted(mine)


def refused(directory: Path, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    cache = TraceCache(directory)
    assert cache.directory != directory
    assert why in cache.refused
    cache.close()
    assert main(["cache", "--cache-dir", str(directory)]) == 2
    assert why in capsys.readouterr().err


def test_a_directory_that_everybody_may_write_to_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "torch_tb_profiler"
    directory.mkdir()
    directory.chmod(0o777)
    refused(directory, "everybody may write to it", capsys)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "w.pt.trace.json").write_text('{"traceEvents": [{"ph": "i", "name": "a", "ts": 1}]}')
    with pytest.raises(IngestRefused, match="everybody may write to it"):
        ingest(str(tmp_path / "logs"))
    directory.chmod(0o775)
    assert TraceCache(directory).directory == directory


@as_root
def test_a_directory_of_another_user_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", SOMEBODY, SOMEBODY)
    refused(tmp_path / "theirs", "it belongs to another user", capsys)
    (tmp_path / "own").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "own")
    assert TraceCache(tmp_path / "link").directory == tmp_path / "link"
    os.chown(tmp_path / "link", SOMEBODY, SOMEBODY, follow_symlinks=False)
    refused(tmp_path / "link", "it belongs to another user", capsys)


@as_root
def test_of_a_directory_that_took_the_place_of_the_cache_nothing_is_removed(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path / "cache", limit=1)
    cache.directory.rename(tmp_path / "moved")
    (tmp_path / "theirs").mkdir()
    cache.directory.symlink_to(tmp_path / "theirs")
    os.chown(tmp_path / "theirs", SOMEBODY, SOMEBODY)
    for key in (KEY, OTHER):
        cache.columns(key).write_text("theirs")
    cache.sweep()
    cache.clear()
    cache.remove(KEY)
    assert names(tmp_path / "theirs") == [f"{KEY}.columns", f"{OTHER}.columns"]


def test_a_shared_place_may_be_written_to_by_everybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    place = FolderStore(tmp_path / "place")
    place.prepare()
    (tmp_path / "place").chmod(0o777)
    assert is_shared(str(tmp_path / "place"))
    cache = open_cache(tmp_path / "place")
    assert cache.shared
    assert not cache.refused
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700


def test_left_over_directories_are_not_removed_through_links(
    tmp_path: Path, foreign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = names(foreign)
    (foreign / "in-use").touch()
    os.utime(foreign / "in-use", (1e9, 1e9))
    (tmp_path / "torch_tb_profiler-link").symlink_to(foreign)
    (tmp_path / "torch_tb_profiler-mark").mkdir()
    (tmp_path / "torch_tb_profiler-mark" / "in-use").symlink_to(foreign / "in-use")
    os.utime(tmp_path / "torch_tb_profiler-mark" / "in-use", (1e9, 1e9), follow_symlinks=False)
    (tmp_path / "torch_tb_profiler-gone").mkdir()
    (tmp_path / "torch_tb_profiler-gone" / "in-use").touch()
    os.utime(tmp_path / "torch_tb_profiler-gone" / "in-use", (1e9, 1e9))
    remove_left_overs()
    assert names(foreign) == sorted([*before, "in-use"])
    assert (tmp_path / "torch_tb_profiler-mark").is_dir()
    assert not (tmp_path / "torch_tb_profiler-gone").exists()


def test_what_was_used_before_the_clock_was_set_back_is_forgotten_first(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path, limit=15_000)
    for key, when in ((KEY, time.time() + 10**8), (OTHER, time.time() - 10**6)):
        cache.columns(key).write_bytes(b"x" * 10_000)
        os.utime(cache.columns(key), (when, when))
    cache.sweep()
    assert names(tmp_path) == [f"{OTHER}.columns"]
