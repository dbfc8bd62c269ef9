"""The chain from a module of the program to a kernel: what caused a slice, and what it caused."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.model.event_names import NN_MODULE, SOURCE_FRAME, is_own_code
from torch_tb_profiler.timeline.enclosing import (
    SliceReference,
    enclosing,
    launch_of,
    launched_by,
    reference,
    work_of,
)
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import DEVICE_WORK

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
    """The chain that a slice belongs to, from the program to the device; empty if it belongs to none.

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
    """The chain by place. known: the slice that it was asked for; what stands above that one stands around it."""
    rows: dict[ChainPlace, int] = dict(known)
    if work is not None:
        rows["work"] = work
        launch = launch_of(timeline, work)
        if launch is not None:
            rows.setdefault("launch", launch)
    asked = next(iter(known.values()))
    on_host = "work" not in known
    inside = asked if {"frame", "module"} & known.keys() else None
    start = rows.get("launch", asked if on_host else None)
    if "operator" not in rows:
        around = [] if start is None else _around(timeline, start, inside)
        operator = _last(timeline, around, Category.OPERATOR)
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
        frame = _line(timeline, [each for each in frames if each != asked])
        if frame is not None:
            rows["frame"] = frame
    if "module" not in rows:
        frames = frames if inside is None else _around(timeline, asked)
        modules = [each for each in frames if each != asked and _is_module(timeline, each)]
        if modules:
            rows["module"] = modules[-1]
    return rows


def _around(timeline: Timeline, row: int, inside: int | None = None) -> list[int]:
    """What encloses a slice, and the slice itself, outermost first; of `inside` only what lies in that one."""
    events = timeline.trace.events
    found = enclosing(timeline, int(events.track[row]), int(events.start[row]), int(events.end[row]))
    if inside is None or inside not in found:
        return found if inside is None else []
    return found[found.index(inside) + 1 :]


def _last(timeline: Timeline, rows: list[int], category: Category) -> int | None:
    return next((row for row in reversed(rows) if timeline.trace.events.category[row] == category), None)


def _owner(timeline: Timeline, work: int, inside: int | None) -> int | None:
    """The operator that work belongs to where no call was recorded that started it."""
    owner = int(timeline.links.work.owner[work_of(timeline, work)])
    if inside is not None or owner < 0 or timeline.placed.of_row[owner] < 0:
        return None
    return owner if timeline.trace.events.category[owner] == Category.OPERATOR else None


def _forward(timeline: Timeline, row: int) -> int | None:
    """The forward operator of the innermost slice around an operator that has one."""
    partners, around = timeline.links.partners, _around(timeline, row)
    found = np.flatnonzero(np.isin(partners.backward, around))
    if not len(found):
        return None
    return int(partners.forward[max(found.tolist(), key=lambda place: around.index(int(partners.backward[place])))])


def _is_module(timeline: Timeline, row: int) -> bool:
    name: str = timeline.trace.strings[timeline.trace.events.name[row]]
    return name.startswith(NN_MODULE)


def _line(timeline: Timeline, frames: list[int]) -> int | None:
    """The innermost line of the program among frames, else the innermost line."""
    names = {row: timeline.trace.strings[timeline.trace.events.name[row]] for row in frames}
    for wanted in (is_own_code, SOURCE_FRAME.match):
        for row in reversed(frames):
            if wanted(names[row]):
                return row
    return None
