"""What the graph is made of: work items, and the calls that started them."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.host_time import HOST_COLLECTIVE
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.grouping import group, least_at
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


class WorkKind(IntEnum):
    """What a work item is."""

    KERNEL = 0
    COPY = 1
    SET = 2
    HOST_COLLECTIVE = 3


class WorkItems(msgspec.Struct, frozen=True):
    """Work items, by start: kernels, copies, sets, and collectives that run on the host. Parallel, shape (items,).

    row               the event
    start, duration   ns
    stream            number of the device and stream, counted; a host thread that runs collectives has one of its own
    call              index into RuntimeCalls, -1 if unknown
    work              index into DeviceWork, -1 for a collective on the host
    kind              a Work
    is_communication  it waits for other ranks
    """

    row: Int32
    start: Int64
    duration: Int64
    stream: Int64
    call: Int64
    work: Int64
    kind: Int8
    is_communication: Bool

    def __len__(self) -> int:
        return len(self.row)

    @property
    def end(self) -> Int64:
        """ns"""
        return self.start + self.duration


class RuntimeCalls(msgspec.Struct, frozen=True):
    """Calls of a device's API, parallel to Trace.launches. Shape (calls,).

    lane         index into Trace.tracks
    start, end   ns
    name         string
    correlation  id
    release      ns: when what the call started could begin at the earliest; -1 for calls that started nothing
    first_item   index into WorkItems of what began first, -1 for none
    """

    row: Int32
    lane: Int64
    start: Int64
    end: Int64
    name: Int32
    correlation: Int64
    release: Int64
    first_item: Int64

    def __len__(self) -> int:
        return len(self.row)


@cached
def work_items(model: Model) -> WorkItems:
    """Collect all work items of the whole trace."""
    trace = model.trace
    events, work, links = trace.events, trace.device_work, model.structure.device_links
    category = events.category[work.row]
    chosen = np.flatnonzero(one_of(category, (Category.KERNEL, Category.MEMCPY, Category.MEMSET)))
    host = _host_collectives(model)
    streams = group([work.device[chosen], work.stream[chosen]])
    lanes = group([events.track[host]])
    kind = np.full(len(chosen), WorkKind.KERNEL, np.int8)
    kind[category[chosen] == Category.MEMCPY] = WorkKind.COPY
    kind[category[chosen] == Category.MEMSET] = WorkKind.SET
    row = np.concatenate((work.row[chosen], host))
    start = events.start[row]
    order = np.lexsort((np.arange(len(row)), start))
    nothing = np.full(len(host), -1)

    def ordered(on_device: npt.NDArray[Any], on_host: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.concatenate((on_device, on_host))[order]

    return WorkItems(
        row=row[order].astype(np.int32),
        start=start[order],
        duration=np.maximum(events.duration[row], 0)[order],
        stream=ordered(streams.inverse.astype(np.int64), lanes.inverse.astype(np.int64) + len(streams)),
        call=ordered(links.launch[chosen].astype(np.int64), nothing),
        work=ordered(chosen, nothing),
        kind=ordered(kind, np.full(len(host), WorkKind.HOST_COLLECTIVE, np.int8)).astype(np.int8),
        is_communication=ordered(links.is_communication[chosen], np.ones(len(host), np.bool_)).astype(np.bool_),
    )


def _host_collectives(model: Model) -> Int32:
    """Return the rows of ranges in which a thread runs a collective, such as `gloo:all_reduce`."""
    trace = model.trace
    rows = np.flatnonzero(one_of(trace.events.category, (Category.USER_ANNOTATION, Category.OPERATOR)))
    names = trace.events.name[rows]
    return rows[trace.strings.where(HOST_COLLECTIVE.match, names)[names]].astype(np.int32)


@cached
def runtime_calls(model: Model) -> RuntimeCalls:
    """Collect all calls; one that started something releases it when it returns, or when it began if that was
    earlier.
    """
    trace, items = model.trace, work_items(model)
    events, row = trace.events, trace.launches.row
    known = np.flatnonzero(items.call >= 0)
    first = np.full(len(row), -1, np.int64)
    first[items.call[known][::-1]] = known[::-1]
    began = least_at(items.call[known], items.start[known], len(row))
    start, end = events.start[row], events.end[row]
    release = np.where(first >= 0, np.maximum(np.minimum(end, began), start), -1)
    lane, correlation = events.track[row].astype(np.int64), trace.launches.correlation
    return RuntimeCalls(row, lane, start, end, events.name[row], correlation, release, first)
