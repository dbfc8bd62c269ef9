"""Quantities of device time and communication, each defined once, here; and when work of each role ran.

Every piece of device work has a role. A quantity says which roles must be at work for a moment to count, and which must
not; what it is measured on (one device, all devices of a rank, the calls of a library without kernels) the caller
says by the spans it gives. Views show these and compute no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.host_threads import host_computing
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.intervals import Coverage, Spans
from torch_tb_profiler.arrays.types import Bool, Int64, UInt8
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


class Role(IntEnum):
    """What a kernel, copy or fill does. As a bit, `1 << role`, it is part of a set of roles."""

    COMPUTE = 0  # a kernel that is not communication's
    COMMUNICATION = 1  # a kernel of a collective
    COPY = 2  # memcpy and memset


#: of events that are no work: annotations and synchronization
NO_ROLE = 255


def roles_of(category: UInt8, is_communication: Bool) -> UInt8:
    """Return the `Role` of each piece of device work, `NO_ROLE` for what is none; arrays of one shape."""
    found = np.full(len(category), NO_ROLE, np.uint8)
    found[category == Category.KERNEL] = Role.COMPUTE
    found[one_of(category, (Category.MEMCPY, Category.MEMSET))] = Role.COPY
    found[is_communication] = Role.COMMUNICATION
    return found


def spans_by_role(start: Int64, end: Int64, role: UInt8) -> tuple[Spans, ...]:
    """Return when work of each role ran, in the order of `Role`; the arrays are parallel, times in ns."""
    chosen = [role == each for each in Role]
    return tuple(intervals.union(start[mask], end[mask]) for mask in chosen)


class Quantity(msgspec.Struct, frozen=True):
    """The moments at which something of the roles `of` is at work and nothing of the roles `without`."""

    of: tuple[Role, ...]
    without: tuple[Role, ...] = ()

    def counts(self, running: int) -> bool:
        """Return whether a moment counts at which exactly the roles of a set (bits, see `Role`) are at work."""
        return any(running >> role & 1 for role in self.of) and not any(running >> role & 1 for role in self.without)

    def spans(self, by_role: Sequence[Spans]) -> Spans:
        """Return these moments. by_role: when work of each role ran, in the order of `Role`."""
        found = intervals.union_of([by_role[role] for role in self.of])
        if not self.without:
            return found
        return intervals.subtraction(found, intervals.union_of([by_role[role] for role in self.without]))

    def spans_of(self, start: Int64, end: Int64, role: UInt8) -> Spans:
        """Return these moments, if no other quantity is needed of the same work; arrays as in `spans_by_role`."""
        if self.without:
            return self.spans(spans_by_role(start, end, role))
        mask = one_of(role, self.of)
        return intervals.union(start[mask], end[mask])

    def between(self, by_role: Sequence[Spans], start: Int64, end: Int64) -> Int64:
        """Return its ns in each of the windows [start, end)."""
        return Coverage(self.spans(by_role)).between(start, end)


#: "Device busy" (`busy_ns`): at least one kernel, copy or fill runs; the rest of the window is idle
BUSY = Quantity((Role.COMPUTE, Role.COMMUNICATION, Role.COPY))

#: at least one kernel runs, of a collective or not: the "GPU utilization" of the old plugin's routes and file counters
GPU_BUSY = Quantity((Role.COMPUTE, Role.COMMUNICATION))

#: "Computing" (`computing_ns`): at least one kernel runs that is not communication's
COMPUTING = Quantity((Role.COMPUTE,))

#: the same while no communication runs
COMPUTING_ALONE = Quantity((Role.COMPUTE,), without=(Role.COMMUNICATION,))

#: "Communicating" (`communicating_ns`): communication runs, hidden or not
COMMUNICATING = Quantity((Role.COMMUNICATION,))

#: "Exposed communication": communication runs and no compute kernel, what the program would be faster by without it.
#: Copies do not hide it
EXPOSED_COMMUNICATION = Quantity((Role.COMMUNICATION,), without=(Role.COMPUTE,))

#: communication runs, and neither a compute kernel nor a copy or fill: the category `communication` of a step
UNCOVERED_COMMUNICATION = Quantity((Role.COMMUNICATION,), without=(Role.COMPUTE, Role.COPY))

#: copies or fills run and no kernel
EXPOSED_COPY = Quantity((Role.COPY,), without=(Role.COMPUTE, Role.COMMUNICATION))


def idle_ns(window_ns: Int64, busy_ns: Int64) -> Int64:
    """Subtract `BUSY` from windows."""
    return window_ns - busy_ns


def share(part_ns: float, whole_ns: float) -> float | None:
    """Return part ÷ whole, 0…1; None for a whole without length."""
    return part_ns / whole_ns if whole_ns > 0 else None


@cached
def device_roles(model: Model) -> UInt8:
    """Return shape (device work,): the `Role` of each piece, `NO_ROLE` for annotations and synchronization."""
    return roles_of(model.device_category, model.device_links.is_communication)


@cached
def work_by_device(model: Model) -> dict[int, Int64]:
    """Return kernels, copies and fills of each device, by number: positions in Model.device_work, ascending."""
    work = np.flatnonzero(device_roles(model) != NO_ROLE)
    return {device: work[at] for device, at in each_value(model.device_work.device[work])}


@cached
def kernels_by_device(model: Model) -> dict[int, Int64]:
    """Return the kernels of each device that ran any and has a number."""
    found = {device: at[model.device_category[at] == Category.KERNEL] for device, at in work_by_device(model).items()}
    return {device: at for device, at in found.items() if len(at) and device >= 0}


def device_spans(model: Model, chosen: Bool | Int64 | None = None) -> tuple[Spans, ...]:
    """Return when work of each role ran, on whatever device.

    chosen   only some of it: a mask of shape (device work,), or positions
    """
    events, row, role = model.trace.events, model.device_work.row, device_roles(model)
    if chosen is not None:
        row, role = row[chosen], role[chosen]
    return spans_by_role(events.start[row], events.end[row], role)


@cached
def all_device_spans(model: Model) -> tuple[Spans, ...]:
    """Return when work of each role ran on any device of the rank."""
    return device_spans(model)


@cached
def communication_spans(model: Model) -> Spans:
    """Return when the rank communicated: kernels of collectives, or calls on the host where a library has no
    kernels.
    """
    ranges = model.communications.ranges
    return intervals.union(ranges.start, ranges.end)


def computing_spans(model: Model) -> Spans:
    """Return when the rank computed: its compute kernels, or operators on the host where there are none."""
    on_devices = all_device_spans(model)[Role.COMPUTE]
    return on_devices if on_devices.size else host_computing(model)


def rank_spans(model: Model) -> tuple[Spans, ...]:
    """Return when the rank computed, communicated and copied, on whatever device; in the order of `Role`."""
    return computing_spans(model), communication_spans(model), all_device_spans(model)[Role.COPY]
