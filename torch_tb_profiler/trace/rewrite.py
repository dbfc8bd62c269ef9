"""A stored trace → a document that every viewer can open, with events added; written in chunks.

Valid JSON text is copied as it is. Otherwise a document is made of the readable keys and events, the same as those of
`reader`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, BinaryIO

import msgspec

from torch_tb_profiler.codec import json_decoder
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace.json_scan import UNREADABLE, NotATraceError, each_object
from torch_tb_profiler.trace.readable import ReadableText
from torch_tb_profiler.trace.reader import TraceError, decode_chunk
from torch_tb_profiler.trace.repair import repair_text
from torch_tb_profiler.trace.text import ARRAY_START, MAX_HEADER_BYTES, ChunkedText
from torch_tb_profiler.trace.unpack import Limits, Readable, StoredFile, text_of
from torch_tb_profiler.words.reasons import because

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
