"""Exact sums over a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ns, Row
from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.analysis.result import column, columns_field
from torch_tb_profiler.timeline.questions.parameters import (
    EXAMPLES,
    NUMBERS_PATTERN,
    WindowBegin,
    WindowEnd,
    check_window,
    lanes_of,
)
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.totals import CategoryTotal, DeviceTotal, NameTotals, totals
from torch_tb_profiler.trace import Category

MOST_NAMES = 1000

_LANES = "Numbers and ranges; without it all."


class Window(msgspec.Struct, frozen=True):
    """Which window, on which lanes."""

    start: WindowBegin = msgspec.field(name="from")
    end: WindowEnd = msgspec.field(name="to")
    lanes: Annotated[str, Meta(pattern=NUMBERS_PATTERN, examples=EXAMPLES, description=_LANES)] | None = None


class NameTotal(msgspec.Struct, frozen=True):
    """Slices of one name and category.

    name_id      number of the name
    name         name of the slices
    category     kind of event, such as kernel or operator
    count        how many slices touch the window
    total_ns     Σ of their parts in the window; nested ones count each
    longest_row  row of the one with the largest part in the window
    """

    name_id: Count
    name: Annotated[str, column("Name")]
    category: Annotated[str, column("Category")]
    count: Annotated[Count, column("Count")]
    total_ns: Annotated[Ns, column("Sum")]
    longest_row: Row


class RestTotal(msgspec.Struct, frozen=True):
    """What is left out of a list.

    count     how many slices are left out
    total_ns  Σ of their parts in the window
    """

    count: Count
    total_ns: Ns


class WindowTotals(msgspec.Struct, frozen=True):
    """Sums over the parts of slices within a window.

    from_ns           where the window begins
    to_ns             where it ends
    slices, instants  how many touch the window
    by_name           by name and category: kernels, copies, sets, operators, annotations, calls and others, overhead,
                      Python frames; in each most time first; at most 1,000
    names_total       how many names and categories there are
    rest              of those that `by_name` leaves out
    by_category       by category, in the same order
    devices           of which a lane was chosen
    columns           what the columns of `by_name` are, and those of `by_category`, which has all but the name
    device_columns    what the columns of `devices` are
    """

    from_ns: Ns
    to_ns: Ns
    slices: Count
    instants: Count
    by_name: Sequence[NameTotal]
    names_total: Count
    rest: RestTotal
    by_category: Sequence[CategoryTotal]
    devices: Sequence[DeviceTotal]
    columns: Sequence[Definition] = columns_field("name_total", NameTotal)
    device_columns: Sequence[Definition] = columns_field("device_total", DeviceTotal)


def _range(timeline: Timeline, asked: Window) -> WindowTotals:
    lanes = np.arange(timeline.lanes, dtype=np.int64) if asked.lanes is None else lanes_of(timeline, asked.lanes)
    check_window(asked.start, asked.end)
    found = totals(timeline, lanes, asked.start, asked.end)
    by_name = found.by_name
    return WindowTotals(
        from_ns=asked.start,
        to_ns=asked.end,
        slices=found.slices,
        instants=found.instants,
        by_name=[_name(timeline, by_name, place) for place in range(min(len(by_name), MOST_NAMES))],
        names_total=len(by_name),
        rest=RestTotal(int(by_name.count[MOST_NAMES:].sum()), int(by_name.total_ns[MOST_NAMES:].sum())),
        by_category=found.by_category,
        devices=found.devices,
    )


def _name(timeline: Timeline, found: NameTotals, place: int) -> NameTotal:
    return NameTotal(
        name_id=int(timeline.names.number[found.name[place]]),
        name=timeline.trace.strings[found.name[place]],
        category=Category(found.category[place]).name.lower(),
        count=int(found.count[place]),
        total_ns=int(found.total_ns[place]),
        longest_row=int(found.longest[place]),
    )


RANGE = Question(
    name="timeline/range",
    summary="Sums over a window",
    compute=_range,
)
