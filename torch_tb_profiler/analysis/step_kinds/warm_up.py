"""Whether the first step was still warming up."""

from __future__ import annotations

from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model.steps import Steps

#: a first step whose period, without `fill_ns`, is this much longer than the median of the others, and longer than each
RATIO = 1.5
FEWEST = 3


def warm_up_ratio(steps: Steps, kind: Int64) -> float | None:
    """How many times as long as the median of the others of its kind the first step is, when it was still warming up.

    kind   shape (steps,): `Kinds.of`
    None if it is like the others, or when there are fewer than three steps of its kind.
    """
    length = (steps.end - steps.start)[kind == kind[:1]]
    length[:1] -= steps.fill_ns
    if len(length) < FEWEST:
        return None
    middle = median(length[1:])
    if length[0] <= max(RATIO * middle, int(length[1:].max())):
        return None
    return float(length[0]) / max(middle, 1.0)
