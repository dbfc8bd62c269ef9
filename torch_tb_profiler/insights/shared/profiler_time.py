"""Time of the steps that the profiler itself took: no change of the program shortens it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.changes import Change, Interval, ScaleHost
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: CUPTI reports these as overhead, too, but they belong to the program
_NOT_OF_PROFILER = ("Lazy Function Loading", "Module Loading", "Command Buffer Full", "Driver Compiler", "UVM")


@cached
def profiler_rows(model: Model) -> Int32:
    """Return the events of the profiler's own cost."""
    events, strings = model.trace.events, model.trace.strings
    rows = np.flatnonzero((events.category == Category.OVERHEAD) & (events.duration > 0)).astype(np.int32)
    own = strings.where(lambda name: not any(part in name for part in _NOT_OF_PROFILER), events.name[rows])
    found: Int32 = rows[own[events.name[rows]]]
    return found


@cached
def profiler_spans(model: Model) -> Spans:
    """Return the intervals in which the profiler worked, in the steps on the host."""
    events, steps, rows = model.trace.events, model.steps, profiler_rows(model)
    windows = intervals.union(steps.host_since, steps.host_end)
    return intervals.intersection(intervals.union(events.start[rows], events.end[rows]), windows)


def profiler_ns(facts: Facts) -> int:
    """Return the time that the profiler worked in all steps together, ns."""
    return intervals.total(profiler_spans(facts.model))


def beside_profiler(facts: Facts, changes: Sequence[Change]) -> tuple[Change, ...]:
    """Return the changes; if the profiler's overhead is large, they scale host time only while it is idle."""
    if facts.share(profiler_ns(facts)) < facts.limit("profiler_overhead", "least_share"):
        return tuple(changes)
    apart = _apart(facts)
    return tuple(
        replace(each, intervals=apart) if isinstance(each, ScaleHost) and each.within == ScaleHost(0.0).within else each
        for each in changes
    )


def _apart(facts: Facts) -> tuple[Interval, ...]:
    """Return the intervals of each host thread in which the profiler is idle."""
    events, tree, spans = facts.trace.events, facts.model.structure.tree, profiler_spans(facts.model)
    whole = intervals.union(events.start[:0], events.start[:0])
    if len(tree):
        ends = np.array([int(tree.start.min())], np.int64), np.array([int(tree.end.max())], np.int64)
        whole = intervals.subtraction(intervals.union(*ends), spans)
    stretches = list(zip(whole.start.tolist(), whole.end.tolist(), strict=True))
    return tuple((track, start, end) for track in distinct(tree.track).tolist() for start, end in stretches)
