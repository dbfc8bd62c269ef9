"""Local storage lists everything once, and says what it could not list."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import Entry, ListingProblem, StorageError, storage_for
from torch_tb_profiler.storage.local import LocalStorage


def listed(root: Path) -> tuple[list[str], list[ListingProblem]]:
    problems: list[ListingProblem] = []
    return sorted(entry.path for entry in LocalStorage().list(str(root), problems.append)), problems


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_lists_all_depths_with_sizes_and_times(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    file = tmp_path / "a" / "b.json"
    file.write_bytes(b"12345")
    (entry,) = LocalStorage().list(str(tmp_path), lambda problem: None)
    assert (entry.path, entry.size, entry.modified_ns) == ("a/b.json", 5, file.stat().st_mtime_ns)
    with LocalStorage().open(entry) as stream:
        assert stream.read() == b"12345"


def test_a_loop_of_links_is_walked_once(tmp_path: Path) -> None:
    touch(tmp_path / "run" / "x")
    (tmp_path / "run" / "loop").symlink_to(tmp_path / "run", target_is_directory=True)
    (tmp_path / "run" / "up").symlink_to(tmp_path, target_is_directory=True)
    assert listed(tmp_path) == (["run/x"], [])


def test_a_directory_goes_by_its_real_name_though_a_link_comes_first(tmp_path: Path) -> None:
    touch(tmp_path / "z" / "deep" / "x")
    (tmp_path / "a").symlink_to(tmp_path / "z", target_is_directory=True)
    assert listed(tmp_path)[0] == ["z/deep/x"]


def test_links_to_elsewhere_are_followed(tmp_path: Path) -> None:
    touch(tmp_path / "elsewhere" / "x")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "run").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "logs" / "y").symlink_to(tmp_path / "elsewhere" / "x")
    assert listed(tmp_path / "logs")[0] == ["run/x", "y"]


def test_broken_links_and_pipes_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    assert listed(tmp_path) == ([], [])


def test_a_directory_that_may_not_be_read_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path / "open" / "x")
    touch(tmp_path / "closed" / "y")
    scan = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        # root may read everything, so permissions would not do
        if path.endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    paths, problems = listed(tmp_path)
    assert paths == ["open/x"]
    reason = Reason(
        "unlistable",
        "cannot be listed: Permission denied",
        {"place": "", "why": "Permission denied", "errno": "EACCES"},
    )
    assert problems == [ListingProblem("closed", reason)]


def test_a_missing_root_is_an_error_in_words(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"nowhere cannot be listed: No such file or directory"):
        listed(tmp_path / "nowhere")


def test_a_missing_file_is_an_error_in_words(tmp_path: Path) -> None:
    storage, nowhere = LocalStorage(), str(tmp_path / "nowhere")
    with pytest.raises(StorageError, match="cannot be read: No such file"):
        storage.stat(nowhere)
    with pytest.raises(StorageError, match="cannot be read: No such file"):
        storage.open(Entry("nowhere", nowhere, 0, 0))
    with pytest.raises(StorageError, match="is not a file"):
        storage.stat(str(tmp_path))


def test_names_that_are_no_text_are_made_printable(tmp_path: Path) -> None:
    touch(Path(os.fsdecode(os.fsencode(tmp_path) + b"/w\xff\n\x1b.pt.trace.json")))
    problems: list[ListingProblem] = []
    (entry,) = LocalStorage().list(str(tmp_path), problems.append)
    assert entry.path == "w\\xff\\n\\x1b.pt.trace.json"
    with LocalStorage().open(entry) as stream:
        assert stream.read() == b""


def test_resolve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("WHERE", "logs")
    monkeypatch.chdir(tmp_path)
    storage = LocalStorage()
    assert storage.resolve("~/$WHERE/") == "/home/someone/logs"
    assert storage.resolve("here") == str(tmp_path / "here")
    assert storage.resolve("file:///a%20b") == "/a b"
    assert storage.resolve("FILE://host/a?b#c") == "/a"
    assert storage.resolve("file://[x/a") == "/a"
    for nowhere in ("a\0b", "file:///a%00b"):
        with pytest.raises(StorageError, match="no file has such a name"):
            storage.resolve(nowhere)
    for nothing in ("", "file://"):
        with pytest.raises(StorageError, match="the path is empty"):
            storage.resolve(nothing)


@pytest.mark.parametrize("url", ["/a", "a:b", "C:\\logs", "file:///a"])
def test_paths_are_local(url: str) -> None:
    assert isinstance(storage_for(url), LocalStorage)
