"""Durations that the file does not say right: events written as two (`ph` `B` and `E`), and device work that overruns.

A stream runs one piece of work after the other. Profilers have written durations of seconds for kernels of microseconds
beneath which hundreds of successors ran. Such a duration is cut at the start of the next work of the stream.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.trace.schema import DEVICE_WORK, DeviceWork, EventPhase, Events


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
    """Match each end with the innermost event of its track that has begun and has its name; one without a name with the
    innermost. In files that are not in order times decide, and at equal times the order in the file.
    """
    rows = np.flatnonzero((events.phase == EventPhase.BEGIN) | (events.phase == EventPhase.END))
    if not len(rows):
        none = np.empty(0, np.int64)
        return Pairs(none, none, none, none)
    rows = rows[np.lexsort((events.start[rows], events.track[rows]))]
    begun: list[tuple[int, int]] = []
    begins, ends, unended, unbegun = [], [], [], []
    current_track = -1
    columns = (rows, events.track[rows], events.phase[rows] == EventPhase.BEGIN, events.name[rows])
    for row, track, is_begin, name in zip(*(column.tolist() for column in columns), strict=True):
        if track != current_track:
            unended += [number for number, _ in begun]
            begun, current_track = [], track
        if is_begin:
            begun.append((row, name))
            continue
        opened = len(begun) - 1
        while name and opened >= 0 and begun[opened][1] != name:
            opened -= 1
        if opened < 0:
            unbegun.append(row)
            continue
        begins.append(begun[opened][0])
        ends.append(row)
        unended += [number for number, _ in begun[opened + 1 :]]
        del begun[opened:]
    unended += [number for number, _ in begun]
    begin, end, left, alone = (np.array(number, np.int64) for number in (begins, ends, unended, unbegun))
    return Pairs(begin, end, left, alone)


def as_complete(recorded: Events, pairs: Pairs) -> Events:
    """Return the same with begins as complete events; those that do not end last 0, as others without a duration."""

    def read(name: str) -> Any:
        column = getattr(recorded, name)
        if name not in ("phase", "duration") or not (len(pairs.begin) or len(pairs.unended)):
            return column
        column = column.copy()
        if name == "phase":
            column[pairs.begin] = column[pairs.unended] = EventPhase.COMPLETE
        else:
            column[pairs.begin] = recorded.start[pairs.end] - recorded.start[pairs.begin]
            column[pairs.unended] = 0
        return column

    return Events.of_fields_read_by(frozenset(Events.declared), read)


#: successors of one stream that cannot all have begun before a piece of work ended
FEWEST = 10
#: times the span of all starts in the trace, and ns at least: of a duration that is impossible with any successor
LONGER, LONG_NS = 10, 1_000_000_000
#: an overlap up to this is rounding, ns: some files give whole microseconds
ROUNDING_NS = 1000
#: a stream with a larger share of work that overlaps its successor runs work side by side: streams of several
#: processes under one number, or kernels that begin before the one before them is done
MOST_OVERLAPPING = 0.05


class Overruns(msgspec.Struct, frozen=True):
    """Work with an impossible duration. Parallel, shape (n,), by row.

    row         of the event
    recorded    duration in the file, ns
    duration    until the next work of the stream began, ns
    successors  how much work of the stream began before the recorded end
    """

    row: Int64
    recorded: Int64
    duration: Int64
    successors: Int64

    def __len__(self) -> int:
        return len(self.row)


def overruns(events: Events, work: DeviceWork) -> Overruns:
    """Find work that for most of its duration overlaps its successors, and either overlaps at least `FEWEST` of them or
    lasts `LONG_NS` and `LONGER` times as long as it takes from the first start in the trace to the last.

    Kernels of one launch, which replays a graph, may run side by side on one stream.
    events   with the durations of the file
    """
    place = np.flatnonzero(one_of(events.category[work.row], DEVICE_WORK) & (work.stream >= 0))
    if len(place) < 2:
        return _no_overruns()
    row = work.row[place]
    streams = group([events.track[row], work.device[place], work.stream[place]])
    order = np.lexsort((events.start[row], streams.inverse))
    row, place, stream = row[order].astype(np.int64), place[order], streams.inverse[order]
    start = events.start[row]
    length = np.maximum(events.duration[row], 0)
    again = np.append(stream[1:] == stream[:-1], False)
    over = np.append(start[:-1] + length[:-1] - start[1:], 0)
    launched = work.correlation[place]
    other = np.append((launched[1:] != launched[:-1]) | (launched[:-1] <= 0), False)
    overlapping = np.flatnonzero(again & other & (over > ROUNDING_NS))
    if not len(overlapping):
        return _no_overruns()
    many = np.bincount(stream)
    often = np.bincount(stream[overlapping], minlength=len(many)) > np.maximum(MOST_OVERLAPPING * many, 1)
    first = np.cumsum(many) - many
    complete = np.flatnonzero(events.phase == EventPhase.COMPLETE)
    extent = int(events.start[complete].max() - events.start[complete].min())
    cut: list[tuple[int, int]] = []
    for index in overlapping[~often[stream[overlapping]]].tolist():
        last = int(first[stream[index]] + many[stream[index]])
        behind = int(np.searchsorted(start[index + 1 : last], start[index] + length[index], side="left"))
        is_far = 2 * over[index] > length[index] and (behind >= FEWEST or length[index] > max(LONGER * extent, LONG_NS))
        if is_far and not _replayed(launched[index], launched[index + 1 : index + 1 + behind]):
            cut.append((index, behind))
    if not cut:
        return _no_overruns()
    index, behind = np.array(sorted(cut, key=lambda each: row[each[0]]), np.int64).T
    return Overruns(row[index], length[index], start[index + 1] - start[index], behind)


def _replayed(launch: int, successors: Int64) -> bool:
    """Return whether some of the successors were started by the same launch."""
    same: Bool = successors == launch
    return launch > 0 and bool(same.any())


def _no_overruns() -> Overruns:
    nothing = np.empty(0, np.int64)
    return Overruns(nothing, nothing, nothing, nothing)
