"""Select some of the steps of a trace: which events belong to them, and what the structure says of those.

Positions in the parts of a structure are renumbered for the selected events.
"""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.arrays.nesting import depths, nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model.call_tree import CallTree, ForwardBackward, FrameTree
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks
from torch_tb_profiler.model.steps import Steps
from torch_tb_profiler.model.structure import Structure
from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.trace import EventPhase
from torch_tb_profiler.words.sentences import because


class RowNumbering:
    """The selected rows of a table, or nodes of a tree, and their positions among these.

    kept    shape (selected,): their positions in the whole, ascending
    is_all  whether nothing was deselected, as is usual of operators: then all positions stay
    """

    def __init__(self, selected: Bool, parent: Int32 | None = None) -> None:
        """Keep the selected rows or nodes. parent: of the nodes of a tree."""
        self.kept: Int32 = np.flatnonzero(selected).astype(np.int32)
        self.is_all = len(self.kept) == len(selected)
        self._selected, self._parent = selected, parent
        # the last entry is for "none"
        self._number = np.full(len(selected) + 1, -1, np.int32)
        self._number[self.kept] = np.arange(len(self.kept), dtype=np.int32)

    def of(self, position: Int32) -> Int32:
        """Where positions in the whole (-1: none) are among those selected; -1 for what is not.

        In a tree a node that is not selected becomes the nearest one around it that is.
        """
        if self.is_all:
            return position
        if self._parent is not None:
            position = nearest(self._parent, self._selected, position)
        return self._number[position]


class Selection:
    """The parts of a structure for a mask over events. The structure itself stays as it is."""

    def __init__(self, structure: Structure, selected: Bool) -> None:
        self._structure = structure
        self._selected = selected

    @cached_property
    def nodes(self) -> RowNumbering:
        """Selected nodes of the call tree."""
        tree = self._structure.tree
        return RowNumbering(self._selected[tree.row], tree.parent)

    @cached_property
    def frames(self) -> RowNumbering:
        """Selected nodes of the frame tree."""
        frames = self._structure.frames
        return RowNumbering(self._selected[frames.row], frames.parent)

    @cached_property
    def launches(self) -> RowNumbering:
        """Selected rows of `Trace.launches`."""
        return RowNumbering(self._selected[self._structure.trace.launches.row])

    @cached_property
    def work(self) -> RowNumbering:
        """Selected rows of `Trace.device_work`."""
        return RowNumbering(self._selected[self._structure.trace.device_work.row])

    def call_tree(self) -> CallTree:
        """Select nodes. `operator` stays an index into `Trace.operators`."""
        tree = self._structure.tree
        if not self.nodes.is_all:
            tree = tree.take(self.nodes.kept)
            parent = self.nodes.of(tree.parent)
            tree = tree.with_columns(parent=parent, depth=depths(parent))
        return tree if self.frames.is_all else tree.with_columns(frame=self.frames.of(tree.frame))

    def frame_tree(self) -> FrameTree:
        """Select frames."""
        if self.frames.is_all:
            return self._structure.frames
        frames = self._structure.frames.take(self.frames.kept)
        parent = self.frames.of(frames.parent)
        return frames.with_columns(parent=parent, depth=depths(parent))

    def launch_links(self) -> LaunchLinks:
        """Parallel to the selected launches."""
        if self.launches.is_all and self.nodes.is_all:
            return self._structure.launch_links
        links = self._structure.launch_links.take(self.launches.kept)
        # around an operator that is not selected nothing is: it began before the steps
        return links.with_columns(node=self.nodes.of(links.node), operator_node=self.nodes.of(links.operator_node))

    def device_links(self) -> DeviceLinks:
        """Parallel to the selected device work."""
        if self.work.is_all and self.launches.is_all and self.nodes.is_all:
            return self._structure.device_links
        links = self._structure.device_links.take(self.work.kept)
        return links.with_columns(
            launch=self.launches.of(links.launch),
            node=self.nodes.of(links.node),
            operator_node=self.nodes.of(links.operator_node),
        )

    def forward_backward(self) -> ForwardBackward:
        """Select the pairs with both operators selected."""
        pairs, rows = self._structure.forward_backward, self._structure.tree.row
        both = self._selected[rows[pairs.forward]] & self._selected[rows[pairs.backward]]
        return ForwardBackward(self.nodes.of(pairs.forward[both]), self.nodes.of(pairs.backward[both]))


class StepRange(msgspec.Struct, frozen=True):
    """A range of steps, by the names of its first and last in `Steps.names`."""

    first: str
    last: str


class UnknownStep(ErrorWithReason, ValueError):
    """There is no step of this name."""


def steps_in_range(steps: Steps, wanted: StepRange) -> slice:
    """Return the steps of a range, whichever end is named first. Raises UnknownStep."""
    for name in (wanted.first, wanted.last):
        if name not in steps.names:
            raise UnknownStep(because("no_such_step", {"step": name}))
    first, last = sorted((steps.names.index(wanted.first), steps.names.index(wanted.last)))
    return slice(first, last + 1)


def select_steps(steps: Steps, chosen: slice) -> Steps:
    """Select some of the steps."""
    return replace(
        steps,
        names=steps.names[chosen],
        labels=steps.labels[chosen],
        fill_ns=steps.fill_ns if chosen.start == 0 else 0,
        **{name: getattr(steps, name)[chosen] for name in ("host_start", "host_end", "start", "end", "overview_start")},
    )


def events_of_steps(structure: Structure, steps: Steps) -> Bool:
    """Mark the events that belong to `steps` (at least one), shape (events,).

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

    As `events_of_steps`, but an event belongs to one step: a Python frame to that in which it begins, work without a
    launch in the trace to the first that it could belong to, metadata to none.
    """
    trace, links = structure.trace, structure.device_links
    events = trace.events
    step = np.full(len(events), -1, np.int64)
    if not len(steps):
        return step
    step = _begins_in(steps, events.start)
    step[events.phase == EventPhase.METADATA] = -1
    work = trace.device_work.row
    first = np.minimum(np.searchsorted(steps.end, events.start[work], side="right"), len(steps) - 1)
    inside = (events.start[work] >= steps.host_start[first]) & (events.start[work] < steps.end[first])
    step[work] = np.where(inside & ~structure.launched_before, first, -1)
    launched = np.flatnonzero(links.launch_row >= 0)
    step[work[launched]] = _begins_in(steps, events.start[links.launch_row[launched]])
    return step


def _begins_in(steps: Steps, times: Int64) -> Int64:
    """Find the step on the host in which each time lies; -1 for none."""
    place = np.searchsorted(steps.host_start, times, side="right") - 1
    return np.where((place >= 0) & (times < steps.host_end[place]), place, -1)
