"""Events that are written as two: where they begin (`ph` `B`), and where they end (`E`)."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.trace.schema import Events, Phase


class Pairs(msgspec.Struct, frozen=True):
    """Rows of begins and of their ends, parallel, in the order of the ends; what is left of either.

    begin, end   shape (pairs,)
    unended      shape (n,): begins without an end
    unbegun      shape (m,): ends without a begin
    """

    begin: Int64
    end: Int64
    unended: Int64
    unbegun: Int64


def pairs_of(events: Events) -> Pairs:
    """An end belongs to the innermost event of its track that has begun and has its name; one without a name to the
    innermost. In files that are not in order times decide, and at equal times the order in the file.
    """
    rows = np.flatnonzero((events.phase == Phase.BEGIN) | (events.phase == Phase.END))
    if not len(rows):
        none = np.empty(0, np.int64)
        return Pairs(none, none, none, none)
    rows = rows[np.lexsort((events.start[rows], events.track[rows]))]
    begun: list[tuple[int, int]] = []
    begins, ends, unended, unbegun = [], [], [], []
    of = -1
    columns = (rows, events.track[rows], events.phase[rows] == Phase.BEGIN, events.name[rows])
    for row, track, is_begin, name in zip(*(column.tolist() for column in columns), strict=True):
        if track != of:
            unended += [each for each, _ in begun]
            begun, of = [], track
        if is_begin:
            begun.append((row, name))
            continue
        at = len(begun) - 1
        while name and at >= 0 and begun[at][1] != name:
            at -= 1
        if at < 0:
            unbegun.append(row)
            continue
        begins.append(begun[at][0])
        ends.append(row)
        unended += [each for each, _ in begun[at + 1 :]]
        del begun[at:]
    unended += [each for each, _ in begun]
    begin, end, left, alone = (np.array(each, np.int64) for each in (begins, ends, unended, unbegun))
    return Pairs(begin, end, left, alone)


def as_complete(recorded: Events, pairs: Pairs) -> Events:
    """The same with begins as complete events; those that do not end last 0, as others without a duration."""

    def read(name: str) -> Any:
        column = getattr(recorded, name)
        if name not in ("phase", "duration") or not (len(pairs.begin) or len(pairs.unended)):
            return column
        column = column.copy()
        if name == "phase":
            column[pairs.begin] = column[pairs.unended] = Phase.COMPLETE
        else:
            column[pairs.begin] = recorded.start[pairs.end] - recorded.start[pairs.begin]
            column[pairs.unended] = 0
        return column

    return Events.of_fields_read_by(frozenset(Events.declared), read)
