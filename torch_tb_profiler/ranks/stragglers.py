"""What every rank would spend on each kind of work if none was slower than the middle one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, LabelName, ScaleHost, ScaleWork
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.inputs import Work
from torch_tb_profiler.analysis.replay.labels import Label
from torch_tb_profiler.arrays.types import Float64

#: of collectives on the host a part is waiting
_LABELS: tuple[LabelName, ...] = ("python", "operator", "data", "launch", "blocking", "allocator", "api")


def without_straggler(graphs: Sequence[Graph]) -> list[list[Change]]:
    """For each rank the changes that make it as fast as the middle one; of an even number the lower middle one.

    Compared is the time of an average step: host time of each label, and the durations of kernels that are no
    collectives.
    """
    if not graphs:
        return []
    spent = np.stack([_spent(graph) for graph in graphs])
    middle = np.sort(spent, axis=0)[(len(graphs) - 1) // 2]
    factors = np.minimum(middle / np.where(spent > 0, spent, 1.0), 1.0)
    factors[spent <= middle] = 1.0
    found: list[list[Change]] = []
    for of_rank in factors.tolist():
        changes: list[Change] = [ScaleHost(f, label) for label, f in zip(_LABELS, of_rank, strict=False) if f < 1]
        found.append([*changes, ScaleWork(of_rank[-1])] if of_rank[-1] < 1 else changes)
    return found


def _spent(graph: Graph) -> Float64:
    """Shape (labels + 1,), ns in an average step; the last are kernels."""
    items, steps = graph.items, max(len(graph.steps), 1)
    until = int(graph.steps.end[-1]) if len(graph.steps) else 0
    within = graph.lane_counts & (graph.point_time[graph.lane_to] <= until)
    on_host = graph.lane_times[within].sum(axis=0)[[Label[name.upper()] for name in _LABELS]]
    kernels = (items.kind == Work.KERNEL) & ~items.is_communication & (items.start >= graph.since)
    kernels &= items.start < until
    found: Float64 = np.append(on_host, items.duration[kernels].sum()) / steps
    return found
