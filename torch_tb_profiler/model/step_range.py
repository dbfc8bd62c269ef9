"""Some of the steps of a trace, and which of its events belong to them."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.steps import Steps
from torch_tb_profiler.model.structure import Structure
from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.trace import EventPhase
from torch_tb_profiler.words.reasons import because


class StepRange(msgspec.Struct, frozen=True):
    """From one step to another, both included; by their names in `Steps.names`."""

    first: str
    last: str


class UnknownStep(ErrorWithReason, ValueError):
    """There is no step of this name."""


def positions(steps: Steps, wanted: StepRange) -> slice:
    """The steps of a range, whichever end is named first. Raises UnknownStep."""
    for name in (wanted.first, wanted.last):
        if name not in steps.names:
            raise UnknownStep(because("no_such_step", {"step": name}))
    first, last = sorted((steps.names.index(wanted.first), steps.names.index(wanted.last)))
    return slice(first, last + 1)


def steps_within(steps: Steps, chosen: slice) -> Steps:
    """Only some of the steps."""
    return replace(
        steps,
        names=steps.names[chosen],
        labels=steps.labels[chosen],
        fill_ns=steps.fill_ns if chosen.start == 0 else 0,
        **{name: getattr(steps, name)[chosen] for name in ("host_start", "host_end", "start", "end", "overview_start")},
    )


def events_of(structure: Structure, steps: Steps) -> Bool:
    """Shape (events,): which events belong to `steps`, of which there is at least one.

    On the host that is what begins between the start of the first step and the end of the last; of Python frames
    also what is running then, for the sake of call stacks. On devices it is what was launched there, and what runs
    without a launch in the trace while the steps last; but work that was launched before the recording belongs to no
    step. The metadata of the file belongs to every step.
    """
    trace, links = structure.trace, structure.device_links
    events = trace.events
    begin, finish = int(steps.host_start[0]), int(steps.host_end[-1])
    selected = _inside(events.start, begin, finish)
    frames = trace.python_frames.row
    selected[frames] = (events.start[frames] < finish) & (events.end[frames] > begin)
    selected[events.phase == EventPhase.METADATA] = True
    work = trace.device_work.row
    # device work of the last step may run on after its end
    selected[work] = _inside(events.start[work], begin, int(steps.end[-1])) & ~structure.launched_before
    launched = np.flatnonzero(links.launch_row >= 0)
    selected[work[launched]] = _inside(events.start[links.launch_row[launched]], begin, finish)
    return selected


def _inside(times: Int64, begin: int, finish: int) -> Bool:
    inside: Bool = (times >= begin) & (times < finish)
    return inside


def step_of_events(structure: Structure, steps: Steps) -> Int64:
    """Shape (events,): the index of the step that each event belongs to, -1 for none.

    What `events_of` says of each step alone, but that an event belongs to one: a Python frame to the step in which it
    begins, work without a launch in the trace to the first step that it could belong to, metadata to none.
    """
    trace, links = structure.trace, structure.device_links
    events = trace.events
    found = np.full(len(events), -1, np.int64)
    if not len(steps):
        return found
    found = _begins_in(steps, events.start)
    found[events.phase == EventPhase.METADATA] = -1
    work = trace.device_work.row
    first = np.minimum(np.searchsorted(steps.end, events.start[work], side="right"), len(steps) - 1)
    inside = (events.start[work] >= steps.host_start[first]) & (events.start[work] < steps.end[first])
    found[work] = np.where(inside & ~structure.launched_before, first, -1)
    launched = np.flatnonzero(links.launch_row >= 0)
    found[work[launched]] = _begins_in(steps, events.start[links.launch_row[launched]])
    return found


def _begins_in(steps: Steps, times: Int64) -> Int64:
    """The step on the host in which each time lies; -1 for none."""
    place = np.searchsorted(steps.host_start, times, side="right") - 1
    return np.where((place >= 0) & (times < steps.host_end[place]), place, -1)
