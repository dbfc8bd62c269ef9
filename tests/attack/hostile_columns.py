"""Column files with right checksums that nobody would write: from a shared place, they are input like any other."""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from tests.attack.values import numbers_in
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.trace.column_blocks import CHECK, FIRST_BLOCK, HEAD
from torch_tb_profiler.trace.unpack import crc, deflate
from torch_tb_profiler.workspace.cache.checksummed import checksummed, verified

#: what a field of the index is set to
NUMBERS = (-1, 0, 1, 7, 255, 2**20, 2**31, 2**40, 2**53, 2**62, 2**63 - 1, -(2**63), 2**64 - 1)
#: what values of columns are set to
VALUES = (-(2**63), -(2**31), -2, -1, 0, 1, 127, 2**31 - 1, 2**40, 2**53, 2**62, 2**63 - 1)
TYPES = ("O", "|S1000000", "<U4", "<M8[s]", "|V9", "<i8", "|b1", "<f2", "nonsense", "")

Change = Callable[[random.Random, dict[str, Any], bytearray], None]


def rewritten(content: bytes, change: Change, dice: random.Random) -> bytes:
    """A column file with another index, and further blocks, whose checksums are right."""
    magic, index_at = HEAD.unpack_from(content)
    index = msgspec.msgpack.decode(content[index_at:])
    blocks = bytearray(content[:index_at])
    change(dice, index, blocks)
    encoded = msgspec.msgpack.encode(index)
    head = HEAD.pack(magic, len(blocks))
    return head + CHECK.pack(crc(encoded, crc(head))) + bytes(blocks[FIRST_BLOCK:]) + encoded


def hostile(content: bytes, kind: str, seed: int) -> bytes:
    """A column file changed in one of the ways of `CHANGES`; a sealed one stays sealed."""
    dice = random.Random(f"{kind} {seed}")
    inside = verified(content)
    if inside is not None:
        return checksummed(rewritten(inside, CHANGES[kind], dice))
    return rewritten(content, CHANGES[kind], dice)


def _columns(index: dict[str, Any]) -> list[list[list[int]]]:
    """The blocks of each column: count, offset, length, width, first and checksum of each."""
    return [blocks for columns in index["tables"].values() for blocks in columns.values()]


def _head(dice: random.Random, index: dict[str, Any], _: bytearray) -> None:
    index[dice.choice(("origin_ns", "first_ns", "text_bytes"))] = dice.choice(NUMBERS)
    if dice.random() < 0.3:
        index[dice.choice(("tracks", "notes"))] = []


def _figures(dice: random.Random, index: dict[str, Any], _: bytearray) -> None:
    """Numbers of the header: levels, sums, times."""
    leaves = list(numbers_in(index["header"]))
    for inside, key in dice.sample(leaves, min(len(leaves), dice.choice((1, 1, 3)))):
        inside[key] = dice.choice((*NUMBERS, 100, 1000, 0.5, math.nan, math.inf, -1e308))


def _header(dice: random.Random, index: dict[str, Any], _: bytearray) -> None:
    deep = dice.choice((1, 100, 600, 5000))
    nested = msgspec.Raw(b"\x91" * deep + msgspec.msgpack.encode(dice.choice(NUMBERS)))
    for key in dice.sample(sorted(index["header"]), min(2, len(index["header"]))):
        index["header"][key] = dice.choice((None, [], {}, "x", b"x", -1, 2**63, [None], [{"id": b"x"}], nested))


def _numbers(dice: random.Random, index: dict[str, Any], _: bytearray) -> None:
    for blocks in dice.sample(_columns(index), 3):
        blocks[dice.randrange(len(blocks))][dice.randrange(5)] = dice.choice(NUMBERS)


def _counts(dice: random.Random, index: dict[str, Any], _: bytearray) -> None:
    """All columns of a table have the same count, which takes no bytes where all values are equal."""
    table = index["tables"][dice.choice(sorted(index["tables"]))]
    count = dice.choice((0, 1, 1000, 2**20, 2**24, 2**28, 2**33, 2**40))
    for name in table:
        table[name] = [[count, FIRST_BLOCK, 0, 0, dice.choice((0, 0, 1)), 0]]


