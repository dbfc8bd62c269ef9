"""The events of a chunk once more, for arguments whose keys no column has.

The types that text is decoded to hold only keys that the schema knows, so chunks with events that have others are
decoded again: the chunks that have such events, and of these only those events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import msgspec

from torch_tb_profiler.codec import json_decoder
from torch_tb_profiler.trace.json_scan import UNREADABLE
from torch_tb_profiler.trace.repair import repair_bare_words


class _Event(msgspec.Struct):
    args: dict[str, Any] | None = None


_split = json_decoder(list[msgspec.Raw])
_event = json_decoder(_Event)


class RawEvents:
    """text: of the events, without the brackets around them; count: how many were decoded of it."""

    def __init__(self, text: Callable[[], bytes], count: int) -> None:
        self._text = text
        self._count = count

    def args(self, place: int) -> Mapping[str, Any]:
        """Of an event by its place in the chunk; empty where it cannot be read.

        A chunk whose text had to be repaired by more than writing null for NaN has none: it does not say which event
        is which.
        """
        try:
            return (self._raws and _event.decode(self._raws[place]).args) or {}
        except UNREADABLE:
            return {}

    @cached_property
    def _raws(self) -> list[msgspec.Raw]:
        text = b"[" + self._text() + b"]"
        try:
            raws = _split.decode(text)
        except UNREADABLE:
            try:
                raws = _split.decode(repair_bare_words(text)[0])
            except UNREADABLE:
                return []
        return raws if len(raws) == self._count else []
