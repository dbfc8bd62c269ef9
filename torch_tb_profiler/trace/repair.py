"""Text that is almost JSON → JSON, and a list of the repairs; where strings, objects and lists begin and end in it."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.types import Bool, Int64
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


class Repair(msgspec.Struct, frozen=True):
    """One kind of repair: how often it was made, and the position of the first in the unrepaired text."""

    kind: str
    count: int
    first: int


_CONTROL_TO_BLANK = bytes(max(b, 32) for b in range(256))
_ESCAPE = lazy_pattern(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(\\)')
_SURROGATE = lazy_pattern(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_BARE_WORD = lazy_pattern(rb"(?:-?Infinity|-?NaN|nan|-?inf|N/A)(?=\s*[,\]}])")
_FIRST_LETTERS = [int.from_bytes(letters, "big") for letters in (b"Inf", b"NaN", b"nan", b"inf", b"N/A")]
_BEFORE_A_WORD, _START_OF_A_WORD = 1, 2
_AROUND_WORDS = bytes(
    _BEFORE_A_WORD if b in b":,[ \t\r\n" else _START_OF_A_WORD if b in b"-INni" else 0 for b in range(256)
)
_BLANK = np.zeros(256, dtype=np.bool_)
_BLANK[list(b" \t\r\n")] = True
_REPLACEMENT = "\ufffd".encode()
#: bytes that are decoded at once when some are not UTF-8
_WINDOW = 4096
#: places that are Python objects at the same time
_SPANS = 1 << 16


def repair_text(text: bytes) -> tuple[bytes, list[Repair]]:
    """Make damaged text valid JSON, if it can be done without changing the order of events."""
    repairer = _Repairer(text)
    repairer.replace("bad_escapes", _bad_escapes, rb"\\")
    repairer.replace("half_surrogates", _half_surrogates, rb"\ufffd")
    repairer.replace("bad_utf8", _undecodable, _REPLACEMENT)
    repairer.blank_control_characters()
    repairer.replace_bare_words()
    repairer.replace_outside_strings("trailing_commas", _trailing_commas, b"")
    return repairer.text, repairer.repairs


def repair_bare_words(text: bytes) -> tuple[bytes, list[Repair]]:
    """Repair only bare words, which some versions of the profiler write for every kernel: faster than `repair_text`."""
    repairer = _Repairer(text)
    repairer.replace_bare_words()
    return repairer.text, repairer.repairs


class _Repairer:
    def __init__(self, text: bytes) -> None:
        self.text = text
        self.repairs: list[Repair] = []
        self._inside: Bool | None = None
        # where the text grew or shrank: positions in the repaired text, and bytes, in the order of the repairs
        self._grown: list[tuple[Int64, Int64]] = []

    def _note(self, kind: str, places: Int64) -> None:
        if len(places):
            self.repairs.append(Repair(kind, len(places), self._original(int(places[0]))))

    def _original(self, position: int) -> int:
        for places, grown in reversed(self._grown):
            position -= int(grown[places < position].sum())
        return position

    def inside(self) -> Bool:
        """`inside_strings` of the text as it is now."""
        if self._inside is None:
            self._inside = inside_strings(self.text)
        return self._inside

    def replace(self, kind: str, find: Callable[[bytes], Iterable[tuple[int, int]]], by: bytes) -> None:
        """Replace the spans that `find` returns."""
        spans = _listed(find(self.text))
        if len(spans):
            self._replace(kind, spans, by)

    def replace_bare_words(self) -> None:
        self.replace_outside_strings("bare_words", _bare_words, b"null")

    def replace_outside_strings(self, kind: str, find: Callable[[bytes], Iterable[tuple[int, int]]], by: bytes) -> None:
        spans = _listed(find(self.text))
        if len(spans):
            spans = spans[~self.inside()[spans[:, 0]]]
        if len(spans):
            self._replace(kind, spans, by)

    def _replace(self, kind: str, spans: Int64, by: bytes) -> None:
        self._note(kind, spans[:, 0])
        text = bytearray()
        done = 0
        for block in range(0, len(spans), _SPANS):
            for start, end in spans[block : block + _SPANS].tolist():
                text += self.text[done:start]
                text += by
                done = end
        text += self.text[done:]
        self.text = bytes(text)
        self._inside = None
        grown = len(by) - (spans[:, 1] - spans[:, 0])
        places = spans[:, 0] + np.cumsum(grown) - grown
        self._grown.append((places, grown))

    def blank_control_characters(self) -> None:
        codes = np.frombuffer(self.text, np.uint8)
        # JSON allows these between values
        control = np.flatnonzero((codes < 32) & (self.inside() | ~_BLANK[codes]))
        self._note("control_characters", control)
        self.text = self.text.translate(_CONTROL_TO_BLANK)


def _listed(spans: Iterable[tuple[int, int]]) -> Int64:
    """Return start and end of each span, shape (spans, 2). One text may have millions."""
    return np.fromiter(chain.from_iterable(spans), dtype=np.int64).reshape(-1, 2)


def _bad_escapes(text: bytes) -> Iterable[tuple[int, int]]:
    return (m.span(1) for m in _ESCAPE.finditer(text) if m.group(1)) if b"\\" in text else ()


def _half_surrogates(text: bytes) -> Iterable[tuple[int, int]]:
    # searching for one byte is much faster than for two
    escapes = b"\\" in text and b"\\u" in text
    return (m.span(1) for m in _SURROGATE.finditer(text) if m.group(1)) if escapes else ()


def _trailing_commas(text: bytes) -> Iterable[tuple[int, int]]:
    codes = np.frombuffer(text, np.uint8)
    # from each closing bracket back over blanks
    places = np.flatnonzero((codes == ord("]")) | (codes == ord("}"))) - 1
    places = places[places >= 0]
    while (blank := _BLANK[codes[places]]).any():
        places[blank] -= 1
        places = places[places >= 0]
    places = distinct(places[codes[places] == ord(",")])
    return ((place, place + 1) for place in places.tolist())


def _bare_words(text: bytes) -> Iterable[tuple[int, int]]:
    padded = b"," + text + b"   "
    codes = np.frombuffer(padded, np.uint8)
    around = np.frombuffer(padded.translate(_AROUND_WORDS), np.uint8)
    places = np.flatnonzero((around[1:] == _START_OF_A_WORD) & (around[:-1] == _BEFORE_A_WORD))
    # most places are names in strings; comparing the first letters rules these out
    letters = places + 1
    letters += codes[letters] == ord("-")
    first = codes[letters].astype(np.int32) << 16 | codes[letters + 1].astype(np.int32) << 8 | codes[letters + 2]
    words = (_BARE_WORD.match(text, place) for place in places[np.isin(first, _FIRST_LETTERS)].tolist())
    return (word.span() for word in words if word)


def _undecodable(text: bytes) -> Iterable[tuple[int, int]]:
    # window by window: decoding again after each wrong byte costs time in proportion to the rest of the text
    view = memoryview(text)
    position = 0
    while position < len(text):
        window = view[position : position + _WINDOW]
        is_last = position + _WINDOW >= len(text)
        try:
            position += codecs.utf_8_decode(window, "strict", is_last)[1]
        except UnicodeDecodeError as error:
            yield position + error.start, position + error.end
            position += error.end
