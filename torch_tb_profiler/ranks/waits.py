"""Waiting and transferring of all ranks, without clocks: transfer = the shortest duration of any rank."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.ranks.run_data import RunData


class Waits(msgspec.Struct, frozen=True):
    """Of each rank, a list each.

    wait, transfer   shape (steps of the rank,), ns: Σ over the collectives of the step that other ranks have, too
    unmatched        collectives that no other rank has
    longest          by signature: ns, rank and position of the call that waited longest
    """

    wait: list[Int64]
    transfer: list[Int64]
    unmatched: list[int]
    longest: dict[int, tuple[int, int, int]]


def waits_of(run: RunData) -> Waits:
    """Of each matched collective and rank: wait = its duration − the transfer."""
    shared, state = np.append(run.is_shared, False), run.state
    found = Waits([], [], [], {})
    best = np.full(len(run.signatures), -1, np.int64)
    for rank, rows in run.each():
        is_shared = shared[rows.number]
        here = np.flatnonzero(is_shared & (rows.duration >= 0))
        number = rows.number[here]
        transfer = state.shortest[number]
        wait = rows.duration[here] - transfer
        step, steps = rows.step[here].astype(np.int64), len(run.steps[rank])
        inside = step >= 0
        if not inside.all():
            step, of_step = step[inside], (wait[inside], transfer[inside])
        else:
            of_step = (wait, transfer)
        for sums, values in zip((found.wait, found.transfer), of_step, strict=True):
            sums.append(sums_at(step, values, steps))
        found.unmatched.append(len(rows.number) - int(np.count_nonzero(is_shared)))
        signature = state.signature[number]
        before = best[signature]
        np.maximum.at(best, signature, wait)
        for at in np.flatnonzero((wait > before) & (wait == best[signature])).tolist():
            found.longest[int(signature[at])] = (int(wait[at]), rank, int(here[at]))
    return found
