"""A stored file → the bytes of its text, decompressed. Damaged data, and too much of it, raise an OSError."""

from __future__ import annotations

import zlib
from types import ModuleType
from typing import BinaryIO, Protocol, cast

import msgspec
import zstandard

from torch_tb_profiler.defaults import EXPANSION
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.words.sentences import because

deflate: ModuleType
_isal: ModuleType | None
try:
    from isal import igzip_lib, isal_zlib

    deflate, _isal = isal_zlib, igzip_lib
except ImportError:  # no wheel for this platform
    deflate, _isal = zlib, None

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
READ_BYTES = 64 * 1024


#: skippable frames, which `pzstd` and archives with an index put before others (RFC 8878, 3.1.2)
_SKIPPABLE = frozenset(number.to_bytes(4, "little") for number in range(0x184D2A50, 0x184D2A60))


def crc(content: bytes, before: int = 0) -> int:
    """Return the CRC-32 of bytes that follow others with the CRC-32 `before`."""
    return int(deflate.crc32(content, before))


def is_packed(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of gzip or Zstandard."""
    return head.startswith(GZIP_MAGIC) or _is_zstandard(head)


def _is_zstandard(head: bytes) -> bool:
    return head.startswith(ZSTD_MAGIC) or head[: len(ZSTD_MAGIC)] in _SKIPPABLE


class UnpackError(OSError):
    """The text of a stored file ends here; the reason says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Limits(msgspec.Struct, frozen=True):
    """How much a file may unpack to.

    Traces compress by a factor of about 30, rarely of 100. A file that unpacks to more than `expansion` times its size
    and to more than `free_bytes` is not read further.
    """

    expansion: int = EXPANSION
    free_bytes: int = 256 * 1024 * 1024


class Readable(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...


class StoredFile:
    """The file as it is stored.

    bytes_read   how much of it was consumed
    wrong_sums   where the text of each member or frame begins whose checksum or length was found wrong
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._ahead = b""
        self.bytes_read = 0
        self.wrong_sums: list[int] = []

    def peek(self, count: int) -> bytes:
        """Return the first bytes, without consuming them."""
        while len(self._ahead) < count:
            more = self._stream.read(count - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; empty at the end."""
        if self._ahead:
            data, self._ahead = self._ahead[:size], self._ahead[size:]
        else:
            data = self._stream.read(size)
        self.bytes_read += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:
        if self._ahead:
            data = self.read(len(buffer))
            buffer[: len(data)] = data
            return len(data)
        count = self._stream.readinto(buffer) or 0  # type: ignore[attr-defined]
        self.bytes_read += count
        return count


def text_of(stored: StoredFile, limits: Limits) -> Readable:
    """Return the text of a stored file: gzip, Zstandard or plain, told apart by content."""
    magic = stored.peek(len(ZSTD_MAGIC))
    if magic.startswith(GZIP_MAGIC):
        return _Limited(_Gunzip(stored), stored, limits)
    if _is_zstandard(magic):
        return _Limited(_Unzstd(stored), stored, limits)
    return stored


class _Limited:
    def __init__(self, text: Readable, stored: StoredFile, limits: Limits) -> None:
        self._text = text
        self._stored = stored
        self._limits = limits
        self._bytes = 0

    def readinto(self, buffer: memoryview) -> int:
        count = self._text.readinto(buffer) or 0
        self._bytes += count
        limits = self._limits
        if self._bytes > limits.free_bytes and self._bytes > limits.expansion * self._stored.bytes_read:
            raise UnpackError(because("expansion", {"times": limits.expansion}))
        return count


class _Deflated(Protocol):
    """The deflated data of one gzip member being inflated."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _ZlibDeflated:
    """The standard library's inflater behind the interface of isal's."""

    def __init__(self) -> None:
        self._object = zlib.decompressobj(wbits=-15)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._object.eof

    @property
    def unused_data(self) -> bytes:
        return self._object.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        inflated = self._object.decompress(self._object.unconsumed_tail + data, max_length)
        self.needs_input = not self._object.unconsumed_tail and len(inflated) < max_length
        return inflated


def _new_deflated() -> _Deflated:
    if _isal is None:
        return _ZlibDeflated()
    return cast(_Deflated, _isal.IgzipDecompressor(flag=_isal.DECOMP_DEFLATE))


_INFLATE_ERRORS: tuple[type[Exception], ...] = (zlib.error,) if _isal is None else (_isal.error,)


class _Input:
    """The packed bytes; some can be given back."""

    def __init__(self, stored: StoredFile) -> None:
        self._stored = stored
        self._ahead = b""

    def some(self) -> bytes:
        """Return the next bytes; empty at the end."""
        data, self._ahead = self._ahead, b""
        return data or self._stored.read(READ_BYTES)

    def give_back(self, data: bytes) -> None:
        self._ahead = data + self._ahead

    def exactly(self, count: int) -> bytes | None:
        """Return the next bytes; None, and nothing is consumed, when the input has fewer."""
        while len(self._ahead) < count:
            more = self._stored.read(max(READ_BYTES, count - len(self._ahead)))
            if not more:
                return None
            self._ahead += more
        data, self._ahead = self._ahead[:count], self._ahead[count:]
        return data

    def after_zero(self) -> bytes | None:
        """Skip all up to a zero byte and that; None at the end of the input."""
        while data := self.some():
            end = data.find(b"\0")
            if end >= 0:
                self._ahead = data[end + 1 :]
                return b""
        return None


class _Gunzip:
    """The text of a gzip stream, members one after the other.

    `gzip.GzipFile` would lose what it has inflated when it meets damaged data; so would an inflater that checks the
    sums itself.
    """

    def __init__(self, stored: StoredFile) -> None:
        self._stored = stored
        self._input = _Input(stored)
        self._deflated: _Deflated | None = None
        self._sum = self._length = 0
        self._begin = self._bytes = 0  # of the member in the text; of text so far

    def readinto(self, buffer: memoryview) -> int:
        try:
            data = self._inflate(len(buffer))
        except _INFLATE_ERRORS as error:
            raise UnpackError(_damaged("gzip", error)) from None
        buffer[: len(data)] = data
        self._bytes += len(data)
        return len(data)

    def _inflate(self, limit: int) -> bytes:
        while True:
            if self._deflated is None and not self._begin_member():
                return b""
            deflated = cast(_Deflated, self._deflated)
            if deflated.eof:
                self._end_member(deflated)
                continue
            packed = self._input.some() if deflated.needs_input else b""
            if deflated.needs_input and not packed:
                raise UnpackError(_cut_off("gzip"))
            data = deflated.decompress(packed, limit)
            if data:
                self._sum = crc(data, self._sum)
                self._length += len(data)
                return data

    def _begin_member(self) -> bool:
        """Read the header of the next member (RFC 1952, 2.3); False at the end, before which zeros are padding."""
        magic = self._input.exactly(2)
        if magic != GZIP_MAGIC:
            self._skip_padding(magic or b"")
            return False
        rest = self._input.exactly(8)
        if rest is None:
            raise UnpackError(_cut_off("gzip"))
        method, flags = rest[0], rest[1]
        if method != 8 or flags & 0xE0:
            raise UnpackError(_damaged("gzip", "its header is not valid"))
        parts: list[bytes | None] = []
        if flags & 4:
            size = self._input.exactly(2)
            parts.append(size and self._input.exactly(int.from_bytes(size, "little")))
        parts += [self._input.after_zero() for flag in (8, 16) if flags & flag]
        if flags & 2:
            parts.append(self._input.exactly(2))
        if None in parts:
            raise UnpackError(_cut_off("gzip"))
        self._deflated = _new_deflated()
        self._sum = self._length = 0
        self._begin = self._bytes
        return True

    def _skip_padding(self, begin: bytes) -> None:
        data = begin + self._input.some()
        while data:
            if data.strip(b"\0"):
                raise UnpackError(_damaged("gzip", "unknown data after a member"))
            data = self._input.some()

    def _end_member(self, deflated: _Deflated) -> None:
        self._deflated = None
        self._input.give_back(deflated.unused_data)
        sums = self._input.exactly(8)
        if sums is None:
            raise UnpackError(_cut_off("gzip"))
        length = self._length & 0xFFFFFFFF
        if sums != self._sum.to_bytes(4, "little") + length.to_bytes(4, "little"):
            self._stored.wrong_sums.append(self._begin)


# the parts of a Zstandard frame (RFC 8878, 3.1.1)
_RAW, _REPEATED, _COMPRESSED = range(3)


class _Unzstd:
    """The text of a Zstandard stream, frames one after the other.

    Block by block, so that what was unpacked before a damaged block, or before a wrong checksum, is kept.
    """

    def __init__(self, stored: StoredFile) -> None:
        self._stored = stored
        self._input = _Input(stored)
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._has_sum = self._last = False
        self._text = memoryview(b"")
        self._begin = self._bytes = 0

    def readinto(self, buffer: memoryview) -> int:
        while not self._text:
            try:
                if not self._next():
                    return 0
            except zstandard.ZstdError as error:
                raise UnpackError(_damaged("Zstandard", error)) from None
        count = min(len(buffer), len(self._text))
        buffer[:count] = self._text[:count]
        self._text = self._text[count:]
        return count

    def _next(self) -> bool:
        """Unpack the next block, header or checksum; False at the end."""
        if self._frame is None:
            return self._begin_frame()
        if self._last:
            self._end_frame(self._frame)
            return True
        head = self._exactly(3)
        value = int.from_bytes(head, "little")
        self._last, kind, size = bool(value & 1), value >> 1 & 3, value >> 3
        if kind not in (_RAW, _REPEATED, _COMPRESSED):
            raise UnpackError(_damaged("Zstandard", "a block is of an unknown kind"))
        self._unpack(self._frame, head + self._exactly(1 if kind == _REPEATED else size))
        return True

    def _begin_frame(self) -> bool:
        magic = self._input.exactly(4)
        if magic is None:
            if self._input.some():
                raise UnpackError(_cut_off("Zstandard"))
            return False
        if magic in _SKIPPABLE:
            left = int.from_bytes(self._exactly(4), "little")
            while left:
                left -= len(self._exactly(min(left, READ_BYTES)))
            return True
        if magic != ZSTD_MAGIC:
            raise UnpackError(_damaged("Zstandard", "unknown data after a frame"))
        descriptor = self._exactly(1)
        flags = descriptor[0]
        one_segment = bool(flags & 0x20)
        sizes = (int(not one_segment), (0, 1, 2, 4)[flags & 3], (int(one_segment), 2, 4, 8)[flags >> 6])
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._has_sum, self._last = bool(flags & 4), False
        self._begin = self._bytes
        self._unpack(self._frame, magic + descriptor + self._exactly(sum(sizes)))
        return True

    def _end_frame(self, frame: zstandard.ZstdDecompressionObj) -> None:
        self._frame = None
        if self._has_sum:
            stored = self._exactly(4)
            try:
                self._unpack(frame, stored)
            except zstandard.ZstdError:
                self._stored.wrong_sums.append(self._begin)

    def _unpack(self, frame: zstandard.ZstdDecompressionObj, packed: bytes) -> None:
        text = frame.decompress(packed)
        self._text = memoryview(text)
        self._bytes += len(text)

    def _exactly(self, count: int) -> bytes:
        data = self._input.exactly(count)
        if data is None:
            raise UnpackError(_cut_off("Zstandard"))
        return data


def _cut_off(packing: str) -> Reason:
    return because(f"{packing.lower()}_cut_off")


def _damaged(packing: str, error: Exception | str) -> Reason:
    return because("damaged_packing", {"packing": packing, "error": str(error)})
