"""Labels and colours of slices, and the texts of the numbered names in binary answers."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.types import Int32, UInt8
from torch_tb_profiler.model.event_names import frame_label
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.timeline.question import EXAMPLES, NUMBERS_PATTERN, needed, numbers
from torch_tb_profiler.timeline.timeline import RANGES, Timeline
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import DEVICE_WORK

#: by the code in binary answers: the categories of the trace, and communication, which has its own colour
DRAWN_CATEGORIES = (*(category.name.lower() for category in Category), "communication")
COMMUNICATION = len(Category)


def drawn_categories(timeline: Timeline, rows: Int32) -> UInt8:
    """Return indexes into `DRAWN_CATEGORIES`, parallel to `rows`."""
    events = timeline.trace.events
    found = events.category[rows].copy()
    is_work = np.flatnonzero(one_of(found, DEVICE_WORK))
    place = np.searchsorted(timeline.trace.device_work.row, rows[is_work])
    found[is_work[timeline.links.work.is_communication[place] > 0]] = COMMUNICATION
    is_range = np.flatnonzero(one_of(found, RANGES))
    found[is_range[timeline.is_communication_name[events.name[rows[is_range]]]]] = COMMUNICATION
    return found


def label(timeline: Timeline, code: int) -> str:
    """Return the text on a slice with this name (a string of the trace): the name, or a shorter one."""
    name = timeline.trace.strings[code]
    if timeline.is_kernel_name[code]:
        return short_name(name)
    return frame_label(name)


MOST_NAMES = 10_000

_IDS = "Numbers of names and ranges; without it from and count are required."


class NameNumbers(msgspec.Struct, frozen=True):
    """Some of them, or a range."""

    ids: Annotated[str, Meta(pattern=NUMBERS_PATTERN, examples=EXAMPLES, description=_IDS)] | None = None
    first: Annotated[int, Meta(ge=0, description="The first name.")] | None = msgspec.field(name="from", default=None)
    count: Annotated[int, Meta(ge=1, le=MOST_NAMES, description="How many names.")] | None = None


class NamesOfSlices(msgspec.Struct, frozen=True):
    """Names by number; those that do not exist are left out.

    total   how many names there are
    ids     number of each of the names here
    names   parallel to ids
    labels  the text on slices of that name, if shorter than the name; null for the name itself; parallel to ids
    """

    total: Count
    ids: list[Count]
    names: list[str]
    labels: list[str | None]


def _names(timeline: Timeline, params: NameNumbers) -> NamesOfSlices:
    if params.ids is not None:
        ids = numbers("ids", params.ids, MOST_NAMES)
    else:
        first = needed("from", params.first)
        ids = first + np.arange(needed("count", params.count))
    known = ids[ids < len(timeline.names)].tolist()
    codes = timeline.names.code[known].tolist()
    names = [timeline.trace.strings[code] for code in codes]
    labels = [label(timeline, code) for code in codes]
    return NamesOfSlices(
        len(timeline.names),
        known,
        names,
        [None if written == name else written for written, name in zip(labels, names, strict=True)],
    )


TIMELINE_NAMES = Question(
    name="timeline/names",
    summary="Texts of names",
    compute=_names,
)
