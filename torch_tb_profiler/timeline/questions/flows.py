"""Arrows of a slice, or of a window."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ns, Row
from torch_tb_profiler.analysis.question import Question, Refused
from torch_tb_profiler.timeline.flows import FLOW_KINDS, ArrowsFound, FlowKind, of_slice, of_window
from torch_tb_profiler.timeline.questions.parameters import check_row, check_window, needed
from torch_tb_profiler.timeline.timeline import Timeline

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


def _flows(timeline: Timeline, asked: WhichFlows) -> FlowColumns:
    kinds = _kinds(asked.kinds)
    if asked.row is not None:
        check_row(timeline, asked.row)
        return _columns(timeline, of_slice(timeline, asked.row, MOST_OF_SLICE, kinds))
    start, end = needed("from", asked.start), needed("to", asked.end)
    check_window(start, end)
    return _columns(timeline, of_window(timeline, start, end, asked.limit, kinds))


def _kinds(text: str) -> tuple[FlowKind, ...]:
    named = (text or _KINDS).split(",")
    if unknown := set(named) - set(FLOW_KINDS):
        raise Refused(f"kinds must be of {', '.join(FLOW_KINDS)}, not {min(unknown)!r}")
    return tuple(kind for kind in FLOW_KINDS if kind in named)


def _columns(timeline: Timeline, found: ArrowsFound) -> FlowColumns:
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
