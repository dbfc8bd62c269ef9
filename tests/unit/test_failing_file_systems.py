"""A file system that fails or does not answer: what else there is is shown, with the reason for what is not."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.served import client_of, get
from tests.tiny import wait_until, write_trace
from tests.workspaces import Opener, settled
from torch_tb_profiler.discovery import named_roots, parse_logdir
from torch_tb_profiler.storage import Entry, ListingProblem, StorageError
from torch_tb_profiler.storage.local import LocalTree
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.workspace import Workspace, open_workspace
from torch_tb_profiler.workspace.cache import trace_cache as caches
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.listing import scanner
from torch_tb_profiler.workspace.listing.scanner import Lister

pytestmark = pytest.mark.slow

URL = "/api/overview?run=run&worker=w"


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], threading.Event]]:
    """Listing a directory waits until the event is set; others are listed."""
    monkeypatch.setattr(scanner, "SILENT_SECONDS", 0.3)
    list_really, events = LocalTree.list, dict[str, threading.Event]()

    def listed(self: LocalTree, report: Callable[[ListingProblem], None]) -> list[Entry]:
        for name, event in events.items():
            if self.root.endswith(name):
                event.wait(60)
        return list_really(self, report)

    monkeypatch.setattr(LocalTree, "list", listed)
    yield lambda name: events.setdefault(name, threading.Event())
    for event in events.values():
        event.set()


def test_a_directory_that_does_not_answer_stops_no_other(
    tmp_path: Path, silent: Callable[[str], threading.Event]
) -> None:
    for name in ("a", "b"):
        write_trace(tmp_path / name / "run" / "w.pt.trace.json")
    answers = silent("a")
    roots = named_roots([str(tmp_path / "a"), str(tmp_path / "b")])
    workspace = open_workspace(roots, tmp_path / "cache", 1, reload_interval=0.1)
    try:
        wait_until(lambda: bool(workspace.status().runs) and not workspace.status().loading, "the other is listed")
        client = client_of(workspace)
        assert get(client, "/api/overview?run=b/run&worker=w")
        (skipped,) = get(client, "/api/status")["skipped"]
        assert "has not answered for 0.3 s" in skipped["reason"]
        answers.set()
        wait_until(lambda: len(workspace.status().runs) == 2, "both are listed")
    finally:
        workspace.close()


def test_one_listing_at_a_time_waits(tmp_path: Path, silent: Callable[[str], threading.Event]) -> None:
    write_trace(tmp_path / "a" / "w.pt.trace.json")
    answers = silent("a")
    lister = Lister(parse_logdir(str(tmp_path / "a")), 0.0)
    before = threading.active_count()
    for _ in range(3):
        with pytest.raises(StorageError, match="has not answered"):
            lister.list()
        lister._listed[0].due = 0.0
    assert threading.active_count() == before + 1
    answers.set()
    wait_until(lambda: threading.active_count() == before, "the listing has ended")
    assert len(lister.list().entries()) == 1


@pytest.fixture
def read(logs: Path, opened: Opener) -> Workspace:
    """A workspace that has read the trace of `URL`."""
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    return workspace


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EACCES])
def test_a_log_directory_that_fails_later_keeps_what_was_read(
    number: int, read: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(read)
    good = get(client, URL)

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", fail)
        wait_until(lambda: read.status().error is not None, "a listing has failed")
        assert os.strerror(number) in get(client, "/api/status")["error"]
        assert get(client, URL) == good
    wait_until(lambda: read.status().error is None, "it is listed again")


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EACCES])
def test_a_cache_that_fails_later_is_read_around(number: int, read: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of(read)
    get(client, URL)

    def fail(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        for name in ("utime", "unlink", "replace", "link"):
            patch.setattr(os, name, fail)
        patch.setattr("torch_tb_profiler.workspace.cache.sweep.OwnFolder.names", fail)
        patch.setattr("torch_tb_profiler.workspace.cache.checksummed.open_file", fail)
        read._cache.sweep()
        read._cache.clear()
        assert get(client, "/api/kernels?run=run&worker=w")
        assert get(client, "/api/status")["error"] is None
    assert get(client, URL)


def test_a_cache_that_fails_at_the_start_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = caches.CacheFiles

    def fail(directory: Path) -> caches.CacheFiles:
        if directory == tmp_path / "cache":
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return really(directory)

    monkeypatch.setattr(caches, "CacheFiles", fail)
    cache = TraceCache(tmp_path / "cache")
    assert os.strerror(errno.ESTALE) in cache.refused
    cache.close()
    assert not column_file.is_whole(tmp_path / "cache" / "nowhere")
