"""Sorting whole numbers, and where they come from."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Int64


def stable_order(values: npt.NDArray[np.integer[Any]]) -> Int64:
    """What `np.argsort(values, kind="stable")` gives, made for codes, depths and positions in no order.

    numpy sorts numbers of 16 bits by their digits and others by vector instructions, but stable places of the others by
    comparing one after the other. So a number and its place are made one number.
    """
    if not len(values):
        return np.empty(0, np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < 2**16:
        # in 64 bits: a difference of small numbers may not fit into their own type
        return np.argsort(np.subtract(values, low, dtype=np.int64).astype(np.uint16), kind="stable")
    bits = (len(values) - 1).bit_length()
    if high - low >= 2 ** (63 - bits):
        return np.argsort(values, kind="stable")
    packed = values.astype(np.int64) - low
    packed <<= bits
    packed |= np.arange(len(values))
    packed.sort()
    packed &= (1 << bits) - 1
    return packed


def inverse(order: npt.NDArray[np.integer[Any]]) -> Int64:
    """The position of each number in a permutation of 0 … n - 1: `inverse(order)[order[i]] == i`.

    >>> inverse(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place
