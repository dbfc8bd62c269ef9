"""What belongs together (device work and its launch, forward and backward), taken before the structure goes."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.memory.records import MemoryCurve, memory_curves
from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.schema import CallLinks, Partners, WorkLinks
from torch_tb_profiler.trace import Category, EventPhase, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK


class Links(msgspec.Struct, frozen=True):
    """work: parallel to `device_work`; loose: arrows of the file between operators that touch no two of them.

    calls: parallel to `launches`
    """

    work: WorkLinks
    calls: CallLinks
    partners: Partners
    loose: int


class Queue(msgspec.Struct, frozen=True):
    """When each of something came, and when each was gone; both sorted."""

    come: Int64
    gone: Int64


def queues_of(trace: Trace, links: Links, device_of_track: Int32) -> dict[int, Queue]:
    """Return the queue of each device: work from its launch until it begins, if the launch is known."""
    work = np.flatnonzero(links.work.launch >= 0)
    rows = trace.device_work.row[work]
    launched = trace.events.start[trace.launches.row[links.work.launch[work]]]
    begun, device = trace.events.start[rows], device_of_track[trace.events.track[rows]]
    waited = begun > launched
    return {
        number: Queue(np.sort(launched[waited & (device == number)]), np.sort(begun[waited & (device == number)]))
        for number in distinct(device[device >= 0]).tolist()
    }


def links_of(model: Model) -> Links:
    tree, pairs = model.tree, model.forward_backward
    links, owners = model.device_links, model.owners
    work = WorkLinks(
        launch=links.launch,
        is_communication=links.is_communication.astype(np.uint8),
        how=owners.how,
        reason=owners.reason,
        owner=owners.row,
        evidence=owners.evidence,
    )
    partners = Partners(tree.row[pairs.forward], tree.row[pairs.backward])
    return Links(work, _call_links(model), partners, _begun(model.trace) - len(pairs.forward))


def _call_links(model: Model) -> CallLinks:
    return CallLinks(take_known(model.tree.name, model.launch_links.operator_node, missing=0))


def operators_of(trace: Trace, links: Links, rows: Int32) -> Int32:
    """Return the name (a string, 0 for none) of the operator that each event is, or that called or launched it."""
    category = trace.events.category[rows]
    found = np.where(category == Category.OPERATOR, trace.events.name[rows], np.int32(0))
    is_call, is_work = one_of(category, (Category.RUNTIME, Category.DRIVER)), one_of(category, DEVICE_WORK)
    found[is_call] = links.calls.operator[np.searchsorted(trace.launches.row, rows[is_call])]
    launch = links.work.launch[np.searchsorted(trace.device_work.row, rows[is_work])]
    # of one call more, so that -1, for no launch, is no operator
    found[is_work] = np.append(links.calls.operator, np.int32(0))[launch]
    return found


def _begun(trace: Trace) -> int:
    """Return how many arrows from forward to backward begin."""
    events, rows = trace.events, trace.flows.row
    begins = events.phase[rows] == EventPhase.FLOW_START
    return int(np.count_nonzero(begins & (events.category[rows] == Category.FLOW_FORWARD_BACKWARD)))


class TimelineInputs(msgspec.Struct, frozen=True):
    """step_ns: where steps begin; curves: the memory of each device."""

    links: Links
    step_ns: tuple[int, ...]
    curves: tuple[MemoryCurve, ...]


def inputs_of(model: Model) -> TimelineInputs:
    return TimelineInputs(links_of(model), tuple(model.steps.start.tolist()), memory_curves(model).curves)
