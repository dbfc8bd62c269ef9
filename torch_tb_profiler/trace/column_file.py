"""The column file: the tables of one trace on disk, in compressed blocks of one column each.

Layout: magic, position of the index (8 bytes, little endian), CRC-32 of these and of the index (4), blocks, index
(MessagePack). The index has the CRC-32 of each stored block, so that no damaged byte is used.
A file takes memory in proportion to its size, whoever has written it: a file that packs better is padded.
Blocks are deflated. Before that, integers are narrowed to the fewest bytes that hold all values of the block (in
columns with `follows`, all differences to the previous value); then the bytes are regrouped by significance, so that
similar bytes are neighbours. A block of equal values has no bytes at all.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.codec import from_msgpack
from torch_tb_profiler.trace.column_blocks import (
    CHECK,
    FIRST_BLOCK,
    HEAD,
    INFLATE_ERRORS,
    Block,
    Index,
    inflate,
    least_size,
    most_text,
    pack_values,
    unpack_values,
)
from torch_tb_profiler.trace.files import OPEN_FILES, PART, is_scarce, writer_mark
from torch_tb_profiler.trace.schema import TRACE_TABLES, Events, TraceColumn, TraceTable
from torch_tb_profiler.trace.store import Header, Trace, TraceInfo, from_first_event
from torch_tb_profiler.trace.unpack import crc, deflate

#: increased when the meaning of a table changes, so that the trace is read again instead of an older file
FORMAT_VERSION = 7
MAGIC = b"TTBPCOL\n"

T = TypeVar("T", bound=TraceTable)


class ColumnFileError(Exception):
    """A column file cannot be read: it is gone, damaged, or not one of this version. What it holds is made again.

    path: of the file; None if it was read well, but does not belong to what it was read for
    """

    def __init__(self, message: str, path: Path | None = None) -> None:
        super().__init__(message)
        self.path = path


class _Blocks:
    """The parts of a column file, as they are written to a stream."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._out.write(bytes(FIRST_BLOCK))
        self.tables: dict[str, dict[str, list[Block]]] = {}

    def add(self, table: str, column: str, values: npt.NDArray[Any], follows: bool) -> None:
        packed, width, first = pack_values(values, follows)
        block = Block(len(values), self._out.tell(), len(packed), width, first, crc(packed))
        self.tables.setdefault(table, {}).setdefault(column, []).append(block)
        self._out.write(packed)

    def finish(self, described: TraceInfo, types: dict[str, dict[str, str]]) -> None:
        texts = msgspec.msgpack.encode(described.strings)
        strings = deflate.compress(texts, 1)
        if len(texts) > most_text(len(strings)):
            # isal compresses at level 0 as well
            strings = zlib.compress(texts, 0)
        self._out.write(bytes(max(least_size(self.tables) - self._out.tell(), 0)))
        strings_at = (self._out.tell(), len(strings), crc(strings))
        self._out.write(strings)
        index = Index(
            FORMAT_VERSION,
            described.origin_ns,
            described.first_ns,
            described.text_bytes,
            described.header.raw,
            list(described.tracks),
            list(described.notes),
            strings_at,
            self.tables,
            types,
        )
        index_at = self._out.tell()
        encoded = msgspec.msgpack.encode(index)
        self._out.write(encoded)
        self._out.seek(0)
        head = HEAD.pack(MAGIC, index_at)
        self._out.write(head + CHECK.pack(crc(encoded, crc(head))))


