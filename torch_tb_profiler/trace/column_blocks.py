"""Blocks of a column file (how the values of one column are stored) and its index; neither can be trusted."""

from __future__ import annotations

import struct
import zlib
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace.notes import Note
from torch_tb_profiler.trace.schema import Category, EventPhase, Events, TraceColumn
from torch_tb_profiler.trace.store import Track
from torch_tb_profiler.trace.unpack import deflate

INFLATE_ERRORS: tuple[type[Exception], ...] = (zlib.error, deflate.error)


#: a count or a position
Natural = Annotated[int, msgspec.Meta(ge=0)]


class Block(msgspec.Struct, array_like=True):
    """`count` values of a column.

    width: bytes of each as it is stored; 0 when all are equal
    first: the first value, which differences begin at; of floats the bits
    check: CRC-32 of the bytes as they are stored
    """

    count: Natural
    offset: Natural
    length: Natural
    width: Annotated[int, msgspec.Meta(ge=0, le=8)]
    first: int
    check: int

    @property
    def unpacked(self) -> int:
        """Return the bytes of the values before they are deflated."""
        return self.count * self.width


def inflate(content: bytes, size: int) -> bytes:
    """Inflate to at most `size` bytes. Raises one of `INFLATE_ERRORS` if the content is damaged or larger."""
    stream = deflate.decompressobj()
    found = bytes(stream.decompress(content, size + 1))
    if len(found) > size or not stream.eof:
        raise zlib.error("is not as large as it says")
    return found


def pack_values(values: npt.NDArray[Any], follows: bool) -> tuple[bytes, int, int]:
    """Return the bytes, width and first value of a block."""
    # floats are compared by their bits, as NaN is not equal to itself
    integers = values.view(f"i{values.itemsize}") if values.dtype.kind == "f" else values
    first = int(integers[0]) if len(values) else 0
    if (integers == first).all():
        return b"", 0, first
    if values.dtype.kind == "i":
        integers = _narrowed(_differences(values) if follows else values)
    width = integers.itemsize
    values_bytes = np.ascontiguousarray(integers).view(np.uint8).reshape(-1, width)
    return bytes(deflate.compress(_transposed(values_bytes), 1)), width, first


def unpack_values(data: bytes, block: Block, follows: bool, out: npt.NDArray[Any]) -> None:
    """Write the values of a block to `out`. Raises ValueError when they contradict the block."""
    integers = out.view(f"i{out.itemsize}") if out.dtype.kind == "f" else out
    try:
        if not block.width:
            integers[:] = block.first
            return
        shuffled = np.frombuffer(data, dtype=np.uint8).reshape(block.width, block.count)
        values = _transposed(shuffled).reshape(-1).view(f"i{block.width}")
        if out.dtype.kind != "i":
            integers[:] = values.view(integers.dtype)
        elif follows:
            np.cumsum(values, dtype=out.dtype, out=out)
            out += out.dtype.type(block.first)
        else:
            out[:] = values
    except (ValueError, TypeError, OverflowError):
        raise ValueError("has a column of the wrong length") from None


