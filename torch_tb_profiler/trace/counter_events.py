"""The values of counter events, whose arguments have keys that the recorded program chose freely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from torch_tb_profiler.trace.events import Event
from torch_tb_profiler.trace.raw_events import RawEvents

#: series of one event that are kept; a counter is drawn as one line for each
MOST_SERIES = 64


class CounterValue(NamedTuple):
    """row: of the event; series: the key of the argument."""

    row: int
    series: str
    value: float


def counter_values(raws: RawEvents, events: Sequence[Event], first_row: int) -> list[CounterValue]:
    """The finite numbers among the arguments of the counter events of a chunk.

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
