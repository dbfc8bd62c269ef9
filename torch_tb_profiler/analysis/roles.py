"""What kind of work each kernel, copy and fill is: the three classes that time on a device is shared out among."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.types import Bool, Int64, UInt8
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: in this order they are the bits of the sets that `spans_by_role` gives
ROLES = ("compute", "communication", "copy")
COMPUTE, COMMUNICATION, COPY = range(3)
NO_WORK = 255


@remembered
def roles(model: Model) -> UInt8:
    """Shape (device work,): COMPUTE, COMMUNICATION or COPY; NO_WORK for annotations and synchronisation.

    A copy is a memcpy or memset; communication a kernel of a collective; every other kernel computes.
    """
    found = np.full(len(model.device_work), NO_WORK, np.uint8)
    found[model.device_category == Category.KERNEL] = COMPUTE
    found[one_of(model.device_category, (Category.MEMCPY, Category.MEMSET))] = COPY
    found[model.device_links.is_communication] = COMMUNICATION
    return found


def spans_by_role(model: Model, chosen: Bool) -> list[Spans]:
    """When the chosen pieces of device work ran, one set per role."""
    events, row, role = model.trace.events, model.device_work.row, roles(model)

    def spans(rows: Int64) -> Spans:
        return intervals.union(events.start[rows], events.end[rows])

    return [spans(row[chosen & (role == r)]) for r in range(len(ROLES))]
