"""Texts of the names that binary answers have as numbers."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.timeline.drawn import label
from torch_tb_profiler.timeline.questions.parameters import EXAMPLES, NUMBERS_PATTERN, needed, numbers
from torch_tb_profiler.timeline.timeline import Timeline

MOST_NAMES = 10_000

_IDS = "Numbers of names and ranges; without it from and count are required."


class WhichNames(msgspec.Struct, frozen=True):
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


def _names(timeline: Timeline, asked: WhichNames) -> NamesOfSlices:
    if asked.ids is not None:
        ids = numbers("ids", asked.ids, MOST_NAMES)
    else:
        first = needed("from", asked.first)
        ids = first + np.arange(needed("count", asked.count))
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
