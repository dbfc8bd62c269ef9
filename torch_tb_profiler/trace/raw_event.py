"""The arguments of one event as text, as they stand in the file: also those that no column holds."""

from __future__ import annotations

from typing import Any, BinaryIO

import msgspec
import numpy as np

from torch_tb_profiler.codec import from_json, json_decoder
from torch_tb_profiler.reason import OTHER, Reason, reason_of
from torch_tb_profiler.trace.json_scan import UNREADABLE
from torch_tb_profiler.trace.not_a_trace import NotATraceError
from torch_tb_profiler.trace.python_exporter import kineto_name
from torch_tb_profiler.trace.reader import TraceError
from torch_tb_profiler.trace.store import Trace
from torch_tb_profiler.trace.unpack import Limits, Readable, StoredFile, text_of

_BLOCK_BYTES = 1024 * 1024

_list = json_decoder(list[msgspec.Raw])


class _Event(msgspec.Struct):
    name: str | None = ""
    args: msgspec.Raw = msgspec.Raw(b"")


def raw_args(trace: Trace, row: int, stream: BinaryIO, limits: Limits | None = None) -> str | None:
    """The JSON text of `args` of an event of the trace, indented; None if the event has none.

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
    """Raises TraceError: nothing says where the event stands."""
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
        piece = _at(text, place.offset, place.length)
        events = _list.decode(b"[" + piece + b"]")
        event = from_json(events[place.at], _Event) if len(events) == place.events else None
    except (*UNREADABLE, IndexError):
        event = None
    except (NotATraceError, OSError) as error:
        raise TraceError(reason_of(error)) from None
    if event is None or not _is_called(event, place.name):
        words = "is damaged around this event, or has changed: only what was read of it can be shown"
        raise TraceError(Reason(OTHER, words))
    return msgspec.json.format(bytes(event.args), indent=2).decode() if event.args else None


def _is_called(event: _Event, name: str) -> bool:
    """Whether an event of the file has the name of one of the trace, which may be the one that Kineto writes."""
    written = event.name or ""
    try:
        return name in (written, kineto_name(written, from_json(event.args, dict[str, Any])))
    except UNREADABLE:
        return name == written


def _at(text: Readable, offset: int, length: int) -> bytes:
    """`length` bytes of a text from `offset` on; the text can only be read from its start."""
    buffer = memoryview(bytearray(_BLOCK_BYTES))
    while offset > 0 and (count := text.readinto(buffer[: min(offset, _BLOCK_BYTES)])):
        offset -= count
    found = bytearray()
    while len(found) < length and (count := text.readinto(buffer[: min(length - len(found), _BLOCK_BYTES)])):
        found += buffer[:count]
    return bytes(found)
