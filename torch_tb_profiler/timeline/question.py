"""Questions about timelines, declared like those of `analysis.question`; `torch_tb_profiler.questions` lists them.

The type of an answer is `bytes` where it is sent in a binary layout (docs/maintainers/timeline-protocol.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Literal, NewType, Protocol, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.question import About, Node, NotFound, Refused
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.timeline.summary import TimelineSummary
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.words.sentences import because

P = TypeVar("P", bound=msgspec.Struct)
A = TypeVar("A")
K = TypeVar("K")


#: of a timeline: changes when a tile of the same name may hold something else
TimelineVersion = NewType("TimelineVersion", str)


class RankTimeline(Protocol):
    """One of the traces of a run that can be asked."""

    @property
    def worker(self) -> str: ...

    @property
    def rank(self) -> int | None:
        """Return the rank of the process; None if neither the trace nor its name says it."""

    @property
    def host_name(self) -> str: ...

    @property
    def version(self) -> str:
        """Return the version of its timeline."""

    def summary(self) -> TimelineSummary:
        """Return its stored summary, for the overview of its run."""

    def ask(self, question: Callable[[Timeline], A]) -> A:
        """Return the answer of a function of its timeline."""

    def node(self, node: Node) -> Any:
        """Return its stored data for questions about all ranks."""


class AbsentTrace(msgspec.Struct, frozen=True):
    """A trace of the run that cannot be asked.

    worker  name of the process that was recorded
    state   as in `/api/status`
    reason  why it failed, null while it is being read
    """

    worker: str
    state: str
    reason: str | None


class RunTimelines(msgspec.Struct, frozen=True):
    """The traces of a span of a run.

    worker    the trace that the request names, in questions that begin at one
    ranks     those that can be asked, by worker
    remember  what is known of the span under a name, otherwise made and kept in memory for the next question; it says
              its `size` in bytes
    """

    ABOUT: ClassVar[About] = "timelines"

    run: str
    span: str
    worker: str
    ranks: Sequence[RankTimeline]
    absent: Sequence[AbsentTrace]
    remember: Callable[[str, Callable[[], Any]], Any]


T = TypeVar("T")

#: limit of a list of lanes or counters
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
#: the number of levels depends on the trace: `check_level` checks it
Level = Annotated[
    int,
    Meta(description="How coarse, as in levels.", extra_json_schema={"minimum": 0}, extra={"bounded": "later"}),
]
TileNumber = Annotated[int, Meta(ge=1 - 2**31, le=2**31 - 1, description="Which interval of the level.")]


def needed(name: str, value: T | None) -> T:
    """Check a parameter that is required unless another one is given."""
    if value is None:
        raise Refused(f"Must specify {name} in request url")
    return value


def numbers(name: str, text: str, most: int = MOST_NUMBERS) -> Int64:
    """Parse numbers such as `0-59,70`: ascending, without repeats. Raises Refused. name: of the parameter."""
    parsed: set[int] = set()
    for part in text.split(","):
        range_ = _RANGE.fullmatch(part)
        first, last = (int(range_[1]), int(range_[2] or range_[1])) if range_ else (0, -1)
        if last < first:
            raise Refused(f"{name} must be numbers and ranges as in 0-59,70, not {part!r}")
        if last - first >= most:
            raise Refused(f"{name} must be at most {most} numbers")
        parsed.update(range(first, last + 1))
        if len(parsed) > most:
            raise Refused(f"{name} must be at most {most} numbers")
    return np.array(sorted(parsed), np.int64)


def lanes_of(timeline: Timeline, text: str) -> Int64:
    """Read the parameter `lanes`. Raises Refused."""
    lanes = numbers("lanes", text)
    if lanes[-1] >= timeline.lanes:
        raise NotFound(f"there is no lane {lanes[-1]}: the trace has {timeline.lanes}")
    return lanes


def check_level(timeline: Timeline, level: int) -> None:
    """Check that a level exists. Raises Refused."""
    if not 0 <= level <= timeline.highest_level:
        raise Refused(f"level must be a whole number from 0 to {timeline.highest_level}")


def check_window(start: int, end: int) -> None:
    """Check the parameters `from` and `to`. Raises Refused."""
    if end < start:
        raise Refused("to must not be before from")


def check_row(timeline: Timeline, row: int) -> None:
    """Check that a row is a slice or instant. Raises NotFound."""
    if row >= len(timeline.placed.of_row) or timeline.placed.of_row[row] < 0:
        raise NotFound(because("no_such_slice", {"row": row}))
