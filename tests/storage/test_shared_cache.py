"""A cache that is shared in a store: who is first stays, and a server reads it without the files."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.rank_logs import write_ranks
from tests.served import client_of, get
from tests.storage.proxy import Fault
from tests.storage.stores import Store
from tests.tiny import wait_until
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.ingest.ingest import ingest
from torch_tb_profiler.ingest.runner import IngestRefused
from torch_tb_profiler.storage import remote
from torch_tb_profiler.web import PREFETCHED
from torch_tb_profiler.workspace import open_workspace
from torch_tb_profiler.workspace.cache.stores import store_at


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.01)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))


def test_of_many_writers_at_once_one_is_first(store: Store, tmp_path: Path) -> None:
    place = store_at(store.url("cache"))
    assert place.names() == frozenset()
    with ThreadPoolExecutor(16) as threads:
        first = list(threads.map(lambda number: place.put("a.columns", b"%d" % number), range(16)))
    if store.scheme != "gs":  # its emulator does not mind conditions on what is written
        assert sum(first) == 1
        assert place.read("a.columns") == b"%d" % first.index(True)
        assert not place.put("a.columns", b"late")
    assert place.put("a.columns", b"replaced", absent=False)
    place.fetch("a.columns", tmp_path / "fetched")
    assert (tmp_path / "fetched").read_bytes() == place.read("a.columns") == b"replaced"
    assert place.names() == {"a.columns"}
    assert place.has("a.columns")
    place.remove("a.columns")
    place.remove("a.columns")
    assert not place.has("a.columns")
    with pytest.raises(FileNotFoundError):
        place.read("a.columns")


def test_ranks_are_read_into_a_store_and_served_from_it(store: Store, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    write_ranks(logs / "job", 3)
    first = ingest(str(logs), store.url("cache"))
    assert (first.ranks, first.there) == (3, 0)
    assert ingest(str(logs), store.url("cache")).there == 3
    shutil.rmtree(logs)
    workspace = open_workspace(parse_logdir(str(logs)), store.url("cache"), 1, 0, PREFETCHED)
    try:
        wait_until(lambda: not workspace.status().scanning and not workspace.status().loading, "all is there")
        assert [t.state for t in workspace.run("job").traces] == ["ready"] * 3
        store.proxy.clear()
        assert get(client_of(workspace), "/api/kernels?run=job&worker=node0_2")["columns"]
        # of the rank that is looked at the columns alone are fetched
        assert 1 <= store.proxy.count("get") <= 2
    finally:
        workspace.close()


def test_ranks_of_a_store_are_read_into_the_same_store(store: Store, tmp_path: Path) -> None:
    write_ranks(tmp_path / "job", 2)
    store.put_all(tmp_path / "job", "logs/job/")
    assert ingest(store.url("logs"), store.url("cache")).ranks == 2
    assert ingest(store.url("logs"), store.url("cache")).there == 2


def test_a_store_that_cannot_be_written_is_said_before_the_first_rank(store: Store, tmp_path: Path) -> None:
    write_ranks(tmp_path / "job", 2)
    store.proxy.fail(Fault("other", times=1000, status=403, body=store.denied))
    with pytest.raises(IngestRefused, match="cannot be written: permission denied") as refused:
        ingest(str(tmp_path / "job"), store.url("cache"))
    for secret in store.secrets:
        assert secret not in str(refused.value)
