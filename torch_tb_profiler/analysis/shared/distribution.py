"""Count, mean, spread and quantiles of a column, per group."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import Groups
from torch_tb_profiler.arrays.types import Float64, Int64


class Distribution(msgspec.Struct, frozen=True):
    """Parallel to the groups; NaN for empty groups.

    `std` is of the sample (n − 1), NaN for one value. Quantiles are interpolated linearly between neighbours.
    """

    count: Int64
    sum: Int64
    mean: Float64
    std: Float64
    min: Float64
    p25: Float64
    p50: Float64
    p75: Float64
    p99: Float64
    max: Float64


def distribution(groups: Groups, values: Int64) -> Distribution:
    """Summarise an integer column, by one sort."""
    count, total = groups.count(), groups.sum(values)
    ordered = values[np.lexsort((values, groups.inverse))].astype(np.float64)
    first = np.cumsum(count) - count
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
        squares = groups.sum_of_floats((values - mean[groups.inverse]) ** 2)
        std = np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan)

    def quantile(share: float) -> Float64:
        if not len(ordered):
            return np.full(len(count), np.nan)
        place = np.maximum(count - 1, 0) * share
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(count - 1, 0))
        low, high = (ordered[np.minimum(first + at, len(ordered) - 1)] for at in (below, above))
        return np.where(count > 0, low + (high - low) * (place - below), np.nan)

    return Distribution(
        count, total, mean, std, quantile(0), quantile(0.25), quantile(0.5), quantile(0.75), quantile(0.99), quantile(1)
    )
