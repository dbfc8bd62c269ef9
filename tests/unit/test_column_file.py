from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from tests.tracegen import Config, generate
from torch_tb_profiler.trace import Trace, column_file, read_trace
from torch_tb_profiler.trace.schema import TRACE_TABLES


@pytest.fixture(scope="module")
def trace() -> Trace:
    generated, _ = generate(Config(steps=2, layers=2))
    return read_trace(BytesIO(json.dumps(generated).encode()))


def test_every_column_comes_back_the_same(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "trace.columns"
    column_file.write(path, trace)
    again = column_file.open_trace(path)
    for kind in TRACE_TABLES:
        for name, values in trace.table(kind).columns().items():
            found = getattr(again.table(kind), name)
            assert found.dtype == values.dtype
            assert np.array_equal(found, values, equal_nan=values.dtype.kind == "f"), (kind, name)
    assert list(again.strings) == list(trace.strings)
    assert again.tracks == trace.tracks
    assert again.header == trace.header
    assert again.notes == trace.notes
    assert again.origin_ns == trace.origin_ns


def test_an_open_trace_outlives_its_file(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "trace.columns"
    column_file.write(path, trace)
    again = column_file.open_trace(path)
    path.unlink()
    assert len(again.events) == len(trace.events)


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_file_cut_off_is_refused(trace: Trace, tmp_path: Path, keep: float) -> None:
    path = tmp_path / "trace.columns"
    column_file.write(path, trace)
    data = path.read_bytes()
    path.write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
    with pytest.raises(column_file.ColumnFileError):
        column_file.open_trace(path)


def test_a_damaged_block_is_refused(trace: Trace, tmp_path: Path) -> None:
    path = tmp_path / "trace.columns"
    column_file.write(path, trace)
    data = bytearray(path.read_bytes())
    data[len(column_file.MAGIC) + 8 : 400] = bytes(400 - len(column_file.MAGIC) - 8)
    path.write_bytes(data)
    with pytest.raises(column_file.ColumnFileError):
        _ = column_file.open_trace(path).events


def test_an_older_version_is_refused(trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace.columns"
    column_file.write(path, trace)
    monkeypatch.setattr(column_file, "FORMAT_VERSION", column_file.FORMAT_VERSION + 1)
    with pytest.raises(column_file.ColumnFileError, match="version"):
        column_file.open_trace(path)


def test_nothing_is_left_behind_when_writing_fails(trace: Trace, tmp_path: Path) -> None:
    target = tmp_path / "taken"
    target.mkdir()
    (target / "file").touch()
    with pytest.raises(OSError, match=r"."):
        column_file.write(target, trace)
    assert list(tmp_path.iterdir()) == [target]
