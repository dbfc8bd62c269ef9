"""Which call each thread was in: the time of calls without those inside of them."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.forest import Forest
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.call_tree import CallTree


def innermost(tree: CallTree, counts: Bool) -> tuple[Int64, Int64, Int64]:
    """The stretches of time of the calls that count, each the innermost of these; thread by thread.

    counts: shape (calls,), parallel to `tree`
    Returns start and end in ns, and the position in `tree`; those of one thread do not overlap.
    """
    at = np.flatnonzero(counts)
    place = np.full(len(tree) + 1, -1, np.int32)  # the last is for "none"
    place[at] = np.arange(len(at), dtype=np.int32)
    parent = place[nearest(tree.parent, counts, tree.parent[at])]
    start, end = tree.start[at], tree.end[at]
    starts = np.append(start, 0)
    # from its beginning to the first one inside, and from the end of each one inside to the next
    has_inside = np.append(parent[1:] == np.arange(len(at) - 1), np.zeros(min(len(at), 1), np.bool_))
    first_until = np.where(has_inside, starts[1:], end)
    after = Forest(parent).after
    has_next = np.append(parent, -2)[after] == parent
    next_until = np.where(has_next, starts[after], end[parent])
    first = np.flatnonzero(first_until > start)
    later = np.flatnonzero((parent >= 0) & (next_until > end))
    of = np.concatenate([first, parent[later]])
    order = stable_order(tree.track[at[of]])
    begin = np.concatenate([start[first], end[later]])
    until = np.concatenate([first_until[first], next_until[later]])
    return begin[order], until[order], at[of[order]]
