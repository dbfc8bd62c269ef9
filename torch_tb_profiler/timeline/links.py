"""What belongs together: device work and the call that started it, forward and backward."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.schema import Partners, WorkLinks
from torch_tb_profiler.trace import Category, Phase, Trace
from torch_tb_profiler.trace.schema import Int32, Int64


@dataclass(frozen=True)
class Links:
    """work: parallel to `device_work`; loose: arrows of the file between operators that touch no two of them."""

    work: WorkLinks
    partners: Partners
    loose: int


@dataclass(frozen=True)
class Queue:
    """When each of something came, and when each was gone; both sorted."""

    come: Int64
    gone: Int64


def queues_of(trace: Trace, links: Links, device_of_track: Int32) -> dict[int, Queue]:
    """By device, work from its launch until it begins; work without a known launch is left out."""
    work = np.flatnonzero(links.work.launch >= 0)
    rows = trace.device_work.row[work]
    launched = trace.events.start[trace.launches.row[links.work.launch[work]]]
    begun, device = trace.events.start[rows], device_of_track[trace.events.track[rows]]
    waited = begun > launched
    return {
        number: Queue(np.sort(launched[waited & (device == number)]), np.sort(begun[waited & (device == number)]))
        for number in np.unique(device[device >= 0]).tolist()
    }


def links_of(model: Model) -> Links:
    tree, pairs = model.tree, model.forward_backward
    work = WorkLinks(model.device.launch, model.device.is_communication.astype(np.uint8))
    return Links(
        work, Partners(tree.row[pairs.forward], tree.row[pairs.backward]), _begun(model.trace) - len(pairs.forward)
    )


def _begun(trace: Trace) -> int:
    """How many arrows from forward to backward begin."""
    events, rows = trace.events, trace.flows.row
    begins = events.phase[rows] == Phase.FLOW_START
    return int(np.count_nonzero(begins & (events.category[rows] == Category.FLOW_FORWARD_BACKWARD)))
