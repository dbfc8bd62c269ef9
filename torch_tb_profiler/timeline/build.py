"""From the structure of a trace to its timeline."""

from __future__ import annotations

from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.counters import with_counters
from torch_tb_profiler.timeline.lanes import place
from torch_tb_profiler.timeline.levels import pyramid
from torch_tb_profiler.timeline.links import links_of
from torch_tb_profiler.timeline.summary import summarize
from torch_tb_profiler.timeline.timeline import Timeline, bounded, slices_of


def build(model: Model) -> Timeline:
    """Place all slices and merge them level by level."""
    trace = model.trace
    placed, by_start = place(trace)
    slices = slices_of(trace, placed.of_row, by_start)
    begin = int(slices.start.min()) if len(slices) else 0
    end = int(slices.end.max()) if len(slices) else 0
    kept = pyramid(slices, trace.events.duration, begin, end)
    levels = {level: bounded(items, len(placed.lanes)) for level, items in {0: slices, **kept}.items()}
    timeline = Timeline(trace, placed, levels, links_of(model), summarize(model, placed, begin, end))
    return with_counters(timeline, model)
