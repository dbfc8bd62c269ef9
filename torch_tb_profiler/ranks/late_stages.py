"""Ranks that all wait for data, and make ranks of other kinds wait: the first stage of a pipeline.

Ranks are compared with others that do the same collectives. When all of these load slowly nobody is later than its
peers; but ranks of other kinds do not wait for data, so that waiting for it is compared with them.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.ranks.causes import Diagnosis
from torch_tb_profiler.ranks.robust import deviations, middle, reached
from torch_tb_profiler.ranks.run_data import RunData
from torch_tb_profiler.ranks.slow_ranks import (
    LEAST_STEPS,
    OWN_DEVIATIONS,
    OWN_FLOOR_NS,
    OWN_FLOOR_SHARE,
    OWN_SHARE,
    Slow,
    SlowRanks,
    usual_program,
)
from torch_tb_profiler.ranks.step_grid import StepGrid

#: this part of the ranks of a kind waits for data: else single ones are late, and compared among each other
ALL = 0.75


def late_stages(run: RunData, grid: StepGrid, slow: SlowRanks, whole: bool) -> list[Slow]:
    """Ranks of a kind that all wait for data longer than the ranks of other kinds. whole: all ranks were read."""
    if not len(grid.names) or len(run) < 2 or not whole:
        return []
    waited = grid.real([of.input for of in run.steps])
    step = float(np.nanmedian(grid.real([of.end - of.start for of in run.steps])))
    known = {each.rank for each in slow.found}
    found = []
    for kind in np.unique(slow.kind).tolist():
        mine, others = np.flatnonzero(slow.kind == kind), slow.kind != kind
        if not others.any():
            continue
        excess: Float64 = reached(waited - middle(waited[others])).astype(np.float64)
        z = deviations(excess, max(OWN_FLOOR_SHARE * step, OWN_FLOOR_NS), others)
        late = mine[(excess[mine] >= OWN_SHARE * step) & (z[mine] > OWN_DEVIATIONS)]
        if len(late) < ALL * len(mine):
            continue
        found += [
            _late(run, rank, float(excess[rank]), round(float(z[rank]), 1), waited[rank], int(others.sum()))
            for rank in late.tolist()
            if rank not in known
        ]
    return found


def _late(run: RunData, rank: int, excess: float, z: float, waited: Float64, peers: int) -> Slow:
    steps, program = int(np.count_nonzero(~np.isnan(waited))), usual_program(run, rank)
    rows = run.rows(rank)
    first = next((at for at, each in enumerate(run.programs[rank].tolist()) if each == program), -1)
    removed = np.zeros(int(np.count_nonzero(rows.step == first)), np.float32)
    removed[:1] = excess
    doubt = "few_steps" if steps < LEAST_STEPS else ""
    return Slow(
        rank=rank,
        late_ns=excess,
        z=z,
        diagnosis=Diagnosis("input", None, excess),
        position=0 if len(removed) else None,
        steps=int(np.count_nonzero(waited >= excess / 2)),
        of_steps=steps,
        peers=peers,
        named=not doubt,
        doubt=doubt,
        excess=removed if len(removed) else None,
        program=program,
    )
