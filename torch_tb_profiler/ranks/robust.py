"""Statistics of ranks against their peers that single outliers do not move."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Float64

#: makes the median of absolute deviations that of a normal distribution
NORMAL = 0.6745
#: a rank is late by what it reaches in this part of its steps
REACHED = 0.7

Real = npt.NDArray[np.floating]
#: ranks that are copied to be ordered
_AT_ONCE = 64


def middle(values: Real) -> Real:
    """Shape (ranks, …) → (…): the median over the ranks that are known; of two ranks the lower. NaN where none is."""
    if len(values) == 2:
        found: Real = np.fmin(values[0], values[1])
    elif np.isnan(values).any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of nothing but NaN
            found = np.nanmedian(values, axis=0)
    else:
        found = np.median(values, axis=0)
    return found


def reached(values: Real, part: float = REACHED) -> Real:
    """Shape (ranks, steps, …) → (ranks, …): the value that is reached in a part of the known steps; NaN without any.

    >>> reached(np.array([[5.0, 1.0, 4.0, 3.0]])).tolist()
    [3.0]
    """
    steps = values.shape[1]
    if not np.isnan(values).any():
        at = steps - int(np.ceil(part * steps - 1e-9))
        pieces = [values[first : first + _AT_ONCE] for first in range(0, len(values), _AT_ONCE)]
        return np.concatenate([np.partition(piece, at, axis=1)[:, at] for piece in pieces or [values]])
    known = ~np.isnan(values)
    ordered = np.sort(values, axis=1)  # NaN last
    count = known.sum(axis=1, keepdims=True)
    place = count - np.ceil(part * count - 1e-9).astype(np.int64)
    return np.take_along_axis(ordered, np.minimum(place, steps - 1), axis=1)[:, 0]


def deviations(excess: Real, floor: float) -> Float64:
    """Shape as given: the excess of each rank in robust deviations of all, which are `floor` at least."""
    apart = middle(np.abs(excess - middle(excess))) if len(excess) > 2 else np.zeros(excess.shape[1:])
    found: Float64 = NORMAL * excess / np.maximum(np.nan_to_num(apart), max(floor, 1e-9))
    return found


def weighted_median(values: Float64, weights: Float64) -> Float64:
    """Shape (ranks, n) → (ranks,): of each rank the value at half of its weights; NaN where there is no weight."""
    if not values.shape[1]:
        return np.full(len(values), np.nan)
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(weights, order, axis=1)
    through = np.cumsum(ordered, axis=1)
    total = through[:, -1:]
    at = np.argmax(through >= total / 2, axis=1)
    found: Float64 = np.take_along_axis(np.take_along_axis(values, order, axis=1), at[:, None], axis=1)[:, 0]
    return np.where(total[:, 0] > 0, found, np.nan)
