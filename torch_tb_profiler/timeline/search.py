"""Search for the names that match a text or a regular expression, and for their slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ns, Row
from torch_tb_profiler.analysis.question import Question, Refused
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model.patterns import SlowPattern, check_pattern, searcher
from torch_tb_profiler.timeline.question import check_row
from torch_tb_profiler.timeline.timeline import Timeline

#: limit for matching a regular expression with all names
PATTERN_SECONDS = 2.0


class Matches(msgspec.Struct, frozen=True):
    """What has this name.

    names     numbers of the names, by total time
    longest   row of the longest slice of each
    total_ns  of all slices
    hits      rows of the first ones in time
    density   how many begin in each of equal parts of the trace
    """

    names: Int64
    longest: Int32
    count: int
    total_ns: int
    hits: Int64
    density: Int64


def search(timeline: Timeline, params: SearchedFor) -> Matches:
    """Search all names of slices and instants.

    Raises ValueError for a pattern that is no regular expression, SlowPattern for one that takes too long.
    """
    events, names = timeline.trace.events, timeline.names
    fits = _name_test(params.text, params.mode == "regex", params.case == "ignore")
    matches = np.array(
        [number for number, code in enumerate(names.code.tolist()) if fits(timeline.trace.strings[code])], np.int64
    )
    is_found = np.zeros(len(timeline.trace.strings), np.bool_)
    is_found[names.code[matches]] = True
    items = timeline.slices.items
    rows = items.longest[is_found[events.name[items.longest]]]
    return Matches(
        matches,
        _longest(timeline, rows, matches),
        len(rows),
        int(names.total[matches].sum()),
        _first_slices(events.start, rows, params),
        _hit_density(events.start[rows], timeline.begin, timeline.end, params.bins),
    )


def _name_test(text: str, is_pattern: bool, ignore_case: bool) -> Callable[[str], object]:
    if is_pattern:
        return searcher(text, PATTERN_SECONDS, ignore_case)
    if ignore_case:
        text = text.casefold()
        return lambda name: text in name.casefold()
    return lambda name: text in name


def _longest(timeline: Timeline, rows: Int32, found: Int64) -> Int32:
    """Return the longest slice of each name; the first of several."""
    events = timeline.trace.events
    number = timeline.names.number[events.name[rows]]
    order = np.lexsort((rows, events.start[rows], -events.duration[rows], number))
    first = np.searchsorted(number[order], found)
    longest: Int32 = rows[order[first]] if len(found) else rows[:0]
    return longest


def _first_slices(start: Int64, rows: Int32, params: SearchedFor) -> Int64:
    """Return the first rows in time; rows with equal starts by number."""
    most, after, earliest = params.hits, params.after, params.earliest
    if after is not None:
        behind = (start[rows] > start[after]) | ((start[rows] == start[after]) & (rows > after))
        rows = rows[behind]
    if earliest is not None:
        rows = rows[start[rows] >= earliest]
    if len(rows) > most:
        # keep all rows with the last start, so that the hits do not depend on the partition of numpy
        last = np.partition(start[rows], most - 1)[most - 1]
        rows = rows[start[rows] <= last]
    return rows[np.lexsort((rows, start[rows]))][:most].astype(np.int64)


def _hit_density(start: Int64, begin: int, end: int, bins: int) -> Int64:
    span = max(end - begin, 1)
    # starts of all bins but the first, in Python integers: time × bins overflows int64 if a trace spans weeks
    borders = np.array([begin - (-number * span // bins) for number in range(1, bins)], np.int64)
    place = np.searchsorted(borders, start, side="right")
    return np.bincount(place, minlength=bins).astype(np.int64)


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


def _search_result(timeline: Timeline, params: SearchedFor) -> SearchResult:
    if params.mode == "regex":
        try:
            check_pattern(params.text)
        except ValueError as error:
            raise Refused(f"q {error}") from None
    if params.after is not None:
        check_row(timeline, params.after)
    try:
        found = search(timeline, params)
    except SlowPattern as error:
        raise Refused(f"q {error}") from None
    return _hits(timeline, found)


def _hits(timeline: Timeline, matches: Matches) -> SearchResult:
    trace, events, names = timeline.trace, timeline.trace.events, timeline.names
    listed = matches.names[:MOST_NAMES].tolist()
    return SearchResult(
        names=[
            FoundName(
                name_id=number,
                name=trace.strings[names.code[number]],
                count=int(names.count[number]),
                total_ns=int(names.total[number]),
                longest_row=int(longest),
            )
            for number, longest in zip(listed, matches.longest[: len(listed)].tolist(), strict=True)
        ],
        names_total=len(matches.names),
        count=matches.count,
        total_ns=matches.total_ns,
        hits=HitColumns(
            row=matches.hits.tolist(),
            lane=timeline.placed.of_row[matches.hits].tolist(),
            name_id=names.number[events.name[matches.hits]].tolist(),
            start_ns=events.start[matches.hits].tolist(),
            duration_ns=np.maximum(events.duration[matches.hits], 0).tolist(),
        ),
        density=HitDensity(timeline.begin, timeline.end, matches.density.tolist()),
    )


SEARCH = Question(
    name="timeline/search",
    summary="Names that match, and where",
    compute=_search_result,
)
