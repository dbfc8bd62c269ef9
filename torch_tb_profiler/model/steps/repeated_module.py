"""Steps without marks: the model is called again and again."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.sequences import repeats
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.model.steps.host import LEAST_COVERAGE, Host, outermost
from torch_tb_profiler.model.steps.types import HostSteps

NN_MODULE = "nn.Module: "


def repeated_module(host: Host) -> HostSteps | None:
    """From one call of the outermost nn.Module to the next; of several that take turns, from the first to the first."""
    events = host.trace.events
    rows = outermost_modules(host)
    if len(rows) < 2:
        return None
    found = repeats(events.name[rows], events.duration[rows])
    if not found:
        return None
    first, _, period, _ = found[0]
    begins = rows[first : first + found[0].times * period : period]
    last = int(events.end[rows[first + found[0].times * period - 1]])
    label = host.trace.strings[int(events.name[begins[0]])].removeprefix(NN_MODULE)
    steps = host.from_starts(events.start[begins], last, int(events.track[begins[0]]), label)
    return steps if host.coverage(steps) >= LEAST_COVERAGE else None


def outermost_modules(host: Host) -> Int32:
    """Rows of the calls of nn.Module that are in no other, on the thread where they take most time; by start."""
    events, frames = host.trace.events, host.trace.python_frames
    names = events.name[frames.row]
    named = host.trace.strings.where(lambda text: text.startswith(NN_MODULE), names)
    rows = frames.row[(frames.module_id >= 0) | named[names]]
    if not len(rows):
        return rows
    threads = group([events.track[rows]])
    rows = rows[threads.of == int(np.argmax(threads.sum(events.duration[rows])))]
    rows = rows[np.lexsort((-events.end[rows], events.start[rows]))]
    found: Int32 = rows[outermost(events.start[rows], events.end[rows])]
    return found
