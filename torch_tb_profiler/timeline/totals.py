"""Exact sums over a window of time, from the slices themselves."""

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
from torch_tb_profiler.analysis.shared.quantities import (
    BUSY,
    COMMUNICATING,
    COMPUTING,
    EXPOSED_COMMUNICATION,
    Quantity,
    roles_of,
    spans_by_role,
)
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.types import Int32, Int64, UInt8
from torch_tb_profiler.timeline.lanes import LaneBand
from torch_tb_profiler.timeline.question import (
    EXAMPLES,
    NUMBERS_PATTERN,
    WindowBegin,
    WindowEnd,
    check_window,
    lanes_of,
)
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Category

#: what one looks for first: work of devices, operators; last what only stands around it
_FIRST = (Category.KERNEL, Category.MEMCPY, Category.MEMSET, Category.OPERATOR, Category.USER_ANNOTATION)
_LAST = (Category.OVERHEAD, Category.PYTHON_FUNCTION, Category.SPAN)
PLACE = np.full(len(Category), len(_FIRST), np.int64)
PLACE[list(_FIRST)] = np.arange(len(_FIRST))
PLACE[list(_LAST)] = len(_FIRST) + 1 + np.arange(len(_LAST))


def sought_first(category: UInt8, total: Int64) -> Int64:
    """Order sums by category (kernels, copies, sets, operators, annotations, others, overhead, Python frames, the
    recording window), in each the largest first, of equals the first.
    """
    return np.lexsort((-total, PLACE[category]))


class NameTotals(msgspec.Struct, frozen=True):
    """Parallel, by `sought_first`. name: string; longest: row of the slice with the largest part in the window."""

    name: Int32
    category: UInt8
    count: Int64
    total_ns: Int64
    longest: Int32

    def __len__(self) -> int:
        return len(self.name)


class CategoryTotal(msgspec.Struct, frozen=True):
    """Slices of one category, nested ones included.

    category  name in small letters, as in `trace/schema.py`
    count     how many slices touch the window
    total_ns  Σ of their parts in the window
    """

    category: str
    count: int
    total_ns: int


class DeviceTotal(msgspec.Struct, frozen=True):
    """What one device did in the window. Definitions: `analysis.shared.quantities`.

    device                    number of the device
    busy_ns                   time of the window in which a kernel, copy or fill ran
    idle_ns                   the rest of the window
    computing_ns              time in which a compute kernel ran
    communicating_ns          time in which a communication kernel ran
    exposed_communication_ns  time in which a communication kernel ran and no compute kernel did
    memcpy_ns                 time in which a copy ran; fills do not count
    """

    device: Annotated[int, column("Device")]
    busy_ns: Annotated[int, column("Device busy")]
    idle_ns: Annotated[int, column("Idle")]
    computing_ns: Annotated[int, column("Computing")]
    communicating_ns: Annotated[int, column("Communicating")]
    exposed_communication_ns: Annotated[int, column("Exposed communication")]
    memcpy_ns: Annotated[int, column("Copies")]


class Totals(msgspec.Struct, frozen=True):
    """slices, instants: those that touch the window."""

    slices: int
    instants: int
    by_name: NameTotals
    by_category: tuple[CategoryTotal, ...]
    devices: tuple[DeviceTotal, ...]


