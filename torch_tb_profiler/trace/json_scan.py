"""Where strings, objects and lists begin and end in JSON text that may be damaged."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool

#: what JSON decoders raise. ValueError: text that is not UTF-8, too many digits; RecursionError: nested too deep
UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)

_STRING_OR_BRACE = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_EVENT_START = re.compile(rb"(?:\}|\A)\s*,?\s*(?=\{)")
_LIST_END = re.compile(rb"\}\s*\](?=\s*(?:,\s*\"|\}\s*\Z|\Z))")
_MAX_CUT_OFF = 64  # each costs a look at the whole text
_keys = msgspec.json.Decoder(dict[str, msgspec.Raw])
_loose_strings = json.JSONDecoder(strict=False)

# +1 opens a list or an object, -1 closes one
_DEPTH = np.zeros(256, dtype=np.int8)
_DEPTH[list(b"[{")] = 1
_DEPTH[list(b"]}")] = -1


def inside_strings(text: bytes) -> Bool:
    """For each byte whether it lies in a string, the opening quote included; escapes must be whole."""
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
    """Where the last whole object of `object, object, … ] tail` ends, and whether the list is closed after it.

    When the list is closed, elements after the last object that are no objects belong to the list, too.
    """
    steps = _DEPTH[np.frombuffer(text, dtype=np.uint8)]
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
    """The position after the object that opens at `start`; None when the text ends before it closes."""
    depth = 0
    for match in _STRING_OR_BRACE.finditer(text, start):
        token = match.group()
        if token == b"{":
            depth += 1
        elif token == b"}":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def first_object(text: bytes) -> tuple[dict[str, Any], int] | None:
    """The JSON object at the start of `text` and the position after it; None when it is not complete."""
    try:
        # latin-1 keeps positions equal to byte offsets
        value, end = _loose_strings.raw_decode(text.decode("latin-1"))
    except UNREADABLE:
        return None
    return (value, end) if isinstance(value, dict) else None


def next_event(text: bytes, start: int) -> int | None:
    """Where the next event begins in text that may begin inside of one; None when none is found."""
    cut_off = 0
    for match in _EVENT_START.finditer(text, start):
        end = end_of_object(text, match.end())
        if end is None:
            cut_off += 1
            if cut_off > _MAX_CUT_OFF:
                return None
        elif _is_event(text[match.end() : end]):
            return match.end()
    return None


def _is_event(text: bytes) -> bool:
    try:
        return "ph" in _keys.decode(text)
    except UNREADABLE:
        return False


def end_of_tail(text: bytes) -> int | None:
    """Where the bracket that ends the list of events stands, in text that may begin inside of an event."""
    for match in list(_LIST_END.finditer(text))[-_MAX_CUT_OFF:]:
        rest = text[match.end() :].strip()
        try:
            _keys.decode(b"{" + rest.removeprefix(b",") if rest else b"{}")
        except UNREADABLE:
            continue
        return match.end() - 1
    return None


def each_object(text: bytes, take: Callable[[int, int], bool], drop: Callable[[int], None]) -> None:
    """Each object of a list in turn.

    take   is told where one begins and ends, and answers whether it could be read
    drop   is told where one begins that could not be read; reading goes on with the event after it, which stands inside
           of it when a quote or a brace is missing
    """
    inside = 0
    position = text.find(b"{")
    while position >= 0:
        end = end_of_object(text, position)
        if end is not None and take(position, end):
            position = text.find(b"{", end)
            continue
        drop(position)
        following = next_event(text, position + 1)
        if following is None:
            position = -1 if end is None else text.find(b"{", end)
            continue
        if end is None or following < end:
            inside += 1
            if inside > _MAX_CUT_OFF:
                return
        position = following
