"""A column file with a wrong byte says so, and files in any number take few handles."""

from __future__ import annotations

import errno
import gc
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.tiny import write_trace
from torch_tb_profiler.trace import column_file, files, read_to_file
from torch_tb_profiler.trace.schema import TRACE_TABLES


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    path = tmp_path / "w.columns"
    with write_trace(tmp_path / "w.json", steps=30).open("rb") as stream:
        read_to_file(stream, path)
    return path


def everything(path: Path) -> list[Any]:
    trace = column_file.open_trace(path)
    tables = [trace.table(kind).columns() for kind in TRACE_TABLES]
    values = [(name, values.tobytes()) for columns in tables for name, values in columns.items()]
    return [*values, list(trace.strings), trace.tracks, trace.header.raw, trace.origin_ns, trace.notes]


@pytest.mark.slow
def test_every_wrong_byte_is_noticed(columns: Path) -> None:
    good = columns.read_bytes()
    assert column_file.is_whole(columns)
    chance = random.Random(16)
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 1 << chance.randrange(8)
        columns.write_bytes(bad)
        with pytest.raises(column_file.ColumnFileError):
            everything(columns)
        assert not column_file.is_whole(columns)


def test_every_cut_is_noticed(columns: Path) -> None:
    good = columns.read_bytes()
    for length in range(0, len(good), 7):
        columns.write_bytes(good[:length])
        with pytest.raises(column_file.ColumnFileError):
            everything(columns)
    columns.unlink()
    assert not column_file.is_whole(columns)


def test_many_files_take_few_handles(columns: Path, tmp_path: Path) -> None:
    gc.collect()
    before = open_handles()
    expected = everything(columns)
    traces = []
    for number in range(3 * files.MOST):
        path = tmp_path / f"{number}.columns"
        path.write_bytes(columns.read_bytes())
        traces.append(column_file.open_trace(path))
    assert open_handles() <= before + files.MOST
    for trace in traces:
        assert len(trace.events) == len(traces[0].events)
        assert list(trace.strings) in expected
    assert open_handles() <= before + files.MOST
    del trace, traces
    gc.collect()
    assert open_handles() <= before + 1


def open_handles() -> int:
    folder = Path("/proc/self/fd")
    if not folder.is_dir():
        pytest.skip("this system does not list the handles of a process")
    return sum(1 for _ in folder.iterdir())


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENOMEM, errno.ENOSPC])
def test_what_the_system_lacks_is_not_damage(columns: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refused(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files, "open_handle", refused)
    with pytest.raises(OSError, match=os.strerror(number)):
        column_file.open_trace(columns)
    with pytest.raises(OSError, match=os.strerror(number)):
        column_file.is_whole(columns)


def test_a_lack_of_handles_closes_those_that_are_kept(
    columns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = column_file.open_trace(columns)
    really_open, asked = files.open_handle, []

    def once_refused(path: Path) -> int:
        asked.append(path)
        if len(asked) == 1:
            raise OSError(errno.EMFILE, "no handles")
        return really_open(path)

    monkeypatch.setattr(files, "open_handle", once_refused)
    other = tmp_path / "other.columns"
    other.write_bytes(columns.read_bytes())
    assert len(column_file.open_trace(other).events) == len(kept.events)


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = column_file.Writer(tmp_path / "w.columns")

    class Full:
        def close(self) -> None:
            raise OSError(errno.ENOSPC, "no room")

    writer._out.close()
    monkeypatch.setattr(writer, "_out", Full())
    with pytest.raises(OSError, match="no room"):
        writer.__exit__()
    assert list(tmp_path.iterdir()) == []
