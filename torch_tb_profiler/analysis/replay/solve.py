"""When each node of a graph comes, given how much later than its sources."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.types import Int64

#: before everything
NEVER = -(2**62)


def solve(nodes: int, source: Int64, target: Int64, lag: Int64) -> Int64:
    """The longest path to each node. One plain loop: graphs of traces are deep and narrow.

    source, target   shape (edges,), ascending by target; each source is a lower number than its target
    lag              shape (edges,), ns
    Returns shape (nodes,), ns: the largest of (time of source + lag); 0 for nodes without an edge.

    >>> solve(3, np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([5, 9, 3])).tolist()
    [0, 5, 9]
    """
    times = [NEVER] * nodes
    is_target = np.zeros(nodes, np.bool_)
    is_target[target] = True
    for node in np.flatnonzero(~is_target).tolist():
        times[node] = 0
    for at, to, later in zip(source.tolist(), target.tolist(), lag.tolist(), strict=True):
        time = times[at] + later
        if time > times[to]:  # noqa: PLR1730 - a third faster than max()
            times[to] = time
    return np.array(times, np.int64)
