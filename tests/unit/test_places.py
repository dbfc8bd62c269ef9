"""Places that a cache is shared in: who is first, who may read, and what is left when a writer dies."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from torch_tb_profiler.workspace.cache.stores import (
    MARK,
    FolderStore,
    RemoteStore,
    is_shared,
    read_when_visible,
    store_at,
)
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache, open_cache


@pytest.fixture(params=["folder", "store"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FolderStore | RemoteStore]:
    if request.param == "store":
        fsspec = pytest.importorskip("fsspec")
        place = store_at("memory://test-of-places/cache")
        yield place
        fsspec.filesystem("memory").rm("/test-of-places", recursive=True)
    else:
        place = store_at(str(tmp_path / "deep" / "cache"))
        place.prepare()
        yield place


def test_who_is_first_stays(place: FolderStore | RemoteStore, tmp_path: Path) -> None:
    (tmp_path / "made").write_bytes(b"made")
    assert place.put("a.columns", tmp_path / "made")
    assert not place.put("a.columns", b"another")
    assert place.read("a.columns") == b"made"
    assert place.put("a.columns", b"another", absent=False)
    assert place.has("a.columns")
    assert not place.has("b.columns")
    place.fetch("a.columns", tmp_path / "fetched")
    assert (tmp_path / "fetched").read_bytes() == b"another"
    assert set(place.names()) - {MARK} == {"a.columns"}
    place.remove("a.columns")
    place.remove("a.columns")
    assert not place.has("a.columns")
    for missing in (lambda: place.read("a.columns"), lambda: place.fetch("a.columns", tmp_path / "none")):
        with pytest.raises(FileNotFoundError):
            missing()
    assert not (tmp_path / "none").exists()


def test_of_many_writers_at_once_one_is_first(tmp_path: Path) -> None:
    place = FolderStore(tmp_path)
    with ThreadPoolExecutor(16) as threads:
        first = list(threads.map(lambda number: place.put("a.columns", str(number).encode()), range(16)))
    assert sum(first) == 1
    assert place.read("a.columns") == str(first.index(True)).encode()
    assert place.names() == {"a.columns"}


def test_others_may_read_what_is_shared_and_not_what_is_private(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        for is_private, expected in ((False, 0o640), (True, 0o600)):
            place = FolderStore(tmp_path / str(is_private), is_private)
            place.prepare()
            place.put("a.columns", b"x")
            assert stat.S_IMODE((tmp_path / str(is_private) / "a.columns").stat().st_mode) == expected
            assert stat.S_IMODE((tmp_path / str(is_private)).stat().st_mode) == (0o700 if is_private else 0o750)
    finally:
        os.umask(before)


def test_a_writer_sweeps_what_it_has_begun_and_nothing_else(tmp_path: Path) -> None:
    for name in ("mine-a.columns.1.part", "other-a.columns.1.part", "mine-a.columns"):
        (tmp_path / name).touch()
    FolderStore(tmp_path, part="mine-").sweep()
    FolderStore(tmp_path).sweep()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine-a.columns", "other-a.columns.1.part"]


def test_what_is_late_is_waited_for(tmp_path: Path) -> None:
    place = FolderStore(tmp_path)
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read_when_visible, place, "a.rank", 60.0)
        place.put("a.rank", b"x")
        assert reading.result() == b"x"
    with pytest.raises(FileNotFoundError):
        read_when_visible(place, "b.rank", 0.0)


def test_a_directory_is_shared_when_it_was_made_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    FolderStore(tmp_path / "shared").prepare()
    assert is_shared(str(tmp_path / "shared"))
    assert is_shared("s3://bucket/cache")
    assert not is_shared(str(tmp_path))
    cache = open_cache(tmp_path / "shared")
    assert cache.shared
    assert cache.directory == tmp_path / "own" / "torch_tb_profiler"
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path / "shared"))
    assert open_cache(None).shared
    assert open_cache(tmp_path / "private").shared is None


def test_what_only_the_place_has_is_copied_when_it_is_used(tmp_path: Path) -> None:
    place = FolderStore(tmp_path / "shared")
    place.prepare()
    cache = TraceCache(tmp_path / "own", store=place)
    assert cache.shared
    place.put(cache.columns("a").name, b"columns")
    assert not cache.has_columns("a")
    cache.shared.refresh()
    assert cache.has_columns("a")
    assert not cache.columns("a").exists()
    assert cache.columns_here("a").read_bytes() == b"columns"
    assert stat.S_IMODE(cache.columns("a").stat().st_mode) == 0o600
    # unusable: it is made anew, though it stays in the place, which others use
    cache.remove("a")
    assert not cache.has_columns("a")
    assert place.has(cache.columns("a").name)
