"""Text that is almost JSON → JSON, and what was changed to get there."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.trace.schema import Bool


@dataclass(frozen=True)
class Repair:
    """One kind of repair: how often, and the position of the first in the text as it was."""

    kind: str
    text: str
    count: int
    first: int


TRAILING_COMMAS = "commas after the last element were dropped"

_CONTROL_TO_BLANK = bytes(max(b, 32) for b in range(256))
_ESCAPE = re.compile(rb'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(\\)')
_SURROGATE = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)
_BARE_WORDS = (b"-Infinity", b"Infinity", b"-NaN", b"NaN", b"nan", b"-inf", b"inf", b"N/A")
_VALUE_ENDS = re.compile(rb"\s*[,\]}]")
_COMMA = re.compile(rb"(,)(?=\s*[}\]])")
_REPLACEMENT = "\ufffd".encode()


def repair_text(text: bytes) -> tuple[bytes, list[Repair]]:
    """Make damaged JSON text readable without moving any event to another place in the order."""
    repairer = _Repairer(text)
    repairer.replace("bad_escapes", "lone backslashes were kept as backslashes", _bad_escapes, rb"\\")
    repairer.replace("half_surrogates", "halves of surrogate pairs became U+FFFD", _half_surrogates, rb"\ufffd")
    repairer.replace("bad_utf8", "bytes that are not UTF-8 became U+FFFD", _undecodable, _REPLACEMENT)
    repairer.blank_control_characters()
    repairer.replace("bare_words", "bare NaN, Infinity or N/A became missing values", _bare_words, b"null")
    repairer.replace("trailing_commas", TRAILING_COMMAS, _trailing_commas, b"")
    return repairer.text, repairer.repairs


class _Repairer:
    def __init__(self, text: bytes) -> None:
        self.text = text
        self.repairs: list[Repair] = []
        # where the text grew or shrank: (position in the repaired text, bytes), in the order of the repairs
        self._grown: list[list[tuple[int, int]]] = []

    def _note(self, kind: str, what: str, places: list[int]) -> None:
        if places:
            self.repairs.append(Repair(kind, what, len(places), self._original(places[0])))

    def _original(self, position: int) -> int:
        for step in reversed(self._grown):
            position -= sum(grown for place, grown in step if place < position)
        return position

    def replace(self, kind: str, what: str, find: Callable[[bytes], Iterable[tuple[int, int]]], by: bytes) -> None:
        """Replace the spans that `find` finds."""
        spans = list(find(self.text))
        if not spans:
            return
        self._note(kind, what, [start for start, _ in spans])
        parts: list[bytes] = []
        done = length = 0
        grown: list[tuple[int, int]] = []
        for start, end in spans:
            parts += [self.text[done:start], by]
            length += start - done
            grown.append((length, len(by) - (end - start)))
            length += len(by)
            done = end
        self.text = b"".join([*parts, self.text[done:]])
        self._grown.append(grown)

    def blank_control_characters(self) -> None:
        control = np.flatnonzero((np.frombuffer(self.text, np.uint8) < 32) & inside_strings(self.text))
        self._note("control_characters", "raw control characters became blanks", control.tolist())
        # outside of strings they are blanks already
        self.text = self.text.translate(_CONTROL_TO_BLANK)


def inside_strings(text: bytes) -> Bool:
    """For each byte whether it lies in a string, the opening quote included; escapes must be whole."""
    codes = np.frombuffer(text, np.uint8)
    quotes = codes == ord('"')
    if b"\\" in text:
        backslashes = np.flatnonzero(codes == ord("\\"))
        # the odd ones of each unbroken row of backslashes escape what follows
        rows = np.concatenate(([True], np.diff(backslashes) != 1))
        number = np.arange(len(backslashes)) - np.maximum.accumulate(np.where(rows, np.arange(len(backslashes)), 0))
        escaped = backslashes[number % 2 == 0] + 1
        quotes[escaped[escaped < len(codes)]] = False
    inside: Bool = np.logical_xor.accumulate(quotes)
    return inside


def _bad_escapes(text: bytes) -> Iterable[tuple[int, int]]:
    return (m.span(1) for m in _ESCAPE.finditer(text) if m.group(1)) if b"\\" in text else ()


def _half_surrogates(text: bytes) -> Iterable[tuple[int, int]]:
    return (m.span(1) for m in _SURROGATE.finditer(text) if m.group(1)) if b"\\u" in text else ()


def _trailing_commas(text: bytes) -> Iterable[tuple[int, int]]:
    spans = [m.span(1) for m in _COMMA.finditer(text)]
    if spans:
        inside = inside_strings(text)
        spans = [s for s in spans if not inside[s[0]]]
    return spans


def _bare_words(text: bytes) -> Iterable[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for word in _BARE_WORDS:
        at = text.find(word)
        while at >= 0:
            if text[at - 1 : at] in b":,[ \t\r\n" and _VALUE_ENDS.match(text, at + len(word)):
                spans.append((at, at + len(word)))
            at = text.find(word, at + 1)
    if spans:
        inside = inside_strings(text)
        spans = sorted(s for s in spans if not inside[s[0]])
    return spans


def _undecodable(text: bytes) -> Iterable[tuple[int, int]]:
    view = memoryview(text)
    position = 0
    while True:
        try:
            codecs.utf_8_decode(view[position:], "strict", True)
        except UnicodeDecodeError as error:
            yield position + error.start, position + error.end
            position += error.end
        else:
            return
