"""One trace with its steps, or some of its steps: the input of every analysis."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, UInt8
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import CallTree, ForwardBackward, FrameTree, call_heads, clamping_note
from torch_tb_profiler.model.communication import Communications, collective_calls
from torch_tb_profiler.model.communication_calls import communications, kernels_of_collectives
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks, link_notes
from torch_tb_profiler.model.owners import Owners
from torch_tb_profiler.model.recording import DeviceEvidence
from torch_tb_profiler.model.selection import Selection, StepRange, events_of_steps, select_steps, steps_in_range
from torch_tb_profiler.model.steps import WITHOUT_MARKS, StepChoice, Steps, find_steps
from torch_tb_profiler.model.structure import Memo, Structure, part
from torch_tb_profiler.trace import Category, Note, Notes, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK, DeviceWork, Launches, MemoryEvents

#: waiting for the next batch, as torch.utils.data marks it
DATALOADER_NAME = lazy_pattern(r"enumerate\(DataLoader\)#.*\.__next__$|enumerate\(DataPipe\)#")
OPTIMIZER_NAME = lazy_pattern(r"Optimizer\.(?:step|zero_grad)#")


class Model:
    """A trace, its structure, its steps, and which events are selected: all, or those of some of the steps.

    `trace` and `structure` are always whole. What a model gives itself (rows, tables, trees, links) is what is
    selected: analyses ask for that. Rows keep their numbers; positions in tables and trees are those of the selected
    ones, but for `CallTree.operator`, an index into `Trace.operators`.

    answers   what questions found, until the memory is needed
    pinned    answers so small that releasing them gains nothing
    kept      gives what was kept of an answer about the whole trace, by name; None for nothing
    """

    kept: Callable[[str], bytes | None] = staticmethod(lambda _: None)

    def __init__(
        self,
        trace: Trace,
        step_choice: StepChoice | None = None,
        structure: Structure | None = None,
        chosen: tuple[Steps, Bool | None] | None = None,
    ) -> None:
        """Reuse a known structure, and chosen steps with their events (None: all)."""
        self.trace = trace
        self.step_choice = step_choice or StepChoice()
        self.structure = structure or Structure(trace)
        self.parts = Memo()
        self.answers = Memo()
        self.pinned = Memo()
        self._chosen_steps = chosen[0] if chosen else None
        #: shape (events,): which events are selected; None for all
        self.selected = chosen[1] if chosen else None

    def with_steps(self, choice: StepChoice) -> Model:
        """Find steps another way in the same trace; the structure is shared."""
        return self if choice == self.step_choice else Model(self.trace, choice, self.structure)

    def of_steps(self, wanted: StepRange | None) -> Model:
        """Select what belongs to some of the steps. Raises UnknownStep."""
        if wanted is None:
            return self
        steps = select_steps(self.steps, steps_in_range(self.steps, wanted))
        selected = events_of_steps(self.structure, steps)
        return Model(self.trace, self.step_choice, self.structure, (steps, selected))

    @property
    def whole(self) -> Model:
        """Model of the same trace with everything selected; itself if nothing was deselected."""
        if self.selected is None:
            return self
        key = ("whole", self.step_choice)
        return self.structure.parts.get(key, lambda: Model(self.trace, self.step_choice, self.structure))

    def of_overview(self) -> Model:
        """Take the steps of the old plugin's /overview, for that alone.

        They begin elsewhere (`Steps.overview_start`), and without marks the whole trace is one.
        """
        if self.steps.rule in WITHOUT_MARKS and self.selected is None and self.step_choice == StepChoice():
            return self.with_steps(StepChoice(rule="whole_trace")).of_overview()
        steps = replace(self.steps, start=self.steps.overview_start)
        return Model(self.trace, self.step_choice, self.structure, (steps, self.selected))

    def fork(self) -> Model:
        """Copy the model with `answers` of its own, which reuse those of this model and can be cleared separately."""
        same = copy(self)
        same.answers = Memo(parent=self.answers)
        return same

    @property
    def in_steps(self) -> Model:
        """Model of the steps and the time between their marks, for numbers per step.

        Itself if there are no steps, or if some of them were chosen.
        """
        steps = self.steps
        if not len(steps) or self.selected is not None:
            return self
        return self.answers.get(
            "in_steps",
            lambda: Model(
                self.trace, self.step_choice, self.structure, (steps, events_of_steps(self.structure, steps))
            ),
        )

    def clear(self) -> None:
        """Free the memory of all computed results, with the structure; they are computed again on demand."""
        for memo in (self.structure.parts, self.parts, self.answers, self.pinned):
            memo.clear()

    # what is selected ---------------------------------------------------------------------------------------

    def rows_of(self, first: Category, *others: Category) -> Int32:
        """Rows of the selected events of one category or more, ascending."""
        found: Bool = self.trace.events.category == first
        for category in others:
            found |= self.trace.events.category == category
        if self.selected is not None:
            found &= self.selected
        return np.flatnonzero(found).astype(np.int32)

    def are_selected(self, rows: Int32) -> Bool:
        """Mark the rows that are selected."""
        return np.ones(len(rows), np.bool_) if self.selected is None else self.selected[rows]

    @part
    def _selection(self) -> Selection | None:
        return None if self.selected is None else Selection(self.structure, self.selected)

    @part
    def launches(self) -> Launches:
        """Host calls of a device's API."""
        launches, selection = self.trace.launches, self._selection
        return launches if selection is None or selection.launches.is_all else launches.take(selection.launches.kept)

    @part
    def device_work(self) -> DeviceWork:
        """Return the selected device work."""
        work, selection = self.trace.device_work, self._selection
        return work if selection is None or selection.work.is_all else work.take(selection.work.kept)

    @part
    def memory(self) -> MemoryEvents:
        """Allocations and releases."""
        memory = self.trace.memory
        return memory if self.selected is None else memory.take(self.selected[memory.row])

    @part
    def tree(self) -> CallTree:
        """Operators and annotations of every host thread."""
        return self.structure.tree if self._selection is None else self._selection.call_tree()

    @part
    def call_heads(self) -> Int64:
        """Outermost node of the same call by node of `tree`, shape (nodes + 1,); the last, -1, is for "no node"."""
        return call_heads(self.tree)

    @part
    def frames(self) -> FrameTree:
        """Python frames of every host thread."""
        return self.structure.frames if self._selection is None else self._selection.frame_tree()

    @part
    def launch_links(self) -> LaunchLinks:
        """Parallel to `launches`."""
        return self.structure.launch_links if self._selection is None else self._selection.launch_links()

    @part
    def device_links(self) -> DeviceLinks:
        """Parallel to `device_work`."""
        return self.structure.device_links if self._selection is None else self._selection.device_links()

    @part
    def owners(self) -> Owners:
        """Parallel to `device_work`. A choice of steps does not change them."""
        owners = self.structure.owners
        return owners if self._selection is None else owners.take(self._selection.work.kept)

    @part
    def forward_backward(self) -> ForwardBackward:
        """Positions in `tree`: operators and their backward."""
        return self.structure.forward_backward if self._selection is None else self._selection.forward_backward()

    @part
    def communications(self) -> Communications:
        """Communication of this rank."""
        if self._selection is None:
            return self.structure.communications
        kernels = kernels_of_collectives(self.trace.events, self.device_work, self.launches, self.device_links)
        return communications(self.trace, self.tree, kernels)

    def innermost_node(self, track: Int32, time: Int64) -> Int32:
        """Position in `tree` of the innermost node of each track at a time, -1 for none."""
        found = self.structure.nesting.innermost(track, time)
        return found if self._selection is None else self._selection.nodes.of(found)

    def innermost_frame(self, track: Int32, time: Int64) -> Int32:
        """Position in `frames` of the innermost frame of each track at a time, -1 for none."""
        found = self.structure.frame_nesting.innermost(track, time)
        return found if self._selection is None else self._selection.frames.of(found)

    @part
    def steps(self) -> Steps:
        """Return the steps, or those that were chosen; none of an unknown program."""
        if self.foreign_program is not None:
            return Steps.none()
        if self._chosen_steps is not None:
            return self._chosen_steps
        return find_steps(self.trace, self.structure.tree, self.structure.device_links, self.step_choice)

    @part
    def notes(self) -> tuple[Note, ...]:
        """List what a user should know about the selection: the notes of the reader, then those of the structure."""
        selection = self._selection
        clamped = self.structure.clamped(*((selection.nodes.kept, selection.frames.kept) if selection else ()))
        calls_recorded, processes = len(self.trace.launches) > 0, self.structure.launch_of_work.processes
        links = link_notes(self.device_links, self.is_work, self.device_work.correlation, calls_recorded, processes)
        return tuple(Notes([*self.trace.notes, *clamping_note(clamped), *links, *self.steps.notes]))

    @part
    def launched_before(self) -> Bool:
        """Shape (device work,): the selected work that was launched before the recording began."""
        before = self.structure.launched_before
        return before if self._selection is None else before[self._selection.work.kept]

    @part
    def device_category(self) -> UInt8:
        """Shape (device work,): the category of each row of `device_work`."""
        return self.trace.events.category[self.device_work.row]

    @part
    def is_work(self) -> Bool:
        """Shape (device work,): kernels, copies and sets; false for annotations and synchronization."""
        return one_of(self.device_category, DEVICE_WORK)

    @property
    def has_device_work(self) -> bool:
        """Whether anything ran on a device."""
        return bool(self.is_work.any())

    @property
    def has_kernels(self) -> bool:
        """Whether any kernel ran on a device."""
        return bool((self.device_category == Category.KERNEL).any())

    @property
    def has_stacks(self) -> bool:
        """Whether Python frames were recorded, or stacks of operators."""
        return len(self.trace.python_frames) > 0 or bool((self.trace.operators.call_stack > 0).any())

    @property
    def has_runtime(self) -> bool:
        """Whether a device's API was called."""
        return len(self.launches) > 0

    @property
    def foreign_program(self) -> str | None:
        """Name of the program that wrote the trace, empty for an unknown one; None for torch.profiler."""
        return self.structure.foreign_program

    @property
    def unrecorded_device(self) -> DeviceEvidence | None:
        """Evidence that the program used a device, if the file holds no device work; None otherwise."""
        return self.structure.unrecorded_device

    @part
    def used_devices(self) -> list[int]:
        """Numbers of the devices that did some work, ascending."""
        devices = distinct(self.device_work.device[self.is_work])
        return [int(d) for d in devices if d >= 0]

    @part
    def dataloader_rows(self) -> Int32:
        """Rows of the host ranges in which the program waits for its next batch."""
        return self.annotation_rows(DATALOADER_NAME.match)

    @part
    def optimizer_rows(self) -> Int32:
        """Rows of Optimizer.step and Optimizer.zero_grad."""
        return self.annotation_rows(OPTIMIZER_NAME.match)

    @part
    def communication_rows(self) -> Int32:
        """Rows of the host ranges of collective calls."""
        return collective_calls(self.trace, self.rows_of(Category.USER_ANNOTATION, Category.OPERATOR))

    def annotation_rows(self, wanted: Callable[[str], object]) -> Int32:
        """Rows of the annotations whose name is wanted, in file order."""
        names, rows = self.trace.events.name, self.rows_of(Category.USER_ANNOTATION)
        return rows[self.trace.strings.where(wanted, names[rows])[names[rows]]]
