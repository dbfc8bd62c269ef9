"""A stored file → the bytes of its text, decompressed. Damaged data, and too much of it, raise an OSError."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from types import ModuleType
from typing import BinaryIO, Protocol, cast

import zstandard

from torch_tb_profiler.reason import Reason

_isal: ModuleType | None
try:
    from isal import igzip_lib

    _isal = igzip_lib
except ImportError:  # no wheel for this platform
    _isal = None

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
READ_BYTES = 64 * 1024


class UnpackError(OSError):
    """The text of a stored file ends here; the reason says why."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True)
class Limits:
    """How much a file may unpack to.

    Traces compress by a factor of about 30, rarely of 100. A file that unpacks to more than `expansion` times its size
    and to more than `free_bytes` is not read further.
    """

    expansion: int = 400
    free_bytes: int = 256 * 1024 * 1024


class Readable(Protocol):
    def readinto(self, buffer: memoryview, /) -> int | None: ...


class StoredFile:
    """The file as it is stored. bytes_read: how much of it was consumed."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._ahead = b""
        self.bytes_read = 0

    def peek(self, count: int) -> bytes:
        """The first bytes, without consuming them."""
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
    """The text of a stored file: gzip, Zstandard or plain, told apart by content."""
    magic = stored.peek(len(ZSTD_MAGIC))
    if magic.startswith(GZIP_MAGIC):
        return _Limited(_Gunzip(stored), stored, limits)
    if magic == ZSTD_MAGIC:
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
            text = f"it unpacks to more than {limits.expansion} times its size, which no trace does"
            raise UnpackError(Reason("expansion", text, {"times": limits.expansion}))
        return count


class _Member(Protocol):
    """One gzip member being inflated."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


class _ZlibMember:
    """The standard library's inflater behind the interface of isal's."""

    def __init__(self) -> None:
        self._object = zlib.decompressobj(wbits=31)
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


def _new_member() -> _Member:
    if _isal is None:
        return _ZlibMember()
    return cast(_Member, _isal.IgzipDecompressor(flag=_isal.DECOMP_GZIP))


_INFLATE_ERRORS: tuple[type[Exception], ...] = (zlib.error,) if _isal is None else (_isal.error,)


class _Gunzip:
    """The text of a gzip stream, members one after the other.

    `gzip.GzipFile` would lose what it has inflated when it meets damaged data.
    """

    def __init__(self, stored: StoredFile) -> None:
        self._stored = stored
        self._member = _new_member()
        self._between_members = True

    def readinto(self, buffer: memoryview) -> int:
        try:
            data = self._inflate(len(buffer))
        except _INFLATE_ERRORS as error:
            raise UnpackError(_damaged("gzip", error)) from None
        buffer[: len(data)] = data
        return len(data)

    def _inflate(self, limit: int) -> bytes:
        while True:
            if self._member.eof:
                text = self._member.unused_data
                self._member = _new_member()
                self._between_members = True
            else:
                text = b""
            if not text and self._member.needs_input:
                text = self._stored.read(READ_BYTES)
                if not text:
                    if self._between_members:
                        return b""
                    raise UnpackError(Reason("gzip_cut_off", "the gzip data is cut off"))
            if self._between_members and not text.startswith(GZIP_MAGIC):
                return b""  # padding after the last member, which gzip allows
            self._between_members = False
            data = self._member.decompress(text, limit)
            if data:
                return data


class _Unzstd:
    """The text of a Zstandard stream, frames one after the other."""

    def __init__(self, stored: StoredFile) -> None:
        self._reader = zstandard.ZstdDecompressor().stream_reader(
            cast(BinaryIO, stored), read_size=READ_BYTES, read_across_frames=True
        )

    def readinto(self, buffer: memoryview) -> int:
        try:
            return self._reader.readinto(buffer)
        except zstandard.ZstdError as error:
            raise UnpackError(_damaged("Zstandard", error)) from None


def _damaged(packing: str, error: Exception) -> Reason:
    text = f"the {packing} data is damaged: {error}"
    return Reason("damaged_packing", text, {"packing": packing, "error": str(error)})
