"""How far one of several like things is from the median."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.ranks.peers import deviations


def from_the_middle(values: Sequence[float], least: float) -> tuple[float, Float64]:
    """The median, and z of each: 0.6745 × (value − median) ÷ the median absolute deviation.

    values  of at least three things
    least   of the median: a smaller deviation counts as this

    >>> middle, z = from_the_middle([10.0, 10.0, 10.0, 12.0], 0.1)
    >>> middle, z.round(2).tolist()
    (10.0, [0.0, 0.0, 0.0, 1.35])
    """
    of = np.array(values, np.float64)
    middle = median(of)
    return middle, deviations(of - middle, max(least * middle, 1.0))
