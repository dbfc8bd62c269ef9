"""A few ranks that represent all."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.ranks.robust import NORMAL

MOST = 16
#: a rank this near to one that was taken is like it, in deviations
NEAR = 1.0


def representatives(features: Float64, named: Collection[int]) -> tuple[Int64, Int64]:
    """Ranks that are far from each other, and how many are nearest to each.

    features   shape (ranks, n): NaN where unknown
    named      ranks that have to be among them
    """
    if not len(features):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    middle = np.nan_to_num(np.nanmedian(np.where(np.isnan(features), 0, features), axis=0))
    apart = np.abs(np.nan_to_num(features) - middle)
    scale = np.maximum(np.median(apart, axis=0) / NORMAL, 0.005 * np.abs(middle) + 1)
    scaled = (np.nan_to_num(features) - middle) / scale
    first = int(np.argmin(np.square(scaled).sum(axis=1)))
    chosen = list(dict.fromkeys([first, *named]))[: MOST + len(named)]
    distance = np.min([np.square(scaled - scaled[at]).sum(axis=1) for at in chosen], axis=0)
    while len(chosen) < MOST:
        farthest = int(np.argmax(distance))
        if distance[farthest] <= NEAR:
            break
        chosen.append(farthest)
        distance = np.minimum(distance, np.square(scaled - scaled[farthest]).sum(axis=1))
    nearest = np.argmin([np.square(scaled - scaled[at]).sum(axis=1) for at in chosen], axis=0)
    return np.array(chosen, np.int64), np.bincount(nearest, minlength=len(chosen))
