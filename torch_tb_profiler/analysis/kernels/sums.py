"""Kernels by name with few sums: what costs least to know of them."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


class KernelSums(msgspec.Struct, frozen=True):
    """Kernels by name; columns as in `KernelTable`, parallel."""

    name: tuple[str, ...]
    calls: Int64
    total_ns: Int64


def kernel_sums(model: Model) -> KernelSums:
    """As `kernels(model)` in columns and order, without all that it tells beside these columns."""
    trace = model.trace
    rows = model.device_work.row[model.device_category == Category.KERNEL]
    names = trace.events.name[rows]
    groups = group([names])
    total = groups.sum(np.maximum(trace.events.duration[rows], 0))
    order = descending(total, lambda at: trace.strings[int(names[groups.first[at]])])
    return KernelSums(
        name=tuple(trace.strings[code] for code in names[groups.first][order].tolist()),
        calls=groups.count()[order],
        total_ns=total[order],
    )
