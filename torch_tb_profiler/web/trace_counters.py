"""Counters as events of a trace file, in the scale of its own timestamps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from torch_tb_profiler.analysis.counters import Counters, DeviceCounters
from torch_tb_profiler.web.microseconds import exact

#: about 100 KB of text
EVENTS_PER_PIECE = 1000

Point = tuple[int, float]


def counter_events(counters: Counters, zero_ns: int) -> Iterator[bytes]:
    """All counter events in the order of the old plugin, many in a piece.

    zero_ns  what the timestamps of the file say at the start of the trace
    """
    events = chain(
        *(_events(d, "GPU Utilization", _utilization(d), zero_ns) for d in counters.devices),
        *(_events(d, "Est. SM Efficiency", _efficiency(d, counters.begin), zero_ns) for d in counters.devices),
    )
    while piece := ", ".join(islice(events, EVENTS_PER_PIECE)):
        yield piece.encode()


def _events(device: DeviceCounters, value: str, points: Iterable[Point], zero_ns: int) -> Iterator[str]:
    name = f"GPU {device.device} {value.removeprefix('GPU ')}"
    for time, number in points:
        yield (
            f'{{"ph":"C", "name":"{name}", "pid":{device.device}, "ts":{exact(zero_ns + time)}, '
            f'"args":{{"{value}":{number!r}}}}}'
        )


def _utilization(device: DeviceCounters) -> Iterator[Point]:
    if len(device.start):
        yield from _scale(int(device.start[0]))
    yield from zip(device.start.tolist(), device.utilization.tolist(), strict=True)


def _efficiency(device: DeviceCounters, begin: int) -> Iterator[Point]:
    start, end, value = (array.tolist() for array in device.efficiency)
    if start:
        yield from _scale(int(device.start[0]) if len(device.start) else begin)
    for low, high, number in zip(start, end, value, strict=True):
        yield low, number
        yield high, 0


def _scale(begin: int) -> Iterator[Point]:
    """A full and an empty point: viewers draw a counter as high as its largest value."""
    yield begin, 1
    yield begin, 0
