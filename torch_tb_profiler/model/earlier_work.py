"""Device work that was launched before the recording began, and still ran then."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.grouping import group, least_at
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.model.launch_of_work import Link
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK

_NEVER = int(np.iinfo(np.int64).max)


def launched_before(trace: Trace, links: DeviceLinks) -> Bool:
    """Shape (device work,): the kernels, copies and sets whose launch is missing because recording began after it.

    A stream runs its work in the order of the launches, so this is what has no launch in the trace and began before
    all work of its stream that has one. On a stream where no work has a launch, what began before all work of the
    device that has one. Where no work of the device has a launch, launches were not recorded, and nothing is known.
    """
    work, start = trace.device_work, trace.events.start[trace.device_work.row]
    is_work = one_of(trace.events.category[work.row], DEVICE_WORK)
    orphan: Bool = is_work & (links.launch < 0) & (links.link == Link.NONE)
    if not orphan.any():
        return orphan
    known = np.flatnonzero(is_work & (links.launch >= 0))
    streams, devices = group([work.device, work.stream]), group([work.device])
    first_of_stream = np.full(len(streams), _NEVER)
    first_of_device = np.full(len(devices), -_NEVER)
    for first, groups in ((first_of_stream, streams), (first_of_device, devices)):
        there = distinct(groups.of[known])
        first[there] = least_at(groups.of[known], start[known], len(groups))[there]
    limit = first_of_stream[streams.of]
    limit = np.where(limit == _NEVER, first_of_device[devices.of], limit)
    before: Bool = orphan & (start < limit)
    return before
