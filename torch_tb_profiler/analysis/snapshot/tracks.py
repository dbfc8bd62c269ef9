"""Snapshot tracks of the Trace view: curves, the lines of the program that hold them, calls of the allocator.

A window is cut into columns of equal length; only those with a record are sent, as nothing changes between records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Ns, Record, plain
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.snapshot.alive import BEFORE_RECORDING, lines_of
from torch_tb_profiler.analysis.snapshot.frames import NO_STACK, stack_names
from torch_tb_profiler.analysis.snapshot.history import History, histories
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import descending, greatest_at, group, least_at
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_TIME, Action

CurveKind = Literal["requested", "allocated", "active", "reserved"]
CURVES: tuple[CurveKind, ...] = ("requested", "allocated", "active", "reserved")

AllocatorCall = Literal["segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom", "snapshot"]
"""What the allocator did besides handing out blocks: each but the last is a call of the driver, and costs time."""

CALLS: dict[Action, AllocatorCall] = {
    Action.SEGMENT_ALLOC: "segment_alloc",
    Action.SEGMENT_FREE: "segment_free",
    Action.SEGMENT_MAP: "segment_map",
    Action.SEGMENT_UNMAP: "segment_unmap",
    Action.OOM: "oom",
    Action.SNAPSHOT: "snapshot",
}

#: most lines of the program with an entry of their own; all others share `OTHER_LINES`
MOST_LINES = 8
OTHER_LINES = "(others)"


class SnapshotTracks(msgspec.Struct, frozen=True):
    """One device's data, from which windows are cut.

    time    of each record, ns since the start of the recording, never less than before; empty without times
    curves  that are known after every record
    lines   what is told apart of the bytes requested, most bytes × time first; empty if unknown
    line    shape (lifetimes,): index into `lines`, -1 of what is never in use
    """

    history: History
    time: Int64
    curves: tuple[CurveKind, ...]
    lines: tuple[str, ...]
    line: Int64

    @property
    def known(self) -> tuple[int, int] | None:
        """From the first record to the last: of what is before and behind them nothing is known."""
        return (int(self.time[0]), int(self.time[-1])) if len(self.time) else None

    def values(self, kind: CurveKind) -> Int64:
        """Return a curve before the first record, and after each."""
        found: Int64 = getattr(self.history.curves, kind)
        return found


class TrackCurveColumns(msgspec.Struct, frozen=True, kw_only=True):
    """A curve in columns: what it is when the window begins, and parallel lists.

    kind    which curve
    before  null if unknown
    least   in each column
    most    in each column
    last    after the last record of each column, and until the next column
    """

    kind: CurveKind
    before: Bytes | None
    least: Sequence[Bytes]
    most: Sequence[Bytes]
    last: Sequence[Bytes]


class TrackCallColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Calls in columns, those of a kind in one column together: parallel lists.

    column    number of the column in which they are
    call      what was called
    count     how often
    bytes     Σ of the segments, or of what was asked for
    position  number of the record of the largest of them
    time_ns   of that record
    """

    column: Sequence[Count]
    call: Sequence[AllocatorCall]
    count: Sequence[Count]
    bytes: Sequence[Bytes]
    position: Sequence[Record]
    time_ns: Sequence[Ns]


class SnapshotTracksTileAnswer(Answer, frozen=True, kw_only=True):
    """A window of a snapshot in columns.

    column  number of each column with a record, ascending; between them nothing changes
    curves  those that are known
    before  bytes of each line when the window begins, null if unknown
    lines   of each line its bytes in each of `column`, where most is requested in it: Σ of the lines = `most` of the
            curve `requested`
    last    of each line its bytes after the last record of each of `column`, and until the next column
    calls   of the allocator
    """

    column: Sequence[Count]
    curves: Sequence[TrackCurveColumns]
    before: Sequence[Bytes] | None
    lines: Sequence[Sequence[Bytes]]
    last: Sequence[Sequence[Bytes]]
    calls: TrackCallColumns


@cached
def tracks(model: Model) -> tuple[SnapshotTracks, ...]:
    """Return the tracks of each device of `histories`."""
    return tuple(_tracks(model, history) for history in histories(model))


def _tracks(model: Model, history: History) -> SnapshotTracks:
    time = history.device.records.time
    # a clock that was set back does not lead back
    time = np.empty(0, np.int64) if (time == NO_TIME).any() else np.maximum.accumulate(time)
    curves = _known_curves(history) if len(time) else ()
    lines, line = _lines(model, history, time) if "requested" in curves else ((), np.empty(0, np.int64))
    return SnapshotTracks(history, time, curves, lines, line)


def _known_curves(history: History) -> tuple[CurveKind, ...]:
    """Return the curves that need no action that is not recorded, and that do not contradict each other."""
    curves, missing = history.curves, set(history.lifetimes.missing)
    if not curves.known_start:
        return ()
    kinds: list[CurveKind] = []
    if not missing & {"alloc", "free_requested"}:
        kinds += ["requested", "allocated"]
    if not missing & {"alloc", "free_completed"}:
        kinds.append("active")
    # segments that were not recorded leave less than what lies in them
    inside = curves.active if "active" in kinds else curves.allocated if kinds else np.zeros(1, np.int64)
    if not (curves.reserved < inside).any():
        kinds.append("reserved")
    return tuple(kinds)


