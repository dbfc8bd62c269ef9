"""Counters: how busy devices, their memory and their links were, moment by moment.

Coarse bins of the whole trace are kept; a window that needs finer ones is computed from the slices that lie in it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torch_tb_profiler.analysis import intervals
from torch_tb_profiler.analysis.memory_curve import memory_curves
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.bands import Band
from torch_tb_profiler.timeline.bins import Steps, bins_of, coarser, latest, steps_of
from torch_tb_profiler.timeline.levels import BUCKETS_OF_TILE, tile_length
from torch_tb_profiler.timeline.links import Queue
from torch_tb_profiler.timeline.schema import CounterBins, MemoryPoints
from torch_tb_profiler.timeline.series import Counter, Counters, Kind
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import Bool, Float64, Int32, Int64

#: slices for one kept bin of a counter, at least
_SLICES_OF_BIN = 128
#: at most this many tiles of bins are kept, as a power of two
_MOST_DOUBLINGS = 6


def counter_tile(timeline: Timeline, counter: Counter, level: int, tile: int) -> CounterBins:
    """The 256 bins of a tile; NaN outside of the trace."""
    edges = _edges(timeline, level, tile * BUCKETS_OF_TILE, BUCKETS_OF_TILE)
    kept = timeline.counters.level
    if level < kept:
        return _exact(timeline, counter, edges)
    factor = 2 ** (level - kept)
    first = tile * BUCKETS_OF_TILE * factor
    lengths = np.diff(_edges(timeline, kept, first, BUCKETS_OF_TILE * factor))
    return coarser(_kept(timeline, counter, first, BUCKETS_OF_TILE * factor), lengths, factor)


def extremes(timeline: Timeline, counter: Counter) -> tuple[float, float]:
    """The least and the largest value; 0 and 0 in a trace without length."""
    first, after = _range(timeline, timeline.counters.level)
    kept = _kept(timeline, counter, first, after - first)
    if np.isnan(kept.low).all():
        return 0.0, 0.0
    return float(np.nanmin(kept.low)), float(np.nanmax(kept.high))


def with_counters(timeline: Timeline, model: Model) -> Timeline:
    """The same timeline with all counters that there are data for."""
    curves = memory_curves(model).curves
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
    listed = (*_of_devices(timeline), *_of_memory([curve.device.name for curve in curves]))
    doublings = int(np.log2(max(len(timeline.slices.items) / (_SLICES_OF_BIN * BUCKETS_OF_TILE), 1)))
    level = max(timeline.highest_level - min(doublings, _MOST_DOUBLINGS), 1)
    first, after = _range(timeline, level)
    edges = _edges(timeline, level, first, after - first)
    known = replace(timeline, counters=Counters(listed, level, memory=memory))
    bins = CounterBins.concatenate([_exact(known, counter, edges).columns() for counter in listed])
    return replace(known, counters=replace(known.counters, bins=bins))


def _range(timeline: Timeline, level: int) -> tuple[int, int]:
    """The bins of a level that touch the trace: the first, and the one behind the last."""
    length = tile_length(level) // BUCKETS_OF_TILE
    return timeline.begin // length, timeline.end // length + 1


def _edges(timeline: Timeline, level: int, first: int, count: int) -> Int64:
    """Where `count` bins from `first` on begin and end, as far as they lie in the trace."""
    length = tile_length(level) // BUCKETS_OF_TILE
    edges = (first + np.arange(count + 1, dtype=np.int64)) * length
    return np.clip(edges, timeline.begin, timeline.end)


def _kept(timeline: Timeline, counter: Counter, first: int, count: int) -> CounterBins:
    """Bins of the level that is kept, NaN outside of the trace."""
    counters = timeline.counters
    low, after = _range(timeline, counters.level)
    size = after - low
    wanted = first + np.arange(count) - low
    inside = (wanted >= 0) & (wanted < size)
    place = counters.listed.index(counter) * size + np.where(inside, wanted, 0)
    return CounterBins(*(np.where(inside, values[place], np.nan) for values in counters.bins.columns().values()))


def _exact(timeline: Timeline, counter: Counter, edges: Int64) -> CounterBins:
    start, end = int(edges[0]), int(edges[-1])
    if end == start:
        return bins_of(Steps(edges[:1], np.zeros(1)), edges)
    return bins_of(_steps(timeline, counter, start, end), edges)


def _steps(timeline: Timeline, counter: Counter, start: int, end: int) -> Steps:
    """A counter from `start` to `end`."""
    if counter.kind in ("memory_allocated", "memory_reserved"):
        return _memory(timeline.counters.memory, counter, start, end)
    if counter.kind == "queue_length":
        return _under_way(timeline.queues[counter.place], start, end)
    if counter.kind == "kernels_running":
        return _under_way(_kernels(timeline, counter.place, start, end), start, end)
    return steps_of(_profile(timeline, counter, start, end), start)


def _memory(memory: MemoryPoints, counter: Counter, start: int, end: int) -> Steps:
    low, high = np.searchsorted(memory.device, [counter.place, counter.place + 1])
    time = memory.time[low:high]
    values = memory.allocated if counter.kind == "memory_allocated" else memory.reserved
    first = max(int(np.searchsorted(time, start, "right")) - 1, 0)
    after = max(int(np.searchsorted(time, end)), first + 1)
    return latest(time[first:after], values[low:high][first:after].astype(np.float64), start)


def _profile(timeline: Timeline, counter: Counter, start: int, end: int) -> intervals.Profile:
    events, work = timeline.trace.events, timeline.trace.device_work
    rows = _work_within(timeline, counter.place, start, end)
    place = np.searchsorted(work.row, rows)
    category = events.category[rows]

    def spans(mask: Bool) -> intervals.Spans:
        return intervals.union(events.start[rows[mask]], events.end[rows[mask]])

    def summed(mask: Bool, value: Float64, cap: float = np.inf) -> intervals.Profile:
        return intervals.profile(events.start[rows[mask]], events.end[rows[mask]], value, cap)

    kernels = category == Category.KERNEL
    if counter.kind == "gpu_utilization":
        return _ones(spans(kernels))
    if counter.kind == "sm_efficiency":
        sized = kernels & (work.blocks_per_sm[place] > 0)
        return summed(sized, work.blocks_per_sm[place[sized]], 1.0)
    if counter.kind == "memcpy_bandwidth":
        copies = (category == Category.MEMCPY) & (work.bytes[place] > 0) & (events.duration[rows] > 0)
        return summed(copies, work.bytes[place[copies]] * 1e9 / events.duration[rows[copies]])
    communicates = timeline.links.work.is_communication[place] > 0
    return _ones(intervals.subtraction(spans(communicates), spans(kernels & ~communicates)))


def _kernels(timeline: Timeline, device: int, start: int, end: int) -> Queue:
    """When the kernels that touch a window began and ended."""
    events = timeline.trace.events
    rows = _work_within(timeline, device, start, end)
    rows = rows[(events.category[rows] == Category.KERNEL) & (events.duration[rows] > 0)]
    return Queue(np.sort(events.start[rows]), np.sort(events.end[rows]))


def _work_within(timeline: Timeline, device: int, start: int, end: int) -> Int32:
    """Rows of the device work that touches a window."""
    lanes = timeline.placed.lanes
    on_device = timeline.device_of_track[lanes.track] == device
    return timeline.within(np.flatnonzero(on_device & (lanes.band == Band.DEVICE)), start, end).longest


def _of_devices(timeline: Timeline) -> list[Counter]:
    """What can be said of each device that ran something."""
    events, work = timeline.trace.events, timeline.trace.device_work
    device = timeline.device_of_track[events.track[work.row]]
    category = events.category[work.row]
    kernel = category == Category.KERNEL
    there: dict[Kind, Bool] = {
        "gpu_utilization": kernel,
        "sm_efficiency": kernel & (work.blocks_per_sm > 0),
        "kernels_running": kernel,
        "queue_length": timeline.links.work.launch >= 0,
        "memcpy_bandwidth": (category == Category.MEMCPY) & (work.bytes > 0),
        "exposed_communication": timeline.links.work.is_communication > 0,
    }
    return [
        Counter(kind, f"GPU{number}", number)
        for number in np.unique(device[device >= 0]).tolist()
        for kind, mask in there.items()
        if (mask & (device == number)).any()
    ]


def _of_memory(devices: list[str]) -> list[Counter]:
    kinds: tuple[Kind, ...] = ("memory_allocated", "memory_reserved")
    return [Counter(kind, name, place) for place, name in enumerate(devices) for kind in kinds]


def _ones(spans: intervals.Spans) -> intervals.Profile:
    return intervals.Profile(spans.start, spans.end, np.ones(spans.size))


def _under_way(queue: Queue, start: int, end: int) -> Steps:
    """How many have come less how many have gone."""
    first_come, after_come = np.searchsorted(queue.come, [start, end], "right")
    first_gone, after_gone = np.searchsorted(queue.gone, [start, end], "right")
    come, gone = queue.come[first_come:after_come], queue.gone[first_gone:after_gone]
    time = np.concatenate([[start], come, gone]).astype(np.int64)
    change = np.concatenate([[first_come - first_gone], np.ones(len(come)), -np.ones(len(gone))])
    order = np.argsort(time, kind="stable")
    return latest(time[order], np.cumsum(change[order]), start)
