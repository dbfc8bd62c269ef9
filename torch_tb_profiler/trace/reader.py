"""Read one trace file into a `Trace`: gunzip, cut, decode, and collect the columns chunk by chunk."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from torch_tb_profiler.trace.collect import Collector
from torch_tb_profiler.trace.decode import AnyEvent, EventDecoder
from torch_tb_profiler.trace.notes import Note, Notes
from torch_tb_profiler.trace.store import Header, Trace
from torch_tb_profiler.trace.text import Chunk, ChunkedText, NotATraceError, end_of_list

_INFLATE_ERRORS: tuple[type[Exception], ...] = (zlib.error,)
try:
    from isal import igzip, igzip_lib

    _INFLATE_ERRORS += (igzip_lib.error,)
except ImportError:  # no wheel for this platform
    igzip = None

GZIP_MAGIC = b"\x1f\x8b"
PROGRESS_BYTES = 4 * 1024 * 1024

# Absolute microseconds with a fraction: a double cannot hold them, so their text is read instead.
_TOO_LONG_FOR_A_DOUBLE = re.compile(rb'"ts"\s*:\s*"?-?\d{14,}\.\d')


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
    counted = _CountingStream(stream)
    magic = counted.peek(2)
    notes = Notes()
    try:
        text = ChunkedText(_Gunzip(counted) if magic == GZIP_MAGIC else counted)
    except NotATraceError as error:
        raise TraceError(str(error)) from None
    if text.header_damaged:
        notes.add(Note("damaged_header", "warning", "The keys before traceEvents could not be read."))
    first = text.peek()
    decoder = EventDecoder(exact=_TOO_LONG_FOR_A_DOUBLE.search(first) is not None, note=notes.add)
    collector = Collector()
    reported = 0
    for chunk in text.chunks():
        events, offset, length = _decode(chunk, text, decoder)
        collector.add(events, offset, length)
        if on_progress and counted.bytes_read - reported >= PROGRESS_BYTES:
            reported = counted.bytes_read
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
    if on_progress:
        on_progress(Progress(counted.bytes_read, collector.count))
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
    """The text of a gzip stream, members one after the other; damage is an OSError."""

    def __init__(self, stream: _CountingStream) -> None:
        self._file = (gzip if igzip is None else igzip).open(stream, "rb")

    def readinto(self, buffer: memoryview) -> int:
        try:
            return int(self._file.readinto(buffer))
        except (EOFError, *_INFLATE_ERRORS) as error:
            raise OSError(f"the gzip data is damaged or cut off: {error}") from None


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
