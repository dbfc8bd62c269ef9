"""What encloses a slice, what launched it, and the chain from a module of the program to a kernel."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Count, Ns, Row
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.lookup import find
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model.event_names import NN_MODULE, SOURCE_FRAME, is_own_code
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.timeline.lanes import LaneBand
from torch_tb_profiler.timeline.pyramid import PyramidItems
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import DEVICE_WORK

#: what slices can lie in; the others only happen at the same time
_ENCLOSING = (LaneBand.PYTHON, LaneBand.HOST, LaneBand.ANNOTATION, LaneBand.DEVICE)


class SliceReference(msgspec.Struct, frozen=True):
    """A slice, as every answer names it.

    row          number of its event
    lane         number of the lane it is on
    name         of the slice
    short_name   for a kernel, the parts of its name that show what it does; null for all others
    category     name in small letters, as in `trace/schema.py`
    start_ns     when it begins
    duration_ns  how long it lasts
    """

    row: Row
    lane: Count
    name: str
    category: str
    start_ns: Ns
    duration_ns: Ns
    short_name: str | None


def reference(timeline: Timeline, row: int) -> SliceReference:
    """Refer to a row that is on a lane."""
    trace, events = timeline.trace, timeline.trace.events
    name = trace.strings[events.name[row]]
    return SliceReference(
        row,
        int(timeline.placed.of_row[row]),
        name,
        Category(events.category[row]).name.lower(),
        int(events.start[row]),
        max(int(events.duration[row]), 0),
        short_name(name) if events.category[row] == Category.KERNEL else None,
    )


def enclosing(timeline: Timeline, track: int, start: int, end: int) -> list[int]:
    """Return the rows of a track's slices that begin by `start` and end at or after `end`, outermost first."""
    lanes = timeline.placed.lanes
    chosen = np.flatnonzero((lanes.track == track) & np.isin(lanes.band, _ENCLOSING))
    found = timeline.within(chosen, start, start + 1)
    found = found.take((found.start <= start) & (found.end >= end))
    order = np.lexsort((found.lane, -(found.end - found.start), found.start))
    rows: list[int] = found.longest[order].tolist()
    return rows


def self_time(timeline: Timeline, row: int) -> int:
    """Return the ns of a slice in which nothing ran on the lanes below it in its band."""
    lanes, lane = timeline.placed.lanes, timeline.placed.of_row[row]
    start, end = int(timeline.trace.events.start[row]), int(timeline.trace.events.end[row])
    below = np.flatnonzero(
        (lanes.track == lanes.track[lane]) & (lanes.band == lanes.band[lane]) & (lanes.depth > lanes.depth[lane])
    )
    covered = intervals.union(*_ends(timeline.within(below, start, end)))
    return end - start - intervals.total(intervals.clip(covered, start, end))


def _ends(items: PyramidItems) -> tuple[Int64, Int64]:
    return items.start, items.end


def work_of(timeline: Timeline, row: int) -> int:
    """Return the place of a row in `device_work`, -1 for none."""
    return int(find(timeline.trace.device_work.row, np.array([row]))[0])


def launch_of(timeline: Timeline, row: int) -> int | None:
    """Return the row of the API call that started device work; None for what has none."""
    work = work_of(timeline, row)
    launch = int(timeline.links.work.launch[work]) if work >= 0 else -1
    return int(timeline.trace.launches.row[launch]) if launch >= 0 else None


def launched_by(timeline: Timeline, row: int) -> Int64:
    """Return the rows of device work that was started inside a host slice, or by it, the longest first."""
    trace, events = timeline.trace, timeline.trace.events
    rows = trace.launches.row
    # of one event more, so that -1, for no launch, is no call
    inside = np.zeros(len(rows) + 1, np.bool_)
    inside[:-1] = (events.track[rows] == events.track[row]) & (events.start[rows] >= events.start[row])
    inside[:-1] &= (events.start[rows] < events.end[row]) | (rows == row)
    work = trace.device_work.row[inside[timeline.links.work.launch]].astype(np.int64)
    return work[np.lexsort((work, events.start[work], -events.duration[work]))]


ChainPlace = Literal["module", "frame", "forward", "operator", "launch", "work"]

_CALLS = (Category.RUNTIME, Category.DRIVER)


class ChainLink(msgspec.Struct, frozen=True):
    """One slice of a chain.

    place  what it is in the chain: module (a call of nn.Module), frame (a line of the program), forward (the operator
           whose backward comes next), operator, launch (the call that starts work), or work (on a device)
    slice  the slice
    """

    place: ChainPlace
    slice: SliceReference


