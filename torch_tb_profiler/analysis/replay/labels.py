"""What a host thread spends its time on, by the innermost event that runs."""

from __future__ import annotations

import re
from enum import IntEnum

import numpy as np

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.nesting import Nesting, to_root
from torch_tb_profiler.arrays.types import Bool, Int8, Int32
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.event_names import SYNCHRONIZE
from torch_tb_profiler.model.model import DATALOADER_NAME
from torch_tb_profiler.trace import Category, Trace


class Label(IntEnum):
    """What a piece of host time is; a change scales all pieces of a label."""

    PYTHON = 0  # no operator and no call: a frame, an annotation, or a short break between two events
    OPERATOR = 1
    DATA = 2  # anything while the next batch is fetched
    LAUNCH = 3  # calls that start device work
    BLOCKING = 4  # calls that wait for the device; only those that did not have to wait have a length
    ALLOCATOR = 5
    API = 6  # other calls of a device's API
    COLLECTIVE = 7  # a collective that runs on the host
    UNEXPLAINED = 8  # nothing was recorded for so long that nobody knows


ALLOCATOR = lazy_pattern(
    r"Malloc|Free(?!ze)|HostAlloc|USM\w{0,100}Alloc|HostRegister|HostUnregister|MemAlloc|MemCreate|MemMap|MemUnmap"
)
#: ranges of collectives that run on the host
HOST_COLLECTIVE = lazy_pattern(r"(?:gloo|mpi|ucc):")
API_CATEGORIES = (Category.RUNTIME, Category.DRIVER)
HOST_CATEGORIES = (Category.USER_ANNOTATION, Category.OPERATOR, *API_CATEGORIES)


def labels_of(trace: Trace, row: Int32, nesting: Nesting, launches: Bool) -> Int8:
    """The label of each host event.

    row        shape (n,): events in the preorder of `nesting`
    launches   shape (events,): the calls that started device work
    Returns shape (n,). A call inside another call has the label of the outer one.
    """
    category, name = trace.events.category[row], trace.events.name[row]
    strings = trace.strings

    def named(pattern: re.Pattern[str]) -> Bool:
        found: Bool = strings.where(pattern.search, name)[name]
        return found

    label = np.full(len(row), Label.OPERATOR, np.int8)
    label[category == Category.USER_ANNOTATION] = Label.PYTHON
    label[(category == Category.USER_ANNOTATION) & named(HOST_COLLECTIVE)] = Label.COLLECTIVE
    is_call = one_of(category, API_CATEGORIES)
    calls = np.full(len(row), Label.API, np.int8)
    calls[named(ALLOCATOR)] = Label.ALLOCATOR
    calls[named(SYNCHRONIZE)] = Label.BLOCKING
    calls[launches[row]] = Label.LAUNCH
    label[is_call] = calls[is_call]
    inner = np.flatnonzero(is_call & (nesting.parent >= 0))
    inner = inner[is_call[nesting.parent[inner]]]
    for at in inner.tolist():  # a parent stands before its children
        label[at] = label[nesting.parent[at]]
    is_data = (category == Category.USER_ANNOTATION) & strings.where(DATALOADER_NAME.search, name)[name]
    if is_data.any():
        # up to the innermost range of loading, else to the outermost range
        own = np.arange(len(row), dtype=np.int32)
        label[is_data[to_root(np.where(is_data | (nesting.parent < 0), own, nesting.parent))]] = Label.DATA
    return label
