"""The nodes of graphs that ran in the steps that are chosen, replay by replay."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.owners.graphs import replays_of


class ReplayedNodes(msgspec.Struct, frozen=True):
    """All nodes that ran, replay by replay.

    work, replay, place  shape (nodes,): index into Trace.device_work, which replay, position within it
    graph_of             shape (replays,): number of the graph
    """

    work: Int64
    replay: Int64
    place: Int64
    graph_of: Int64

    @property
    def graph(self) -> Int64:
        return self.graph_of[self.replay]


@cached
def replayed_nodes(model: Model) -> ReplayedNodes:
    """Of the steps that are chosen: replays that were launched in them."""
    inside = model.in_steps
    found = replays_of(model.trace, model.structure.device_links)
    first = np.flatnonzero(begins_run(found.replay))
    count = np.diff(np.append(first, len(found.work)))
    sequence = found.graphs()
    rows = np.zeros(len(model.trace.events), np.bool_)
    rows[inside.device_work.row] = True
    kept = rows[model.trace.device_work.row]
    whole = kept[found.work[first]] if len(first) else np.zeros(0, np.bool_)
    chosen = np.repeat(whole, count)
    place = np.arange(len(found.work)) - np.repeat(first, count)
    replay = np.cumsum(begins_run(found.replay[chosen])) - 1 if chosen.any() else np.empty(0, np.int64)
    return ReplayedNodes(found.work[chosen], replay.astype(np.int64), place[chosen], sequence[whole])
