"""Slices by a part of their name."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model.patterns import searcher
from torch_tb_profiler.timeline.timeline import Timeline

#: for matching a regular expression with all names
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


def search(
    timeline: Timeline,
    text: str,
    is_pattern: bool,
    ignore_case: bool,
    bins: int,
    most: int,
    after: int | None = None,
    earliest: int | None = None,
) -> Matches:
    """Among all names of slices and instants.

    after      a row: only hits behind it in time
    earliest   ns: only hits that begin then or later

    Raises ValueError for a pattern that is no regular expression, SlowPattern for one that takes too long.
    """
    events, names = timeline.trace.events, timeline.names
    fits = _test(text, is_pattern, ignore_case)
    found = np.array(
        [number for number, code in enumerate(names.code.tolist()) if fits(timeline.trace.strings[code])], np.int64
    )
    is_found = np.zeros(len(timeline.trace.strings), np.bool_)
    is_found[names.code[found]] = True
    items = timeline.slices.items
    rows = items.longest[is_found[events.name[items.longest]]]
    return Matches(
        found,
        _longest(timeline, rows, found),
        len(rows),
        int(names.total[found].sum()),
        _first(events.start, rows, most, after, earliest),
        _density(events.start[rows], timeline.begin, timeline.end, bins),
    )


def _test(text: str, is_pattern: bool, ignore_case: bool) -> Callable[[str], object]:
    if is_pattern:
        return searcher(text, PATTERN_SECONDS, ignore_case)
    if ignore_case:
        text = text.casefold()
        return lambda name: text in name.casefold()
    return lambda name: text in name


def _longest(timeline: Timeline, rows: Int32, found: Int64) -> Int32:
    """The longest slice of each name, of equals the first."""
    events = timeline.trace.events
    number = timeline.names.number[events.name[rows]]
    order = np.lexsort((rows, events.start[rows], -events.duration[rows], number))
    first = np.searchsorted(number[order], found)
    longest: Int32 = rows[order[first]] if len(found) else rows[:0]
    return longest


def _first(start: Int64, rows: Int32, most: int, after: int | None, earliest: int | None) -> Int64:
    """The first rows in time, of equal starts by number."""
    if after is not None:
        behind = (start[rows] > start[after]) | ((start[rows] == start[after]) & (rows > after))
        rows = rows[behind]
    if earliest is not None:
        rows = rows[start[rows] >= earliest]
    if len(rows) > most:
        # equal ones at the border are all kept, so that what is found does not depend on how numpy parts them
        last = np.partition(start[rows], most - 1)[most - 1]
        rows = rows[start[rows] <= last]
    return rows[np.lexsort((rows, start[rows]))][:most].astype(np.int64)


def _density(start: Int64, begin: int, end: int, bins: int) -> Int64:
    span = max(end - begin, 1)
    # where each bin but the first begins; a product of times and bins is no int64 where a trace spans weeks
    borders = np.array([begin - (-number * span // bins) for number in range(1, bins)], np.int64)
    place = np.searchsorted(borders, start, side="right")
    return np.bincount(place, minlength=bins).astype(np.int64)
