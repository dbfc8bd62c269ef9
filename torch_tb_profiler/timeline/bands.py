"""Which slices of a track nest among themselves: a band has lanes of its own."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, get_args

import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int32, UInt8
from torch_tb_profiler.trace import Category, Phase
from torch_tb_profiler.trace.schema import DEVICE_WORK, Events

#: of a band, in answers
BandName = Literal["python", "host", "annotation", "device", "sync", "span", "overhead", "instant"]


class Band(IntEnum):
    """In the order in which the bands of a track are drawn."""

    PYTHON = 0
    HOST = 1  # operators, annotations, API calls, and whatever else runs on a host thread
    ANNOTATION = 2  # shadows of annotations on a device
    DEVICE = 3
    SYNC = 4
    SPAN = 5  # the recording window
    OVERHEAD = 6
    INSTANT = 7  # events without length


BAND_NAMES: tuple[BandName, ...] = get_args(BandName)


_BAND_OF = {
    Category.PYTHON_FUNCTION: Band.PYTHON,
    Category.GPU_USER_ANNOTATION: Band.ANNOTATION,
    Category.SYNC: Band.SYNC,
    Category.SPAN: Band.SPAN,
    Category.OVERHEAD: Band.OVERHEAD,
    **dict.fromkeys(DEVICE_WORK, Band.DEVICE),
}

_BANDS = np.array([_BAND_OF.get(category, Band.HOST) for category in Category], np.uint8)

#: of two ranges that begin and end together, the category named first is outside
_OUTER_FIRST = (Category.USER_ANNOTATION, Category.OPERATOR, Category.RUNTIME, Category.DRIVER)
_RANKS = np.full(len(Category), len(_OUTER_FIRST), np.int32)
_RANKS[list(_OUTER_FIRST)] = np.arange(len(_OUTER_FIRST))


def drawn(events: Events) -> Bool:
    """A mask over rows: slices, and events without length."""
    found: Bool = (events.duration >= 0) | (events.phase == Phase.INSTANT)
    return found


def band_of(events: Events) -> UInt8:
    """Shape (events,): the band of each row, whether it is drawn or not."""
    return np.where(events.phase == Phase.INSTANT, np.uint8(Band.INSTANT), _BANDS[events.category])


def nesting_rank(category: UInt8) -> Int32:
    """Of two slices of these categories that begin and end together, the one of lower rank encloses the other."""
    ranks: Int32 = _RANKS[category]
    return ranks
