"""Read one trace file into a `Trace`: gunzip, cut, decode, and collect the columns chunk by chunk."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import BinaryIO, Protocol, cast

import msgspec

from torch_tb_profiler.trace.collect import Collector
from torch_tb_profiler.trace.decode import AnyEvent, EventDecoder
from torch_tb_profiler.trace.notes import Note, Notes
from torch_tb_profiler.trace.store import Header, Trace
from torch_tb_profiler.trace.text import Chunk, ChunkedText, NotATraceError, end_of_list

_isal: ModuleType | None
try:
    from isal import igzip_lib

    _isal = igzip_lib
except ImportError:  # no wheel for this platform
    _isal = None

GZIP_MAGIC = b"\x1f\x8b"
GZIP_READ_BYTES = 64 * 1024
PROGRESS_BYTES = 4 * 1024 * 1024

# Absolute microseconds with a fraction: a double cannot hold them, so their text is read instead.
_TOO_LONG_FOR_A_DOUBLE = re.compile(rb'"ts"\s*:\s*"?-?\d{14,}\.\d')


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


class TraceError(Exception):
    """The file cannot be read as a trace; the message continues the sentence "<file> …"."""


@dataclass(frozen=True)
class Progress:
    """How far a file is: bytes of the file as stored (compressed), and events so far."""

    bytes_done: int
    events: int


def read_trace(stream: BinaryIO, on_progress: Callable[[Progress], None] | None = None) -> Trace:
    """Read a chrome trace (JSON or gzip, told apart by content) from a binary stream.

    Damage costs only what it touches: it is repaired or left out, and counted in `Trace.notes`.
    Raises TraceError when the stream holds no trace at all.
    """
    try:
        return _read(_CountingStream(stream), on_progress or (lambda _: None))
    except NotATraceError as error:
        raise TraceError(str(error)) from None


def _read(stream: _CountingStream, on_progress: Callable[[Progress], None]) -> Trace:
    notes = Notes()
    text = ChunkedText(_Gunzip(stream) if stream.peek(2) == GZIP_MAGIC else stream)
    if text.header_damaged:
        notes.add(Note("damaged_header", "warning", "The keys before traceEvents could not be read."))
    first = text.peek()
    decoder = EventDecoder(exact=_TOO_LONG_FOR_A_DOUBLE.search(first) is not None, note=notes.add)
    collector = Collector()
    reported = 0
    for chunk in text.chunks():
        events, offset, length = _decode(chunk, text, decoder)
        collector.add(events, offset, length)
        if stream.bytes_read - reported >= PROGRESS_BYTES:
            reported = stream.bytes_read
            on_progress(Progress(reported, collector.count))
    if not text.closed:
        notes.add(
            Note(
                "truncated",
                "error",
                f"The file ends before the list of events does ({text.broken or 'it was cut off'}); "
                f"the {collector.count} events before that are shown.",
                touches=("overview", "operators", "kernels"),
                first_offset=text.offset,
            )
        )
    if not collector.count:
        raise TraceError("holds no events" if text.closed else "is cut off before its first event")
    header = Header({**text.header, **text.tail})
    on_progress(Progress(stream.bytes_read, collector.count))
    return collector.finish(header, notes, text.text_bytes)


def _decode(chunk: Chunk, text: ChunkedText, decoder: EventDecoder) -> tuple[list[AnyEvent], int, int]:
    """The events of a chunk, and where the text that they came from stands."""
    tried: Chunk | None = chunk
    while tried is not None:
        try:
            return decoder.strictly(tried.text), tried.offset, len(tried.text) - 2
        except msgspec.ValidationError:
            break  # the text is whole; only a field has an unexpected type
        except (msgspec.DecodeError, UnicodeDecodeError):
            if tried.certain:
                break
        chunk = tried
        tried = text.shorten()
    chunk = tried or chunk
    content = bytes(chunk.text)
    if not chunk.last:
        length, closed = end_of_list(content[1:-1])
        if closed:
            text.close_list(length)
            content = b"[" + content[1 : 1 + length] + b"]"
    return decoder.patiently(content, chunk.offset), chunk.offset, len(content) - 2


class _Gunzip:
    """The text of a gzip stream, members one after the other; damage is an OSError.

    Not a GzipFile: that loses what it had inflated when it meets the damage.
    """

    def __init__(self, stream: _CountingStream) -> None:
        self._stream = stream
        self._member = _new_member()
        self._between_members = True

    def readinto(self, buffer: memoryview) -> int:
        try:
            data = self._inflate(len(buffer))
        except _INFLATE_ERRORS as error:
            raise OSError(f"the gzip data is damaged: {error}") from None
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
                text = self._stream.read(GZIP_READ_BYTES)
                if not text:
                    if self._between_members:
                        return b""
                    raise OSError("the gzip data is cut off")
            if self._between_members and not text.startswith(GZIP_MAGIC):
                return b""  # padding after the last member, which gzip allows
            self._between_members = False
            data = self._member.decompress(text, limit)
            if data:
                return data


class _CountingStream:
    """Counts what was read of the stored file, for progress; also lets the first bytes be looked at."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._ahead = b""
        self.bytes_read = 0

    def peek(self, count: int) -> bytes:
        while len(self._ahead) < count:
            more = self._stream.read(count - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead

    def read(self, size: int = -1) -> bytes:
        if self._ahead:
            taken, self._ahead = (self._ahead, b"") if size < 0 else (self._ahead[:size], self._ahead[size:])
            data = (
                taken if 0 <= size <= len(taken) else taken + self._stream.read(size - len(taken) if size > 0 else -1)
            )
        else:
            data = self._stream.read(size)
        self.bytes_read += len(data)
        return data

    def readinto(self, buffer: memoryview) -> int:
        if self._ahead:
            count = min(len(self._ahead), len(buffer))
            buffer[:count] = self._ahead[:count]
            self._ahead = self._ahead[count:]
        else:
            count = self._stream.readinto(buffer) or 0  # type: ignore[attr-defined]
        self.bytes_read += count
        return count

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        """The stream belongs to the caller."""
