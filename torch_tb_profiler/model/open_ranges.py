"""Ranges that were still open when the recording ended: the file gives them an end that nobody saw."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.trace import Category, Trace

#: the instant that Kineto writes behind everything else
_END = "Record Window End"


def still_open(trace: Trace) -> Bool:
    """Shape (events,): annotations that end with the window of the recording, behind all that ends by itself."""
    events = trace.events
    code = trace.strings.code(_END)
    window = events.start[events.name == code] if code >= 0 else events.start[:0]
    if not len(window):
        return np.zeros(len(events), np.bool_)
    last = int(window.max())
    found = np.zeros(len(events), np.bool_)
    at = np.flatnonzero(events.end >= last)
    at = at[events.duration[at] >= 0]
    if last > 0 and len(at):
        is_annotation = events.category[at] == Category.USER_ANNOTATION
        found[at] = (is_annotation & (events.duration[at] > 0) & (events.end[at] == last)).all()
    return found