def _lines(model: Model, history: History, time: Int64) -> tuple[tuple[str, ...], Int64]:
    lifetimes, names, last = history.lifetimes, stack_names(model), history.last
    used = np.flatnonzero((lifetimes.released > lifetimes.born) & (lifetimes.requested > 0))
    line = np.full(len(lifetimes), -1, np.int64)
    if not len(used):
        return (), line
    stack, born = lifetimes.stack[used], lifetimes.born[used]
    code = lines_of(names, stack)
    groups = group([np.where((code < 0) & (born < 0), -2, code)])
    length = time[np.minimum(lifetimes.released[used], last)] - time[np.maximum(born, 0)]
    weight = groups.sum_of_floats(lifetimes.requested[used].astype(np.float64) * np.maximum(length, 1))
    order = np.argsort(-weight, kind="stable")
    rank = np.empty(len(groups), np.int64)
    rank[order] = np.arange(len(groups))
    line[used] = np.minimum(rank[groups.inverse], MOST_LINES)
    found = []
    for first in groups.first[order[:MOST_LINES]].tolist():
        text = names.line_of(int(stack[first])) if code[first] >= 0 else NO_STACK
        found.append(BEFORE_RECORDING if code[first] < 0 and born[first] < 0 else text)
    return tuple(found + [OTHER_LINES] * (len(groups) > MOST_LINES)), line


def track_window(tracks: SnapshotTracks, start: int, width: int, columns: int) -> SnapshotTracksTileAnswer:
    """Return `columns` columns of `width` ns from `start` on."""
    time = tracks.time
    first, after = np.searchsorted(time, [start, start + width * columns], "left").tolist()
    column = (time[first:after] - start) // width
    begins = begins_run(column)
    place, column_of = column[begins], np.cumsum(begins) - 1
    ends = np.searchsorted(column_of, np.arange(len(place)), "right") - 1
    is_known = 0 < first <= tracks.history.last
    curves = []
    for kind in tracks.curves:
        values = tracks.values(kind)
        inside = values[1:][first:after]
        before = int(values[first]) if is_known else None
        least, most = least_at(column_of, inside, len(place)), greatest_at(column_of, inside, len(place))
        curves.append(
            TrackCurveColumns(kind=kind, before=before, least=plain(least), most=plain(most), last=plain(inside[ends]))
        )
    position = np.empty(1 + 2 * len(place), np.int64)
    position[0] = first - 1
    position[1::2] = _highest(tracks, first, after, column_of, len(place))
    position[2::2] = first + ends
    lines = _line_bytes(tracks, position)
    return SnapshotTracksTileAnswer(
        column=plain(place),
        curves=curves,
        before=plain(lines[:, 0]) if is_known else None,
        lines=plain(lines[:, 1::2]),
        last=plain(lines[:, 2::2]),
        calls=_calls(tracks, first, after, column),
    )


def _highest(tracks: SnapshotTracks, first: int, after: int, of: Int64, count: int) -> Int64:
    """Return the first record of each column after which most is requested."""
    values = tracks.values("requested")[1:][first:after]
    top = np.flatnonzero(values == greatest_at(of, values, count)[of])
    return first + top[begins_run(of[top])]


def _line_bytes(tracks: SnapshotTracks, position: Int64) -> Int64:
    """Return the bytes of each line that are in use after some records, which ascend."""
    lifetimes, count, width = tracks.history.lifetimes, len(tracks.lines), len(position) + 1
    if not count:
        return np.zeros((0, len(position)), np.int64)
    # lifetimes are in the order of their births
    born = int(np.searchsorted(lifetimes.born, position[-1], "right"))
    chosen = np.flatnonzero((lifetimes.released[:born] > position[0]) & (tracks.line[:born] >= 0))
    begin = np.searchsorted(position, lifetimes.born[chosen], "left")
    end = np.searchsorted(position, lifetimes.released[chosen], "left")
    line, requested = tracks.line[chosen] * width, lifetimes.requested[chosen]
    change = np.zeros(count * width, np.int64)
    np.add.at(change, line + begin, requested)
    np.add.at(change, line + end, -requested)
    return np.cumsum(change.reshape(count, width), axis=1)[:, :-1]


def _calls(tracks: SnapshotTracks, first: int, after: int, column: Int64) -> TrackCallColumns:
    device = tracks.history.device
    inside = np.flatnonzero(device.is_action(*CALLS)[first:after])
    action, size = device.records.action[first:after][inside], device.records.bytes[first:after][inside]
    groups = group([column[inside], action])
    largest = descending(size)
    # the first of each group in this order
    order = largest[np.argsort(groups.inverse[largest], kind="stable")]
    top = inside[order[begins_run(groups.inverse[order])]] if len(inside) else inside
    return TrackCallColumns(
        column=plain(column[inside][groups.first]),
        call=[CALLS[Action(each)] for each in action[groups.first].tolist()],
        count=plain(groups.count()),
        bytes=plain(groups.sum(size)),
        position=plain(first + top),
        time_ns=plain(tracks.time[first + top]),
    )
