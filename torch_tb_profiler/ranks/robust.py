"""Statistics of ranks against their peers that single outliers do not move."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Bool, Float64, Int64

#: makes the median of absolute deviations that of a normal distribution
NORMAL = 0.6745
#: a rank is late by what it reaches in this part of its steps
REACHED = 0.7

Real = npt.NDArray[np.floating]
#: a part of the ranks is late together: at least this share of all, beside at least so many others
TOGETHER_SHARE, TOGETHER_OTHERS = 0.25, 4
#: and what lies between both is so many times as far as the others are apart, and as half of the late ones are
TOGETHER_GAP = 3.0
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


def like_most(excess: Real, least: float) -> Bool:
    """Shape (ranks,): the ranks that the others are compared with. All, unless up to half of them are late together.

    Then no median tells who is late: it lies between the two parts, or within the late one's reach.
    least: between the two parts, at least

    >>> like_most(np.array([1.0, 20.0, 2.0, 21.0, 1.5, 20.5, 1.2, 20.2]), 3.0).tolist()
    [True, False, True, False, True, False, True, False]
    >>> like_most(np.array([1.0, 20.0, 2.0, 3.0, 1.5, 2.5, 1.2, 4.0]), 3.0).all()
    np.True_

    Late ones that have nothing in common are not late together.

    >>> like_most(np.array([0.0, 0.2, 0.1, 0.3, 1.5, 2.0, 2.4, 5.4]), 1.1).all()
    np.True_
    """
    size = len(excess)
    ordered = np.sort(excess)
    first, last = max(-(-size // 2), TOGETHER_OTHERS), int(size * (1 - TOGETHER_SHARE))
    if first > last or np.isnan(excess).any():
        return np.ones(size, np.bool_)
    cut = first + int(np.argmax(np.diff(ordered)[first - 1 : last]))
    between = ordered[cut] - ordered[cut - 1]
    late = ordered[cut:]
    if between < max(least, TOGETHER_GAP * max(ordered[cut - 1] - ordered[0], float(np.median(late)) - late[0])):
        return np.ones(size, np.bool_)
    found: Bool = excess < ordered[cut]
    return found


def deviations(excess: Real, floor: float | Real, among: Bool | Int64 | slice = slice(None)) -> Float64:
    """Shape as given: the excess of each rank in robust deviations of some; these are `floor` at least."""
    some = excess[among]
    apart = middle(np.abs(some - middle(some))) if len(some) > 2 else np.zeros(excess.shape[1:])
    found: Float64 = NORMAL * excess / np.maximum(np.nan_to_num(apart), np.maximum(floor, 1e-9))
    return found
