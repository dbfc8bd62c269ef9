"""Allocations stacked over time: the curve in columns, and the allocations in each, exact to the byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.snapshot.alive import (
    BEFORE_RECORDING,
    line_named,
    lines_of,
)
from torch_tb_profiler.analysis.snapshot.frames import NO_STACK, StackNames, stack_names
from torch_tb_profiler.analysis.snapshot.history import (
    History,
    OfDevice,
    device_history,
    moments,
    snapshot_question,
    time_at,
)
from torch_tb_profiler.analysis.snapshot.lifetimes import NEVER
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import descending, greatest_at, group, least_at
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.snapshot.schema import NO_TIME, Action, Annotations

MOST_COLUMNS = 2000
#: of annotations and of segments that are taken or given back
MOST_MARKS = 400
_SHOWN = lazy_pattern(r"ProfilerStep|Optimizer\.(?:step|zero_grad)")
Axis = Literal["time", "record"]
BandBy = Literal["line", "size"]
#: most allocations that are drawn one by one, and most groups with a band of their own
MOST_SHAPES = 1500
MOST_BANDS = 40
#: with more allocations in a window only groups are drawn
MOST_LIFETIMES = 20_000
_OTHERS = "(others)"


class TimelineColumns(msgspec.Struct, frozen=True):
    """A window in columns. Parallel: where each begins, and what was in use in it.

    position   the record of the column at which most was in use: what is drawn is what is alive after it
    x          where the column begins: ns since the start of the recording, or the number of a record
    requested  bytes after `position`
    lowest     least bytes in the column
    reserved   most bytes of segments in the column
    """

    axis: Axis
    position: Int64
    x: Int64
    requested: Int64
    lowest: Int64
    reserved: Int64


class AllocationShapes(msgspec.Struct, frozen=True):
    """Allocations drawn one by one, in the order of their births: parallel.

    life   index into `Lifetimes`
    begin  first column in which each is drawn; end: first in which it is not any more
    """

    life: Int64
    begin: Int64
    end: Int64


class AllocationBand(msgspec.Struct, frozen=True):
    """Allocations drawn together. bytes: in use in each column; blocks: how many there are in the window."""

    name: str
    bytes: Int64
    blocks: int


def columns_of(history: History, axis: Axis, start: int | None, end: int | None, most: int) -> TimelineColumns:
    """Divide the window between two values of the axis into at most `most` columns.

    Without times the axis is that of records, whatever is asked.
    """
    curves, time = history.curves, history.device.records.time
    count = len(time)
    if not count:
        return _only(history)
    if axis == "time" and (time == NO_TIME).any():
        axis = "record"
    x = time if axis == "time" else np.arange(count)
    low = int(x[0]) if start is None else start
    high = int(x[-1]) if end is None else end
    first = int(np.searchsorted(x, low, "left"))
    after = max(int(np.searchsorted(x, high, "right")), first)
    inside = np.arange(first, after)
    width = max(-(-(high - low + 1) // most), 1)
    # a clock that was set back does not lead back
    column = np.maximum.accumulate((x[first:after] - low) // width)
    # what held when the window began is its first column
    at_start = first - 1
    begins = begins_run(column)
    place, of = column[begins], np.cumsum(begins) - 1
    values = curves.requested[1:][first:after]
    top = greatest_at(of, values, len(place))
    chosen = np.full(len(place), count, np.int64)
    at_top = values == top[of]
    np.minimum.at(chosen, of[at_top], inside[at_top])
    low_values = least_at(of, values, len(place))
    reserved = greatest_at(of, curves.reserved[1:][first:after], len(place))
    return TimelineColumns(
        axis,
        np.append(at_start, chosen),
        np.append(low, low + place * width),
        np.append(curves.requested[at_start + 1], top),
        np.append(curves.requested[at_start + 1], low_values),
        np.append(curves.reserved[at_start + 1], reserved),
    )


def _only(history: History) -> TimelineColumns:
    """Return the columns of a dump without records."""
    curves = history.curves
    position, x = np.array([-1], np.int64), np.array([0], np.int64)
    return TimelineColumns("record", position, x, curves.requested[:1], curves.requested[:1], curves.reserved[:1])


def _spans(history: History, columns: TimelineColumns) -> tuple[Int64, Int64, Int64]:
    """Return the lifetimes that are drawn in any column, with their first column and the one after their last."""
    lifetimes = history.lifetimes
    ascending = columns.position
    begin = np.searchsorted(ascending, lifetimes.born, "left")
    end = np.searchsorted(ascending, lifetimes.released, "left")
    drawn = np.flatnonzero((end > begin) & (lifetimes.requested > 0))
    return drawn, begin[drawn].astype(np.int64), end[drawn].astype(np.int64)


def drawing(
    history: History, names: StackNames, columns: TimelineColumns, by: BandBy, most: int = MOST_SHAPES
) -> tuple[AllocationShapes, list[AllocationBand]]:
    """Divide each column into what is drawn: Σ shapes + Σ bands = requested, in every column."""
    drawn, begin, end = _spans(history, columns)
    requested = history.lifetimes.requested[drawn]
    # what is seen most: bytes by columns
    area = requested * np.minimum(end - begin, len(columns.x))
    single = np.zeros(len(drawn), np.bool_)
    if len(drawn) <= MOST_LIFETIMES:
        single[descending(area)[:most]] = True
    shapes = AllocationShapes(drawn[single], begin[single], end[single])
    rest = np.flatnonzero(~single)
    return shapes, _bands(history, names, columns, by, AllocationShapes(drawn[rest], begin[rest], end[rest]))


def _bands(
    history: History, names: StackNames, columns: TimelineColumns, by: BandBy, shapes: AllocationShapes
) -> list[AllocationBand]:
    life, begin, end = shapes.life, shapes.begin, shapes.end
    if not len(life):
        return []
    lifetimes = history.lifetimes
    key = lines_of(names, lifetimes.stack[life]) if by == "line" else lifetimes.requested[life]
    before = np.where((key < 0) & (lifetimes.born[life] < 0), -2, key)
    groups = group([before])
    requested = lifetimes.requested[life]
    order = descending(groups.sum(requested * np.minimum(end - begin, len(columns.x))))
    rank = np.empty(len(groups), np.int64)
    rank[order] = np.arange(len(groups))
    band = np.minimum(rank[groups.inverse], MOST_BANDS)
    count, width = min(len(groups), MOST_BANDS + 1), len(columns.x) + 1
    change = np.zeros(count * width, np.int64)
    np.add.at(change, band * width + begin, requested)
    np.add.at(change, band * width + np.minimum(end, width - 1), -requested)
    sums = np.cumsum(change.reshape(count, width), axis=1)[:, :-1]
    blocks = np.bincount(band, minlength=count)
    found = []
    for number in range(count):
        if number == MOST_BANDS and len(groups) > MOST_BANDS:
            name = _OTHERS
        else:
            code = int(before[groups.first[order[number]]])
            name = _name(names, code, by)
        found.append(AllocationBand(name, sums[number], int(blocks[number])))
    return found


def _name(names: StackNames, code: int, by: BandBy) -> str:
    if by == "size":
        return str(code)
    return names.lines[code] if code >= 0 else BEFORE_RECORDING if code == -2 else NO_STACK


class WhichWindow(OfDevice, frozen=True):
    """A window of the recording, and how exactly it is drawn."""

    axis: Annotated[Axis, Meta(description="What x is; without times always records.")] = "time"
    start: Annotated[int | None, Meta(description="Where the window begins, on the axis.")] = None
    end: Annotated[int | None, Meta(description="Where it ends, included.")] = None
    columns: Annotated[int, Meta(description="Columns at most.", ge=1, le=MOST_COLUMNS)] = 1000
    by: Annotated[BandBy, Meta(description="What is drawn together where it is not drawn one by one.")] = "line"


class ShapeColumns(msgspec.Struct, frozen=True, kw_only=True):
    """Allocations that are drawn one by one, in the order of their births: parallel lists.

    begin       position of the first column in which each is drawn
    end         position of the first column in which it is no longer drawn
    bytes       requested
    line        position in `lines`
    born        number of the record of the allocation, -1 before the recording
    released    number of the record of the release, null if it was not released
    """

    begin: Sequence[int]
    end: Sequence[int]
    bytes: Sequence[Bytes]
    line: Sequence[int]
    born: Sequence[int]
    released: Sequence[int | None]


class BandColumn(msgspec.Struct, frozen=True, kw_only=True):
    """Allocations that are drawn together.

    name    line of the program or size that they have in common
    blocks  how many there are in the window
    bytes   in use in each column
    """

    name: str
    blocks: Count
    bytes: Sequence[Bytes]


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """Something to be seen above the allocations.

    kind      annotation, segment (allocated from the device or released), or a kind of moment
    name      of an annotation; empty for others
    position  number of the record at or before which it is
    time_ns   since the start of the recording, null without times
    count     how many are drawn as this one
    """

    kind: str
    name: str
    position: int
    time_ns: Ns | None
    count: Count


class SnapshotTimelineAnswer(Answer, frozen=True, kw_only=True):
    """Allocations stacked over time: in every column Σ shapes + Σ bands = requested.

    meta         which snapshot
    device       number of the device
    axis         what x is: ns since the start of the recording, or numbers of records
    start        where the window begins: ns or number of a record
    end          where it ends, included: ns or number of a record
    whole_start  where the recording begins: ns or number of a record
    whole_end    where it ends: ns or number of a record
    position     for each column, number of the record after which the drawn blocks are alive
    x            where each column begins: ns or number of a record
    requested    bytes in use at `position`
    lowest       least bytes in use in each column
    reserved     most bytes of segments in each column
    lines        texts that shapes point to
    shapes       allocations drawn one by one
    bands        those drawn together
    marks        moments, annotations, segments
    """

    meta: TraceMeta
    device: int
    axis: Axis
    start: int
    end: int
    whole_start: int
    whole_end: int
    position: Sequence[int]
    x: Sequence[int]
    requested: Sequence[Bytes]
    lowest: Sequence[Bytes]
    reserved: Sequence[Bytes]
    lines: Sequence[str]
    shapes: ShapeColumns
    bands: Sequence[BandColumn]
    marks: Sequence[Mark]


def _timeline(subject: Subject, params: WhichWindow) -> SnapshotTimelineAnswer:
    model = subject.model
    history, names = device_history(model, params.device), stack_names(model)
    columns = columns_of(history, params.axis, params.start, params.end, params.columns)
    shapes, bands = drawing(history, names, columns, params.by)
    lifetimes = history.lifetimes
    ends = zip(lifetimes.stack[shapes.life].tolist(), lifetimes.born[shapes.life].tolist(), strict=True)
    texts = [line_named(names, stack, born) for stack, born in ends]
    lines = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    time = history.device.records.time
    last = max(history.last, 0)
    whole = (int(time[0]), int(time[-1])) if columns.axis == "time" and len(time) else (0, last)
    released = lifetimes.released[shapes.life].tolist()
    return SnapshotTimelineAnswer(
        meta=TraceMeta(**subject.about("snapshot")),
        device=history.device.number,
        axis=columns.axis,
        start=whole[0] if params.start is None else params.start,
        end=whole[1] if params.end is None else params.end,
        whole_start=whole[0],
        whole_end=whole[1],
        position=plain(columns.position),
        x=plain(columns.x),
        requested=plain(columns.requested),
        lowest=plain(columns.lowest),
        reserved=plain(columns.reserved),
        lines=list(lines),
        shapes=ShapeColumns(
            begin=plain(shapes.begin),
            end=plain(shapes.end),
            bytes=plain(lifetimes.requested[shapes.life]),
            line=[lines[text] for text in texts],
            born=plain(lifetimes.born[shapes.life]),
            released=[None if each == NEVER else each for each in released],
        ),
        bands=[BandColumn(name=band.name, blocks=band.blocks, bytes=plain(band.bytes)) for band in bands],
        marks=_marks(subject, history),
    )


def _marks(subject: Subject, history: History) -> list[Mark]:
    """Return moments, annotations of steps and optimizers, and when segments were allocated or released."""
    marks = [
        Mark(kind=each.kind, name="", position=each.position, time_ns=each.time_ns, count=1)
        for each in moments(history)
        if each.kind not in ("start", "end")
    ]
    records, trace = history.device.records, subject.model.trace
    table = trace.table(Annotations)
    known = len(records.time) > 0 and bool((records.time != NO_TIME).all())
    names = trace.strings.texts(table.name)
    shown = [row for row, name in enumerate(names) if _SHOWN.match(name)] or list(range(len(names)))
    for row in shown[:MOST_MARKS] if known else ():
        start = int(table.start[row])
        if start != NO_TIME:
            place = int(np.searchsorted(records.time, start, "right")) - 1
            marks.append(Mark(kind="annotation", name=names[row], position=place, time_ns=start, count=1))
    segments = (Action.SEGMENT_ALLOC, Action.SEGMENT_FREE, Action.SEGMENT_MAP, Action.SEGMENT_UNMAP)
    places = np.flatnonzero(history.device.is_action(*segments))
    every = -(-len(places) // MOST_MARKS) or 1
    for place in places[::every].tolist():
        count = min(every, len(places))
        marks.append(Mark(kind="segment", name="", position=place, time_ns=time_at(history, place), count=count))
    return marks


SNAPSHOT_TIMELINE = snapshot_question(
    name="snapshot/timeline",
    summary="Allocations stacked over time",
    answer=SnapshotTimelineAnswer,
    parameters=WhichWindow,
    compute=_timeline,
    precompute=(WhichWindow(),),
    report=({},),
)
