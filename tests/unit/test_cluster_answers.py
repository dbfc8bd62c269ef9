"""What the workers of a cluster answer is input: it names files of the place alone, and is about what was asked."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.unit.test_ingest_probing import asked, check_of
from torch_tb_profiler.discovery import Content, discover, parse_logdir
from torch_tb_profiler.ingest.cluster import ClusterRunner
from torch_tb_profiler.ingest.reading import judge
from torch_tb_profiler.ingest.runner import IngestRefused, Outcome, RankKept, RankLost, Task, encode
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.workspace.cache.shared_cache import (
    VERSION,
    CatalogFile,
    CatalogRun,
    CatalogTrace,
    LogdirCatalog,
    catalog_name,
    read_catalog,
    write_catalog,
)
from torch_tb_profiler.workspace.cache.stores import FolderStore
from torch_tb_profiler.workspace.status import TraceSummary

SUMMARY = TraceSummary(events=1, notes=0, warnings=(), views=(), rank=None, world_size=None, host_name="")
KEY = "a" * 40
GOOD = RankKept(5, KEY, SUMMARY, was_there=False)


def outcome_of(said: Any, task: Task) -> Outcome | None:
    pytest.importorskip("distributed")
    future: Any = SimpleNamespace(status="finished", result=lambda: said)
    return ClusterRunner._outcome(ClusterRunner.__new__(ClusterRunner), future, task)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return Task("", "", 0, 0, number=5, target=check_of(tmp_path).target)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (encode(msgspec.structs.replace(GOOD, key="../../somebody/files")), "names no file of a cache"),
        (encode(msgspec.structs.replace(GOOD, number=6)), "about task 6"),
        (encode(RankLost(10**6, "other", "x")), "about task 1000000"),
        (b"[" * 100_000, "something else"),
        (b"\xff", "something else"),
        (b"x" * (2 << 20), "2,097,152 bytes"),
        ({"number": 5}, "of type dict"),
        (None, "of type NoneType"),
    ],
)
def test_an_answer_that_is_none_costs_one_rank(said: Any, told: str, task: Task) -> None:
    outcome = outcome_of(said, task)
    assert isinstance(outcome, RankLost)
    assert outcome.number == 5
    assert told in outcome.text


def test_an_answer_is_taken(task: Task) -> None:
    assert outcome_of(encode(GOOD), task) == GOOD


def test_what_a_worker_says_to_have_written_is_removed_in_the_place_alone(tmp_path: Path) -> None:
    check = check_of(tmp_path)
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for nonce in ("../precious", str(precious), f"{check.nonce}/../../precious", "", "precious"):
        with pytest.raises(IngestRefused):
            judge([msgspec.structs.replace(asked(check), nonce=nonce)], check)
    assert precious.read_text() == "mine"


@pytest.mark.parametrize("name", ["../x", "a/b", "..", ".", "", "a\\b", "a\0b"])
def test_names_in_a_place_are_flat(name: str, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "x").write_text("mine")
    place = FolderStore(tmp_path / "place")
    for deed in (place.has, place.read, place.remove, place.version, lambda name: place.put(name, b"")):
        with pytest.raises(OSError, match="no file of a cache has this name"):
            deed(name)
    assert (tmp_path / "x").read_text() == "mine"


def test_a_catalog_with_keys_that_lead_elsewhere_is_not_used(tmp_path: Path) -> None:
    place = FolderStore(tmp_path)
    entry = Entry("w.pt.trace.json", "/logs/w.pt.trace.json", 5, 1)
    (run,) = discover([(parse_logdir("/logs")[0], [entry])], lambda _: Content()).runs
    (file,) = run.traces
    for key, is_used in ((KEY, True), ("../../x", False), (KEY + "/", False)):
        traces = (CatalogTrace(CatalogFile.of(file), key, SUMMARY),)
        write_catalog(place, LogdirCatalog(VERSION, "/logs", "code", (CatalogRun("run", traces, (), ()),), ()))
        assert (read_catalog(place, catalog_name("/logs")) is not None) == is_used
