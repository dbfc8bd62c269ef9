"""How much of a device its kernels fill: blocks to a multiprocessor, and what limits them. Only CUDA traces say it."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.shared.kernel_use import (
    blocks_per_sm,
    durations,
    is_compute,
    resident_blocks,
    threads_of,
)
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.trace import Category


class Blocks(msgspec.Struct, frozen=True):
    """Compute kernels of the steps whose grid is known. Parallel, shape (n,).

    place       position in `Model.device_work`
    row         the event
    duration    ns
    filled      blocks ÷ multiprocessors of the device
    resident    how many blocks a multiprocessor holds at once; 0 where the trace does not say
    limit       what limits that, index into LIMITS
    alone       no other kernel runs beside it
    """

    place: Int64
    row: Int32
    duration: Int64
    filled: Float64
    resident: Int64
    limit: Int64
    alone: Bool


def blocks_of(facts: Facts) -> Blocks:
    """Return the compute kernels of the steps whose grid is known."""
    return facts.model.answers.get(blocks_of, lambda: _blocks(facts))


def _blocks(facts: Facts) -> Blocks:
    model = facts.model
    work = model.device_work
    filled = blocks_per_sm(facts.trace, work)
    chosen = np.flatnonzero(is_compute(model) & (filled > 0))
    chosen = chosen[facts.step_of(work.row[chosen]) >= 0]
    keys = (work.device[chosen], work.block[chosen], work.registers[chosen], work.shared_memory[chosen])
    groups = group(keys)
    strings = facts.trace.strings
    held = [
        resident_blocks(
            facts.trace.header.device(int(work.device[at])) or {},
            threads_of(strings, int(work.block[at])),
            int(work.registers[at]),
            int(work.shared_memory[at]),
        )
        for at in chosen[groups.first].tolist()
    ]
    of = groups.inverse
    return Blocks(
        place=chosen,
        row=work.row[chosen],
        duration=durations(model)[chosen],
        filled=filled[chosen],
        resident=np.array([count for count, _ in held], np.int64)[of],
        limit=np.array([limit for _, limit in held], np.int64)[of],
        alone=_alone(facts)[chosen],
    )


def _alone(facts: Facts) -> Bool:
    """Shape (device work,): kernels that overlap no other one of their device."""
    model = facts.model
    work, events = model.device_work, facts.trace.events
    start, end = events.start[work.row], events.end[work.row]
    kernels = np.flatnonzero((model.device_category == Category.KERNEL) & (end > start))
    order = kernels[np.lexsort((start[kernels], work.device[kernels]))]
    first = begins_run(work.device[order])
    # ends only grow from device to device, so that the largest end so far is one of the same device
    shift = np.cumsum(first) * (int(end.max(initial=0)) - int(start.min(initial=0)) + 1)
    latest = np.maximum.accumulate(end[order] + shift)
    begins = start[order] + shift
    alone = np.ones(len(order), np.bool_)
    overlaps = begins[1:] < latest[:-1]
    alone[1:] &= ~overlaps | first[1:]
    alone[:-1] &= ~(begins[1:] < (end[order] + shift)[:-1]) | first[1:]
    found = np.zeros(len(work), np.bool_)
    found[order] = alone
    return found
