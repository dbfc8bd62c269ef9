"""Parameters that several questions have: rows, lanes, lists of numbers, windows of time."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.question import NotFound, Refused
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.words.reasons import because

T = TypeVar("T")

#: in a list of lanes or counters
MOST_NUMBERS = 4096

_RANGE = lazy_pattern("([0-9]{1,9})(?:-([0-9]{1,9}))?")
NUMBERS_PATTERN = r"^[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*$"
EXAMPLES = ["0-59,70"]

Row = Annotated[int, Meta(ge=0, description="Number of an event.")]
LaneNumbers = Annotated[
    str, Meta(pattern=NUMBERS_PATTERN, examples=EXAMPLES, description="Numbers and ranges, at most 4,096.")
]
Direction = Annotated[Literal["next", "previous"], Meta(description="Which neighbour.")]
WindowBegin = Annotated[int, Meta(description="Begin of the window, ns.")]
WindowEnd = Annotated[int, Meta(description="End of the window, ns; not in it.")]
#: how many levels there are depends on the trace: `check_level` refuses
Level = Annotated[
    int,
    Meta(description="How coarse, as in levels.", extra_json_schema={"minimum": 0}, extra={"bounded": "later"}),
]
TileNumber = Annotated[int, Meta(ge=1 - 2**31, le=2**31 - 1, description="Which stretch of the level.")]


def needed(name: str, value: T | None) -> T:
    """Of a parameter that may only be left out when another one is given."""
    if value is None:
        raise Refused(f"Must specify {name} in request url")
    return value


def numbers(name: str, text: str, most: int = MOST_NUMBERS) -> Int64:
    """`0-59,70`: ascending, without repeats. Raises Refused; `name` is what the parameter is called."""
    found: set[int] = set()
    for part in text.split(","):
        range_ = _RANGE.fullmatch(part)
        first, last = (int(range_[1]), int(range_[2] or range_[1])) if range_ else (0, -1)
        if last < first:
            raise Refused(f"{name} must be numbers and ranges as in 0-59,70, not {part!r}")
        if last - first >= most:
            raise Refused(f"{name} must be at most {most} numbers")
        found.update(range(first, last + 1))
        if len(found) > most:
            raise Refused(f"{name} must be at most {most} numbers")
    return np.array(sorted(found), np.int64)


def lanes_of(timeline: Timeline, text: str) -> Int64:
    """The parameter `lanes`. Raises Refused."""
    lanes = numbers("lanes", text)
    if lanes[-1] >= timeline.lanes:
        raise NotFound(f"there is no lane {lanes[-1]}: the trace has {timeline.lanes}")
    return lanes


def check_level(timeline: Timeline, level: int) -> None:
    """Raises Refused: there is no such level."""
    if not 0 <= level <= timeline.highest_level:
        raise Refused(f"level must be a whole number from 0 to {timeline.highest_level}")


def check_window(start: int, end: int) -> None:
    """The parameters `from` and `to`. Raises Refused."""
    if end < start:
        raise Refused("to must not be before from")


def check_row(timeline: Timeline, row: int) -> None:
    """Raises NotFound: it is no slice or instant."""
    if row >= len(timeline.placed.of_row) or timeline.placed.of_row[row] < 0:
        raise NotFound(because("no_such_slice", {"row": row}))
