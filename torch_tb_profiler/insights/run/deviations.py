"""How far one of several like things is from the median."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Float64

#: makes the median of absolute deviations that of a normal distribution
NORMAL = 0.6745


def from_the_middle(values: Sequence[float], least: float) -> tuple[float, Float64]:
    """The median, and z of each: 0.6745 × (value − median) ÷ the median absolute deviation.

    least   of the median: a smaller deviation counts as this

    >>> middle, z = from_the_middle([10.0, 10.0, 10.0, 12.0], 0.1)
    >>> middle, z.round(2).tolist()
    (10.0, [0.0, 0.0, 0.0, 1.35])
    """
    of = np.array(values, np.float64)
    middle = median(of)
    deviation = max(median(np.abs(of - middle)), least * middle, 1.0)
    return middle, NORMAL * (of - middle) / deviation