def chain_of(timeline: Timeline, row: int) -> tuple[ChainLink, ...]:
    """Return the chain that a slice belongs to, from the program to the device; empty if it belongs to none.

    Of work the way back is recorded. Of a slice of the host the way forth is that to its longest work. The line is the
    innermost one outside libraries, else the innermost one.
    """
    category = timeline.trace.events.category[row]
    if category in DEVICE_WORK:
        rows = _above(timeline, row, {"work": row})
    elif category in _CALLS:
        rows = _above(timeline, _longest_work(timeline, row), {"launch": row})
    elif category == Category.OPERATOR:
        rows = _above(timeline, _longest_work(timeline, row), {"operator": row})
    elif category == Category.PYTHON_FUNCTION:
        place: ChainPlace = "module" if _is_module(timeline, row) else "frame"
        rows = _above(timeline, _longest_work(timeline, row), {place: row})
    else:
        return ()
    order: tuple[ChainPlace, ...] = ("module", "frame", "forward", "operator", "launch", "work")
    return tuple(ChainLink(place, reference(timeline, rows[place])) for place in order if place in rows)


def _longest_work(timeline: Timeline, row: int) -> int | None:
    work = launched_by(timeline, row)
    return int(work[0]) if len(work) else None


def _above(timeline: Timeline, work: int | None, known: dict[ChainPlace, int]) -> dict[ChainPlace, int]:
    """Return the chain by place. known: the requested slice; the slices above enclose it."""
    rows: dict[ChainPlace, int] = dict(known)
    if work is not None:
        rows["work"] = work
        launch = launch_of(timeline, work)
        if launch is not None:
            rows.setdefault("launch", launch)
    row = next(iter(known.values()))
    on_host = "work" not in known
    inside = row if {"frame", "module"} & known.keys() else None
    start = rows.get("launch", row if on_host else None)
    if "operator" not in rows:
        around = [] if start is None else _around(timeline, start, inside)
        operator = _last_of(timeline, around, Category.OPERATOR)
        if operator is None and work is not None:
            operator = _owner(timeline, work, inside)
        if operator is not None:
            rows["operator"] = operator
    if inside is None:
        base = rows.get("operator", start)
        if base is None:
            return rows
        forward = _forward(timeline, base)
        if forward is not None and forward != base:
            rows["forward"] = base = forward
        around = _around(timeline, base)
    else:
        around = [] if start is None else _around(timeline, start, inside)
    frames = [each for each in around if timeline.trace.events.category[each] == Category.PYTHON_FUNCTION]
    if "frame" not in rows:
        frame = _line(timeline, [each for each in frames if each != row])
        if frame is not None:
            rows["frame"] = frame
    if "module" not in rows:
        frames = frames if inside is None else _around(timeline, row)
        modules = [each for each in frames if each != row and _is_module(timeline, each)]
        if modules:
            rows["module"] = modules[-1]
    return rows


def _around(timeline: Timeline, row: int, inside: int | None = None) -> list[int]:
    """Return the rows around a slice and its own, outermost first; with `inside` only those in that one."""
    events = timeline.trace.events
    found = enclosing(timeline, int(events.track[row]), int(events.start[row]), int(events.end[row]))
    if inside is None or inside not in found:
        return found if inside is None else []
    return found[found.index(inside) + 1 :]


def _last_of(timeline: Timeline, rows: list[int], category: Category) -> int | None:
    return next((row for row in reversed(rows) if timeline.trace.events.category[row] == category), None)


def _owner(timeline: Timeline, work: int, inside: int | None) -> int | None:
    """Return the operator that work belongs to where no call was recorded that started it."""
    owner = int(timeline.links.work.owner[work_of(timeline, work)])
    if inside is not None or owner < 0 or timeline.placed.of_row[owner] < 0:
        return None
    return owner if timeline.trace.events.category[owner] == Category.OPERATOR else None


def _forward(timeline: Timeline, row: int) -> int | None:
    """Return the forward operator of the innermost slice around an operator that has one."""
    partners, around = timeline.links.partners, _around(timeline, row)
    found = np.flatnonzero(np.isin(partners.backward, around))
    if not len(found):
        return None
    return int(partners.forward[max(found.tolist(), key=lambda place: around.index(int(partners.backward[place])))])


def _is_module(timeline: Timeline, row: int) -> bool:
    name: str = timeline.trace.strings[timeline.trace.events.name[row]]
    return name.startswith(NN_MODULE)


def _line(timeline: Timeline, frames: list[int]) -> int | None:
    """Return the innermost line of the program among frames, else the innermost line."""
    names = {row: timeline.trace.strings[timeline.trace.events.name[row]] for row in frames}
    for wanted in (is_own_code, SOURCE_FRAME.match):
        for row in reversed(frames):
            if wanted(names[row]):
                return row
    return None
