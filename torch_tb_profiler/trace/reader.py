"""Read one trace file: unpack, cut, decode, and collect the columns chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Reason, Value
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.trace.collect import Collector
from torch_tb_profiler.trace.decode import EventDecoder, dropped_note, repair_note
from torch_tb_profiler.trace.events import Chunk
from torch_tb_profiler.trace.helper import Helpers
from torch_tb_profiler.trace.notes import Notes, note
from torch_tb_profiler.trace.repair import UNREADABLE, NotATraceError, end_of_list
from torch_tb_profiler.trace.store import Header, MemoryWriter, TableWriter, Trace, TraceInfo
from torch_tb_profiler.trace.text import ChunkedText
from torch_tb_profiler.trace.together import ParallelReader
from torch_tb_profiler.trace.unpack import Limits, StoredFile, text_of
from torch_tb_profiler.words.sentences import because

_LEAST, _MOST = -(2**63), 2**64 - 1


def leave_out_huge(header: dict[str, Any]) -> int:
    """Replace integers beyond 64 bits and numbers beyond a double by null, at any depth; return how many.

    >>> header = {"schemaVersion": 1, "deviceProperties": [{"id": 10**30}]}
    >>> leave_out_huge(header), header
    (1, {'schemaVersion': 1, 'deviceProperties': [{'id': None}]})
    """
    huge = 0
    waiting: list[dict[str, Any] | list[Any]] = [header]
    while waiting:  # no recursion: it may be nested as deep as a decoder goes
        held = waiting.pop()
        for key, value in held.items() if isinstance(held, dict) else enumerate(held):
            if isinstance(value, dict | list):
                waiting.append(value)
            elif (isinstance(value, float) and not isfinite(value)) or (
                isinstance(value, int) and not _LEAST <= value <= _MOST
            ):
                held[key] = None  # type: ignore[index]
                huge += 1
    return huge


def _can_be_held(value: Any) -> bool:
    if isinstance(value, int):
        return _LEAST <= value <= _MOST
    return not isinstance(value, float) or isfinite(value)


#: the effect of missing or changed events
_DAMAGES = ("overview", "operators", "kernels")
PROGRESS_BYTES = 4 * 1024 * 1024

# Absolute microseconds with a fraction: a double cannot hold them, so their text is read instead.
_TOO_LONG_FOR_A_DOUBLE = lazy_pattern(rb'"ts"\s*:\s*"?-?\d{14,}\.\d')


class TraceError(Exception):
    """The file cannot be read as a trace."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason


class ReadProgress(msgspec.Struct, frozen=True):
    """How far a file is: bytes of the file as stored (compressed), and events so far."""

    bytes_done: int
    events: int


OnProgress = Callable[[ReadProgress], None]

T = TypeVar("T")


class Decoder(Protocol[T]):
    """The ways to decode a chunk, from the strictest to the most tolerant; `EventDecoder` describes them."""

    def strictly(self, text: memoryview | bytes, /) -> list[T]: ...

    def repaired(self, text: bytes, offset: int, /) -> list[T] | None: ...

    def each_readable(self, text: bytes, offset: int, /) -> list[T]: ...


def read_trace(stream: BinaryIO, on_progress: OnProgress | None = None, limits: Limits | None = None) -> Trace:
    """Read a chrome trace (JSON, gzip or Zstandard, told apart by content) into memory.

    Damage costs only what it touches: it is repaired or left out, and counted in `Trace.notes`.
    Raises TraceError when the stream holds no trace at all.
    """
    writer = MemoryWriter()
    return writer.trace(_read_chunks(stream, writer, on_progress, limits))


def read_to_file(
    stream: BinaryIO,
    path: Path,
    on_progress: OnProgress | None = None,
    limits: Limits | None = None,
    helpers: Helpers | None = None,
) -> Trace:
    """Read a chrome trace into a column file, in memory that does not grow with the trace.

    The file appears whole or not at all. It is the same with any number of helpers, which are closed at the end.
    Raises TraceError, and OSError when it cannot be written.
    """
    with column_file.Writer(path) as writer:
        writer.finish(_read_chunks(stream, writer, on_progress, limits, helpers))
    return column_file.open_trace(path)


def _nothing_readable(dropped: int) -> Reason:
    """Return why a whole file has no events; dropped: how many could not be read."""
    if dropped:
        return because("no_readable_events", {"count": dropped})
    return because("no_events")


