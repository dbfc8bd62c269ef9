"""Arrows between slices: from a call to the device work it started, from forward to backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ns, Row
from torch_tb_profiler.analysis.question import Question, Refused
from torch_tb_profiler.analysis.slices import longest
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.types import Int32, Int64, UInt8
from torch_tb_profiler.timeline.enclosing import SliceReference, reference
from torch_tb_profiler.timeline.question import check_row, check_window, needed
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace.schema import DEVICE_WORK

FlowKind = Literal["launch", "forward_backward"]
FLOW_KINDS: tuple[FlowKind, ...] = get_args(FlowKind)


class Flow(msgspec.Struct, frozen=True):
    """One arrow.

    kind    launch: from a call to its device work; forward_backward: from an operator to its backward
    source  where the arrow begins
    target  where it ends
    """

    kind: FlowKind
    source: SliceReference
    target: SliceReference


class Arrows(msgspec.Struct, frozen=True):
    """Parallel; kind: index into FLOW_KINDS, source and target: rows."""

    kind: UInt8
    source: Int32
    target: Int32

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, chosen: Int64) -> Arrows:
        return Arrows(self.kind[chosen], self.source[chosen], self.target[chosen])


class ArrowsFound(msgspec.Struct, frozen=True):
    """total: how many there are; `arrows` may be fewer. loose: arrows of these kinds in the trace that end nowhere."""

    total: int
    loose: int
    arrows: Arrows


def arrows_of(timeline: Timeline, kinds: Sequence[FlowKind] = FLOW_KINDS) -> Arrows:
    """Return all arrows of the trace."""
    trace, links = timeline.trace, timeline.links
    launched = np.flatnonzero(links.work.launch >= 0) if "launch" in kinds else np.empty(0, np.int64)
    paired = slice(None if "forward_backward" in kinds else 0)
    forward, backward = links.partners.forward[paired], links.partners.backward[paired]
    return Arrows(
        np.repeat(np.arange(len(FLOW_KINDS), dtype=np.uint8), [len(launched), len(forward)]),
        np.concatenate([trace.launches.row[links.work.launch[launched]], forward]),
        np.concatenate([trace.device_work.row[launched], backward]),
    )


def flows_of(timeline: Timeline, row: int, most: int, kinds: Sequence[FlowKind] = FLOW_KINDS) -> tuple[Flow, ...]:
    """Return the flows from and to one slice."""
    arrows = of_slice(timeline, row, most, kinds).arrows
    return tuple(
        Flow(FLOW_KINDS[kind], reference(timeline, source), reference(timeline, target))
        for kind, source, target in zip(
            arrows.kind.tolist(), arrows.source.tolist(), arrows.target.tolist(), strict=True
        )
    )


def of_slice(timeline: Timeline, row: int, most: int, kinds: Sequence[FlowKind] = FLOW_KINDS) -> ArrowsFound:
    """Return arrows from and to one slice; those with the longest targets stay if they are many."""
    arrows = arrows_of(timeline, kinds)
    return _cut(timeline, arrows, (arrows.source == row) | (arrows.target == row), most, kinds)


def of_window(
    timeline: Timeline, start: int, end: int, most: int, kinds: Sequence[FlowKind] = FLOW_KINDS
) -> ArrowsFound:
    """Return the arrows with one end in [start, end)."""
    arrows, starts = arrows_of(timeline, kinds), timeline.trace.events.start
    source, target = starts[arrows.source], starts[arrows.target]
    chosen = ((source >= start) & (source < end)) | ((target >= start) & (target < end))
    return _cut(timeline, arrows, chosen, most, kinds)


def _cut(
    timeline: Timeline,
    arrows: Arrows,
    chosen: np.ndarray[tuple[int], np.dtype[np.bool_]],
    most: int,
    kinds: Sequence[FlowKind],
) -> ArrowsFound:
    events = timeline.trace.events
    found = arrows.take(np.flatnonzero(chosen))
    total = len(found)
    if total > most:
        found = found.take(longest(events.duration[found.target], events.start[found.target], most))
    order = np.lexsort((found.target, events.start[found.source]))
    return ArrowsFound(total, _loose(timeline, kinds), found.take(order))


def _loose(timeline: Timeline, kinds: Sequence[FlowKind]) -> int:
    links, work = timeline.links, timeline.trace.device_work.row
    loose = links.loose if "forward_backward" in kinds else 0
    if "launch" in kinds:
        is_work = one_of(timeline.trace.events.category[work], DEVICE_WORK)
        loose += int(np.count_nonzero(is_work & (links.work.launch < 0)))
    return loose


MOST_OF_SLICE = 2000
FLOWS_OF_WINDOW, MOST_OF_WINDOW = 2000, 20_000

_KINDS = ",".join(FLOW_KINDS)
_ROW = "Number of a slice; without it from and to are required."


class WhichFlows(msgspec.Struct, frozen=True):
    """Of a slice, or of a window."""

    kinds: Annotated[str, Meta(description=f"Of {', '.join(FLOW_KINDS)}, joined by commas.")] = _KINDS
    row: Annotated[int, Meta(ge=0, description=_ROW)] | None = None
    start: Annotated[int | None, Meta(description="Begin of the window, ns.")] = msgspec.field(
        name="from", default=None
    )
    end: Annotated[int | None, Meta(description="End of the window, ns; not in it.")] = msgspec.field(
        name="to", default=None
    )
    limit: Annotated[int, Meta(ge=1, le=MOST_OF_WINDOW, description="Arrows of a window.")] = FLOWS_OF_WINDOW


class FlowColumns(msgspec.Struct, frozen=True):
    """Arrows, as parallel lists.

    total      how many there are; the lists may be shorter
    loose      how many arrows of these kinds in the trace touch no slice
    kind       of each arrow
    from_row   event where each begins
    from_lane  number of the lane where each begins
    from_ns    when each begins
    to_row     event where each ends
    to_lane    number of the lane where each ends
    to_ns      when each ends
    """

    total: Count
    loose: Count
    kind: list[FlowKind]
    from_row: list[Row]
    from_lane: list[Count]
    from_ns: list[Ns]
    to_row: list[Row]
    to_lane: list[Count]
    to_ns: list[Ns]


def _flows(timeline: Timeline, params: WhichFlows) -> FlowColumns:
    kinds = _flow_kinds(params.kinds)
    if params.row is not None:
        check_row(timeline, params.row)
        return _flow_columns(timeline, of_slice(timeline, params.row, MOST_OF_SLICE, kinds))
    start, end = needed("from", params.start), needed("to", params.end)
    check_window(start, end)
    return _flow_columns(timeline, of_window(timeline, start, end, params.limit, kinds))


def _flow_kinds(text: str) -> tuple[FlowKind, ...]:
    named = (text or _KINDS).split(",")
    if unknown := set(named) - set(FLOW_KINDS):
        raise Refused(f"kinds must be of {', '.join(FLOW_KINDS)}, not {min(unknown)!r}")
    return tuple(kind for kind in FLOW_KINDS if kind in named)


def _flow_columns(timeline: Timeline, found: ArrowsFound) -> FlowColumns:
    arrows, lane, start = found.arrows, timeline.placed.of_row, timeline.trace.events.start
    return FlowColumns(
        total=found.total,
        loose=found.loose,
        kind=[FLOW_KINDS[kind] for kind in arrows.kind.tolist()],
        from_row=arrows.source.tolist(),
        from_lane=lane[arrows.source].tolist(),
        from_ns=start[arrows.source].tolist(),
        to_row=arrows.target.tolist(),
        to_lane=lane[arrows.target].tolist(),
        to_ns=start[arrows.target].tolist(),
    )


FLOWS = Question(
    name="timeline/flows",
    summary="Arrows of a slice, or of a window",
    compute=_flows,
)
