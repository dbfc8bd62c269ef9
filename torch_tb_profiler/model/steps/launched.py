"""Which device work was launched in which stretch of time of the host."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.lookup import window_of
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK


def is_work(trace: Trace) -> Bool:
    """Shape (device work,): kernels, copies and sets; false for annotations and synchronization."""
    return one_of(trace.events.category[trace.device_work.row], DEVICE_WORK)


def launched_in(trace: Trace, device: DeviceLinks, start: Int64, end: Int64) -> tuple[Int64, Int64]:
    """The positions in `Trace.device_work` of what was launched in one of some windows of the host, and in which.

    start, end   shape (windows,), ascending; of two neighbours the first may end 1 ns after the second begins
    Returns two arrays of one shape.
    """
    launched = np.flatnonzero(is_work(trace) & (device.launch_row >= 0))
    call = device.launch_row[launched]
    window = window_of(start, end, trace.events.start[call], trace.events.end[call])
    inside = window >= 0
    return launched[inside], window[inside]
