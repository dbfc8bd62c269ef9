"""Counters of devices, their memory and their links over time.

Coarse bins of the whole trace are stored; a window with finer bins is computed from the slices in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.memory.records import MemoryCurve
from torch_tb_profiler.analysis.shared.device_roles import (
    BUSY,
    COMPUTING,
    EXPOSED_COMMUNICATION,
    NO_ROLE,
    Quantity,
    Role,
    roles_of,
    spans_by_role,
)
from torch_tb_profiler.analysis.shared.kernel_use import blocks_per_sm
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.types import Bool, Float64, Int64, UInt8
from torch_tb_profiler.timeline.lanes import LaneBand
from torch_tb_profiler.timeline.links import Queue
from torch_tb_profiler.timeline.pyramid import BUCKETS_OF_TILE, PyramidItems, tile_length
from torch_tb_profiler.timeline.schema import CounterBins, MemoryPoints
from torch_tb_profiler.timeline.series import (
    Counter,
    CounterKind,
    StepCurve,
    TimelineCounters,
    bins_of,
    coarser,
    curve_of,
    latest,
)
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Category

#: counters that are 1 while a quantity counts, else 0
_QUANTITIES: dict[CounterKind, Quantity] = {
    "busy": BUSY,
    "computing": COMPUTING,
    "exposed_communication": EXPOSED_COMMUNICATION,
}

#: about, when the stored bins are made
_SLICES_AT_ONCE = 262_144
#: fewest slices for one stored bin of a counter
_SLICES_OF_BIN = 128
#: log2 of the largest number of stored tiles of bins
_MOST_DOUBLINGS = 6


def counter_tile(timeline: Timeline, counter: Counter, level: int, tile: int) -> CounterBins:
    """Return the 256 bins of a tile; NaN outside the trace."""
    edges = _edges(timeline, level, tile * BUCKETS_OF_TILE, BUCKETS_OF_TILE)
    kept = timeline.counters.level
    if level < kept:
        return _bins_from_events(timeline, counter, edges)
    factor = 2 ** (level - kept)
    first = tile * BUCKETS_OF_TILE * factor
    lengths = np.diff(_edges(timeline, kept, first, BUCKETS_OF_TILE * factor))
    return coarser(_bins_from_levels(timeline, counter, first, BUCKETS_OF_TILE * factor), lengths, factor)


def extremes(timeline: Timeline, counter: Counter) -> tuple[float, float]:
    """Return the least and the largest value; 0 and 0 in a trace without length."""
    first, after = _range(timeline, timeline.counters.level)
    kept = _bins_from_levels(timeline, counter, first, after - first)
    if np.isnan(kept.low).all():
        return 0.0, 0.0
    return float(np.nanmin(kept.low)), float(np.nanmax(kept.high))


def with_counters(timeline: Timeline, curves: Sequence[MemoryCurve]) -> Timeline:
    """Add all counters with data to a timeline. curves: see `analysis.memory_curve`."""
    memory = MemoryPoints.concatenate(
        [
            {
                "device": np.full(len(curve) + 1, place, np.int32),
                "time": np.append(min(timeline.begin, curve.time_ns[0]), curve.time_ns),
                "allocated": np.append(curve.baseline, curve.allocated),
                "reserved": np.append(curve.reserved[:1], curve.reserved),
            }
            for place, curve in enumerate(curves)
        ]
    )
    listed = (
        *_of_devices(timeline),
        *_of_memory([curve.device.name for curve in curves]),
        *(Counter("recorded", str(place), place) for place in range(len(timeline.recorded))),
    )
    doublings = int(np.log2(max(len(timeline.slices.items) / (_SLICES_OF_BIN * BUCKETS_OF_TILE), 1)))
    level = max(timeline.highest_level - min(doublings, _MOST_DOUBLINGS), 1)
    known = replace(timeline, counters=TimelineCounters(listed, level, memory=memory))
    first, after = _range(timeline, level)
    edges = _edges(timeline, level, first, after - first)
    # window by window, so that intermediate arrays stay small
    found: list[list[dict[str, Any]]] = [[] for _ in listed]
    step = max(_SLICES_AT_ONCE * len(edges) // max(len(timeline.slices.items), 1), BUCKETS_OF_TILE)
    for low in range(0, len(edges) - 1, step):
        stretch = edges[low : low + step + 1]
        work = _WorkWithin(known, int(stretch[0]), int(stretch[-1]))
        for counter, pieces in zip(listed, found, strict=True):
            pieces.append(_bins_from_events(known, counter, stretch, work).columns())
    bins = CounterBins.concatenate(list(chain.from_iterable(found)))
    return replace(known, counters=replace(known.counters, bins=bins))


def is_whole(timeline: Timeline) -> bool:
    """Return whether the stored bins cover the whole trace."""
    kept = timeline.counters
    if not 1 <= kept.level <= timeline.highest_level:
        return False
    first, after = _range(timeline, kept.level)
    return len(kept.bins) == len(kept.listed) * (after - first)


def _range(timeline: Timeline, level: int) -> tuple[int, int]:
    """Return the range [first, after) of the bins of a level that touch the trace."""
    length = tile_length(level) // BUCKETS_OF_TILE
    return timeline.begin // length, timeline.end // length + 1


def _edges(timeline: Timeline, level: int, first: int, count: int) -> Int64:
    """Return the edges of `count` bins from `first` on, clipped to the trace; shape (count + 1,), ns."""
    length = tile_length(level) // BUCKETS_OF_TILE
    edges = (first + np.arange(count + 1, dtype=np.int64)) * length
    return np.clip(edges, timeline.begin, timeline.end)


def _bins_from_levels(timeline: Timeline, counter: Counter, first: int, count: int) -> CounterBins:
    """Return bins of the stored level, NaN outside the trace."""
    counters = timeline.counters
    low, after = _range(timeline, counters.level)
    size = after - low
    wanted = first + np.arange(count) - low
    inside = (wanted >= 0) & (wanted < size)
    place = counters.places[counter] * size + np.where(inside, wanted, 0)
    return CounterBins(*(np.where(inside, values[place], np.nan) for values in counters.bins.columns().values()))


def _bins_from_events(
    timeline: Timeline, counter: Counter, edges: Int64, work: _WorkWithin | None = None
) -> CounterBins:
    """Compute the bins between edges. work: the work from the first edge to the last, if already known."""
    if counter.kind == "recorded":
        # a recorded counter is unknown before its first value
        edges = np.maximum(edges, timeline.recorded[counter.place].time[0])
    start, end = int(edges[0]), int(edges[-1])
    if end == start:
        return bins_of(StepCurve(edges[:1], np.zeros(1)), edges)
    return bins_of(_steps(timeline, counter, work or _WorkWithin(timeline, start, end)), edges)


class _WorkWithin:
    """The device work that touches [start, end), looked up once for all counters of a device."""

    def __init__(self, timeline: Timeline, start: int, end: int) -> None:
        self.start, self.end = start, end
        self._timeline = timeline
        self._found: dict[int, _Work] = {}

    def of(self, device: int) -> _Work:
        if device not in self._found:
            lanes = self._timeline.placed.lanes
            on_device = self._timeline.device_of_track[lanes.track] == device
            chosen = np.flatnonzero(on_device & (lanes.band == LaneBand.DEVICE))
            found = self._timeline.within(chosen, self.start, self.end)
            place = np.searchsorted(self._timeline.trace.device_work.row, found.longest)
            category = self._timeline.trace.events.category[found.longest]
            is_communication = self._timeline.links.work.is_communication[place] > 0
            self._found[device] = _Work(found, place, category, is_communication)
        return self._found[device]


class _Work(msgspec.Struct, frozen=True, dict=True):
    """Slices of device work; place: of each in `device_work`."""

    items: PyramidItems
    place: Int64
    category: UInt8
    is_communication: Bool

    @cached_property
    def role(self) -> UInt8:
        return roles_of(self.category, self.is_communication)

    @cached_property
    def by_role(self) -> tuple[intervals.Spans, ...]:
        return spans_by_role(self.items.start, self.items.end, self.role)

    def summed(self, mask: Bool, value: Float64, cap: float = np.inf) -> intervals.StepFunction:
        return intervals.step_function(self.items.start[mask], self.items.end[mask], value, cap)


def _steps(timeline: Timeline, counter: Counter, work: _WorkWithin) -> StepCurve:
    """Return a counter from the start to the end of a window."""
    start, end = work.start, work.end
    if counter.kind in ("memory_allocated", "memory_reserved"):
        return _memory(timeline.counters.memory, counter, start, end)
    if counter.kind == "recorded":
        of_file = timeline.recorded[counter.place]
        return _values_of(of_file.time, of_file.value, start, end)
    if counter.kind == "queue_length":
        return _in_flight(timeline.queues[counter.place], start, end)
    if counter.kind == "kernels_running":
        return _in_flight(_kernels(work.of(counter.place)), start, end)
    return curve_of(_profile(timeline, counter, work.of(counter.place)), start)


def _memory(memory: MemoryPoints, counter: Counter, start: int, end: int) -> StepCurve:
    low, high = np.searchsorted(memory.device, [counter.place, counter.place + 1])
    values = memory.allocated if counter.kind == "memory_allocated" else memory.reserved
    return _values_of(memory.time[low:high], values[low:high].astype(np.float64), start, end)


def _values_of(time: Int64, value: Float64, start: int, end: int) -> StepCurve:
    """Return a step curve from `start` to `end`. time: ascending, the first no later than `start`."""
    first = max(int(np.searchsorted(time, start, "right")) - 1, 0)
    after = max(int(np.searchsorted(time, end)), first + 1)
    return latest(time[first:after], value[first:after], start)


def _profile(timeline: Timeline, counter: Counter, work: _Work) -> intervals.StepFunction:
    table, place, items = timeline.trace.device_work, work.place, work.items
    if counter.kind in _QUANTITIES:
        return _indicator(_QUANTITIES[counter.kind].spans(work.by_role))
    if counter.kind == "sm_efficiency":
        blocks = blocks_per_sm(timeline.trace, table.take(place))
        sized = (work.role == Role.COMPUTE) & (blocks > 0)
        return work.summed(sized, blocks[sized], 1.0)
    copies = (work.category == Category.MEMCPY) & (table.bytes[place] > 0) & (items.end > items.start)
    lengths = items.end[copies] - items.start[copies]
    return work.summed(copies, table.bytes[place[copies]] * 1e9 / lengths)


def _kernels(work: _Work) -> Queue:
    """Return the queue of kernels: their sorted starts and ends, ns."""
    kept = (work.category == Category.KERNEL) & (work.items.end > work.items.start)
    return Queue(np.sort(work.items.start[kept]), np.sort(work.items.end[kept]))


def _of_devices(timeline: Timeline) -> list[Counter]:
    """List the counters of each device that ran something."""
    events, work = timeline.trace.events, timeline.trace.device_work
    device = timeline.device_of_track[events.track[work.row]]
    category = events.category[work.row]
    kernel = category == Category.KERNEL
    role = roles_of(category, timeline.links.work.is_communication > 0)
    there: dict[CounterKind, Bool] = {
        "busy": role != NO_ROLE,
        "computing": role == Role.COMPUTE,
        "sm_efficiency": (role == Role.COMPUTE) & (blocks_per_sm(timeline.trace, work) > 0),
        "kernels_running": kernel,
        "queue_length": timeline.links.work.launch >= 0,
        "memcpy_bandwidth": (category == Category.MEMCPY) & (work.bytes > 0),
        "exposed_communication": role == Role.COMMUNICATION,
    }
    return [
        Counter(kind, f"GPU{number}", number)
        for number in distinct(device[device >= 0]).tolist()
        for kind, mask in there.items()
        if (mask & (device == number)).any()
    ]


def _of_memory(devices: list[str]) -> list[Counter]:
    kinds: tuple[CounterKind, ...] = ("memory_allocated", "memory_reserved")
    return [Counter(kind, name, place) for place, name in enumerate(devices) for kind in kinds]


def _indicator(spans: intervals.Spans) -> intervals.StepFunction:
    return intervals.StepFunction(spans.start, spans.end, np.ones(spans.size))


def _in_flight(queue: Queue, start: int, end: int) -> StepCurve:
    """Return arrivals − departures over time."""
    first_come, after_come = np.searchsorted(queue.come, [start, end], "right")
    first_gone, after_gone = np.searchsorted(queue.gone, [start, end], "right")
    come, gone = queue.come[first_come:after_come], queue.gone[first_gone:after_gone]
    time = np.concatenate([[start], come, gone]).astype(np.int64)
    change = np.concatenate([[first_come - first_gone], np.ones(len(come)), -np.ones(len(gone))])
    order = np.argsort(time, kind="stable")
    return latest(time[order], np.cumsum(change[order]), start)
