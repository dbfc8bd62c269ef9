"""The events of a window of time as they stand in the file: only the text around them is decoded.

The columns say when each event was, and `Chunks` in which stretch of the text it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.codec import json_decoder
from torch_tb_profiler.reason import reason_of
from torch_tb_profiler.trace.decode import EventDecoder
from torch_tb_profiler.trace.json_scan import UNREADABLE
from torch_tb_profiler.trace.readable_text import ReadableText
from torch_tb_profiler.trace.reader import TraceError
from torch_tb_profiler.trace.rewrite import BLOCK_BYTES, EventTexts, document
from torch_tb_profiler.trace.schema import Phase
from torch_tb_profiler.trace.store import Trace
from torch_tb_profiler.trace.unpack import Limits, Readable

_list = json_decoder(list[msgspec.Raw])


class _Stretch(msgspec.Struct, frozen=True):
    """Text that holds events that are wanted.

    offset, length   in the text of the file, bytes
    events           how many were read of it
    wanted           which of these, ascending; None for all of them
    """

    offset: int
    length: int
    events: int
    wanted: Int64 | None


class Window(msgspec.Struct, frozen=True):
    """What is wanted of a file. header: its keys but traceEvents."""

    header: dict[str, Any]
    stretches: tuple[_Stretch, ...]


def window(trace: Trace, start_ns: int, end_ns: int) -> Window:
    """The events of which a part lies between two times, both included, and all metadata.

    start_ns, end_ns   from Trace.origin_ns
    """
    return picked(trace, (trace.events.start <= end_ns) & (trace.events.end >= start_ns))


def picked(trace: Trace, wanted: Bool) -> Window:
    """Some events, and all metadata.

    wanted   shape (events,)
    """
    events, chunks = trace.events, trace.chunks
    wanted = wanted | (events.phase == Phase.METADATA)
    wanted[trace.pairs.end] = wanted[trace.pairs.begin]
    bounds = np.append(chunks.first_row, len(events))
    held = np.append(np.zeros(1, np.int64), np.cumsum(wanted))[bounds]
    found = []
    for at in np.flatnonzero(np.diff(held)).tolist():
        first, after = int(bounds[at]), int(bounds[at + 1])
        whole = held[at + 1] - held[at] == after - first
        rows = None if whole else np.flatnonzero(wanted[first:after])
        found.append(_Stretch(int(chunks.offset[at]), int(chunks.length[at]), after - first, rows))
    return Window(trace.header.raw, tuple(found))


def between(stream: BinaryIO, wanted: Window, limits: Limits | None = None) -> Iterator[bytes]:
    """A document of what is wanted, piece by piece; `stream` is the file that the trace was read from.

    Where text is damaged so that it is not known which of it was read as which event, all that can be read is given.
    """
    return document(wanted.header, _texts(stream, wanted.stretches, limits or Limits()))


def _texts(stream: BinaryIO, stretches: tuple[_Stretch, ...], limits: Limits) -> Iterator[bytes]:
    try:
        text = _Forward(ReadableText(stream, limits))
        for stretch in stretches:
            yield from _wanted(text.at(stretch.offset, stretch.length), stretch)
    except OSError as error:
        raise TraceError(reason_of(error)) from None


def _wanted(text: bytes, stretch: _Stretch) -> Iterator[bytes]:
    texts = EventTexts()
    content = b"[" + text + b"]"
    try:
        if stretch.wanted is None:
            yield from texts.strictly(content)
            return
        each = _list.decode(content)
        str(content, "utf-8")  # msgspec does not check it in what it skips
    except UNREADABLE:
        each = _list.decode(b"[" + b",".join(texts.repaired(content, 0) or texts.each_readable(content, 0)) + b"]")
    if len(each) != stretch.events:
        each = [event for event in each if _is_event(bytes(event))]
    if stretch.wanted is not None and len(each) == stretch.events:
        each = [each[place] for place in stretch.wanted.tolist()]
    yield from map(bytes, each)


def _is_event(text: bytes) -> bool:
    """Whether the reader takes it for one."""
    return bool(EventDecoder(exact=False, note=lambda _: None).each_readable(b"[" + text + b"]", 0))


class _Forward:
    """A text from its start on: stretches of it, each behind the one before."""

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
