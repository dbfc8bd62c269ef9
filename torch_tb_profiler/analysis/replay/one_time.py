"""Steps after changes that only take time away: what is gained once, at the beginning of a recording, is left out.

Where something else sets the pace, quicker work moves the end of the first step, as devices then lag less behind the
host, and no step after it is shorter: a recording of six steps shows a sixth of that as a saving of each.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.types import Int64

#: with fewer steps nothing shows what the others save
FEWEST = 3
#: the first step gains something once where it saves so many times as much of what is gone of it as the others do
_TIMES = 2.0
#: of the work that is gone, that the others have at least where they show what it saves
_LEAST_OF_OTHERS = 0.1


def without_one_time_gain(graph: Graph, delay: Int64, dropped: Int64, after: Int64) -> Int64:
    """Shape (steps,), ns: the steps after changes; as they are where a change makes anything longer.

    No step is longer than before: an end that comes earlier, and is waited for by the next step, came early for
    nothing. The first saves as large a part of what is gone of it as the others do, where it saves far more.

    delay    shape (edges,), ns, after the changes
    dropped  edges that are gone
    after    shape (steps,), ns: between the ends of the steps
    """
    before: Int64 = np.diff(graph.solved[graph.ends])
    saved = before - after
    if bool((saved >= 0).all()) and (len(saved) < FEWEST or float(saved[0]) <= _TIMES * float(saved[1:].min())):
        return after
    if (delay > graph.delay).any():
        return after
    # by how much each end, and all that come after it, are earlier
    earlier = np.minimum.accumulate(np.cumsum(saved)[::-1])[::-1]
    saved = np.diff(np.maximum(earlier, 0), prepend=0)
    if len(saved) >= FEWEST and saved[0] > 0:
        saved[0] = min(int(saved[0]), _like_the_others(graph, delay, dropped, saved))
    settled: Int64 = before - saved
    return settled


def _like_the_others(graph: Graph, delay: Int64, dropped: Int64, saved: Int64) -> int:
    """What the first step saves at most, ns, by what the others save of the time that is gone of them."""
    less = graph.delay - delay
    less[dropped] += 1
    edge = np.flatnonzero(less)
    ends = graph.time[graph.ends[1:]]
    step = np.minimum(np.searchsorted(ends, graph.time[graph.target[edge]]), len(ends) - 1)
    gone = sums_at(step, less[edge], len(ends))
    first, others = float(gone[0]), float(gone[1:].sum())
    if others < _LEAST_OF_OTHERS * (first + others):
        return int(saved[0])
    expected = first * float(saved[1:].sum()) / others
    return round(expected) if saved[0] > _TIMES * expected else int(saved[0])
