"""Arrows between slices: from a call to the device work it started, from forward to backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec
import numpy as np

from torch_tb_profiler.analysis.slices import longest
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.types import Int32, Int64, UInt8
from torch_tb_profiler.timeline.enclosing import SliceReference, reference
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
    """All of the trace."""
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
    """From and to one slice."""
    arrows = of_slice(timeline, row, most, kinds).arrows
    return tuple(
        Flow(FLOW_KINDS[kind], reference(timeline, source), reference(timeline, target))
        for kind, source, target in zip(
            arrows.kind.tolist(), arrows.source.tolist(), arrows.target.tolist(), strict=True
        )
    )


def of_slice(timeline: Timeline, row: int, most: int, kinds: Sequence[FlowKind] = FLOW_KINDS) -> ArrowsFound:
    """Arrows from and to one slice, the ones with the longest target first to stay."""
    arrows = arrows_of(timeline, kinds)
    return _cut(timeline, arrows, (arrows.source == row) | (arrows.target == row), most, kinds)


def of_window(
    timeline: Timeline, start: int, end: int, most: int, kinds: Sequence[FlowKind] = FLOW_KINDS
) -> ArrowsFound:
    """Arrows of which one end lies in [start, end)."""
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
