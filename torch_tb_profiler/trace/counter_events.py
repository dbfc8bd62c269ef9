"""The values of counter events, whose arguments have keys that the recorded program chose freely.

The types that text is decoded to hold only keys that the schema knows, so chunks with counter events are decoded again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from torch_tb_profiler.trace.events import Event
from torch_tb_profiler.trace.json_scan import UNREADABLE
from torch_tb_profiler.typed import json_decoder

#: series of one event that are kept; a counter is drawn as one line for each
MOST_SERIES = 64


class CounterValue(NamedTuple):
    """row: of the event; series: the key of the argument."""

    row: int
    series: str
    value: float


class _Counter(msgspec.Struct):
    args: dict[str, Any] | None = None


_split = json_decoder(list[msgspec.Raw])
_counter = json_decoder(_Counter)


def counter_values(text: bytes, events: Sequence[Event], first_row: int) -> list[CounterValue]:
    """The finite numbers among the arguments of the counter events of a chunk.

    text       of the events, without the brackets around them
    events     what was decoded of it
    first_row  of the first event

    A chunk that had to be repaired has none: its text does not say which event is which.
    """
    rows = [place for place, event in enumerate(events) if event.ph == "C"]
    if not rows:
        return []
    try:
        raws = _split.decode(b"[" + text + b"]")
    except UNREADABLE:
        return []
    if len(raws) != len(events):
        return []
    found: list[CounterValue] = []
    for place in rows:
        try:
            args = _counter.decode(raws[place]).args or {}
        except UNREADABLE:
            continue
        numbers = [(key, float(value)) for key, value in args.items() if _is_number(value)]
        found += [CounterValue(first_row + place, key, value) for key, value in numbers[:MOST_SERIES]]
    return found


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < 2**1000 if isinstance(value, int) else math.isfinite(value)
