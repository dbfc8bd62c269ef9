"""What a timeline takes from the structure of a trace, so that the structure can go before the timeline is built."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.analysis.memory.records import MemoryCurve, memory_curves
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.links import Links, links_of


class TimelineInputs(msgspec.Struct, frozen=True):
    """step_ns: where steps begin; curves: the memory of each device."""

    links: Links
    step_ns: tuple[int, ...]
    curves: tuple[MemoryCurve, ...]


def inputs_of(model: Model) -> TimelineInputs:
    return TimelineInputs(links_of(model), tuple(model.steps.start.tolist()), memory_curves(model).curves)