def _bomb(dice: random.Random, index: dict[str, Any], blocks: bytearray) -> None:
    """A block that unpacks to much more than it says, or as much as it says."""
    size = dice.choice((10**6, 10**7, 10**8))
    packed = zlib.compress(bytes(size), 9)
    place = [len(blocks), len(packed), crc(packed)]
    blocks += packed
    if dice.random() < 0.3:
        index["strings"] = place
        return
    table = index["tables"][dice.choice(sorted(index["tables"]))]
    for name in table:
        count = dice.choice((table[name][0][0] if table[name] else 1, size))
        table[name] = [[count, place[0], place[1], 1, 0, place[2]]]


def _texts(dice: random.Random, index: dict[str, Any], blocks: bytearray) -> None:
    texts: Any = dice.choice(([], [""], ["x"] * 10, [""] * 10**6, [1, 2], "text", {"a": 1}, ["x" * 10**7]))
    packed = bytes(deflate.compress(msgspec.msgpack.encode(texts), 1))
    index["strings"] = [len(blocks), len(packed), crc(packed)]
    blocks += packed


def _values(dice: random.Random, index: dict[str, Any], blocks: bytearray) -> None:
    """Values of some columns that are impossible, or in another order."""
    for columns in dice.sample(_columns(index), min(len(_columns(index)), dice.choice((1, 1, 2, 5)))):
        for block in columns:
            if dice.random() < 0.3 or not block[3]:
                block[1:] = [FIRST_BLOCK, 0, 0, dice.choice(VALUES), 0]
                continue
            count, offset, length, width = block[:4]
            inside = np.frombuffer(deflate.decompress(bytes(blocks[offset : offset + length])), np.uint8)
            values = inside.reshape(width, count).T.copy().view(f"<i{width}").reshape(-1)
            if dice.random() < 0.5:
                values = np.random.default_rng(dice.randrange(2**32)).permutation(values)
            else:
                limits = np.iinfo(values.dtype)
                values[dice.randrange(count)] = dice.choice((limits.min, limits.max, -1, 1))
            packed = bytes(deflate.compress(values.view(np.uint8).reshape(count, width).T.tobytes(), 1))
            block[1:3] = [len(blocks), len(packed)]
            block[5] = crc(packed)
            blocks += packed


def _types(dice: random.Random, index: dict[str, Any], blocks: bytearray) -> None:
    if not index["types"]:
        _numbers(dice, index, blocks)
        return
    columns = index["types"][dice.choice(sorted(index["types"]))]
    if columns:
        name = dice.choice(sorted(columns))
        columns[name] = dice.choice(TYPES)
        if dice.random() < 0.3:
            del columns[name]


def _left_out(dice: random.Random, index: dict[str, Any], _: bytearray) -> None:
    """A table without a column, no table, or one of another name."""
    name = dice.choice(sorted(index["tables"]))
    table = index["tables"].pop(name)
    if dice.random() < 0.5:
        table.pop(dice.choice(sorted(table)), None)
        index["tables"][dice.choice((name, "other", ""))] = table


CHANGES: dict[str, Change] = {
    "head": _head,
    "header": _header,
    "figures": _figures,
    "numbers": _numbers,
    "counts": _counts,
    "bomb": _bomb,
    "texts": _texts,
    "values": _values,
    "types": _types,
    "left out": _left_out,
}


def spoil_place(place: Path, kind: str, seed: int, suffixes: tuple[str, ...]) -> int:
    """Change all files of a shared place that are column files; how many."""
    paths = sorted(path for path in place.iterdir() if path.suffix in suffixes)
    for number, path in enumerate(paths):
        path.write_bytes(hostile(path.read_bytes(), kind, 1000 * seed + number))
    return len(paths)


def opened_whole(path: Path) -> None:
    """Read every table. Raises ColumnFileError."""
    trace = column_file.open_trace(path)
    for kind in column_file.TRACE_TABLES:
        trace.table(kind).columns()
