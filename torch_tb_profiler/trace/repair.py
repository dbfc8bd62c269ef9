"""Text that is almost JSON → JSON, and a list of the repairs."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from itertools import chain

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace.json_scan import inside_strings


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
