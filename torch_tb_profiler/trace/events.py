"""A chunk of text, and the typed events that the decoder makes of it, with the arguments that have columns.

Chunks with events that have other keys are decoded again, of these only those events (`RawEvents`): counters have keys
that the recorded program chose freely.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

import msgspec

from torch_tb_profiler.codec import json_decoder
from torch_tb_profiler.trace.repair import UNREADABLE, repair_bare_words
from torch_tb_profiler.trace.schema import JSON_TEXT, TRACE_TABLES, TraceColumn

Number = float | None


class TrackArgs(msgspec.Struct, gc=False, frozen=True):
    """The arguments of metadata events, which name processes and threads. `Args` has them too."""

    name: msgspec.Raw = msgspec.Raw(b"")
    labels: msgspec.Raw = msgspec.Raw(b"")
    sort_index: Number = float("nan")


class Event(msgspec.Struct, gc=False, frozen=True):
    """One chrome trace event. `event_type` makes the types that text is decoded to.

    ts: microseconds; their text, if a double cannot hold them
    """

    ph: str = ""
    cat: str | None = ""
    name: str | None = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: Number | msgspec.Raw = math.nan
    dur: Number = math.nan
    id: int | str | None = None
    args: TrackArgs | None = None


def attribute(key: str) -> str:
    """Return the attribute of `Args` that holds the argument with this key."""
    return "arg_" + re.sub(r"\W", "_", key, flags=re.ASCII)


def event_type(exact: bool, phases: Iterable[str] = (), categories: Iterable[str] = ()) -> type[Event]:
    """Return the type of an event.

    exact                the text of `ts` is kept
    phases, categories   the only values of `ph` and `cat`, beside the empty one; without any, all are taken

    A known value is decoded to the one string object there is of it, which is then looked up by its identity.
    """
    fields: dict[str, tuple[Any, Any]] = {f.name: (f.type, f.default) for f in msgspec.structs.fields(Event)}
    fields["args"] = Args | None, None
    fields["ts"] = (msgspec.Raw, msgspec.Raw(b"")) if exact else (Number, math.nan)
    if phases and categories:
        fields["ph"] = Literal[tuple(sorted({*phases, ""}))], ""
        fields["cat"] = Literal[tuple(sorted({*categories, ""}))] | None, ""
    made = [(name, *kind_and_default) for name, kind_and_default in fields.items()]
    return msgspec.defstruct("Event", made, gc=False, frozen=True)  # type: ignore[return-value]


def _args_type() -> type[TrackArgs]:
    """Make a type with an attribute for each key that is the source of a column, and those of `TrackArgs`.

    msgspec starts to look for a key after the one it found last. So attributes stand in the order in which torch writes
    the keys; rare spellings and what only metadata has come last.
    """
    columns = [column for table in TRACE_TABLES for column in table.schema() if column.source]
    first = [(column.source[0], column) for column in columns]
    others = [(key, column) for column in columns for key in column.source[1:]]
    types: dict[str, Any] = {}
    fields: dict[str, tuple[str, Any, Any]] = {}
    for key, column in first + others:
        kind, default = _type_and_default(column, key)
        if types.setdefault(key, kind) != kind:
            raise TypeError(f"columns read {key!r} in different ways")
        fields.setdefault(key, (attribute(key), kind, default))
    of_tracks = [(f.name, f.type, f.default) for f in msgspec.structs.fields(TrackArgs)]
    return msgspec.defstruct("Args", [*fields.values(), *of_tracks], gc=False, frozen=True)  # type: ignore[return-value]


def _type_and_default(column: TraceColumn, key: str) -> tuple[Any, Any]:
    # A default for each attribute: one NaN for all would have its references counted some forty times for each object.
    # Numbers are read as floats, so that integers, numbers in quotes and null are taken.
    if column.unit == JSON_TEXT:
        return msgspec.Raw, msgspec.field(name=key, default=msgspec.Raw(b""))
    if column.is_string:
        return str | None, msgspec.field(name=key, default="")
    return float | str | None if column.may_be_text else Number, msgspec.field(name=key, default=float("nan"))


Args = _args_type()
NO_ARGS = Args()


class Chunk(msgspec.Struct, frozen=True):
    """Some events of the list.

    text      `[event, event, …]`, of a memoryview valid only until the next chunk is asked for
    offset    of the first event in the text of the file
    certain   false if the cut is a guess: ask for a shorter chunk if this one does not decode
    last      the last chunk of the file, or before damage
    ahead     bytes of the text that had been read from the offset on
    room      bytes of the buffer that it was read to; 0 when this chunk cannot be given back
    """

    text: memoryview | bytes
    offset: int
    certain: bool
    last: bool
    ahead: int = 0
    room: int = 0


class _EventText(msgspec.Struct):
    args: dict[str, Any] | None = None


_split = json_decoder(list[msgspec.Raw])
_event = json_decoder(_EventText)


class RawEvents:
    """text: of the events, without the brackets around them; count: how many were decoded of it."""

    def __init__(self, text: Callable[[], bytes], count: int) -> None:
        self._text = text
        self._count = count

    def args(self, place: int) -> Mapping[str, Any]:
        """Return the arguments of an event by its place in the chunk; empty where unreadable.

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


#: series of one event that are kept; a counter is drawn as one line for each
MOST_SERIES = 64


class CounterValue(NamedTuple):
    """row: of the event; series: the key of the argument."""

    row: int
    series: str
    value: float


def counter_values(raws: RawEvents, events: Sequence[Event], first_row: int) -> list[CounterValue]:
    """Return the finite numbers among the arguments of the counter events of a chunk.

    raws       the same events as their text has them
    events     what was decoded of it
    first_row  of the first event
    """
    found: list[CounterValue] = []
    for place, event in enumerate(events):
        if event.ph == "C":
            numbers = [(key, float(value)) for key, value in raws.args(place).items() if _is_number(value)]
            # torch's exporter in Python writes the only series of a counter without a key
            found += [CounterValue(first_row + place, key or event.name or "", n) for key, n in numbers[:MOST_SERIES]]
    return found


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 2**1000 if isinstance(value, int) else math.isfinite(value)
