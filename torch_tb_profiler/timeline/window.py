"""Exact slices of a window."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.slices import longest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.timeline.pyramid import Items
from torch_tb_profiler.timeline.timeline import Timeline


def exact_slices(timeline: Timeline, lanes: Int64, start: int, end: int, least: int, limit: int) -> tuple[int, Items]:
    """How many slices touch [start, end) and last at least `least` ns, and the `limit` longest of them.

    lanes   ascending

    They are in the order of start, lane and row.
    """
    found = timeline.within(lanes, start, end)
    found = found.take(found.end - found.start >= least)
    total = len(found)
    if total > limit:
        found = found.take(longest(found.end - found.start, found.start, limit))
    return total, found.take(np.lexsort((found.longest, found.lane, found.start)))