class Writer:
    """Writes a column file, which appears at its path when `finish` was called, else not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        prefix = f"{path.name}.{writer_mark(os.getpid())}-"
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=PART)
        self._temporary = Path(name)
        self._out = os.fdopen(descriptor, "wb")
        self._blocks = _Blocks(self._out)
        self._finished = False

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._out.close()  # writes the rest of the buffer; the disk may be full
            if self._finished:
                self._temporary.replace(self._path)
        finally:
            self._temporary.unlink(missing_ok=True)

    def add(self, kind: type[TraceTable], columns: dict[str, npt.NDArray[Any]]) -> None:
        """Append rows to a table. Raises OSError."""
        follows = {c.name: c.follows for c in kind.schema()}
        for name, values in kind.from_columns(columns).columns().items():
            self._blocks.add(kind.table_name, name, values, follows[name])

    def finish_tables(self, header: dict[str, Any]) -> None:
        """Finish a file of tables that are not a whole trace. header: JSON values"""
        self.finish(TraceInfo(Header(header), [], (), 0, 0, (), 0))

    def finish(self, described: TraceInfo) -> None:
        self._blocks.finish(described, {})
        self._out.flush()
        self._finished = True


def open_trace(path: Path) -> Trace:
    """Return the trace of a column file; each column is read when first used. Both may raise ColumnFileError."""
    reader = _Reader(_File(path))
    for kind in TRACE_TABLES:
        reader.check_columns(kind)
    index = reader.index
    strings = reader.strings()
    reader.codes = len(strings)
    header = Header(index.header)
    info = TraceInfo(header, strings, index.tracks, index.origin_ns, 0, index.notes, index.text_bytes)
    return Trace(info, reader.table_by_column)


class Tables:
    """A file finished by `Writer.finish_tables`; each table is read when it is used."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self.header = reader.index.header

    def table(self, kind: type[T]) -> T:
        """Return a table, empty if it was not written. Raises ColumnFileError."""
        found = self._reader.table(kind)
        assert isinstance(found, kind)
        return found


def open_tables(path: Path) -> Tables:
    """Open the tables of a column file. Raises ColumnFileError."""
    return Tables(_Reader(_File(path)))


class NamedTables(msgspec.Struct, frozen=True):
    """Tables without a schema: columns by the name of their table, then by their own.

    header: what JSON can say of them
    """

    header: dict[str, Any]
    strings: list[str]
    tables: dict[str, dict[str, npt.NDArray[Any]]]


def encode_tables(tables: NamedTables) -> bytes:
    """Encode tables as a column file in memory. Columns have one dimension, and integers, floats or bools."""
    out = BytesIO()
    blocks = _Blocks(out)
    types: dict[str, dict[str, str]] = {}
    for table, columns in tables.tables.items():
        types[table] = {name: values.dtype.str for name, values in columns.items()}
        for name, values in columns.items():
            blocks.add(table, name, values, follows=False)
    blocks.finish(TraceInfo(Header(tables.header), tables.strings, (), 0, 0, (), 0), types)
    return out.getvalue()


def decode_tables(content: bytes) -> NamedTables:
    """Decode the bytes of `encode_tables`. Raises ColumnFileError."""
    stored = StoredTables(content)
    return NamedTables(stored.header, stored.strings(), {name: stored.table(name) for name in stored.names()})


class StoredTables:
    """What `encode_tables` made, each table read when it is asked for. Raises ColumnFileError, then, too."""

    def __init__(self, content: bytes) -> None:
        self._reader = _Reader(_Content(content))
        self.header = self._reader.index.header
        try:
            self._types = self._reader.index.dtypes()
        except (TypeError, ValueError) as error:
            raise ColumnFileError(str(error)) from None
        self.strings = self._reader.strings

    def names(self) -> list[str]:
        """Return the names of the tables."""
        return list(self._types)

    def columns_of(self, table: str) -> set[str]:
        """Return the names of a table's columns; empty if there is no such table."""
        return set(self._types.get(table, {}))

    def is_parallel(self, table: str) -> bool:
        """Return whether its columns have one length."""
        return self._reader.index.is_parallel(table)

    def table(self, name: str) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a table. Raises KeyError."""
        columns = self._reader.index.tables[name] if self._types[name] else {}
        return {column: self._reader.column(columns[column], kind, False) for column, kind in self._types[name].items()}


def is_whole(path: Path) -> bool:
    """Return whether every byte of a column file is as written. Raises OSError when the system lacks resources."""
    try:
        _Reader(_File(path)).check_blocks()
    except ColumnFileError:
        return False
    return True


class _Content:
    """A column file in memory."""

    path = None

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.size = len(content)

    def read(self, offset: int, length: int) -> bytes:
        return self._content[offset : offset + length]


class _File:
    """`OPEN_FILES` keep it open, so that a clean-up of the cache does not take it away from its user."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._place, self.size = OPEN_FILES.hold(self, path)
        except OSError as error:
            raise self._column_error(error) from error

    def read(self, offset: int, length: int) -> bytes:
        try:
            return OPEN_FILES.read(self._place, offset, length)
        except OSError as error:
            raise self._column_error(error) from error

    def _column_error(self, error: OSError) -> Exception:
        """Return the error itself if the system lacks resources: the file is not damaged."""
        return error if is_scarce(error) else ColumnFileError(str(error), self.path)


