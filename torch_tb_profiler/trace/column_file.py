"""The column file: the tables of one trace on disk, one compressed block a column, read column by column.

Layout: magic, position of the index (8 bytes, little endian), blocks, index (MessagePack).
A block is deflated after a transformation that makes neighbours alike: integers become differences, then the
bytes of all values are laid out significance by significance.
"""

from __future__ import annotations

import os
import struct
import tempfile
import weakref
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.trace.notes import Note
from torch_tb_profiler.trace.schema import TRACE_TABLES, Table
from torch_tb_profiler.trace.store import Header, Strings, Trace, Track

deflate: ModuleType
try:
    from isal import isal_zlib

    deflate = isal_zlib
except ImportError:  # no wheel for this platform
    deflate = zlib

_INFLATE_ERRORS: tuple[type[Exception], ...] = (zlib.error, deflate.error)

#: raised when the meaning of a table changes, so that older files are read again from the trace
FORMAT_VERSION = 1
MAGIC = b"TTBPCOL\n"
_HEAD = struct.Struct("<8sQ")


class ColumnFileError(Exception):
    """The file is not a column file of this version, or is damaged; read the trace again."""


class _Column(msgspec.Struct, array_like=True):
    dtype: str
    count: int
    offset: int
    length: int


class _Index(msgspec.Struct):
    version: int
    origin_ns: int
    text_bytes: int
    header: dict[str, Any]
    tracks: list[Track]
    notes: list[Note]
    strings: tuple[int, int]
    tables: dict[str, dict[str, _Column]]


def write(path: Path, trace: Trace) -> None:
    """Write a trace; the file appears whole or not at all. Raises OSError."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(_HEAD.pack(MAGIC, 0))
            tables: dict[str, dict[str, _Column]] = {}
            for kind in TRACE_TABLES:
                columns = tables[kind.table_name] = {}
                for name, values in trace.table(kind).columns().items():
                    block = _pack(values)
                    columns[name] = _Column(values.dtype.str, len(values), out.tell(), len(block))
                    out.write(block)
            strings = deflate.compress(msgspec.msgpack.encode(list(trace.strings)), 1)
            strings_at = (out.tell(), len(strings))
            out.write(strings)
            index = _Index(
                FORMAT_VERSION,
                trace.origin_ns,
                trace.text_bytes,
                trace.header.raw,
                list(trace.tracks),
                list(trace.notes),
                strings_at,
                tables,
            )
            index_at = out.tell()
            out.write(msgspec.msgpack.encode(index))
            out.seek(0)
            out.write(_HEAD.pack(MAGIC, index_at))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def open_trace(path: Path) -> Trace:
    """The trace of a column file; each table is read when first asked for. Raises ColumnFileError, OSError."""
    reader = _Reader(path)
    index = reader.index
    return Trace(
        Header(index.header),
        Strings(msgspec.msgpack.decode(reader.inflated(*index.strings), type=list[str])),
        index.tracks,
        index.origin_ns,
        index.notes,
        reader.table,
        index.text_bytes,
    )


class _Reader:
    """Keeps the file open, so that a clean-up of the cache does not take it away from its user."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self._descriptor)
        head = self._bytes(0, _HEAD.size)
        size = os.fstat(self._descriptor).st_size
        if len(head) < _HEAD.size:
            raise ColumnFileError("is too short")
        magic, index_at = _HEAD.unpack(head)
        if magic != MAGIC or not _HEAD.size <= index_at < size:
            raise ColumnFileError("is not a column file")
        try:
            self.index = msgspec.msgpack.decode(self._bytes(index_at, size - index_at), type=_Index)
        except msgspec.DecodeError as error:
            raise ColumnFileError(str(error)) from None
        if self.index.version != FORMAT_VERSION:
            raise ColumnFileError(f"has version {self.index.version}")

    def _bytes(self, offset: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, offset)

    def inflated(self, offset: int, length: int) -> bytes:
        try:
            return bytes(deflate.decompress(self._bytes(offset, length)))
        except _INFLATE_ERRORS as error:
            raise ColumnFileError(str(error)) from None

    def table(self, kind: type[Table]) -> Table:
        columns = self.index.tables.get(kind.table_name)
        if columns is None:
            return kind.empty()
        return kind.from_columns({name: self._column(column) for name, column in columns.items()})

    def _column(self, column: _Column) -> npt.NDArray[Any]:
        return _unpack(self.inflated(column.offset, column.length), np.dtype(column.dtype), column.count)


def _pack(values: npt.NDArray[Any]) -> bytes:
    if values.dtype.kind == "i" and len(values):
        # the first difference is the first value itself; overflow wraps round and back
        values = np.diff(values, prepend=np.zeros(1, values.dtype))
    shuffled = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), values.dtype.itemsize).T
    return bytes(deflate.compress(np.ascontiguousarray(shuffled).tobytes(), 1))


def _unpack(data: bytes, dtype: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    if len(data) != count * dtype.itemsize:
        raise ColumnFileError("has a column of the wrong length")
    shuffled = np.frombuffer(data, dtype=np.uint8).reshape(dtype.itemsize, count)
    values = np.ascontiguousarray(shuffled.T).reshape(-1).view(dtype)
    return np.cumsum(values, dtype=dtype) if dtype.kind == "i" else values
