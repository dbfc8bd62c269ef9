"""Why a rank is late."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Float32
from torch_tb_profiler.ranks.words import Cause
from torch_tb_profiler.ranks.work_use import WorkUse

#: what explains so much of the lateness can be its cause, if nothing else explains so much more
MOST, NEARLY = 0.5, 0.8
#: bytes of all-to-alls beyond those of the median peer by this factor are more work
MORE_BYTES = 1.2


class Diagnosis(msgspec.Struct, frozen=True):
    """operator, ns: what takes longer and how much of a step; None if no single one does."""

    cause: Cause
    operator: str | None = None
    ns: float | None = None


def diagnose(use: WorkUse, at: int, late_ns: float, position_ns: float | None) -> Diagnosis:
    """at: place among the peers; position_ns: excess before the one collective where most is lost, None for none."""
    kernel, kernel_ns = _largest(use.apart_ns[at])
    # more calls or blocks are more work, however much the times of single kernels vary
    work_ns = float(use.work_ns[at].sum())
    clearly_ns = float(np.where(use.is_more[at], use.apart_ns[at], 0).sum())
    more_ns = max(clearly_ns, kernel_ns, work_ns)
    operator, host_ns = _largest(use.host_ns[at])
    idle_ns = float(use.idle_ns[at])
    if max(use.surely_ns[at], idle_ns if idle_ns > more_ns else 0.0) >= max(MOST * late_ns, clearly_ns):
        # what surely takes longer, before what may: kernels differ by chance, as those of experts do
        more_ns = 0.0
    told = {
        "input": float(use.input_ns[at]),
        "slow_compute": float(use.slow_ns[at]),
        "kernels": more_ns,
        "host": host_ns,
    }
    told = {what: min(ns, late_ns) for what, ns in told.items()}
    enough = max(MOST * late_ns, NEARLY * max(told.values()))
    what = next((what for what, ns in told.items() if ns >= enough), None)
    if what == "input":
        return Diagnosis("input", None, float(use.input_ns[at]))
    if what == "slow_compute":
        return Diagnosis("slow_compute")
    if what == "kernels":
        if work_ns >= max(MOST * late_ns, kernel_ns - float(use.work_ns[at, kernel])):
            kernel, kernel_ns = _largest(use.work_ns[at])
        is_more = use.work_ns[at, kernel] >= MOST * kernel_ns or use.exchanged[at] > MORE_BYTES
        return Diagnosis("more_work" if is_more else "slow_operator", use.kernels[kernel], kernel_ns)
    named = use.host[operator] if what == "host" else None
    if use.allocator_ns[at] >= MOST * late_ns:
        return Diagnosis("allocator", named, float(use.allocator_ns[at]))
    if what == "host":
        return Diagnosis("late_launches", named, host_ns)
    if max(idle_ns, position_ns or 0.0) >= MOST * late_ns:
        return Diagnosis("late_launches")
    return Diagnosis("unknown")


def _largest(ns: Float32) -> tuple[int, float]:
    at = int(np.argmax(ns)) if len(ns) else -1
    return at, float(ns[at]) if len(ns) else 0.0
