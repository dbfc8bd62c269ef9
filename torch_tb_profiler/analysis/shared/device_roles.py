"""When computing, communicating and copying went on: on devices, and in a whole rank."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.host_computing import host_computing
from torch_tb_profiler.analysis.shared.quantities import NO_ROLE, Role, roles_of, spans_by_role
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.types import Bool, Int64, UInt8
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


@cached
def device_roles(model: Model) -> UInt8:
    """Shape (device work,): the `Role` of each piece, `NO_ROLE` for annotations and synchronization."""
    return roles_of(model.device_category, model.device_links.is_communication)


@cached
def work_by_device(model: Model) -> dict[int, Int64]:
    """The kernels, copies and fills of each device, by number: positions in Model.device_work, ascending."""
    work = np.flatnonzero(device_roles(model) != NO_ROLE)
    return {device: work[at] for device, at in each_value(model.device_work.device[work])}


@cached
def kernels_by_device(model: Model) -> dict[int, Int64]:
    """The same of kernels alone, of devices that ran any and have a number."""
    found = {device: at[model.device_category[at] == Category.KERNEL] for device, at in work_by_device(model).items()}
    return {device: at for device, at in found.items() if len(at) and device >= 0}


def device_spans(model: Model, chosen: Bool | Int64 | None = None) -> tuple[Spans, ...]:
    """When work of each role ran, on whatever device.

    chosen   only some of it: a mask of shape (device work,), or positions
    """
    events, row, role = model.trace.events, model.device_work.row, device_roles(model)
    if chosen is not None:
        row, role = row[chosen], role[chosen]
    return spans_by_role(events.start[row], events.end[row], role)


@cached
def all_device_spans(model: Model) -> tuple[Spans, ...]:
    """When work of each role ran on any device of the rank."""
    return device_spans(model)


@cached
def communication_spans(model: Model) -> Spans:
    """When the rank communicated: kernels of collectives; the calls on the host where a library has no kernels."""
    ranges = model.communications.ranges
    return intervals.union(ranges.start, ranges.end)


def computing_spans(model: Model) -> Spans:
    """When the rank computed: its compute kernels; the operators on the host where there are none."""
    on_devices = all_device_spans(model)[Role.COMPUTE]
    return on_devices if on_devices.size else host_computing(model)


def rank_spans(model: Model) -> tuple[Spans, ...]:
    """When the rank computed, communicated and copied, on whatever device; in the order of `Role`."""
    return computing_spans(model), communication_spans(model), all_device_spans(model)[Role.COPY]
