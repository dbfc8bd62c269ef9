"""What operations of communication move over each link."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.model.communication import Communications, ProcessGroup
from torch_tb_profiler.model.communication_names import KINDS, bus_factor, nccl_tests_bytes


def bus_bytes(of: Communications, wanted: Callable[[ProcessGroup], bool]) -> Float64:
    """Shape (operations,): bytes as the bus bandwidth counts them; 0 where not known, or of a group not wanted."""
    operations = of.operations
    if not len(of):
        return np.zeros(0)
    columns = (operations.kind, operations.group, operations.in_bytes, operations.out_bytes)
    same = group([column.astype(np.int64) - int(column.min()) for column in columns])
    moved = np.zeros(len(same))
    for at, first in enumerate(same.first.tolist()):
        kind, ranks = KINDS[int(operations.kind[first])], of.groups[int(operations.group[first])]
        size = nccl_tests_bytes(kind, int(operations.in_bytes[first]), int(operations.out_bytes[first]), ranks.size)
        factor = bus_factor(kind, ranks.size)
        moved[at] = size * factor if factor and size and wanted(ranks) else 0.0
    found: Float64 = moved[same.of]
    return found
