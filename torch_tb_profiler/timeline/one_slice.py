"""One slice: everything about it, its arguments in the file, the next one of its name."""

from __future__ import annotations

from typing import Annotated, BinaryIO

import msgspec
from msgspec.structs import asdict

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.analysis.answer import Row as RowNumber
from torch_tb_profiler.analysis.question import Node, Question
from torch_tb_profiler.timeline.details import Details, details, neighbour
from torch_tb_profiler.timeline.enclosing import SliceReference
from torch_tb_profiler.timeline.question import Direction, Row, check_row
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.tracks import TIMELINE_STEPS, TimelineStepsAnswer
from torch_tb_profiler.trace import Limits
from torch_tb_profiler.trace.excerpts import RawPlace, place_of, raw_args_at

#: characters of the arguments of an event, as they stand in the file
LONGEST_ARGS = 200_000


class OneSlice(msgspec.Struct, frozen=True):
    """Which slice."""

    row: Row


class NextOf(msgspec.Struct, frozen=True):
    """Which neighbour of which slice."""

    row: Row
    direction: Direction = "next"


class SliceDetails(Details, frozen=True):
    """Everything about one slice, and its step.

    step       the name of the step that contains it; of what reaches into several the first of them; null outside
               steps
    last_step  for what extends over several steps, the last of them; otherwise null
    """

    step: str | None
    last_step: str | None


class EventArguments(msgspec.Struct, frozen=True):
    """The arguments of an event, as in the file.

    args    JSON text, at most 200,000 characters; null if the event has none
    length  how many characters the whole text has
    """

    row: RowNumber
    args: str | None
    length: Count


class Neighbour(msgspec.Struct, frozen=True):
    """The slice of the same name that begins next, or before.

    slice  null if there is none
    """

    slice: SliceReference | None


def _slice(timeline: Timeline, steps: Annotated[TimelineStepsAnswer, TIMELINE_STEPS], params: OneSlice) -> SliceDetails:
    check_row(timeline, params.row)
    found = details(timeline, params.row)
    names = steps.steps.around(found.start_ns, found.start_ns + found.duration_ns)
    return SliceDetails(
        **asdict(found),
        step=names[0] if names else None,
        last_step=names[-1] if len(names) > 1 else None,
    )


def _place(timeline: Timeline, params: OneSlice) -> RawPlace:
    check_row(timeline, params.row)
    return place_of(timeline.trace, params.row)


PLACE = Node(name="place", make=_place, keep="not")


def _args(place: Annotated[RawPlace, PLACE], file: BinaryIO, limits: Limits, params: OneSlice) -> EventArguments:
    text = raw_args_at(place, file, limits)
    return EventArguments(params.row, None if text is None else text[:LONGEST_ARGS], len(text or ""))


def _next(timeline: Timeline, params: NextOf) -> Neighbour:
    check_row(timeline, params.row)
    return Neighbour(neighbour(timeline, params.row, params.direction == "next"))


SLICE = Question(
    name="timeline/slice",
    summary="One slice",
    compute=_slice,
)

ARGS = Question(
    name="timeline/args",
    summary="Arguments of an event as in the file",
    compute=_args,
)

NEXT = Question(
    name="timeline/next",
    summary="The next slice of the same name",
    compute=_next,
)