def totals(timeline: Timeline, lanes: Int64, start: int, end: int) -> Totals:
    """Of the parts of slices that lie in [start, end). lanes: ascending."""
    events = timeline.trace.events
    found = timeline.within(lanes, start, end)
    is_instant = timeline.placed.lanes.band[found.lane] == LaneBand.INSTANT
    rows = found.longest
    part = np.minimum(found.end, end) - np.maximum(found.start, start)
    groups = group([events.name[rows], events.category[rows]], rank=_longest_first(part, found.start))
    total = groups.sum(part)
    order = sought_first(events.category[rows[groups.first]], total)
    by_category = group([events.category[rows]])
    sums, counts = by_category.sum(part), by_category.count()
    return Totals(
        slices=int(np.count_nonzero(~is_instant)),
        instants=int(np.count_nonzero(is_instant)),
        by_name=NameTotals(
            events.name[rows[groups.first]][order],
            events.category[rows[groups.first]][order],
            groups.count()[order],
            total[order],
            rows[groups.first][order],
        ),
        by_category=tuple(
            CategoryTotal(
                Category(events.category[rows[by_category.first[i]]]).name.lower(), int(counts[i]), int(sums[i])
            )
            for i in sought_first(events.category[rows[by_category.first]], sums).tolist()
        ),
        devices=_devices(timeline, lanes, rows, start, end),
    )


def _category_name(code: np.uint8) -> str:
    return Category(int(code)).name.lower()


def _longest_first(part: Int64, start: Int64) -> Int64:
    return inverse(np.lexsort((start, -part)))


def _devices(timeline: Timeline, lanes: Int64, rows: Int32, start: int, end: int) -> tuple[DeviceTotal, ...]:
    """Of each device of which a lane of work is among `lanes`."""
    trace, events = timeline.trace, timeline.trace.events
    of_lanes = timeline.placed.lanes
    chosen = lanes[of_lanes.band[lanes] == LaneBand.DEVICE]
    devices = distinct(timeline.device_of_track[of_lanes.track[chosen]])
    if not len(devices):
        return ()
    work = rows[of_lanes.band[timeline.placed.of_row[rows]] == LaneBand.DEVICE]
    place = np.searchsorted(trace.device_work.row, work)
    communicates = timeline.links.work.is_communication[place] > 0
    device, category = timeline.device_of_track[events.track[work]], events.category[work]

    role = roles_of(category, communicates)

    def ns(quantity: Quantity, by_role: Sequence[intervals.Spans]) -> int:
        return intervals.total(intervals.clip(quantity.spans(by_role), start, end))

    device_totals = []
    for number in devices.tolist():
        mine = device == number
        by_role = spans_by_role(events.start[work[mine]], events.end[work[mine]], role[mine])
        copies = work[mine & (category == Category.MEMCPY)]
        busy = ns(BUSY, by_role)
        device_totals.append(
            DeviceTotal(
                device=number,
                busy_ns=busy,
                idle_ns=end - start - busy,
                computing_ns=ns(COMPUTING, by_role),
                memcpy_ns=intervals.total(
                    intervals.clip(intervals.union(events.start[copies], events.end[copies]), start, end)
                ),
                communicating_ns=ns(COMMUNICATING, by_role),
                exposed_communication_ns=ns(EXPOSED_COMMUNICATION, by_role),
            )
        )
    return tuple(device_totals)


MOST_NAMES = 1000

_LANES = "Numbers and ranges; without it all."


class TotalsWindow(msgspec.Struct, frozen=True):
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


def _window_totals(timeline: Timeline, params: TotalsWindow) -> WindowTotals:
    lanes = np.arange(timeline.lanes, dtype=np.int64) if params.lanes is None else lanes_of(timeline, params.lanes)
    check_window(params.start, params.end)
    sums = totals(timeline, lanes, params.start, params.end)
    by_name = sums.by_name
    return WindowTotals(
        from_ns=params.start,
        to_ns=params.end,
        slices=sums.slices,
        instants=sums.instants,
        by_name=[_name_total(timeline, by_name, place) for place in range(min(len(by_name), MOST_NAMES))],
        names_total=len(by_name),
        rest=RestTotal(int(by_name.count[MOST_NAMES:].sum()), int(by_name.total_ns[MOST_NAMES:].sum())),
        by_category=sums.by_category,
        devices=sums.devices,
    )


def _name_total(timeline: Timeline, found: NameTotals, place: int) -> NameTotal:
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
    compute=_window_totals,
)
