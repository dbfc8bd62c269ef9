"""JSON text of one chunk of events → typed event objects, with a ladder for damaged or odd text.

The first rung is one msgspec call for the whole chunk. Each further rung is slower and keeps more:
repair the text, decode event by event, coerce a single odd event, and at last drop it with a note.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import msgspec

from torch_tb_profiler.trace.events import AnyEvent, Args, Event, ExactEvent, UsualEvents
from torch_tb_profiler.trace.notes import Note
from torch_tb_profiler.trace.repair import Repair, repair_text

_split = msgspec.json.Decoder(list[msgspec.Raw])
_loose_strings = json.JSONDecoder(strict=False)


class EventDecoder:
    """Decodes chunks of one file; `exact` keeps the text of `ts`."""

    def __init__(self, *, exact: bool, note: Callable[[Note], None]) -> None:
        self._type: type[Event] | type[ExactEvent] = ExactEvent if exact else Event
        self._chunk = msgspec.json.Decoder(list[self._type], strict=False)  # type: ignore[name-defined]
        self._one = msgspec.json.Decoder(self._type, strict=False)
        self._usual = UsualEvents(exact)
        self._note = note

    def strictly(self, text: memoryview | bytes) -> list[AnyEvent]:
        """The first rung: the whole chunk, or msgspec.DecodeError (ValidationError when only a type is odd)."""
        usual = self._usual.decode(text)
        if usual is not None:
            return usual
        events = self._chunk.decode(text)
        self._usual.learn(events)
        return cast(list[AnyEvent], events)

    def repaired(self, text: bytes, offset: int) -> list[AnyEvent] | None:
        """The next rungs for a chunk (`[event, …]`) that `strictly` refused; None when they do not help."""
        try:
            return self._each(_split.decode(text), offset)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        text, repairs = repair_text(text)
        if not repairs:
            return None
        try:
            events = self.strictly(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            try:
                events = self._each(_split.decode(text), offset)
            except (msgspec.DecodeError, UnicodeDecodeError):
                return None
        self._note_repairs(repairs, offset)
        return events

    def _note_repairs(self, repairs: list[Repair], offset: int) -> None:
        for repair in repairs:
            # the chunk begins with a bracket of ours
            self._note(repair_note(replace(repair, first=offset + repair.first - 1)))

    def _each(self, raws: list[msgspec.Raw], offset: int) -> list[AnyEvent]:
        events: list[AnyEvent] = []
        for raw in raws:
            try:
                events.append(self._one.decode(raw))
            except msgspec.DecodeError:
                events.append(self._coerce(bytes(raw), offset))
        return events

    def _coerce(self, raw: bytes, offset: int) -> AnyEvent:
        """An event with a field of an unexpected type: keep what converts, leave out what does not."""
        value = json.loads(raw)
        self._note(
            Note(
                "odd_fields",
                "warning",
                "Events with fields of an unexpected type were kept without those fields.",
                first_offset=offset,
            )
        )
        if not isinstance(value, dict):
            return self._type()
        args = value.pop("args", None)
        known: dict[str, Any] = {}
        for name, item in value.items():
            _keep_if_valid(self._type, known, name, item)
        if isinstance(args, dict):
            kept: dict[str, Any] = {}
            for name, item in args.items():
                _keep_if_valid(Args, kept, name, item)
            known["args"] = kept
        # through JSON text, so that Raw fields and renamed fields are read as they always are
        return self._one.decode(msgspec.json.encode(known))

    def each_readable(self, text: bytes, offset: int) -> list[AnyEvent]:
        """The last rung: walk from event to event and drop only what cannot be read.

        Offsets are one less than positions: the text begins with a bracket of ours.
        """
        text, repairs = repair_text(text)
        self._note_repairs(repairs, offset)
        events: list[AnyEvent] = []
        position = text.find(b"{")
        while position >= 0:
            end = end_of_object(text, position)
            if end is None:
                break
            try:
                events.extend(self._each([msgspec.Raw(text[position:end])], offset + position - 1))
            except ValueError:  # DecodeError of msgspec and JSONDecodeError among them
                self._dropped(offset + position - 1)
            position = text.find(b"{", end)
        if position >= 0:
            self._dropped(offset + position - 1)
        return events

    def _dropped(self, offset: int) -> None:
        self._note(
            Note(
                "dropped_events",
                "error",
                "Events that could not be read were left out.",
                touches=("overview", "operators", "kernels"),
                first_offset=offset,
            )
        )


def repair_note(repair: Repair) -> Note:
    """`repair.first` is an offset in the text of the file."""
    return Note(
        repair.kind,
        "warning",
        f"The text is not valid JSON; {repair.text}.",
        count=repair.count,
        first_offset=repair.first,
    )


def _keep_if_valid(kind: type[msgspec.Struct], known: dict[str, Any], name: str, item: Any) -> None:
    try:
        msgspec.json.decode(msgspec.json.encode({name: item}), type=kind, strict=False)
    except (msgspec.MsgspecError, OverflowError):
        return
    known[name] = item


_STRING_OR_BRACE = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)


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
    except (json.JSONDecodeError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None