def _transposed(table: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the transposed table. Copying along the short side is several times faster than `ascontiguousarray`."""
    rows, columns = table.shape
    turned = np.empty((columns, rows), np.uint8)
    if rows < columns:
        for row in range(rows):
            turned[:, row] = table[row]
    else:
        for column in range(columns):
            turned[column] = table[:, column]
    return turned


def _differences(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the difference of each value to the previous one, 0 for the first; overflow wraps, also when read."""
    differences = np.zeros_like(values)
    np.subtract(values[1:], values[:-1], out=differences[1:])
    return differences


def _narrowed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the integers in the narrowest type that holds them all."""
    low, high = int(values.min()), int(values.max())
    width = next(w for w in (1, 2, 4, 8) if -(1 << 8 * w - 1) <= low and high < 1 << 8 * w - 1)
    return values.astype(f"i{width}", copy=False)


#: magic and place of the index, and the CRC-32 of both; then the first block
HEAD, CHECK = struct.Struct("<8sQ"), struct.Struct("<I")
FIRST_BLOCK = HEAD.size + CHECK.size

#: limit of the values of all columns per byte of a file (recorded traces have up to 4), and that of the smallest file
_VALUES_PER_BYTE, _FEW_VALUES = 32, 1 << 20
#: limit of the bytes of all texts per deflated byte (recorded traces have up to 6), and that of the shortest texts
_TEXT_PER_BYTE, _LITTLE_TEXT = 32, 1 << 16
#: ns: limits of a start and of a duration; see `times`
_MOST_START, _MOST_DURATION = 2**62 + 2**61, 2**53

#: columns of a snapshot point to the rows of another table
_ROW_OF = "row of "
#: a type without a schema: integers, floats and bools
_TYPE = lazy_pattern(r"[<>|=][biuf][1248]")

_Bits64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Index(msgspec.Struct):
    """strings: offset, length and CRC-32 of their block. types: of the columns of tables that have no schema."""

    version: int
    origin_ns: _Bits64
    first_ns: _Bits64
    text_bytes: Natural
    header: dict[str, Any]
    tracks: list[Track]
    notes: list[Note]
    strings: tuple[Natural, Natural, int]
    tables: dict[str, dict[str, list[Block]]]
    types: dict[str, dict[str, str]] = {}

    def contradiction(self, size: int, index_at: int) -> str:
        """Return the contradiction between index and file size (bytes), empty if none. index_at: end of the blocks."""
        if least_size(self.tables) > size:
            return "has more values than a file of its size can have"
        places = [self.strings[:2]]
        for name, columns in self.tables.items():
            if name not in self.types and not self.is_parallel(name):
                return f"has columns of different lengths in {name}"
            places += [(block.offset, block.length) for blocks in columns.values() for block in blocks]
        if any(offset < FIRST_BLOCK or offset + length > index_at for offset, length in places):
            return "has a block outside of the file"
        return ""

    def dtypes(self) -> dict[str, dict[str, np.dtype[Any]]]:
        """Return the dtypes of the columns of tables without a schema. Raises ValueError and TypeError."""
        if any(self.tables.get(table, {}).keys() != columns.keys() for table, columns in self.types.items()):
            raise ValueError("has columns without a type")
        if not all(_TYPE.fullmatch(kind) for columns in self.types.values() for kind in columns.values()):
            raise ValueError("has columns of an unknown type")
        return {table: {name: np.dtype(kind) for name, kind in of.items()} for table, of in self.types.items()}

    def is_parallel(self, table: str) -> bool:
        """Return whether the columns of a table have one length."""
        return len({_row_count(blocks) for blocks in self.tables.get(table, {}).values()}) <= 1

    def rows(self, table: str) -> int:
        """Return the number of rows of a table; of its shortest column if they differ."""
        return min(map(_row_count, self.tables.get(table, {}).values()), default=0)

    def range_of(self, column: TraceColumn, codes: int) -> tuple[int, int | None]:
        """Return the range of a column of a trace: its lower bound, and its exclusive upper bound, None without one.

        codes: how many texts the trace has
        """
        unit = column.unit
        if column.is_string:
            return 0, codes
        if unit == "row":
            return 0, self.rows(Events.table_name)
        if unit.startswith(_ROW_OF):
            return -1, self.rows(f"snapshot_{unit.removeprefix(_ROW_OF)}") + 1
        if unit == "ns from Trace.origin_ns" and column.missing == -1:
            return -_MOST_START, _MOST_START
        if column.name == "duration":
            return -1, _MOST_DURATION
        ends = {"index into Trace.tracks": len(self.tracks), "Phase": len(EventPhase), "Category": len(Category)}
        return 0, ends.get(unit)


def least_size(tables: dict[str, dict[str, list[Block]]]) -> int:
    """Return the smallest size of a file with these blocks, bytes."""
    values = sum(_row_count(blocks) for columns in tables.values() for blocks in columns.values())
    return (values - _FEW_VALUES) // _VALUES_PER_BYTE


def most_text(length: int) -> int:
    """Return the limit of the bytes of text that deflate to `length` bytes."""
    return _LITTLE_TEXT + _TEXT_PER_BYTE * length


def _row_count(blocks: list[Block]) -> int:
    return sum(block.count for block in blocks)
