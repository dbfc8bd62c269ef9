"""The structure of one trace, each part computed when first asked for and then kept."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.nesting import Nesting
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, UInt8
from torch_tb_profiler.model.call_tree import CallTree, FrameTree, call_tree, clamping_note, frame_tree
from torch_tb_profiler.model.communication import Communications, Links, communication_rows, communications
from torch_tb_profiler.model.forward_backward import ForwardBackward, forward_backward
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks, device_links, launch_links
from torch_tb_profiler.model.step_range import StepRange, positions, steps_within, trace_within
from torch_tb_profiler.model.steps import StepChoice, Steps, find_steps
from torch_tb_profiler.trace import Category, Note, Notes, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK

#: waiting for the next batch, as torch.utils.data marks it
DATALOADER_NAME = re.compile(r"enumerate\(DataLoader\)#.*\.__next__$|enumerate\(DataPipe\)#")
OPTIMIZER_NAME = re.compile(r"Optimizer\.(?:step|zero_grad)#")


#: parts that two models of one trace share when their steps differ
_WITHOUT_STEPS = ("_frames", "_tree", "launches", "_device", "forward_backward", "communications")


class Model:
    """What the events of one trace mean together."""

    def __init__(self, trace: Trace, step_choice: StepChoice | None = None) -> None:
        self.trace = trace
        self.step_choice = step_choice or StepChoice()

    def with_steps(self, choice: StepChoice) -> Model:
        """The same trace with steps found another way; what does not depend on steps is shared."""
        if choice == self.step_choice:
            return self
        other = Model(self.trace, choice)
        vars(other).update({name: value for name, value in vars(self).items() if name in _WITHOUT_STEPS})
        return other

    def of_steps(self, wanted: StepRange | None) -> Model:
        """The same trace as if nothing but some of its steps had been recorded. Raises UnknownStep."""
        if wanted is None:
            return self
        steps = steps_within(self.steps, positions(self.steps, wanted))
        part = Model(trace_within(self.trace, steps, self.device), self.step_choice)
        vars(part)["steps"] = steps
        return part

    @cached_property
    def answers(self) -> dict[Any, Any]:
        """What was computed from this model and is kept with it, by question."""
        return {}

    @cached_property
    def lasting(self) -> dict[Any, Any]:
        """The same for answers so small that nothing is gained by forgetting them."""
        return {}

    def forget_answers(self) -> None:
        """Free the memory of `answers`; the structure itself stays."""
        self.answers.clear()

    def forget(self) -> None:
        """Free the memory of all that was computed; it is computed again when asked for."""
        for name in set(vars(self)) - {"trace", "step_choice"}:
            del vars(self)[name]

    @cached_property
    def _frames(self) -> tuple[FrameTree, Nesting]:
        return frame_tree(self.trace)

    @property
    def frames(self) -> FrameTree:
        """Python frames of every host thread."""
        return self._frames[0]

    def innermost_frame(self, track: Int32, time: Int64) -> Int32:
        """Position in `frames` of the innermost frame of each track at a time, -1 for none."""
        return self._frames[1].innermost(track, time)

    @cached_property
    def _tree(self) -> tuple[CallTree, Nesting]:
        return call_tree(self.trace, self._frames[1])

    @property
    def tree(self) -> CallTree:
        """Operators and annotations of every host thread."""
        return self._tree[0]

    @property
    def nesting(self) -> Nesting:
        """The intervals under `tree`, to look up what was running at a time."""
        return self._tree[1]

    @cached_property
    def launches(self) -> LaunchLinks:
        """Parallel to `trace.launches`."""
        return launch_links(self.trace, self.tree, self.nesting)

    @cached_property
    def _device(self) -> tuple[DeviceLinks, list[Note]]:
        return device_links(self.trace, self.tree, self.launches)

    @property
    def device(self) -> DeviceLinks:
        """Parallel to `trace.device_work`."""
        return self._device[0]

    @cached_property
    def steps(self) -> Steps:
        return find_steps(self.trace, self.tree, self.device, self.step_choice)

    @cached_property
    def forward_backward(self) -> ForwardBackward:
        return forward_backward(self.trace, self.tree, self.nesting)

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Everything a user should know about this trace: what the reader noted, then what its structure shows."""
        found = clamping_note(self._tree[1], self._frames[1]) + self._device[1]
        return tuple(Notes([*self.trace.notes, *found, *self.steps.notes]))

    # what the trace holds -----------------------------------------------------------------------------------

    @cached_property
    def device_category(self) -> UInt8:
        """Shape (device work,): the category of each row of `trace.device_work`."""
        return self.trace.events.category[self.trace.device_work.row]

    @cached_property
    def is_work(self) -> Bool:
        """Shape (device work,): kernels, copies and sets; false for annotations and synchronisation."""
        return one_of(self.device_category, DEVICE_WORK)

    @property
    def has_device_work(self) -> bool:
        return bool(self.is_work.any())

    @property
    def has_kernels(self) -> bool:
        return bool((self.device_category == Category.KERNEL).any())

    @property
    def has_runtime(self) -> bool:
        return len(self.trace.launches) > 0

    @cached_property
    def used_devices(self) -> list[int]:
        """Numbers of the devices that did some work, ascending."""
        devices = distinct(self.trace.device_work.device[self.is_work])
        return [int(d) for d in devices if d >= 0]

    @cached_property
    def dataloader_rows(self) -> Int32:
        """Rows of the host ranges in which the program waits for its next batch."""
        return self._annotation_rows(DATALOADER_NAME)

    @cached_property
    def optimizer_rows(self) -> Int32:
        """Rows of Optimizer.step and Optimizer.zero_grad."""
        return self._annotation_rows(OPTIMIZER_NAME)

    @cached_property
    def communications(self) -> Communications:
        """What this rank sent and received."""
        trace = self.trace
        chosen = np.flatnonzero(self.device.is_communication)
        launch = self.device.launch[chosen]
        kernels = Links(
            row=trace.device_work.row[chosen],
            node=self.device.node[chosen],
            launch_start=self._of_launch(launch, trace.events.start),
            launch_end=self._of_launch(launch, trace.events.end),
            external_id=trace.device_work.external_id[chosen],
        )
        return communications(trace, self.tree, kernels)

    def _of_launch(self, launch: Int32, values: Int64) -> Int64:
        """A value of the API call, -1 where it is not known."""
        found = np.full(len(launch), -1, dtype=np.int64)
        known = launch >= 0
        found[known] = values[self.trace.launches.row[launch[known]]]
        return found

    @cached_property
    def communication_rows(self) -> Int32:
        """Rows of the host ranges that are a collective call."""
        return communication_rows(self.trace)

    def _annotation_rows(self, name: re.Pattern[str]) -> Int32:
        events = self.trace.events
        rows = np.flatnonzero(events.category == Category.USER_ANNOTATION)
        named = self.trace.strings.where(name.match, events.name[rows])
        return rows[named[events.name[rows]]].astype(np.int32)
