"""When each node of a graph comes, given how much later than its sources."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.types import Int64


def solve(nodes: int, source: Sequence[int], target: Sequence[int], delay: Int64) -> Int64:
    """The longest path to each node. One plain loop: graphs of traces are deep and narrow.

    source, target   (edges,), ascending by target; each source is a lower number than its target
    delay            shape (edges,), ns, none below 0
    Returns shape (nodes,), ns: the largest of (time of source + delay); 0 for nodes without an edge.

    >>> solve(3, [0, 0, 1], [1, 2, 2], np.array([5, 9, 3])).tolist()
    [0, 5, 9]
    """
    times = [0] * nodes
    for at, to, later in zip(source, target, delay.tolist(), strict=True):
        time = times[at] + later
        if time > times[to]:  # noqa: PLR1730 - a third faster than max()
            times[to] = time
    return np.array(times, np.int64)
