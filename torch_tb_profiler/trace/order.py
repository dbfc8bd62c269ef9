"""Sorting whole numbers by their digits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_DIGIT = 2**16


def stable_order(values: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """What `np.argsort(values, kind="stable")` gives, made for codes, depths and positions in no order.

    numpy sorts numbers of 16 bits by their digits, and larger ones by comparing them.
    """
    if not len(values):
        return np.empty(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < _DIGIT:
        return np.argsort((values - low).astype(np.uint16), kind="stable")
    if high - low < _DIGIT**2:
        above = values.astype(np.int64) - low
        order = np.argsort((above & (_DIGIT - 1)).astype(np.uint16), kind="stable")
        return order[np.argsort((above >> 16)[order].astype(np.uint16), kind="stable")]
    return np.argsort(values, kind="stable")
