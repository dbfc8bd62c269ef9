"""JSON text of one chunk of events → typed event objects, with a ladder for damaged or odd text.

The first rung is one msgspec call for the whole chunk. Each further rung is slower and keeps more:
repair the text, decode event by event, coerce a single odd event, and at last drop it with a note.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import msgspec

from torch_tb_profiler.trace.notes import Note
from torch_tb_profiler.trace.repair import Repair, repair_bare_words, repair_text
from torch_tb_profiler.trace.vocabulary import PHASES, USUAL_SPELLINGS

NAN = math.nan
Number = float | None
RAW_MISSING = msgspec.Raw(b"")


def _number(name: str | None = None) -> Any:
    # not one NaN for all: to count the references to it up and down some forty times for each object takes longer
    return msgspec.field(default=float("nan"), name=name)


def _raw(name: str | None = None) -> Any:
    return msgspec.field(default=msgspec.Raw(b""), name=name)


class Args(msgspec.Struct, gc=False, frozen=True):
    """Every argument that becomes a column. Numbers are read as floats so that ints, numeric strings and null pass.

    They stand in the order in which torch writes them: a key is looked for from the place of the last one on.
    """

    # operators
    external_id: Number = _number("External id")
    sequence: Number = _number("Sequence number")
    forward_thread: Number = _number("Fwd thread id")
    concrete_inputs: msgspec.Raw = _raw("Concrete Inputs")
    input_type: msgspec.Raw = _raw("Input type")
    input_strides: msgspec.Raw = _raw("Input Strides")
    input_dims: msgspec.Raw = _raw("Input Dims")
    # Python frames
    parent_id: Number = _number("Python parent id")
    python_id: Number = _number("Python id")
    module_id: Number = _number("Python module id")
    # memory
    total_reserved: Number = _number("Total Reserved")
    total_allocated: Number = _number("Total Allocated")
    memory_bytes: Number = _number("Bytes")
    device_id: Number = _number("Device Id")
    device_type: Number = _number("Device Type")
    address: Number = _number("Addr")
    # device work and launches
    device: Number = _number()
    stream: float | str | None = _number()  # a pointer in the launches of ROCm
    correlation: Number = _number()
    registers: Number = _number("registers per thread")
    shared_memory: Number = _number("shared memory")
    blocks_per_sm: Number = _number("blocks per SM")
    grid: msgspec.Raw = _raw()
    block: msgspec.Raw = _raw()
    occupancy: Number = _number("est. achieved occupancy %")
    bytes: Number = _number()
    bandwidth: Number = _number("memory bandwidth (GB/s)")
    graph_id: Number = _number("graph id")
    graph_node_id: Number = _number("graph node id")
    # collectives
    collective: str | None = msgspec.field(default="", name="Collective name")
    dtype: str | None = ""
    group: str | None = msgspec.field(default="", name="Process Group Name")
    group_description: str | None = msgspec.field(default="", name="Process Group Description")
    group_ranks: msgspec.Raw = _raw("Process Group Ranks")
    group_size: Number = _number("Group size")
    in_elements: Number = _number("In msg nelems")
    out_elements: Number = _number("Out msg nelems")
    collective_sequence: Number = _number("Seq")
    # as files of 2021 write them
    external_id_2021: Number = _number("external id")
    input_dims_2021: msgspec.Raw = _raw("Input dims")
    call_stack: str | None = msgspec.field(default="", name="Call stack")
    # metadata
    name: msgspec.Raw = _raw()
    labels: msgspec.Raw = _raw()
    sort_index: Number = _number()


class Event(msgspec.Struct, gc=False, frozen=True):
    """One chrome trace event."""

    ph: str = ""
    cat: str | None = ""
    name: str | None = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: Number = NAN
    dur: Number = NAN
    id: int | str | None = None
    args: Args | None = None


class ExactEvent(msgspec.Struct, gc=False, frozen=True):
    """An event whose times are kept as text: absolute microseconds with a fraction do not fit a double."""

    ph: str = ""
    cat: str | None = ""
    name: str | None = ""
    pid: int | str | None = None
    tid: int | str | None = None
    ts: msgspec.Raw = RAW_MISSING
    dur: Number = NAN
    id: int | str | None = None
    args: Args | None = None


AnyEvent = Event | ExactEvent
NO_ARGS = Args()

_split = msgspec.json.Decoder(list[msgspec.Raw])
_loose_strings = json.JSONDecoder(strict=False)


class _Kind(msgspec.Struct, gc=False, frozen=True):
    ph: str = ""
    cat: str | None = ""


@dataclass(frozen=True)
class _Kinds:
    """The spellings of `ph` and `cat` that are known.

    What is known is decoded to the one string there is of it, which then is found again without a look at its text.
    """

    phases: frozenset[str]
    categories: frozenset[str]

    def with_those_of(self, text: memoryview | bytes) -> _Kinds:
        """Those of a chunk as well. Raises msgspec.ValidationError when they cannot be read."""
        found = _kinds.decode(text)
        return _Kinds(self.phases | {k.ph for k in found}, self.categories | {k.cat for k in found if k.cat})

    def are_too_many(self) -> bool:
        """Whether these are no kinds at all, but different in every event."""
        return len(self.phases) + len(self.categories) > 200


_kinds = msgspec.json.Decoder(list[_Kind], strict=False)


@lru_cache(maxsize=16)
def _decoder(kind: type[AnyEvent], kinds: _Kinds) -> msgspec.json.Decoder[list[AnyEvent]]:
    """For chunks of events of a type and these kinds, or all kinds if these are too many."""
    if not kinds.are_too_many():
        known: dict[str, Any] = {
            "ph": Literal[tuple(sorted(kinds.phases | {""}))],
            "cat": Literal[tuple(sorted(kinds.categories | {""}))] | None,
        }
        fields = [(f.name, known.get(f.name, f.type), f.default) for f in msgspec.structs.fields(kind)]
        kind = msgspec.defstruct(kind.__name__, fields, gc=False, frozen=True)  # type: ignore[assignment]
    return msgspec.json.Decoder(list[kind], strict=False)  # type: ignore[valid-type]


class EventDecoder:
    """Decodes chunks of one file; `exact` keeps the text of `ts`."""

    def __init__(self, *, exact: bool, note: Callable[[Note], None]) -> None:
        self._type: type[Event] | type[ExactEvent] = ExactEvent if exact else Event
        self._kinds = _Kinds(frozenset(PHASES), USUAL_SPELLINGS)
        self._chunk = _decoder(self._type, self._kinds)
        self._one = msgspec.json.Decoder(self._type, strict=False)
        self._note = note

    def strictly(self, text: memoryview | bytes) -> list[AnyEvent]:
        """The first rung: the whole chunk, or msgspec.DecodeError (ValidationError when only a type is odd)."""
        try:
            return self._chunk.decode(text)
        except msgspec.ValidationError:
            if self._kinds.are_too_many():
                raise
            kinds = self._kinds.with_those_of(text)
            if kinds == self._kinds:
                raise
            self._kinds = kinds
            self._chunk = _decoder(self._type, kinds)
            return self._chunk.decode(text)

    def repaired(self, text: bytes, offset: int) -> list[AnyEvent] | None:
        """The next rungs for a chunk (`[event, …]`) that `strictly` refused; None when they do not help."""
        try:
            return self._each(_split.decode(text), offset)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        for repair in (repair_bare_words, repair_text):
            fixed, repairs = repair(text)
            events = self._strictly_or_each(fixed, offset) if repairs else None
            if events is not None:
                self._note_repairs(repairs, offset)
                return events
        return None

    def _strictly_or_each(self, text: bytes, offset: int) -> list[AnyEvent] | None:
        try:
            return self.strictly(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
        try:
            return self._each(_split.decode(text), offset)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def _note_repairs(self, repairs: list[Repair], offset: int) -> None:
        for repair in repairs:
            # the chunk begins with a bracket of ours
            self._note(repair_note(replace(repair, first=offset + repair.first - 1)))

    def _each(self, raws: list[msgspec.Raw], offset: int) -> list[AnyEvent]:
        events = []
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
