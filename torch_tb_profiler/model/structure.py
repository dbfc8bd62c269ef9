"""What the events of a whole trace mean together, whatever its steps; every choice of steps shares it."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.nesting import Nesting
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.model.call_tree import CallTree, FrameTree, call_tree, frame_tree
from torch_tb_profiler.model.communication import Communications
from torch_tb_profiler.model.communication_calls import communications, kernels_of_collectives
from torch_tb_profiler.model.earlier_work import launched_before
from torch_tb_profiler.model.foreign import foreign_program
from torch_tb_profiler.model.forward_backward import ForwardBackward, forward_backward
from torch_tb_profiler.model.launch_of_work import LaunchOfWork, launch_of_work
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks, device_links, launch_links
from torch_tb_profiler.model.memo import Memo, part
from torch_tb_profiler.model.one_kernel_each import one_kernel_each
from torch_tb_profiler.model.owners import CallOwners, Owners, owners_of, owners_of_calls
from torch_tb_profiler.model.unrecorded_device import DeviceEvidence, evidence_of_device, has_device_work
from torch_tb_profiler.trace import Trace


class Structure:
    """The structure of one trace; each part is computed when first asked for and kept until `clear`."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.parts = Memo()

    def clear(self) -> None:
        """Free the memory of all parts; they are computed again when asked for."""
        self.parts.clear()

    @part
    def _frames(self) -> tuple[FrameTree, Nesting]:
        return frame_tree(self.trace)

    @part
    def _tree(self) -> tuple[CallTree, Nesting]:
        return call_tree(self.trace, self.frame_nesting)

    @property
    def frames(self) -> FrameTree:
        """Python frames of every host thread."""
        return self._frames[0]

    @property
    def frame_nesting(self) -> Nesting:
        """The intervals under `frames`, to look up what was running at a time."""
        return self._frames[1]

    @property
    def tree(self) -> CallTree:
        """Operators and annotations of every host thread."""
        return self._tree[0]

    @property
    def nesting(self) -> Nesting:
        """The intervals under `tree`, to look up what was running at a time."""
        return self._tree[1]

    @part
    def launch_links(self) -> LaunchLinks:
        """Parallel to `trace.launches`."""
        return launch_links(self.trace, self.tree, self.nesting)

    @part
    def launch_of_work(self) -> LaunchOfWork:
        """Parallel to `trace.device_work`."""
        links, rows = self.launch_links, self.trace.launches.row
        is_outer = (links.duration > 0) | (self.trace.events.duration[rows] <= 0)
        return one_kernel_each(self.trace, launch_of_work(self.trace), is_outer)

    @part
    def device_links(self) -> DeviceLinks:
        """Parallel to `trace.device_work`."""
        return device_links(self.trace, self.tree, self.launch_links, self.launch_of_work)

    @part
    def launched_before(self) -> Bool:
        """Shape (device work,): kernels, copies and sets that were launched before the recording began."""
        return launched_before(self.trace, self.device_links)

    @part
    def call_owners(self) -> CallOwners:
        """Parallel to `trace.launches`."""
        return owners_of_calls(self.trace, self.tree, self.launch_links, self.frames, self.frame_nesting)

    @part
    def owners(self) -> Owners:
        """Parallel to `trace.device_work`."""
        return owners_of(self.trace, self.tree, self.device_links, self.call_owners)

    @part
    def forward_backward(self) -> ForwardBackward:
        """Operators and their backward."""
        return forward_backward(self.trace, self.tree, self.nesting)

    @part
    def communications(self) -> Communications:
        """What this rank sent and received."""
        trace = self.trace
        kernels = kernels_of_collectives(trace.events, trace.device_work, trace.launches, self.device_links)
        return communications(trace, self.tree, kernels)

    @part
    def unrecorded_device(self) -> DeviceEvidence | None:
        """What shows that the program used a device, where the file holds no work of any; None otherwise."""
        return None if has_device_work(self.trace) else evidence_of_device(self.trace, self.launch_links.operator_node)

    @part
    def foreign_program(self) -> str | None:
        """The program that wrote the trace, empty for one that is not known; None for torch.profiler."""
        return foreign_program(self.trace)

    def clamped(self, nodes: Int32 | None = None, frames: Int32 | None = None) -> int:
        """How many host ranges were cut to the one they started in; of some nodes and frames, or of all."""
        return sum(
            int(np.count_nonzero(nesting.clamped if chosen is None else nesting.clamped[chosen]))
            for nesting, chosen in ((self.nesting, nodes), (self.frame_nesting, frames))
        )
