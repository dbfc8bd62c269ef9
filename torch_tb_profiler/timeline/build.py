"""From a trace and its structure to its timeline."""

from __future__ import annotations

from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.counters import with_counters
from torch_tb_profiler.timeline.lanes import place
from torch_tb_profiler.timeline.links import TimelineInputs, inputs_of
from torch_tb_profiler.timeline.pyramid import bounded, pyramid
from torch_tb_profiler.timeline.summary import summarize
from torch_tb_profiler.timeline.timeline import Timeline, extent_of, slices_of
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import DeviceWork, Events, Launches

#: tables that a timeline is made of
_NEEDED = (Events, Launches, DeviceWork)


def build(model: Model, inputs: TimelineInputs | None = None) -> Timeline:
    """Place all slices and merge them level by level.

    inputs   what is needed of the model, if that is known already

    The model is released: what it holds would be in memory beside the timeline.
    """
    inputs = inputs or inputs_of(model)
    release(model)
    return _assemble(model.trace, inputs)


def release(model: Model) -> None:
    """Free all data that a timeline does not need; it is loaded again on demand."""
    model.clear()
    model.trace.forget(but=_NEEDED)


def _assemble(trace: Trace, inputs: TimelineInputs) -> Timeline:
    placed = place(trace)
    slices = slices_of(trace, placed)
    begin, end = extent_of(slices)
    kept = pyramid(slices, trace.events.duration, begin, end)
    levels = {level: bounded(items, len(placed.lanes)) for level, items in {0: slices, **kept}.items()}
    summary = summarize(trace, inputs, placed, begin, end)
    return with_counters(Timeline(trace, placed, levels, inputs.links, summary), inputs.curves)
