"""Text that is almost JSON → JSON, and what was changed to get there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Repair:
    """One kind of repair: how often, and the position of the first in the text as it was."""

    kind: str
    text: str
    count: int
    first: int


_STRING = rb'"(?:[^"\\]|\\.)*"'
_CONTROL_TO_BLANK = bytes(max(b, 32) for b in range(256))
_CONTROL = re.compile(rb"[\x00-\x1f]")
_ESCAPE = re.compile(rb'(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))|\\')
_SURROGATE = re.compile(
    rb"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_BARE_WORD = re.compile(rb"(" + _STRING + rb")|(?<=[:,\[\s])-?(?:NaN|nan|Infinity|inf|N/A)(?=\s*[,\]}])", re.DOTALL)
_COMMA = re.compile(rb"(" + _STRING + rb")|,(?=\s*[}\]])", re.DOTALL)


def repair_text(text: bytes) -> tuple[bytes, list[Repair]]:
    """Make damaged JSON text readable without moving any event to another place in the order."""
    repairs: list[Repair] = []

    def note(kind: str, what: str, places: list[int]) -> None:
        if places:
            repairs.append(Repair(kind, what, len(places), places[0]))

    def substitute(kind: str, what: str, pattern: re.Pattern[bytes], by: bytes) -> Callable[[bytes], bytes]:
        """What matches the pattern's group is right as it stands; what matches without it is replaced."""
        note(kind, what, [m.start() for m in pattern.finditer(text) if m.group(1) is None])
        return lambda current: pattern.sub(lambda m: m.group(1) or by, current)

    inside_strings = [
        control.start()
        for string in re.finditer(_STRING, text, re.DOTALL)
        for control in _CONTROL.finditer(text, string.start(), string.end())
    ]
    note("control_characters", "raw control characters became blanks", inside_strings)
    steps = [
        lambda current: current.translate(_CONTROL_TO_BLANK),
        substitute("bad_escapes", "lone backslashes were kept as backslashes", _ESCAPE, rb"\\"),
        substitute("half_surrogates", "halves of surrogate pairs became U+FFFD", _SURROGATE, rb"\ufffd"),
        lambda current: current.decode(errors="replace").encode(),
        substitute("bare_words", "bare NaN, Infinity or N/A became missing values", _BARE_WORD, b"null"),
        substitute("trailing_commas", "commas after the last element were dropped", _COMMA, b""),
    ]
    note("bad_utf8", "bytes that are not UTF-8 became U+FFFD", _undecodable(text))
    for step in steps:
        text = step(text)
    return text, repairs


def _undecodable(text: bytes) -> list[int]:
    places: list[int] = []
    position = 0
    while True:
        try:
            text[position:].decode()
        except UnicodeDecodeError as error:
            places.append(position + error.start)
            position += max(error.end, error.start + 1)
        else:
            return places
