"""Allocations stacked over time: the curve in columns, and what it is made of in each, to the byte."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.snapshot.alive import BEFORE_RECORDING, lines_of
from torch_tb_profiler.analysis.snapshot.curves import History
from torch_tb_profiler.analysis.snapshot.frames import NO_STACK, StackNames
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import descending, greatest_at, group, least_at
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.snapshot.schema import NO_TIME

Axis = Literal["time", "record"]
BandBy = Literal["line", "size"]

#: allocations that are drawn one by one, and groups that are told apart
MOST_SHAPES = 1500
MOST_BANDS = 40
#: with more allocations in a window only groups are drawn
MOST_LIVES = 20_000

_OTHERS = "(others)"


class Columns(msgspec.Struct, frozen=True):
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


class Shapes(msgspec.Struct, frozen=True):
    """Allocations drawn one by one, in the order of their births: parallel.

    life   index into `Lives`
    begin  first column in which each is drawn; end: first in which it is not any more
    """

    life: Int64
    begin: Int64
    end: Int64


class Band(msgspec.Struct, frozen=True):
    """Allocations drawn together. bytes: in use in each column; blocks: how many there are in the window."""

    name: str
    bytes: Int64
    blocks: int


def columns_of(history: History, axis: Axis, start: int | None, end: int | None, most: int) -> Columns:
    """The window between two values of the axis in at most so many columns; records of one column stay together.

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
    return Columns(
        axis,
        np.append(at_start, chosen),
        np.append(low, low + place * width),
        np.append(curves.requested[at_start + 1], top),
        np.append(curves.requested[at_start + 1], low_values),
        np.append(curves.reserved[at_start + 1], reserved),
    )


def _only(history: History) -> Columns:
    """Of a dump without records."""
    curves = history.curves
    position, x = np.array([-1], np.int64), np.array([0], np.int64)
    return Columns("record", position, x, curves.requested[:1], curves.requested[:1], curves.reserved[:1])


def _spans(history: History, columns: Columns) -> tuple[Int64, Int64, Int64]:
    """The lives that are drawn in any column, with their first column and the one after their last."""
    lives = history.lives
    ascending = columns.position
    begin = np.searchsorted(ascending, lives.born, "left")
    end = np.searchsorted(ascending, lives.released, "left")
    drawn = np.flatnonzero((end > begin) & (lives.requested > 0))
    return drawn, begin[drawn].astype(np.int64), end[drawn].astype(np.int64)


def drawing(
    history: History, names: StackNames, columns: Columns, by: BandBy, most: int = MOST_SHAPES
) -> tuple[Shapes, list[Band]]:
    """What makes up each column: Σ shapes + Σ bands = requested, in every column."""
    drawn, begin, end = _spans(history, columns)
    requested = history.lives.requested[drawn]
    # what is seen most: bytes by columns
    area = requested * np.minimum(end - begin, len(columns.x))
    single = np.zeros(len(drawn), np.bool_)
    if len(drawn) <= MOST_LIVES:
        single[descending(area)[:most]] = True
    shapes = Shapes(drawn[single], begin[single], end[single])
    rest = np.flatnonzero(~single)
    return shapes, _bands(history, names, columns, by, drawn[rest], begin[rest], end[rest])


def _bands(
    history: History, names: StackNames, columns: Columns, by: BandBy, life: Int64, begin: Int64, end: Int64
) -> list[Band]:
    if not len(life):
        return []
    lives = history.lives
    key = lines_of(names, lives.stack[life]) if by == "line" else lives.requested[life]
    before = np.where((key < 0) & (lives.born[life] < 0), -2, key)
    groups = group([before])
    requested = lives.requested[life]
    order = descending(groups.sum(requested * np.minimum(end - begin, len(columns.x))))
    rank = np.empty(len(groups), np.int64)
    rank[order] = np.arange(len(groups))
    band = np.minimum(rank[groups.of], MOST_BANDS)
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
        found.append(Band(name, sums[number], int(blocks[number])))
    return found


def _name(names: StackNames, code: int, by: BandBy) -> str:
    if by == "size":
        return str(code)
    return names.lines[code] if code >= 0 else BEFORE_RECORDING if code == -2 else NO_STACK
