from __future__ import annotations

import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.tracegen import Config, generate
from torch_tb_profiler.trace import (
    Trace,
    TraceError,
    collect,
    column_blocks,
    column_file,
    read_to_file,
    read_trace,
    unpack,
)
from torch_tb_profiler.trace.schema import TRACE_TABLES, MemoryEvents


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


def test_a_file_without_a_column_of_the_schema_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = (*MemoryEvents.schema(), replace(MemoryEvents.schema()[-1], name="added"))
    monkeypatch.setattr(MemoryEvents, "schema", lambda: more)
    monkeypatch.setattr(MemoryEvents, "column_names", lambda: tuple(column.name for column in more))
    with pytest.raises(column_file.ColumnFileError, match="other columns of memory"):
        column_file.open_trace(path)
    monkeypatch.undo()
    assert len(column_file.open_trace(path).memory)


def test_nothing_is_left_behind_when_reading_fails(tmp_path: Path) -> None:
    with pytest.raises(TraceError):
        read_to_file(BytesIO(b"{}"), tmp_path / "trace.columns")
    assert list(tmp_path.iterdir()) == []


INTEGERS = {dtype: st.integers(np.iinfo(dtype).min, np.iinfo(dtype).max) for dtype in ("i4", "i8", "u1")}


@given(st.data(), st.sampled_from(["i4", "i8", "u1", "f8"]), st.booleans())
def test_a_block_comes_back_the_same(data: st.DataObject, dtype: str, follows: bool) -> None:
    value = INTEGERS.get(dtype, st.floats())
    small = st.integers(0, 3) if dtype != "f8" else st.sampled_from([0.0, -0.0, math.nan])
    values = np.array(data.draw(st.lists(data.draw(st.sampled_from([value, small])), max_size=50)), dtype=dtype)
    packed, width, first = column_blocks.pack_values(values, follows)
    out = np.empty_like(values)
    content = unpack.deflate.decompress(packed) if width else b""
    column_blocks.unpack_values(
        content, column_blocks.Block(len(values), 0, len(packed), width, first, 0), follows, out
    )
    assert out.tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7] * 1000, 0),
        (list(range(5_000_000_000, 5_000_001_000)), 1),
        ([0, 1000] * 500, 2),
        ([0, 1_000_000] * 500, 4),
        ([0, 1 << 40] * 500, 8),
    ],
)
def test_differences_take_as_few_bytes_as_hold_them(values: list[int], expected: int) -> None:
    assert column_blocks.pack_values(np.array(values, dtype=np.int64), True)[1] == expected


def test_a_column_of_equal_values_takes_no_bytes() -> None:
    assert column_blocks.pack_values(np.full(1000, np.nan), False)[:2] == (b"", 0)


@pytest.mark.parametrize("width", [0, 1, 2, 4, 3, 9])
def test_a_block_of_another_length_is_refused(width: int) -> None:
    block = column_blocks.Block(10, 0, 0, width, 1 << 70 if width == 0 else 0, 0)
    with pytest.raises(ValueError, match="wrong length"):
        column_blocks.unpack_values(b"x" * 7, block, True, np.empty(10, dtype=np.int64))


def test_threads_read_different_columns_of_one_file(trace: Trace, path: Path) -> None:
    again = column_file.open_trace(path)
    with ThreadPoolExecutor(8) as threads:
        tables = list(threads.map(again._load, list(TRACE_TABLES) * 20))
    for table in tables:
        for name, values in trace.table(type(table)).columns().items():
            assert np.array_equal(getattr(table, name), values, equal_nan=values.dtype.kind == "f"), name


def test_a_file_can_be_read_where_there_is_no_pread(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pread")
    assert len(column_file.open_trace(path).events) > 0


def test_tables_without_a_schema_come_back_as_they_were() -> None:
    columns: dict[str, npt.NDArray[Any]] = {
        "long": np.arange(-5, 300_000, 7),
        "short": np.array([3, -2], np.int32),
        "equal": np.full(9, 4, np.int64),
        "float": np.array([1.5, np.nan, -0.0]),
        "flag": np.array([True, False, True]),
        "byte": np.array([0, 255], np.uint8),
        "none": np.empty(0, np.int32),
    }
    given = column_file.NamedTables({"meta": {"a": [1, None]}}, ["", "é"], {"one": columns, "two": {}})
    content = column_file.encode_tables(given)
    found: Any = column_file.decode_tables(content)
    assert (found.header, found.strings, found.tables.keys()) == (given.header, given.strings, given.tables.keys())
    for name, values in columns.items():
        assert found.tables["one"][name].dtype == values.dtype
        np.testing.assert_array_equal(found.tables["one"][name], values)
    for cut in (0, 10, len(content) // 2):
        with pytest.raises(column_file.ColumnFileError):
            column_file.decode_tables(content[:cut])


@pytest.mark.parametrize("length", [0, 70_000, 500_000])
def test_names_that_deflate_to_almost_nothing_are_read(length: int, tmp_path: Path) -> None:
    names = ["x" * length, *("y" * count for count in range(50))]
    found = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 0, "dur": 1} for name in names]
    trace = read_to_file(BytesIO(json.dumps({"traceEvents": found}).encode()), tmp_path / "t")
    assert set(names) <= set(trace.strings)
