"""JSON text of one chunk of events → typed events, with fallbacks for damaged or odd text.

The normal way is one msgspec call for the whole chunk. Each fallback is slower and recovers more: decode event by event
and leave out fields of a wrong type; repair the text; and finally drop single events that cannot be read, with a note.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.codec import from_json, json_decoder
from torch_tb_profiler.trace.events import Args, Chunk, Event, event_type
from torch_tb_profiler.trace.notes import Note, note
from torch_tb_profiler.trace.repair import UNREADABLE, Repair, each_object, repair_bare_words, repair_text
from torch_tb_profiler.trace.vocabulary import PHASES, USUAL_SPELLINGS

_split = json_decoder(list[msgspec.Raw])


class _Kind(msgspec.Struct, gc=False, frozen=True):
    ph: str = ""
    cat: str | None = ""


class _Kinds(msgspec.Struct, frozen=True):
    """The spellings of `ph` and `cat` that are known, which `event_type` makes the values of these fields."""

    phases: frozenset[str]
    categories: frozenset[str]

    def with_those_of(self, text: memoryview | bytes) -> _Kinds:
        """Add the spellings in a chunk. Raises msgspec.ValidationError when they are not strings."""
        found = _kinds.decode(text)
        return _Kinds(self.phases | {k.ph for k in found}, self.categories | {k.cat for k in found if k.cat})

    def are_too_many(self) -> bool:
        """Return whether the values differ from event to event, so that listing them gains nothing."""
        return len(self.phases) + len(self.categories) > 200


_kinds = json_decoder(list[_Kind], strict=False)


@lru_cache(maxsize=16)
def _decoder(exact: bool, kinds: _Kinds) -> msgspec.json.Decoder[list[Event]]:
    """Return a decoder of lists of events; kinds that are too many are not listed."""
    listed = () if kinds.are_too_many() else (kinds.phases, kinds.categories)
    return json_decoder(list[event_type(exact, *listed)], strict=False)  # type: ignore[misc]


class EventDecoder:
    """Decodes chunks of one file; `exact` keeps the text of `ts`."""

    def __init__(self, *, exact: bool, note: Callable[[Note], None]) -> None:
        self.exact = exact
        self._type = event_type(exact)
        self._kinds = _Kinds(frozenset(PHASES), USUAL_SPELLINGS)
        self._chunk = _decoder(exact, self._kinds)
        self._one = json_decoder(self._type, strict=False)
        self.note = note

    def strictly(self, text: memoryview | bytes) -> list[Event]:
        """Decode a whole chunk at once. Raises msgspec.DecodeError; ValidationError when only a type is wrong."""
        try:
            return self._chunk.decode(text)
        except msgspec.ValidationError:
            # refuses damaged text, so that notes on a chunk do not depend on those before it
            kinds = self._kinds.with_those_of(text)
            if kinds == self._kinds or self._kinds.are_too_many():
                raise
            self._kinds = kinds
            self._chunk = _decoder(self.exact, kinds)
            return self._chunk.decode(text)

    def alone(self, chunk: Chunk) -> list[Event] | None:
        """Return the events of a chunk; None if it takes the text around it to tell what they are."""
        try:
            return self.strictly(chunk.text)
        except msgspec.ValidationError:
            pass
        except UNREADABLE:
            if not chunk.certain:
                return None
        return self.repaired(bytes(chunk.text), chunk.offset)

    def repaired(self, text: bytes, offset: int) -> list[Event] | None:
        """Decode a chunk (`[event, …]`) that `strictly` refused; None if repairing its text does not make it JSON."""
        try:
            return self._each(_split.decode(text), offset)
        except UNREADABLE:
            pass
        for repair in (repair_bare_words, repair_text):
            fixed, repairs = repair(text)
            events = self._strictly_or_each(fixed, offset) if repairs else None
            if events is not None:
                self._note_repairs(repairs, offset)
                return events
        return None

    def _strictly_or_each(self, text: bytes, offset: int) -> list[Event] | None:
        try:
            return self.strictly(text)
        except UNREADABLE:
            pass
        try:
            return self._each(_split.decode(text), offset)
        except UNREADABLE:
            return None

    def _note_repairs(self, repairs: list[Repair], offset: int) -> None:
        for repair in repairs:
            # the text of a chunk has an opening bracket put before it
            self.note(repair_note(replace(repair, first=offset + repair.first - 1)))

    def _each(self, raws: list[msgspec.Raw], offset: int) -> list[Event]:
        events = []
        odd = 0
        for raw in raws:
            try:
                events.append(self._one.decode(raw))
            except UnicodeDecodeError:
                raise  # can be repaired
            except UNREADABLE:
                events.append(self._coerce(bytes(raw)))
                odd += 1
        if odd:
            self.note(note("odd_fields", "warning", odd, first_offset=offset))
        return events

    def _coerce(self, raw: bytes) -> Event:
        """Return an event without those of its fields that have an unexpected type."""
        if not raw.startswith(b"{"):
            return self._type()
        value = json.loads(raw, parse_int=_integer)
        args = value.pop("args", None)
        known: dict[str, Any] = {}
        for name, item in value.items():
            _keep_if_valid(self._type, known, name, item)
        if isinstance(args, dict):
            kept: dict[str, Any] = {}
            for name, item in args.items():
                _keep_if_valid(Args, kept, name, item)
            known["args"] = kept
        # encoded again, so that Raw and renamed fields are decoded as usual
        return self._one.decode(msgspec.json.encode(known))

    def each_readable(self, text: bytes, offset: int) -> list[Event]:
        """Decode object by object, and drop those that cannot be read.

        Offsets are one less than positions: the text of a chunk has an opening bracket put before it.
        """
        text, repairs = repair_text(text)
        self._note_repairs(repairs, offset)
        events: list[Event] = []

        def take(begin: int, end: int) -> bool:
            try:
                found = self._each([msgspec.Raw(text[begin:end])], offset + begin - 1)
            except UNREADABLE:
                return False
            events.extend(found)
            return True

        each_object(text, take, lambda begin: self._note_dropped(offset + begin - 1))
        return events

    def _note_dropped(self, offset: int) -> None:
        self.note(dropped_note(offset))


def dropped_note(offset: int) -> Note:
    """Return the note on an unreadable event that begins at this offset in the text of the file."""
    return note("dropped_events", "error", touches=("overview", "operators", "kernels"), first_offset=offset)


def repair_note(repair: Repair) -> Note:
    """`repair.first` is an offset in the text of the file."""
    return note(repair.kind, "warning", repair.count, first_offset=repair.first)


def _integer(digits: str) -> int | float:
    """Return a JSON integer; one of more digits than Python takes is infinite, which JSON writes as null."""
    return int(digits) if len(digits) < 1000 else float(digits)


def _keep_if_valid(kind: type[msgspec.Struct], known: dict[str, Any], name: str, item: Any) -> None:
    try:
        from_json(msgspec.json.encode({name: item}), kind, strict=False)
    except (msgspec.MsgspecError, OverflowError):
        return
    known[name] = item
