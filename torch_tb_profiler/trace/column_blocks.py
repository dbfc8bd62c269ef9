"""How the values of one column are stored in a block of a column file; see there."""

from __future__ import annotations

import zlib
from types import ModuleType
from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

deflate: ModuleType
try:
    from isal import isal_zlib

    deflate = isal_zlib
except ImportError:  # no wheel for this platform
    deflate = zlib

INFLATE_ERRORS: tuple[type[Exception], ...] = (zlib.error, deflate.error)


#: a count, or a place
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
        """Bytes of the values as they are before they are deflated."""
        return self.count * self.width


def crc(content: bytes, before: int = 0) -> int:
    return int(deflate.crc32(content, before))


def inflate(content: bytes, size: int) -> bytes:
    """What was deflated, of `size` bytes at most. Raises one of `INFLATE_ERRORS`: it is damaged, or larger."""
    stream = deflate.decompressobj()
    found = bytes(stream.decompress(content, size + 1))
    if len(found) > size or not stream.eof:
        raise zlib.error("is not as large as it says")
    return found


def pack(values: npt.NDArray[Any], follows: bool) -> tuple[bytes, int, int]:
    """The bytes, width and first value of a block."""
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


def unpack(data: bytes, block: Block, follows: bool, out: npt.NDArray[Any]) -> None:
    """Write the values of a block to `out`. Raises ValueError when they are not what the block says."""
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
    """The transposed table. Copying along the short side is several times faster than `ascontiguousarray`."""
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
    """The difference of each value to the one before, 0 for the first; overflow wraps, and wraps back when read."""
    differences = np.zeros_like(values)
    np.subtract(values[1:], values[:-1], out=differences[1:])
    return differences


def _narrowed(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same integers in as few bytes as hold them all."""
    low, high = int(values.min()), int(values.max())
    width = next(w for w in (1, 2, 4, 8) if -(1 << 8 * w - 1) <= low and high < 1 << 8 * w - 1)
    return values.astype(f"i{width}", copy=False)