class _Reader:
    """What stands in a column file. codes: how many texts a trace has, whose columns are checked by that."""

    codes = 0

    def __init__(self, source: _File | _Content) -> None:
        self._source = source
        head = source.read(0, FIRST_BLOCK)
        if len(head) < FIRST_BLOCK:
            raise self._unusable("is too short")
        magic, index_at = HEAD.unpack_from(head)
        (check,) = CHECK.unpack_from(head, HEAD.size)
        if magic != MAGIC or not FIRST_BLOCK <= index_at < source.size:
            raise self._unusable("is not a column file")
        encoded = source.read(index_at, source.size - index_at)
        if crc(encoded, crc(head[: HEAD.size])) != check:
            raise self._unusable("has a damaged index")
        try:
            self.index = from_msgpack(encoded, Index)
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._unusable(error) from None
        if self.index.version != FORMAT_VERSION:
            raise self._unusable(f"has version {self.index.version}")
        wrong = self.index.contradiction(source.size, index_at)
        if wrong:
            raise self._unusable(wrong)

    def _unusable(self, why: object) -> ColumnFileError:
        return ColumnFileError(str(why), self._source.path)

    def _stored(self, offset: int, length: int, check: int) -> bytes:
        found = self._source.read(offset, length)
        if crc(found) != check:
            raise self._unusable("has a damaged block")
        return found

    def check_blocks(self) -> None:
        """Check every block. Raises ColumnFileError when one is not as written."""
        self._stored(*self.index.strings)
        for columns in self.index.tables.values():
            for block in (each for blocks in columns.values() for each in blocks):
                self._stored(block.offset, block.length, block.check)

    def inflated(self, offset: int, length: int, check: int, size: int) -> bytes:
        """Return the inflated bytes of a block. size: their upper limit."""
        try:
            return inflate(self._stored(offset, length, check), size)
        except INFLATE_ERRORS as error:
            raise self._unusable(error) from None

    def strings(self) -> list[str]:
        try:
            texts = self.inflated(*self.index.strings, most_text(self.index.strings[1]))
            return from_msgpack(texts, list[str])
        except msgspec.DecodeError as error:
            raise self._unusable(error) from None

    def check_columns(self, kind: type[TraceTable]) -> None:
        """Check that a table has the columns of the schema. Raises ColumnFileError."""
        if self.index.tables.get(kind.table_name, {}).keys() not in (set(), set(kind.column_names())):
            raise self._unusable(f"has other columns of {kind.table_name}")

    def table(self, kind: type[TraceTable]) -> TraceTable:
        columns = self.index.tables.get(kind.table_name)
        if columns is None:
            return kind.empty()
        self.check_columns(kind)
        return kind.from_columns({c.name: self.column(columns[c.name], c.dtype, c.follows) for c in kind.schema()})

    def table_by_column(self, kind: type[TraceTable]) -> TraceTable:
        """Return a table of a trace, whose columns were checked."""
        columns = self.index.tables.get(kind.table_name)
        if columns is None:
            return kind.empty()

        declared = {c.name: c for c in kind.schema()}

        def read(name: str) -> npt.NDArray[Any]:
            values = self.column(columns[name], declared[name].dtype, declared[name].follows)
            if isinstance(table, Events) and name == "start":
                values = from_first_event(table.phase, values, self.index.first_ns)
            self._check_values(declared[name], values)
            return values

        table = kind.of_fields_read_by(frozenset(declared), read)
        return table

    def _check_values(self, column: TraceColumn, values: npt.NDArray[Any]) -> None:
        """Check that indexes of a column are in range, and times fit. Raises ColumnFileError."""
        least, end = self.index.range_of(column, self.codes)
        if end is not None and len(values) and not (least <= values.min() and values.max() < end):
            raise self._unusable(f"has impossible values of {column.name}")

    def column(self, blocks: list[Block], dtype: np.dtype[Any], follows: bool) -> npt.NDArray[Any]:
        values = np.empty(sum(block.count for block in blocks), dtype)
        done = 0
        for block in blocks:
            data = self.inflated(block.offset, block.length, block.check, block.unpacked) if block.width else b""
            try:
                unpack_values(data, block, follows, values[done : done + block.count])
            except ValueError as error:
                raise self._unusable(error) from None
            done += block.count
        return values
