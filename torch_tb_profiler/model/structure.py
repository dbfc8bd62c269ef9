"""Structure of a whole trace, independent of steps: call trees, links and owners. All choices of steps share it.

A part is computed once and kept until its owner drops it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar, cast, overload

import numpy as np

from torch_tb_profiler.arrays.nesting import Nesting
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.model.call_tree import (
    CallTree,
    ForwardBackward,
    FrameTree,
    call_tree,
    forward_backward,
    frame_tree,
)
from torch_tb_profiler.model.communication import Communications
from torch_tb_profiler.model.communication_calls import communications, kernels_of_collectives
from torch_tb_profiler.model.launch_of_work import LaunchOfWork, launch_of_work, one_kernel_each
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks, device_links, launch_links, launched_before
from torch_tb_profiler.model.owners import CallOwners, Owners, owners_of, owners_of_calls
from torch_tb_profiler.model.recording import DeviceEvidence, evidence_of_device, foreign_program, has_device_work
from torch_tb_profiler.spill import spilled
from torch_tb_profiler.trace import Trace

Owner = TypeVar("Owner", bound="HasParts")
T = TypeVar("T")


class Memo:
    """Results by what computed them: a function, or a function and its parameter. Not for several threads at once."""

    def __init__(self, parent: Memo | None = None) -> None:
        """Start empty. parent: another memo whose results are reused; new results are not added to it."""
        self._known: dict[Hashable, Any] = {}
        self._parent = parent

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known or (self._parent is not None and key in self._parent)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of `key`; `make` computes it the first time."""
        if key not in self._known:
            if self._parent is not None and key in self._parent:
                return self._parent.get(key, make)
            self._known[key] = spilled(make())
        return cast(T, self._known[key])

    def put(self, key: Hashable, result: object) -> None:
        """Keep a result that was computed elsewhere."""
        self._known[key] = result

    def clear(self) -> None:
        """Free the memory of all results; they are computed again on demand."""
        self._known.clear()


class HasParts(Protocol):
    """Owns a memo for its parts."""

    @property
    def parts(self) -> Memo: ...


class part(Generic[Owner, T]):  # noqa: N801 - used like `property`
    """A property that is computed when first asked for, and kept in the owner's `parts`."""

    def __init__(self, compute: Callable[[Owner], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, _: type[Owner]) -> part[Owner, T]: ...
    @overload
    def __get__(self, owner: Owner, _: type[Owner]) -> T: ...
    def __get__(self, owner: Owner | None, _: type[Owner]) -> T | part[Owner, T]:
        if owner is None:
            return self
        return owner.parts.get(self._compute, lambda: self._compute(owner))


class Structure:
    """The structure of one trace; each part is computed when first asked for and kept until `clear`."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.parts = Memo()

    def clear(self) -> None:
        """Free the memory of all parts; they are computed again on demand."""
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
        return owners_of(self.trace, self.tree, self.launch_links, self.device_links, self.call_owners)

    @part
    def forward_backward(self) -> ForwardBackward:
        """Operators and their backward."""
        return forward_backward(self.trace, self.tree, self.nesting)

    @part
    def communications(self) -> Communications:
        """Communication of this rank."""
        trace = self.trace
        kernels = kernels_of_collectives(trace.events, trace.device_work, trace.launches, self.device_links)
        return communications(trace, self.tree, kernels)

    @part
    def unrecorded_device(self) -> DeviceEvidence | None:
        """Evidence that the program used a device whose work the file lacks; None without such evidence."""
        return None if has_device_work(self.trace) else evidence_of_device(self.trace, self.launch_links.operator_node)

    @part
    def foreign_program(self) -> str | None:
        """Name the program that wrote the trace, empty for an unknown one; None for torch.profiler."""
        return foreign_program(self.trace)

    def clamped(self, nodes: Int32 | None = None, frames: Int32 | None = None) -> int:
        """Count the host ranges that were cut to the range they started in, of some nodes and frames, or of all."""
        return sum(
            int(np.count_nonzero(nesting.clamped if chosen is None else nesting.clamped[chosen]))
            for nesting, chosen in ((self.nesting, nodes), (self.frame_nesting, frames))
        )
