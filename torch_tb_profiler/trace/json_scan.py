"""Where strings, objects and lists begin and end in JSON text that may be damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.codec import json_decoder
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Reason

#: what JSON decoders raise. ValueError: text that is not UTF-8, too many digits; RecursionError: nested too deep
UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)

_QUOTE_OR_BRACE = lazy_pattern(rb'["{}]')
_EVENT_START = lazy_pattern(rb"(?:\}|\A)\s*(?:,\s*)?(?=\{)")
_LIST_END = lazy_pattern(rb"\}\s*\](?=\s*(?:,\s*\"|\}\s*\Z|\Z))")
_MAX_CUT_OFF = 64  # each costs a scan of the whole text
_keys = json_decoder(dict[str, msgspec.Raw])
_loose_strings = json.JSONDecoder(strict=False)

# +1 opens a list or an object, -1 closes one
_DEPTH = bytes(1 if b in b"[{" else 255 if b in b"]}" else 0 for b in range(256))


def inside_strings(text: bytes) -> Bool:
    """Return for each byte whether it is in a string, the opening quote included; escapes must be whole."""
    codes = np.frombuffer(text, np.uint8)
    quotes = codes == ord('"')
    if b"\\" in text:
        backslashes = np.flatnonzero(codes == ord("\\"))
        # in a row of backslashes the first, third, fifth … escape the character after them
        rows = np.concatenate(([True], np.diff(backslashes) != 1))
        number = np.arange(len(backslashes)) - np.maximum.accumulate(np.where(rows, np.arange(len(backslashes)), 0))
        escaped = backslashes[number % 2 == 0] + 1
        quotes[escaped[escaped < len(codes)]] = False
    inside: Bool = np.logical_xor.accumulate(quotes)
    return inside


def end_of_list(text: bytes) -> tuple[int, bool]:
    """Return where the last whole object of `object, object, … ] tail` ends, and whether the list is closed after it.

    If the list is closed, elements after the last object that are not objects belong to the list, too.
    """
    steps = np.frombuffer(text.translate(_DEPTH), dtype=np.int8)
    places = np.flatnonzero(steps.astype(np.bool_) & ~inside_strings(text))
    depth = np.cumsum(steps[places], dtype=np.int64)
    closing = np.flatnonzero(depth < 0)
    closed = len(closing) > 0 and text[places[closing[0]]] == ord("]")
    ends = np.flatnonzero(depth[: closing[0] if len(closing) else None] == 0)
    if not len(ends):
        return 0, closed
    end = int(places[ends[-1]]) + 1
    if closed:
        end += len(text[end : places[closing[0]]].rstrip(b", \t\r\n"))
    return end, closed


def end_of_object(text: bytes, start: int) -> int | None:
    """Return the position after the object that opens at `start`; None if the text ends before it closes."""
    depth = 0
    position: int | None = start
    while position is not None and (match := _QUOTE_OR_BRACE.search(text, position)):
        token, position = match.group(), match.end()
        if token == b'"':
            position = _end_of_string(text, position)
        elif token == b"{":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return position
    return None


def _end_of_string(text: bytes, start: int) -> int | None:
    """Return the position after the quote that closes the string whose content begins at `start`; None without one."""
    while (quote := text.find(b'"', start)) >= 0:
        content = text[start:quote]
        start = quote + 1
        if (len(content) - len(content.rstrip(b"\\"))) % 2 == 0:
            return start
    return None


def first_object(text: bytes) -> tuple[dict[str, Any], int] | None:
    """Return the JSON object at the start of `text` and the position after it; None if it is not complete."""
    try:
        # latin-1 keeps positions equal to byte offsets
        value, end = _loose_strings.raw_decode(text.decode("latin-1"))
    except UNREADABLE:
        return None
    return (value, end) if isinstance(value, dict) else None


def next_event(text: bytes, start: int) -> int | None:
    """Return where the next event begins, in text that may begin inside an event; None without one."""
    return EventStarts(text).following(start)


class EventStarts:
    """Where events begin in text that may be damaged. Each place is looked at once, however often it is asked."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._places = _EVENT_START.finditer(text)
        self._found: int | None = -1
        self._looks = _MAX_CUT_OFF * len(text)

    def following(self, start: int) -> int | None:
        """Return the first event that begins after `start`, which must not decrease between calls; None for none.

        A check of a place reads the object that begins there. When the checks have read several times the whole text,
        no more events are searched.
        """
        while self._found is not None and self._found < start:
            self._found = self._next(start)
        return self._found

    def _next(self, start: int) -> int | None:
        for match in self._places:
            if match.start() < start:
                continue
            begin = match.end()
            end = end_of_object(self._text, begin)
            self._looks -= (len(self._text) if end is None else end) - begin
            if self._looks < 0:
                return None
            if end is not None and _is_event(self._text[begin:end]):
                return begin
        return None


def _is_event(text: bytes) -> bool:
    try:
        return "ph" in _keys.decode(text)
    except UNREADABLE:
        return False


def end_of_tail(text: bytes) -> int | None:
    """Return the position of the bracket that ends the list of events, in text that may begin inside an event."""
    for match in list(_LIST_END.finditer(text))[-_MAX_CUT_OFF:]:
        rest = text[match.end() :].strip()
        try:
            _keys.decode(b"{" + rest.removeprefix(b",") if rest else b"{}")
        except UNREADABLE:
            continue
        return match.end() - 1
    return None


def each_object(text: bytes, take: Callable[[int, int], bool], drop: Callable[[int], None]) -> None:
    """Visit each object of a list in turn.

    take   gets start and end of an object, and returns whether it could be read
    drop   gets the start of an unreadable object; reading goes on with the next event, which is inside it if a quote
           or a brace is missing
    """
    inside = 0
    starts = EventStarts(text)
    position = text.find(b"{")
    while position >= 0:
        end = end_of_object(text, position)
        if end is not None and take(position, end):
            position = text.find(b"{", end)
            continue
        drop(position)
        following = starts.following(position + 1)
        if following is None:
            position = -1 if end is None else text.find(b"{", end)
            continue
        if end is None or following < end:
            inside += 1
            if inside > _MAX_CUT_OFF:
                return
        position = following


class NotATraceError(ValueError):
    """The text has no list of trace events; the reason says what it has."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason
