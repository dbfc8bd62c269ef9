"""When computing, communicating and copying went on: on devices, and in a whole rank."""

from __future__ import annotations

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.shared.quantities import Role, roles_of, spans_by_role
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.types import Bool, UInt8
from torch_tb_profiler.model import Model


@remembered
def device_roles(model: Model) -> UInt8:
    """Shape (device work,): the `Role` of each piece, `NO_ROLE` for annotations and synchronisation."""
    return roles_of(model.device_category, model.device_links.is_communication)


def device_spans(model: Model, chosen: Bool | None = None) -> tuple[Spans, ...]:
    """When work of each role ran, on whatever device; chosen, shape (device work,): only some of it."""
    events, row, role = model.trace.events, model.device_work.row, device_roles(model)
    if chosen is not None:
        row, role = row[chosen], role[chosen]
    return spans_by_role(events.start[row], events.end[row], role)


@remembered
def all_device_spans(model: Model) -> tuple[Spans, ...]:
    """When work of each role ran on any device of the rank."""
    return device_spans(model)


@remembered
def communication_spans(model: Model) -> Spans:
    """When the rank communicated: kernels of collectives; the calls on the host where a library has no kernels."""
    ranges = model.communications.ranges
    return intervals.union(ranges.start, ranges.end)


def rank_spans(model: Model, host: Spans) -> tuple[Spans, ...]:
    """When the rank computed, communicated and copied, on whatever device.

    host: what counts as computing where no compute kernel was recorded
    """
    on_devices = all_device_spans(model)
    compute, copy = on_devices[Role.COMPUTE], on_devices[Role.COPY]
    return compute if compute.size else host, communication_spans(model), copy
