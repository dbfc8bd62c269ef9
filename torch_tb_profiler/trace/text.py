"""A byte stream of JSON text → header, chunks of whole events, tail. Looks at punctuation only, not into events.

Chunks are cut between two events. A raw newline cannot occur inside a JSON string, so the separator that the program
wrote, "newline, indent, }, comma, newline, indent, {", is a safe place to cut; it is taken from the first two events.
Text on one line has no such separator: there the cut is made after some `},`, and is right if the chunk decodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.other_formats import not_json, other_format
from torch_tb_profiler.reason import Reason, reason_of
from torch_tb_profiler.trace.events import Chunk
from torch_tb_profiler.trace.files import Rereadable
from torch_tb_profiler.trace.repair import (
    UNREADABLE,
    NotATraceError,
    Repair,
    end_of_list,
    end_of_object,
    end_of_tail,
    first_object,
    next_event,
    repair_text,
)
from torch_tb_profiler.trace.unpack import Readable
from torch_tb_profiler.words.sentences import because

CHUNK_BYTES = 256 * 1024
MAX_HEADER_BYTES = 64 * 1024 * 1024
#: how many earlier cuts are tried when a chunk does not decode: names may contain what looks like the end of an event
MAX_TRIES = 8
MAX_EVENT_BYTES = 64 * 1024 * 1024
#: zero bytes that a crash left where a file system had room for data; fewer may stand in a name
HOLE = bytes(64)

#: what comes before the events of a document
ARRAY_START = lazy_pattern(rb'"traceEvents"\s*:\s*\[')
_SEPARATOR = lazy_pattern(rb"\s*,\s*\{")
#: lists of numbers, where a list of events has objects
_NUMBERS = lazy_pattern(rb"\[(?:\s*\[)+\s*-?[0-9]")
#: of a list, to tell what is in it
_LIST_START_BYTES = 1024
#: of a text that is no trace: enough to recognize its format
_TOLD_BYTES = 64 * 1024
_TRAILING_COMMA = lazy_pattern(rb",\s*\]")
#: what stands behind the end of a document without a meaning; a file may have room that was never written
_BLANK = b" \t\r\n\0"
_BOM = b"\xef\xbb\xbf"


class ChunkedText:
    """Cuts the text of one trace. Use: `header`, then iterate `chunks()`, then `tail`."""

    def __init__(self, stream: Readable) -> None:
        self._stream = Rereadable(stream)
        self._buffer = bytearray(CHUNK_BYTES)
        self._start = 0  # of unread text in the buffer
        self._end = 0
        self._offset = 0  # of the buffer's first byte in the text
        self._ended = False
        #: why reading stopped before the end of the file, if it did (a truncated or corrupt gzip)
        self.broken: Reason | None = None
        self.header: dict[str, Any] = {}
        self.tail: dict[str, Any] = {}
        #: where keys begin that cannot be read, before and after the events
        self.damaged_header: int | None = None
        self.damaged_tail: int | None = None
        #: where more stands behind the end of the trace, or a second list of events in it; neither is read
        self.more: int | None = None
        #: of the keys before and after the events, with offsets in the text
        self.repairs: list[Repair] = []
        #: runs of zero bytes between events: (offset, length)
        self.holes: list[tuple[int, int]] = []
        #: where events begin that cannot be read, of those that are not in a chunk
        self.dropped: list[int] = []
        self.closed = False
        #: the text as it is before the first event, and from the end of the last one on
        self.head = self.rest = b""
        self._separator = b""
        self._event_close = 0  # bytes of the separator that belong to the event before it
        self._certain = False
        #: called before the text behind the chunks given so far is taken for anything but chunks; whether it has given
        #: text back
        self.settle: Callable[[], bool] = lambda: False
        self._given = False  # a chunk that was not passed
        self._cut = 0
        self._tries = 0
        self._overwritten = 0
        self._find_events()

    @property
    def offset(self) -> int:
        """Bytes of text consumed so far."""
        return self._offset + self._start

    @property
    def text_bytes(self) -> int:
        return self._offset + self._end

    # reading ------------------------------------------------------------------------------------------------

    def _fill(self) -> bool:
        """Read more text behind what is buffered; False at the end."""
        if self._ended:
            return False
        if self._start > 1:
            # the byte before the unread text stays free for an opening bracket
            unread = self._end - self._start
            self._buffer[1 : 1 + unread] = self._buffer[self._start : self._end]
            self._offset += self._start - 1
            self._start, self._end = 1, 1 + unread
        if self._end >= len(self._buffer) - 1:
            if len(self._buffer) > MAX_EVENT_BYTES:
                raise NotATraceError(because("long_event", {"bytes": MAX_EVENT_BYTES}))
            self._buffer = self._buffer + bytes(len(self._buffer))
        # one byte is left free for the closing bracket
        try:
            count = self._stream.readinto(memoryview(self._buffer)[self._end : len(self._buffer) - 1])
        except OSError as error:
            self.broken = reason_of(error)
            count = 0
        if not count:
            self._ended = True
            return False
        self._end += count
        return True

    def _find_events(self) -> None:
        while True:
            text = bytes(self._buffer[: self._end])
            stripped = text.removeprefix(_BOM).lstrip()
            if stripped.startswith(b"["):
                if len(stripped) < _LIST_START_BYTES and self._fill():
                    continue
                if _NUMBERS.match(stripped):
                    raise NotATraceError(because("numbers"))
                self._start = len(text) - len(stripped) + 1
                self.head = text[: self._start]
                return
            if stripped[:1] != b"{" and (other := other_format(text[:_TOLD_BYTES])) is not None:
                raise NotATraceError(other)  # an archive may hold the text of a trace as it is
            match = ARRAY_START.search(text)
            if match:
                self._start = match.end()
                self.head = text[: match.end()]
                self._read_header(text[: match.start()])
                return
            if self._end > MAX_HEADER_BYTES or not self._fill():
                break
        if self._end > MAX_HEADER_BYTES:
            first = f"{MAX_HEADER_BYTES >> 20} MiB"
            raise NotATraceError(because("no_trace_events", {"first": first}))
        if not stripped:
            raise NotATraceError(self.broken or because("empty"))
        if not stripped.startswith(b"{") or stripped[1:2] == b"\0":
            raise NotATraceError(not_json(stripped))
        raise NotATraceError(other_format(stripped[:_TOLD_BYTES]) or because("no_trace_events", {"first": ""}))

    def _read_header(self, text: bytes) -> None:
        keys = text.removeprefix(_BOM)
        begin = len(text) - len(keys)
        repairs: list[Repair] = []
        for repair in (False, True):
            if repair:
                keys, repairs = repair_text(keys)
            try:
                self.header = from_json(keys.rstrip().removesuffix(b",") + b"}", dict[str, Any])
            except UNREADABLE:
                continue
            self._note_repairs(repairs, begin)
            return
        self.damaged_header = begin

    def _note_repairs(self, repairs: list[Repair], offset: int) -> None:
        self.repairs += [replace(repair, first=offset + repair.first) for repair in repairs]

    def peek(self) -> bytes:
        """Return what is buffered of the events; nothing is consumed."""
        return bytes(self._buffer[self._start : self._end])

    # cutting ------------------------------------------------------------------------------------------------

    def chunks(self) -> Iterator[Chunk]:
        """Return the events of the file, chunk by chunk; the consumer may call `shorten` when one does not decode."""
        self._learn_separator()
        while self._pass():
            while self._end - self._start < CHUNK_BYTES - 2 and self._fill():
                pass
            hole = self._buffer.find(HOLE, self._start, self._end)
            if (hole >= 0 or self._ended) and self.settle():
                continue
            if hole >= 0:
                yield from self._last_chunk(hole)
                if self.closed or not self._skip_hole(hole):
                    return
                continue
            if self._ended:
                yield from self._last_chunk(self._end)
                if self.closed or not self._skip_damage():
                    return
                continue
            cut = self._find_cut(self._end)
            if cut is None:
                if not self.settle():
                    self._fill()
                continue
            self._cut = cut
            self._tries = 0
            self._given = True
            yield self._chunk(cut)

    def _pass(self) -> bool:
        """Go on after the last returned chunk; return whether the list continues there."""
        if self._given and not self.closed:
            self._given = False
            self._start = self._cut + len(self._between)
        return not self.closed

    def give_back(self, chunks: Sequence[Chunk]) -> Chunk:
        """Be as when the first of these was given; chunks from it to the one given last, with copies of their text."""
        self._pass()
        first = chunks[0]
        texts = [chunk.text[1:-1] for chunk in chunks]
        text = self._between.join([*texts, self._buffer[self._start : self._end]])
        self._stream.give_back(text[first.ahead :])
        self._buffer = bytearray(first.room)
        self._start, self._end, self._offset = 1, 1 + first.ahead, first.offset - 1
        self._buffer[self._start : self._end] = text[: first.ahead]
        self._ended, self.broken = False, None
        self._cut = 1 + len(texts[0])
        self._tries = 0
        self._given = True
        return self._chunk(self._cut)

    def _chunk(self, cut: int) -> Chunk:
        """Return the text up to `cut`, where the last event ends, with brackets written around it in the buffer."""
        start = self._start
        # the byte before the first event is blank, a comma or the bracket; the one after the last is a comma
        self._buffer[start - 1] = 0x5B
        self._overwritten = self._buffer[cut]
        self._buffer[cut] = 0x5D
        text = memoryview(self._buffer)[start - 1 : cut + 1]
        room = len(self._buffer) if self._between else 0
        return Chunk(text, self._offset + start, self._certain, last=False, ahead=self._end - start, room=room)

    @property
    def _between(self) -> bytes:
        """What stands between two chunks; nothing while the separator is assumed."""
        return self._separator[self._event_close : -1]

    def shorten(self) -> Chunk | None:
        """Return a shorter chunk than the last one, whose cut was a guess; None after `MAX_TRIES`."""
        self._restore()
        if self._tries >= MAX_TRIES:
            return None
        self._tries += 1
        cut = self._find_cut(self._cut)
        if cut is None:
            return None
        self._cut = cut
        return self._chunk(cut)

    def _restore(self) -> None:
        self._buffer[self._cut] = self._overwritten

    def close_list(self, length: int) -> None:
        """Take what follows the first `length` bytes of the current chunk for the tail."""
        self._restore()
        self._start += length
        while self._end - self._start < MAX_HEADER_BYTES and self._fill():
            pass
        self._read_tail(bytes(self._buffer[self._start : self._end]))

    def _learn_separator(self) -> None:
        """Find out what stands between two events, from the first two."""
        # assumed for a file of one event, and when the first event has no end
        self._separator, self._event_close, self._certain = b"},", 1, False
        while True:
            body = bytes(self._buffer[self._start : self._end]).lstrip()
            if body.startswith(b"]"):
                return
            # only braces are counted, as the first event may be damaged
            end = end_of_object(body, 0)
            separator = _SEPARATOR.match(body, end) if end else None
            if end and separator:
                break
            if self._end - self._start > 4 * CHUNK_BYTES or not self._fill():
                return
        close = end - 1
        indent = body[len(body[:close].rstrip()) : close]
        if b"\n" in indent:
            self._certain = True
        else:
            indent = b""
        self._separator = indent + b"}" + separator.group()
        self._event_close = len(indent) + 1

    def _find_cut(self, before: int) -> int | None:
        """Return where the last event that ends before position `before` ends."""
        found = self._buffer.rfind(self._separator, self._start, before)
        return None if found < 0 else found + self._event_close

    # the end ------------------------------------------------------------------------------------------------

    def _last_chunk(self, before: int) -> Iterator[Chunk]:
        """Return the whole events before a position, and the tail when the list is closed there."""
        text = bytes(self._buffer[self._start : before])
        length, closed = end_of_list(text)
        if length:
            yield Chunk(memoryview(b"[" + text[:length] + b"]"), self.offset, certain=True, last=True)
        self._start += length
        if closed:
            while self._end - self._start < MAX_HEADER_BYTES and self._fill():
                pass
            self._read_tail(bytes(self._buffer[self._start : self._end]))

    # damage between events ----------------------------------------------------------------------------------

    def _skip_hole(self, begin: int) -> bool:
        """Go on with the next event after a hole, or its end; False when nothing follows."""
        self._start = begin
        offset = self.offset
        while not (rest := bytes(self._buffer[self._start : self._end]).lstrip(b"\0")):
            self._start = self._end
            if not self._fill():
                break
        self._start = self._end - len(rest)
        self.holes.append((offset, self.offset - offset))
        return self._to_next_event()

    def _skip_damage(self) -> bool:
        """Go on, at the end of the text, with an event after a damaged one; False when the text is cut off here."""
        begin, offset = self._start, self.offset
        found = self._to_next_event()
        if found or self.closed:
            self.dropped.append(offset)
        else:
            self._start = begin
        return found

    def _to_next_event(self) -> bool:
        """Skip to where an event or another hole begins; False, and the tail is read, when there is none."""
        while True:
            while self._end - self._start < 4 * CHUNK_BYTES and self._fill():
                pass
            hole = self._buffer.find(HOLE, self._start, self._end)
            text = bytes(self._buffer[self._start : self._end if hole < 0 else hole])
            begin = next_event(text, 0)
            if begin is None and hole >= 0:
                begin = len(text)
            if begin is not None:
                self._start += begin
                return True
            if self._ended:
                break
            self._start = self._end
        bracket = end_of_tail(text)
        if bracket is not None:
            self._start += bracket
            self._read_tail(text[bracket:])
        return False

    def _read_tail(self, text: bytes) -> None:
        self.closed = True
        self.rest = text
        rest = text.lstrip()
        if _TRAILING_COMMA.match(rest):
            comma = self.offset + len(text) - len(rest)
            self.repairs.append(Repair("trailing_commas", 1, comma))
            rest = rest[1:].lstrip()
        rest = rest.removeprefix(b"]").lstrip().removeprefix(b",").lstrip()
        if not rest.strip():
            return  # the file is a list, not an object
        try:
            self.tail = from_json(b"{" + rest, dict[str, Any])
        except UNREADABLE:
            repaired, repairs = repair_text(b"{" + rest)
            tail = first_object(repaired)
            self.tail = tail[0] if tail else {}
            if not tail:
                self.damaged_tail = self.offset + len(text) - len(rest)
            else:
                # repairs after the end of the object do not count; the repaired text has an opening brace put before it
                end = tail[1] + max(0, len(rest) + 1 - len(repaired))
                within = [repair for repair in repairs if repair.first < end]
                begin = self.offset + len(text) - len(rest) - 1
                self._note_repairs(within, begin)
                if repaired[tail[1] :].strip(_BLANK):
                    self.more = begin + end
        if self.tail.get("traceEvents"):
            self.more = self.offset + len(text) - len(rest)
