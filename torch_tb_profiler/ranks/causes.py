"""Why a rank is late."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.ranks.words import Cause
from torch_tb_profiler.ranks.work_use import WorkUse

#: what explains so much of the lateness is its cause
MOST = 0.5
#: calls or blocks beyond the middle peer by this factor are more work, and bytes of all-to-alls by that one
MORE, MORE_BYTES = 1.02, 1.2


@dataclass(frozen=True)
class Diagnosis:
    """operator, ns: what takes longer and how much of a step; None where no single one does."""

    cause: Cause
    operator: str | None = None
    ns: float | None = None


def diagnose(use: WorkUse, at: int, late_ns: float, position_ns: float | None) -> Diagnosis:
    """at: place among the peers; position_ns: excess before the one collective where most is lost, None for none."""
    enough = MOST * late_ns
    if use.input_ns[at] >= enough:
        return Diagnosis("input", None, float(use.input_ns[at]))
    kernels = use.kernel_ns[at]
    largest = int(np.argmax(kernels)) if len(kernels) else -1
    explains = use.more_ns[at] >= enough or (largest >= 0 and kernels[largest] >= enough)
    is_more = explains and (use.more[at, largest] > MORE or use.exchanged[at] > MORE_BYTES)
    if use.is_slow[at] and not is_more and (position_ns is None or position_ns < enough):
        return Diagnosis("slow_compute")
    if explains:
        return Diagnosis("more_work" if is_more else "slow_operator", use.kernels[largest], float(kernels[largest]))
    operators = use.host_ns[at]
    host = int(np.argmax(operators)) if len(operators) else -1
    takes = host >= 0 and operators[host] >= enough
    operator = (
        Diagnosis("late_launches", use.host[host], float(operators[host])) if takes else Diagnosis("late_launches")
    )
    if use.allocator_ns[at] >= enough:
        return Diagnosis("allocator", operator.operator, float(use.allocator_ns[at]))
    if takes or (position_ns is not None and position_ns >= enough):
        return operator
    return Diagnosis("unknown")
