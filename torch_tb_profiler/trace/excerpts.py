"""Events as they stand in the file: the arguments of one, or all of a window of time; only text around them is decoded.

The columns say when each event was, and `Chunks` in which chunk of the text it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, BinaryIO

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.codec import from_json, json_decoder
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import OTHER, Reason, reason_of
from torch_tb_profiler.trace.decode import EventDecoder
from torch_tb_profiler.trace.files import ReadableText
from torch_tb_profiler.trace.reader import TraceError, decode_chunk
from torch_tb_profiler.trace.repair import UNREADABLE, NotATraceError, each_object, repair_text
from torch_tb_profiler.trace.schema import EventPhase
from torch_tb_profiler.trace.store import Trace
from torch_tb_profiler.trace.text import ARRAY_START, MAX_HEADER_BYTES, ChunkedText
from torch_tb_profiler.trace.unpack import Limits, Readable, StoredFile, text_of
from torch_tb_profiler.trace.vocabulary import kineto_name
from torch_tb_profiler.words.sentences import because

BLOCK_BYTES = 256 * 1024

_NOT_BLANK = lazy_pattern(rb"\S")
_list = json_decoder(list[msgspec.Raw])


class TextState(msgspec.Struct, frozen=True):
    """The text of a stored trace.

    whole      whether it is valid JSON
    length     bytes
    is_intact  whether the file was unpacked to its end and its checksums are right
    """

    whole: bool
    length: int
    is_intact: bool


def examine(stream: BinaryIO, limits: Limits | None = None) -> TextState:
    """Read a stored trace to the end and check its text. Raises TraceError when it holds no trace."""
    texts = EventTexts()
    stored = StoredFile(stream)
    text = _chunked(stored, limits)
    for _ in _events(text, texts):
        pass
    whole = (
        text.closed
        and not texts.damaged
        and not text.holes
        and not text.dropped
        and _is_json(b"[" + text.head + text.rest + b"]")
    )
    return TextState(whole, text.text_bytes, text.broken is None and not stored.wrong_sums)


def with_events(
    stream: BinaryIO, events: Iterable[bytes], whole: bool, limits: Limits | None = None
) -> Iterator[bytes]:
    """Return the text of a stored trace with events before its first one.

    `events` are chunks of JSON text, each of one or more objects with commas between them. `whole` is the result of
    `examine`.
    """
    if whole:
        return _inserted(ReadableText(stream, limits), events)
    return _rebuilt(_chunked(StoredFile(stream), limits), events, EventTexts())


def _chunked(stored: StoredFile, limits: Limits | None) -> ChunkedText:
    try:
        return ChunkedText(text_of(stored, limits or Limits()))
    except NotATraceError as error:
        raise TraceError(error.reason) from None


# a valid document -------------------------------------------------------------------------------------------


def _inserted(text: Readable, events: Iterable[bytes]) -> Iterator[bytes]:
    head, rest = _up_to_the_list(text)
    yield head
    has_events = False
    for piece in events:
        yield b", " + piece if has_events else piece
        has_events = True
    if has_events and not rest.lstrip().startswith(b"]"):
        yield b", "
    yield rest
    buffer = memoryview(bytearray(BLOCK_BYTES))
    while count := text.readinto(buffer):
        yield bytes(buffer[:count])


def _up_to_the_list(text: Readable) -> tuple[bytes, bytes]:
    """Return the text up to the bracket that opens the list of events, and the bytes read after it (at least one)."""
    known = b""
    start: int | None = None
    buffer = memoryview(bytearray(BLOCK_BYTES))
    ended = False
    while not ended and len(known) <= 2 * MAX_HEADER_BYTES:
        # read twice as much each time, so that a long header is not searched again for every block
        wanted = max(2 * len(known), 1)
        while not ended and len(known) < wanted:
            count = text.readinto(buffer) or 0
            known += buffer[:count]
            ended = not count
        if start is None:
            start = _start_of_list(known)
        if start is not None and _NOT_BLANK.search(known, start):
            return known[:start], known[start:]
    raise TraceError(because("changed", {"reading": True}))


def _start_of_list(text: bytes) -> int | None:
    stripped = text.lstrip()
    if stripped.startswith(b"["):
        return len(text) - len(stripped) + 1
    match = ARRAY_START.search(text)
    return match.end() if match else None


# a document made of the readable parts ----------------------------------------------------------------------


def _rebuilt(text: ChunkedText, events: Iterable[bytes], texts: EventTexts) -> Iterator[bytes]:
    # the keys after the events are known when these have been read
    return document(text.header, chain(events, _events(text, texts)), lambda: text.tail)


def document(
    header: Mapping[str, Any], events: Iterable[bytes], tail: Callable[[], Mapping[str, Any]] = dict
) -> Iterator[bytes]:
    """Return a trace of keys and chunks of text, each of one or more events with commas between them.

    tail   the keys after the events, except those of the header
    """
    keys = msgspec.json.encode({key: value for key, value in header.items() if key != "traceEvents"})
    yield keys[:-1] + (b", " if len(keys) > 2 else b"") + b'"traceEvents": [\n'
    first = True
    for piece in events:
        if not piece or piece.isspace():
            continue
        yield piece if first else b",\n" + piece
        first = False
    more = {key: value for key, value in tail().items() if key not in header and key != "traceEvents"}
    yield b"\n]" + (b", " + msgspec.json.encode(more)[1:] if more else b"}")


def _events(text: ChunkedText, texts: EventTexts) -> Iterator[bytes]:
    for chunk in text.chunks():
        yield from decode_chunk(chunk, text, texts)[0]


class EventTexts:
    """Used in place of `EventDecoder`: events stay text, several in one piece."""

    def __init__(self) -> None:
        self.damaged = False

    def strictly(self, text: memoryview | bytes) -> list[bytes]:
        _check(text)
        return [bytes(text[1:-1])]

    def repaired(self, text: bytes, _: int) -> list[bytes] | None:
        try:
            return self.strictly(text)
        except UNREADABLE:
            pass
        try:
            found = self.strictly(repair_text(text)[0])
        except UNREADABLE:
            return None
        self.damaged = True
        return found

    def each_readable(self, text: bytes, _: int) -> list[bytes]:
        self.damaged = True
        text, _repairs = repair_text(text)
        pieces: list[bytes] = []

        def take(begin: int, end: int) -> bool:
            readable = _is_json(b"[" + text[begin:end] + b"]")
            if readable:
                pieces.append(text[begin:end])
            return readable

        each_object(text, take, lambda _begin: None)
        return pieces


def _is_json(text: bytes) -> bool:
    try:
        _check(text)
    except UNREADABLE:
        return False
    return True


def _check(text: memoryview | bytes) -> None:
    """Check that a list is valid JSON. Raises msgspec.DecodeError or UnicodeDecodeError."""
    _list.decode(text)
    # msgspec does not check UTF-8 in values that it skips
    str(text, "utf-8")


_BLOCK_BYTES = 1024 * 1024

_raw_list = json_decoder(list[msgspec.Raw])


class _RawEvent(msgspec.Struct):
    name: str | None = ""
    args: msgspec.Raw = msgspec.Raw(b"")


def raw_args(trace: Trace, row: int, stream: BinaryIO, limits: Limits | None = None) -> str | None:
    """Return the JSON text of `args` of an event of the trace, indented; None if the event has none.

    stream   the file that the trace was read from; it is read up to the event, a block at a time

    Raises TraceError when the event cannot be identified because the text around it is damaged or the file has changed.
    """
    return raw_args_at(place_of(trace, row), stream, limits)


class RawPlace(msgspec.Struct, frozen=True):
    """Where the text of an event stands, and what must be found there.

    offset, length  bytes of unpacked text that hold `events` events
    at              which of these it is
    name            of the event
    """

    offset: int
    length: int
    events: int
    at: int
    name: str


def place_of(trace: Trace, row: int) -> RawPlace:
    """Find where an event is in the text. Raises TraceError: nothing says it."""
    chunks = trace.chunks
    place = int(np.searchsorted(chunks.first_row, row, "right")) - 1
    if place < 0:
        raise TraceError(Reason(OTHER, "does not say where this event is"))
    first = int(chunks.first_row[place])
    after = int(chunks.first_row[place + 1]) if place + 1 < len(chunks) else len(trace.events)
    name = trace.strings[trace.events.name[row]]
    return RawPlace(int(chunks.offset[place]), int(chunks.length[place]), after - first, row - first, name)


def raw_args_at(place: RawPlace, stream: BinaryIO, limits: Limits | None = None) -> str | None:
    """See `raw_args`."""
    try:
        text = text_of(StoredFile(stream), limits or Limits())
        piece = _text_at(text, place.offset, place.length)
        events = _raw_list.decode(b"[" + piece + b"]")
        event = from_json(events[place.at], _RawEvent) if len(events) == place.events else None
    except (*UNREADABLE, IndexError):
        event = None
    except (NotATraceError, OSError) as error:
        raise TraceError(reason_of(error)) from None
    if event is None or not _is_called(event, place.name):
        words = "is damaged around this event, or has changed: only what was read of it can be shown"
        raise TraceError(Reason(OTHER, words))
    return msgspec.json.format(bytes(event.args), indent=2).decode() if event.args else None


def _is_called(event: _RawEvent, name: str) -> bool:
    """Return whether an event of the file has the name of one of the trace, which may be the one that Kineto writes."""
    written = event.name or ""
    try:
        return name in (written, kineto_name(written, from_json(event.args, dict[str, Any])))
    except UNREADABLE:
        return name == written


def _text_at(text: Readable, offset: int, length: int) -> bytes:
    """`length` bytes of a text from `offset` on; the text can only be read from its start."""
    buffer = memoryview(bytearray(_BLOCK_BYTES))
    while offset > 0 and (count := text.readinto(buffer[: min(offset, _BLOCK_BYTES)])):
        offset -= count
    found = bytearray()
    while len(found) < length and (count := text.readinto(buffer[: min(length - len(found), _BLOCK_BYTES)])):
        found += buffer[:count]
    return bytes(found)


class _WantedChunk(msgspec.Struct, frozen=True):
    """Text that holds events that are wanted.

    offset, length   in the text of the file, bytes
    events           how many were read of it
    wanted           which of these, ascending; None for all of them
    """

    offset: int
    length: int
    events: int
    wanted: Int64 | None


class WindowText(msgspec.Struct, frozen=True):
    """What is wanted of a file. header: its keys but traceEvents."""

    header: dict[str, Any]
    chunks: tuple[_WantedChunk, ...]


def window_text(trace: Trace, start_ns: int, end_ns: int) -> WindowText:
    """Return the events that overlap [start, end], and all metadata.

    start_ns, end_ns   from Trace.origin_ns
    """
    return picked(trace, (trace.events.start <= end_ns) & (trace.events.end >= start_ns))


def picked(trace: Trace, wanted: Bool) -> WindowText:
    """Return some events, and all metadata.

    wanted   shape (events,)
    """
    events, chunks = trace.events, trace.chunks
    wanted = wanted | (events.phase == EventPhase.METADATA)
    wanted[trace.pairs.end] = wanted[trace.pairs.begin]
    bounds = np.append(chunks.first_row, len(events))
    held = np.append(np.zeros(1, np.int64), np.cumsum(wanted))[bounds]
    found = []
    for at in np.flatnonzero(np.diff(held)).tolist():
        first, after = int(bounds[at]), int(bounds[at + 1])
        whole = held[at + 1] - held[at] == after - first
        rows = None if whole else np.flatnonzero(wanted[first:after])
        found.append(_WantedChunk(int(chunks.offset[at]), int(chunks.length[at]), after - first, rows))
    return WindowText(trace.header.raw, tuple(found))


def between(stream: BinaryIO, wanted: WindowText, limits: Limits | None = None) -> Iterator[bytes]:
    """Yield a document of the wanted events, piece by piece; `stream` is the file that the trace was read from.

    Where damage hides which text was read as which event, all readable events are included.
    """
    return document(wanted.header, _texts(stream, wanted.chunks, limits or Limits()))


def _texts(stream: BinaryIO, chunks: tuple[_WantedChunk, ...], limits: Limits) -> Iterator[bytes]:
    try:
        text = _ForwardText(ReadableText(stream, limits))
        for chunk in chunks:
            yield from _wanted_texts(text.at(chunk.offset, chunk.length), chunk)
    except OSError as error:
        raise TraceError(reason_of(error)) from None


def _wanted_texts(text: bytes, chunk: _WantedChunk) -> Iterator[bytes]:
    texts = EventTexts()
    content = b"[" + text + b"]"
    try:
        if chunk.wanted is None:
            yield from texts.strictly(content)
            return
        each = _raw_list.decode(content)
        str(content, "utf-8")  # msgspec does not check it in what it skips
    except UNREADABLE:
        each = _raw_list.decode(b"[" + b",".join(texts.repaired(content, 0) or texts.each_readable(content, 0)) + b"]")
    if len(each) != chunk.events:
        each = [event for event in each if _is_event(bytes(event))]
    if chunk.wanted is not None and len(each) == chunk.events:
        each = [each[place] for place in chunk.wanted.tolist()]
    yield from map(bytes, each)


def _is_event(text: bytes) -> bool:
    """Return whether the reader takes it for one."""
    return bool(EventDecoder(exact=False, note=lambda _: None).each_readable(b"[" + text + b"]", 0))


class _ForwardText:
    """A text from its start on: chunks of it, each behind the one before."""

    def __init__(self, text: Readable) -> None:
        self._text = text
        self._done = 0
        self._block = memoryview(bytearray(BLOCK_BYTES))

    def at(self, offset: int, length: int) -> bytes:
        """Less where the text ends before."""
        while self._done < offset and self._read(offset - self._done):
            pass
        found = bytearray()
        while len(found) < length and (count := self._read(length - len(found))):
            found += self._block[:count]
        return bytes(found)

    def _read(self, most: int) -> int:
        count = self._text.readinto(self._block[: min(most, BLOCK_BYTES)]) or 0
        self._done += count
        return count
