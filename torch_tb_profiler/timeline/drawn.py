"""Labels and colours of slices: short names, and kinds of work."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.types import Int32, UInt8
from torch_tb_profiler.model.event_names import frame_label
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.timeline.timeline import RANGES, Timeline
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import DEVICE_WORK

#: by the code that binary answers have: the categories of the trace, and communication, which is a colour of its own
DRAWN_CATEGORIES = (*(category.name.lower() for category in Category), "communication")
COMMUNICATION = len(Category)


def drawn_categories(timeline: Timeline, rows: Int32) -> UInt8:
    """Codes into `DRAWN_CATEGORIES`, parallel to `rows`."""
    events = timeline.trace.events
    found = events.category[rows].copy()
    is_work = np.flatnonzero(one_of(found, DEVICE_WORK))
    place = np.searchsorted(timeline.trace.device_work.row, rows[is_work])
    found[is_work[timeline.links.work.is_communication[place] > 0]] = COMMUNICATION
    is_range = np.flatnonzero(one_of(found, RANGES))
    found[is_range[timeline.is_communication_name[events.name[rows[is_range]]]]] = COMMUNICATION
    return found


def label(timeline: Timeline, code: int) -> str:
    """What is written on a slice with this name (a string of the trace): the name, unless there is a shorter one."""
    name = timeline.trace.strings[code]
    if timeline.is_kernel_name[code]:
        return short_name(name)
    return frame_label(name)
