"""Files of the cache with wrong bytes: never a wrong answer, never a server that answers 500 from then on."""

from __future__ import annotations

import errno
import os
import random
import stat
from collections import OrderedDict
from pathlib import Path

import pytest

from tests.served import client_of, get
from tests.tiny import write_trace
from tests.workspaces import Opener, settled
from torch_tb_profiler.trace import column_file, files
from torch_tb_profiler.trace.schema import OperatorRanges
from torch_tb_profiler.workspace import Loading, RefusedAnswer, StoredAnswer, pack
from torch_tb_profiler.workspace.answering.answerer import TimelineOf
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder
from torch_tb_profiler.workspace.cache.checksummed import checksummed, verified
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.status import TraceSummary

SUMMARY = TraceSummary(events=1, notes=0, warnings=(), views=("overview",), rank=None, world_size=None, host_name="")
OF_TRACE = "run=run&worker=w"
SLICE = f"/api/timeline/slice?{OF_TRACE}&row=1"


def damage(path: Path, table: str) -> None:
    """One bit of a column of a table."""
    columns = column_file._Reader(column_file._File(path)).index.tables[table]
    block = next(each for blocks in columns.values() for each in blocks if each.width)
    content = bytearray(path.read_bytes())
    content[block.offset + block.length // 2] ^= 4
    path.write_bytes(content)


@pytest.mark.slow
def test_a_table_found_damaged_behind_an_open_timeline_is_read_again_once(
    logs: Path, tmp_path: Path, opened: Opener
) -> None:
    write_trace(logs / "run" / "w.pt.trace.json", steps=40)
    workspace = opened()
    settled(workspace)
    client = client_of(workspace)
    get(client, f"/api/timeline?{OF_TRACE}")
    workspace.ask(lambda timeline: timeline.trace.forget(), TimelineOf(workspace.find("run", "w")))
    (columns,) = (tmp_path / "cache").glob("*.columns")
    damage(columns, OperatorRanges.table_name)
    assert client.get(SLICE).status_code == 409
    settled(workspace)
    made = columns.stat().st_ino
    assert get(client, SLICE)
    with pytest.raises(Loading):  # another thread has found the same, but was slower
        workspace.repair(column_file.ColumnFileError("has a damaged block", columns))
    assert workspace.find("run", "w").worker == "w"
    assert columns.stat().st_ino == made
    assert get(client, SLICE)


def test_a_lack_of_handles_is_told_and_removes_nothing(
    logs: Path, tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trace(logs / "run" / "w.pt.trace.json", steps=40)
    workspace = opened()
    settled(workspace)
    client = client_of(workspace)
    kept = sorted((tmp_path / "cache").iterdir())

    def refused(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as patch:
        patch.setattr(files, "open_handle", refused)
        patch.setattr(files.OPEN_FILES, "_handles", OrderedDict())
        assert "later" in get(client, f"/api/overview?{OF_TRACE}", 503)["error"]
    assert sorted((tmp_path / "cache").iterdir()) == kept
    assert get(client, f"/api/overview?{OF_TRACE}")


def test_every_wrong_byte_of_what_is_sealed_is_noticed() -> None:
    content = random.Random(2).randbytes(300)
    good = checksummed(content)
    assert verified(good) == content
    for place in range(len(good)):
        for bit in range(8):
            bad = bytearray(good)
            bad[place] ^= 1 << bit
            assert verified(bytes(bad)) is None
    assert all(verified(good[:length]) is None for length in range(len(good)))


def test_every_wrong_byte_of_a_summary_is_noticed(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path)
    cache.columns("a").write_bytes(b"x")
    cache.add("a", SUMMARY)
    (path,) = tmp_path.glob("a.*.json")
    good = path.read_bytes()
    for place in range(len(good)):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        assert cache.find("a") is None
    path.write_bytes(good)
    assert cache.find("a") == SUMMARY


@pytest.mark.parametrize("answer", [pack(b"short"), pack(b"long" * 1000), RefusedAnswer(404, "no such step")])
def test_every_wrong_byte_of_an_answer_is_noticed(tmp_path: Path, answer: StoredAnswer) -> None:
    folder = AnswerFolder(tmp_path)
    folder.put("a", answer)
    good = (tmp_path / "a").read_bytes()
    assert folder.get("a") == answer
    for place in range(len(good)):
        (tmp_path / "a").write_bytes(good[:place] + bytes([good[place] ^ 2]) + good[place + 1 :])
        assert folder.get("a") is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_what_is_kept_is_for_its_owner_alone(tmp_path: Path) -> None:
    cache = TraceCache(tmp_path / "cache")
    cache.columns("a").touch(0o600)
    cache.add("a", SUMMARY)
    folder = AnswerFolder(cache.answers("a"))
    for name in ("x", "y"):
        folder.put(name, pack(b"answer"))
    found = {stat.S_IMODE(path.stat().st_mode) for path in cache.directory.rglob("*") if path.is_file()}
    assert found == {0o600}
    assert stat.S_IMODE(cache.answers("a").stat().st_mode) == 0o700
