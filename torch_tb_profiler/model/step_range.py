"""A trace as if nothing but some of its steps had been recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.model.steps import Steps
from torch_tb_profiler.trace import Category, Phase, Trace
from torch_tb_profiler.trace.schema import (
    Chunks,
    Collectives,
    DeviceWork,
    Events,
    Flows,
    Launches,
    Memory,
    Operators,
    PythonFrames,
    Table,
)

_TABLES = (Operators, Launches, DeviceWork, PythonFrames, Memory, Flows, Collectives)

#: what events that are left out are taken for
_LEFT_OUT = np.uint8(Category.OTHER)


@dataclass(frozen=True)
class StepRange:
    """From one step to another, both included; by their names in `Steps.names`."""

    first: str
    last: str


class UnknownStep(ValueError):
    """There is no step of this name."""


def positions(steps: Steps, wanted: StepRange) -> slice:
    """The steps of a range, whichever end is named first. Raises UnknownStep."""
    for name in (wanted.first, wanted.last):
        if name not in steps.names:
            raise UnknownStep(f"there is no step {name!r}")
    first, last = sorted((steps.names.index(wanted.first), steps.names.index(wanted.last)))
    return slice(first, last + 1)


def steps_within(steps: Steps, chosen: slice) -> Steps:
    return replace(
        steps,
        names=steps.names[chosen],
        labels=steps.labels[chosen],
        **{name: getattr(steps, name)[chosen] for name in ("host_start", "host_end", "start", "end")},
    )


def trace_within(trace: Trace, steps: Steps, device: DeviceLinks) -> Trace:
    """`trace` with what belongs to `steps`; events keep their rows, those left out are of no kind.

    On the host that is what begins between the start of the first step and the end of the last; of Python frames
    also what is running then, for the sake of call stacks. On devices it is what was launched there, and what has no
    launch while the steps last.
    """
    events = trace.events
    if not len(steps):
        return trace
    begin, finish = int(steps.host_start[0]), int(steps.host_end[-1])
    kept: Bool = (events.start >= begin) & (events.start < finish)
    frames = trace.python_frames.row
    kept[frames] = (events.start[frames] < finish) & (events.end[frames] > begin)
    kept[events.phase == Phase.METADATA] = True
    work = trace.device_work.row
    # device work of the last step may run on after its end
    kept[work] = (events.start[work] >= begin) & (events.start[work] < int(steps.end[-1]))
    launched = np.flatnonzero(device.launch >= 0)
    kept[work[launched]] = _inside(events.start[trace.launches.row[device.launch[launched]]], begin, finish)
    masked = replace(events, category=np.where(kept, events.category, _LEFT_OUT))
    tables: dict[type[Table], Table] = {Events: masked}
    for kind in _TABLES:
        table = trace.table(kind)
        tables[kind] = table.take(kept[table.row])  # type: ignore[attr-defined]
    tables[Chunks] = trace.chunks
    return Trace(
        trace.header,
        trace.strings,
        trace.tracks,
        trace.origin_ns,
        trace.notes,
        lambda kind: tables[kind],
        trace.text_bytes,
    )


def _inside(times: Int64, begin: int, finish: int) -> Bool:
    inside: Bool = (times >= begin) & (times < finish)
    return inside
