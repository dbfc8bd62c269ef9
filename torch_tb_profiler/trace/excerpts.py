"""Events as they stand in the file: the arguments of one, or all of a window of time; only text around them is decoded.

The columns say when each event was, and `Chunks` in which chunk of the text it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.codec import from_json, json_decoder
from torch_tb_profiler.reason import OTHER, Reason, reason_of
from torch_tb_profiler.trace.decode import EventDecoder
from torch_tb_profiler.trace.json_scan import UNREADABLE, NotATraceError
from torch_tb_profiler.trace.readable import ReadableText
from torch_tb_profiler.trace.reader import TraceError
from torch_tb_profiler.trace.rewrite import BLOCK_BYTES, EventTexts, document
from torch_tb_profiler.trace.schema import EventPhase
from torch_tb_profiler.trace.store import Trace
from torch_tb_profiler.trace.unpack import Limits, Readable, StoredFile, text_of
from torch_tb_profiler.trace.vocabulary import kineto_name

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