def _read_chunks(
    stream: BinaryIO,
    writer: TableWriter,
    on_progress: OnProgress | None,
    limits: Limits | None,
    helpers: Helpers | None = None,
) -> TraceInfo:
    stored = StoredFile(stream)
    report = on_progress or (lambda _: None)
    notes = Notes()
    try:
        text = ChunkedText(text_of(stored, limits or Limits()))
        exact = _TOO_LONG_FOR_A_DOUBLE.search(text.peek()) is not None
        decoder = EventDecoder(exact=exact, note=notes.add)
        collector = Collector(writer)
        reported = 0

        def tell() -> None:
            nonlocal reported
            if stored.bytes_read - reported >= PROGRESS_BYTES:
                reported = stored.bytes_read
                report(ReadProgress(reported, collector.count))

        def collect(chunk: Chunk) -> None:
            events, offset, length = decode_chunk(chunk, text, decoder)
            collector.add(events, offset, length, partial(_decoded, chunk, length))

        if helpers is not None:
            ParallelReader(text, collector, helpers, decoder).read(collect, tell)
        else:
            for chunk in text.chunks():
                collect(chunk)
                tell()
    except NotATraceError as error:
        raise TraceError(error.reason) from None
    if not collector.count:
        if text.closed:
            raise TraceError(_nothing_readable(sum(each.count for each in notes if each.kind == "dropped_events")))
        raise TraceError(text.broken or because("cut_off"))
    for kind, begin in (("damaged_header", text.damaged_header), ("damaged_tail", text.damaged_tail)):
        if begin is not None:
            notes.add(note(kind, "warning", first_offset=begin))
    if text.more is not None:
        notes.add(note("more_behind", "warning", first_offset=text.more))
    elif text.closed and text.broken:
        notes.add(note("unread_end", "warning", first_offset=text.text_bytes, values=_broken_values(text.broken)))
    for repair in text.repairs:
        notes.add(repair_note(repair))
    for begin in text.dropped:
        notes.add(dropped_note(begin))
    if text.holes:
        zeros = sum(length for _, length in text.holes)
        notes.add(
            note("holes", "error", len(text.holes), _DAMAGES, first_offset=text.holes[0][0], values={"bytes": zeros})
        )
    if stored.wrong_sums:
        notes.add(note("wrong_checksum", "error", len(stored.wrong_sums), _DAMAGES, first_offset=stored.wrong_sums[0]))
    if not text.closed:
        notes.add(
            note(
                "truncated",
                "error",
                touches=_DAMAGES,
                first_offset=text.offset,
                values={**_broken_values(text.broken), "events": collector.count},
            )
        )
    header = {**text.header, **text.tail}
    if huge := leave_out_huge(header):
        notes.add(note("huge_numbers", "warning", huge))
    report(ReadProgress(stored.bytes_read, collector.count))
    return collector.finish(Header(header), notes, text.text_bytes)


def _decoded(chunk: Chunk, length: int) -> bytes:
    """Return the first `length` bytes of a chunk, without the bracket before them."""
    return bytes(chunk.text[1 : 1 + length])


def _broken_values(broken: Reason | None) -> dict[str, Value]:
    """Return the values of a note about broken text."""
    return {"why": ""} if broken is None else {"why": broken.text, "why_kind": broken.kind, **broken.values}


def decode_chunk(chunk: Chunk, text: ChunkedText, decoder: Decoder[T]) -> tuple[list[T], int, int]:
    """Return the events of a chunk, and offset and length of their text."""
    tried: Chunk | None = chunk
    while tried is not None:
        try:
            return decoder.strictly(tried.text), tried.offset, len(tried.text) - 2
        except msgspec.ValidationError:
            break  # the text is whole; only a field has an unexpected type
        except UNREADABLE:
            if tried.certain:
                break
        chunk = tried
        tried = text.shorten()
    chunk = tried or chunk
    content = bytes(chunk.text)
    events = decoder.repaired(content, chunk.offset)
    if events is None and not chunk.last:
        # the list may end here, with more than a chunk of other keys behind it
        length, closed = end_of_list(content[1:-1])
        if closed:
            text.close_list(length)
            content = b"[" + content[1 : 1 + length] + b"]"
            events = decoder.repaired(content, chunk.offset)
    if events is None:
        events = decoder.each_readable(content, chunk.offset)
    return events, chunk.offset, len(content) - 2
