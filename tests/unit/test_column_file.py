from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from tests.tracegen import Config, generate
from torch_tb_profiler.trace import Trace, TraceError, collect, column_file, read_to_file, read_trace
from torch_tb_profiler.trace.schema import TRACE_TABLES


@pytest.fixture(scope="module")
def text() -> bytes:
    generated, _ = generate(Config(steps=2, layers=2))
    return json.dumps(generated).encode()


@pytest.fixture(scope="module")
def trace(text: bytes) -> Trace:
    return read_trace(BytesIO(text))


@pytest.fixture
def path(text: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "trace.columns"
    read_to_file(BytesIO(text), path)
    return path


@pytest.mark.parametrize("row_group", [100, collect.ROW_GROUP], ids=["many blocks", "one block"])
def test_every_column_comes_back_the_same(
    trace: Trace, text: bytes, tmp_path: Path, row_group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "ROW_GROUP", row_group)
    path = tmp_path / "trace.columns"
    read_to_file(BytesIO(text), path)
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


def test_an_open_trace_outlives_its_file(trace: Trace, path: Path) -> None:
    again = column_file.open_trace(path)
    path.unlink()
    assert len(again.events) == len(trace.events)


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_file_cut_off_is_refused(path: Path, keep: float) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: int(keep if keep >= 1 else keep * len(data))])
    with pytest.raises(column_file.ColumnFileError):
        column_file.open_trace(path)


def test_a_damaged_block_is_refused(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(column_file.MAGIC) + 8 : 400] = bytes(400 - len(column_file.MAGIC) - 8)
    path.write_bytes(data)
    with pytest.raises(column_file.ColumnFileError):
        _ = column_file.open_trace(path).events


def test_an_older_version_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_file, "FORMAT_VERSION", column_file.FORMAT_VERSION + 1)
    with pytest.raises(column_file.ColumnFileError, match="version"):
        column_file.open_trace(path)


def test_nothing_is_left_behind_when_reading_fails(tmp_path: Path) -> None:
    with pytest.raises(TraceError):
        read_to_file(BytesIO(b"{}"), tmp_path / "trace.columns")
    assert list(tmp_path.iterdir()) == []
