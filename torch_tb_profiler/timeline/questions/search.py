"""Names that match a text or a regular expression, and where their slices are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ns, Row
from torch_tb_profiler.analysis.question import Question, Refused
from torch_tb_profiler.model.patterns import SlowPattern, check_pattern
from torch_tb_profiler.timeline.questions.parameters import check_row
from torch_tb_profiler.timeline.search import Matches, search
from torch_tb_profiler.timeline.timeline import Timeline

LONGEST_QUERY = 1000
MOST_NAMES = 200

_EARLIEST = "Only hits that begin here or later, ns."


class SearchedFor(msgspec.Struct, frozen=True):
    """What is looked for, and how much of it is told."""

    text: Annotated[str, Meta(min_length=1, max_length=LONGEST_QUERY, description="What to look for.")] = msgspec.field(
        name="q"
    )
    mode: Annotated[Literal["text", "regex"], Meta(description="A text, or a regular expression.")] = "text"
    case: Annotated[Literal["ignore", "match"], Meta(description="Whether capitals matter.")] = "ignore"
    bins: Annotated[int, Meta(ge=1, le=4000, description="Bins of density.")] = 800
    hits: Annotated[int, Meta(ge=1, le=10_000, description="Hits of the answer.")] = 200
    after: Annotated[int, Meta(ge=0, description="Only hits after this row.")] | None = None
    earliest: Annotated[int | None, Meta(description=_EARLIEST)] = msgspec.field(name="from", default=None)


class FoundName(msgspec.Struct, frozen=True):
    """A name that matches.

    name_id      number of the name
    name         as in the file
    count        how many slices and instants have it
    total_ns     Σ of their durations
    longest_row  row of the longest of them, of equals the first
    """

    name_id: Count
    name: str
    count: Count
    total_ns: Ns
    longest_row: Row


class HitColumns(msgspec.Struct, frozen=True):
    """Slices whose names match, in order of time, as parallel lists.

    row          event of each
    lane         number of the lane that each is on
    name_id      number of each name
    start_ns     when each begins
    duration_ns  how long each lasts
    """

    row: list[Row]
    lane: list[Count]
    name_id: list[Count]
    start_ns: list[Ns]
    duration_ns: list[Ns]


class HitDensity(msgspec.Struct, frozen=True):
    """How many hits begin in each of equal parts of the trace.

    from_ns, to_ns  where the trace begins, where it ends
    counts          how many hits begin in each part
    """

    from_ns: Ns
    to_ns: Ns
    counts: list[Count]


class SearchResult(msgspec.Struct, frozen=True):
    """What matches.

    names        most total time first, at most 200
    names_total  how many names match
    count        how many slices all of them have
    total_ns     Σ of durations of all of them
    hits         the first ones in time
    density      how all of them are spread over the trace
    """

    names: Sequence[FoundName]
    names_total: Count
    count: Count
    total_ns: Ns
    hits: HitColumns
    density: HitDensity


def _search(timeline: Timeline, asked: SearchedFor) -> SearchResult:
    is_pattern = asked.mode == "regex"
    if is_pattern:
        try:
            check_pattern(asked.text)
        except ValueError as error:
            raise Refused(f"q {error}") from None
    if asked.after is not None:
        check_row(timeline, asked.after)
    ignore_case = asked.case == "ignore"
    try:
        found = search(
            timeline, asked.text, is_pattern, ignore_case, asked.bins, asked.hits, asked.after, asked.earliest
        )
    except SlowPattern as error:
        raise Refused(f"q {error}") from None
    return _result(timeline, found)


def _result(timeline: Timeline, found: Matches) -> SearchResult:
    trace, events, names = timeline.trace, timeline.trace.events, timeline.names
    listed = found.names[:MOST_NAMES].tolist()
    return SearchResult(
        names=[
            FoundName(
                name_id=number,
                name=trace.strings[names.code[number]],
                count=int(names.count[number]),
                total_ns=int(names.total[number]),
                longest_row=int(longest),
            )
            for number, longest in zip(listed, found.longest[: len(listed)].tolist(), strict=True)
        ],
        names_total=len(found.names),
        count=found.count,
        total_ns=found.total_ns,
        hits=HitColumns(
            row=found.hits.tolist(),
            lane=timeline.placed.of_row[found.hits].tolist(),
            name_id=names.number[events.name[found.hits]].tolist(),
            start_ns=events.start[found.hits].tolist(),
            duration_ns=np.maximum(events.duration[found.hits], 0).tolist(),
        ),
        density=HitDensity(timeline.begin, timeline.end, found.density.tolist()),
    )


SEARCH = Question(
    name="timeline/search",
    summary="Names that match, and where",
    compute=_search,
)
