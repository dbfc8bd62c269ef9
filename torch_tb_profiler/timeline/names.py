"""The distinct names of slices, numbered by how much time they take."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.trace import Trace


class Names(msgspec.Struct, frozen=True):
    """Parallel: by total time, the largest first.

    code    into Trace.strings
    count   slices and instants of that name
    total   ns
    number  shape (strings,): the place of each string here; -1 for one that is no name of a slice
    """

    code: Int32
    count: Int64
    total: Int64
    number: Int32

    def __len__(self) -> int:
        return len(self.code)


def names_of(trace: Trace, rows: Int32) -> Names:
    """Of the slices in `rows`."""
    events = trace.events
    name = events.name[rows]
    count = np.bincount(name, minlength=len(trace.strings))
    total = sums_at(name, np.maximum(events.duration[rows], 0), len(trace.strings))
    used = np.flatnonzero(count)
    code = used[np.lexsort((used, -total[used]))].astype(np.int32)
    number = np.full(len(trace.strings), -1, np.int32)
    number[code] = np.arange(len(code), dtype=np.int32)
    return Names(code, count[code].astype(np.int64), total[code], number)
