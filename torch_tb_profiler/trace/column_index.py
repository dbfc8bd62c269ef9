"""The index of a column file, which may come from a place that others write to: what it can say, and what it cannot."""

from __future__ import annotations

import struct
from typing import Annotated, Any

import msgspec
import numpy as np

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace.column_blocks import Block, Natural
from torch_tb_profiler.trace.notes import Note
from torch_tb_profiler.trace.schema import Category, Column, Events, Phase
from torch_tb_profiler.trace.store import Track

#: magic and place of the index, and the CRC-32 of both; then the first block
HEAD, CHECK = struct.Struct("<8sQ"), struct.Struct("<I")
FIRST_BLOCK = HEAD.size + CHECK.size

#: values of all columns, for each byte of a file (those of recorded traces have up to 4), and in the smallest file
_VALUES_PER_BYTE, _FEW_VALUES = 32, 1 << 20
#: bytes of all texts, for each byte that they are deflated to (of recorded traces up to 6), and of the fewest
_TEXT_PER_BYTE, _LITTLE_TEXT = 32, 1 << 16
#: ns: what no start is beyond, nor a duration; see `times`
_MOST_START, _MOST_DURATION = 2**62 + 2**61, 2**53

#: columns of a snapshot point to the rows of another table
_ROW_OF = "row of "
#: a type without a schema: integers, floats and truth values
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
        """What is wrong with it in a file of so many bytes; empty for nothing. index_at: where the blocks end."""
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
        """Of the columns of tables that have no schema. Raises ValueError and TypeError."""
        if any(self.tables.get(table, {}).keys() != columns.keys() for table, columns in self.types.items()):
            raise ValueError("has columns without a type")
        if not all(_TYPE.fullmatch(kind) for columns in self.types.values() for kind in columns.values()):
            raise ValueError("has columns of an unknown type")
        return {table: {name: np.dtype(kind) for name, kind in of.items()} for table, of in self.types.items()}

    def is_parallel(self, table: str) -> bool:
        """Whether the columns of a table have one length."""
        return len({_rows(blocks) for blocks in self.tables.get(table, {}).values()}) <= 1

    def rows(self, table: str) -> int:
        """How many it has; of the shortest column where they differ."""
        return min(map(_rows, self.tables.get(table, {}).values()), default=0)

    def range_of(self, column: Column, codes: int) -> tuple[int, int | None]:
        """The least value of a column of a trace, and the first that is too large, None if any may be right.

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
        ends = {"index into Trace.tracks": len(self.tracks), "Phase": len(Phase), "Category": len(Category)}
        return 0, ends.get(unit)


def least_size(tables: dict[str, dict[str, list[Block]]]) -> int:
    """Bytes that a file of these blocks has at least."""
    values = sum(_rows(blocks) for columns in tables.values() for blocks in columns.values())
    return (values - _FEW_VALUES) // _VALUES_PER_BYTE


def most_text(length: int) -> int:
    """Bytes of the texts that are deflated to so many."""
    return _LITTLE_TEXT + _TEXT_PER_BYTE * length


def _rows(blocks: list[Block]) -> int:
    return sum(block.count for block in blocks)
