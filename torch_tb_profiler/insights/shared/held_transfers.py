"""Whether collectives that nothing hides were launched long before they ran: then no call of the host holds them up."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.launch_delay import LONG_DELAY_NS
from torch_tb_profiler.analysis.shared.device_roles import device_spans
from torch_tb_profiler.analysis.shared.kernel_use import is_compute
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.intervals import Coverage, union_of
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model

#: overtaken     the kernels that were launched next ran before them
#: asynchronous  the kernels that were launched next began before they ended
#: queued        they were launched long before they began, behind other kernels
Held = Literal["overtaken", "asynchronous", "queued"]

#: share of what nothing hides that has to be held up in a way for that to be said
_MOST = 0.5


class HeldTransfers(msgspec.Struct, frozen=True):
    """how: most of them are held up. delay_ns: from the end of a launch to the start of its kernel, the median."""

    how: Held
    delay_ns: float


def held_transfers(model: Model) -> HeldTransfers | None:
    """What holds up the collectives in the steps; None where that may be the host, or no launch is known."""
    inside = model.in_steps
    events, work, links = model.trace.events, inside.device_work, inside.device_links
    chosen = np.flatnonzero(links.is_communication & (links.launch >= 0))
    if not len(chosen):
        return None
    start, end = events.start[work.row[chosen]], events.end[work.row[chosen]]
    call = inside.launches.row[links.launch[chosen]]
    launched = events.end[call]
    next_ = np.full(len(chosen), np.iinfo(np.int64).max)
    computed = np.zeros(len(chosen), np.int64)
    hidden = np.zeros(len(chosen), np.int64)
    compute = is_compute(inside)
    for device, at in each_value(work.device[chosen]):
        mine = np.flatnonzero(compute & (work.device == device))
        computing = Coverage(union_of(device_spans(inside, mine)))
        hidden[at] = computing.between(start[at], end[at])
        next_[at] = _next_begins(inside, mine, events.start[call[at]])
        computed[at] = computing.between(np.maximum(launched[at], next_[at]), start[at])
    bare = np.maximum(end - start - hidden, 0)
    least = _MOST * int(bare.sum())
    delay = start - launched
    # how much of each could have run before it began
    ways: tuple[tuple[Held, Int64], ...] = (
        ("overtaken", np.minimum(computed, bare)),
        ("asynchronous", np.where(next_ < end, bare, 0)),
        ("queued", np.where(delay > LONG_DELAY_NS, np.minimum(delay, bare), 0)),
    )
    how = next((how for how, ns in ways if least and int(ns.sum()) >= least), None)
    return None if how is None else HeldTransfers(how, median(delay))


def _next_begins(model: Model, kernels: Int64, called: Int64) -> Int64:
    """Shape (calls,): when that of some kernels begins which was launched next after each call; the largest number
    without one. A kernel that needs the result of a collective begins behind it.

    kernels   positions in `Model.device_work`
    called    when each call began, ns
    """
    events, work, links = model.trace.events, model.device_work, model.device_links
    kernels = kernels[links.launch[kernels] >= 0]
    at = events.start[model.launches.row[links.launch[kernels]]]
    order = np.argsort(at, kind="stable")
    begins: Int64 = np.append(events.start[work.row[kernels[order]]], np.iinfo(np.int64).max)
    return begins[np.searchsorted(at[order], called, side="right")]
