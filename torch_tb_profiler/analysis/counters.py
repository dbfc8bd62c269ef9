"""How busy each device was, moment by moment: the counters that are added to the trace file for its viewers."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.shared.device_roles import device_spans, kernels_by_device
from torch_tb_profiler.analysis.shared.quantities import GPU_BUSY
from torch_tb_profiler.analysis.shared.residency import blocks_per_sm
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.intervals import StepFunction
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category, EventPhase

#: the range of the Trace event that the profiler writes about its window
WINDOW_NAME = "PyTorch Profiler (0)"

SHORTEST_BUCKET_NS = 1000
MOST_BUCKETS = 100


class DeviceCounters(msgspec.Struct, frozen=True):
    """Of one device that ran kernels; times in ns from the start of the trace.

    start        shape (buckets + 1,): where each bucket begins; the last one is the end of the window
    utilization  shape (buckets + 1,): part of the bucket in which a kernel ran, 0…1; the last one is 0
    efficiency   estimated SM efficiency 0…1 over time; without segments when no kernel says how many blocks it has
    """

    device: int
    start: Int64
    utilization: Float64
    efficiency: StepFunction


class Counters(msgspec.Struct, frozen=True):
    """begin: of the window, ns from the start of the trace."""

    begin: int
    devices: tuple[DeviceCounters, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        arrays = (a for d in self.devices for a in (d.start, d.utilization, *d.efficiency))
        return 256 + sum(array.nbytes for array in arrays)


def counters(model: Model) -> Counters:
    """Every device that ran kernels, by number."""
    begin, end = window(model)
    work = model.device_work
    kernels = kernels_by_device(model)
    if not kernels:
        return Counters(begin, ())
    buckets = _buckets(begin, end)
    found = []
    for device, chosen in kernels.items():
        of_device = work.take(chosen)
        start, stop = model.trace.events.start[of_device.row], model.trace.events.end[of_device.row]
        blocks = blocks_per_sm(model.trace, of_device)
        sized = blocks > 0
        found.append(
            DeviceCounters(
                device,
                buckets,
                _utilization(GPU_BUSY.spans(device_spans(model, chosen)), buckets),
                intervals.step_function(start[sized], stop[sized], blocks[sized], cap=1.0),
            )
        )
    return Counters(begin, tuple(found))


def window(model: Model) -> tuple[int, int]:
    """When recording began and ended: as the profiler says, else from the first to the last range."""
    events = model.trace.events
    spans = np.flatnonzero(events.category == Category.SPAN)  # of the whole trace, whatever is selected
    named = spans[events.name[spans] == model.trace.strings.code(WINDOW_NAME)]
    ranges = named[-1:] if len(named) else np.flatnonzero(events.phase == EventPhase.COMPLETE)
    if not len(ranges):
        return 0, 0
    return int(events.start[ranges].min()), int(events.end[ranges].max())


def _buckets(begin: int, end: int) -> Int64:
    """The boundaries of at most a hundred buckets of 1, 10, 100 … µs; what is left over belongs to the last one."""
    length = SHORTEST_BUCKET_NS
    while (end - begin) / length > MOST_BUCKETS:
        length *= 10
    if end <= begin:
        return np.empty(0, np.int64)
    count = max((end - begin) // length, 1)
    return np.append(begin + length * np.arange(count, dtype=np.int64), np.int64(end))


def _utilization(busy: intervals.Spans, buckets: Int64) -> Float64:
    if not len(buckets):
        return np.empty(0)
    covered = intervals.Coverage(busy).between(buckets[:-1], buckets[1:])
    return np.append(covered / (buckets[1:] - buckets[:-1]), 0.0)
