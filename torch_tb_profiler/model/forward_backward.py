"""Which operator's backward is which: pairs joined by the profiler's forward-backward arrows."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.nesting import Nesting, nearest
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.trace import Category, EventPhase, Trace


class ForwardBackward(msgspec.Struct, frozen=True):
    """Parallel positions in the call tree: the forward operator and the outermost operator of its backward."""

    forward: Int32
    backward: Int32


def forward_backward(trace: Trace, tree: CallTree, nesting: Nesting) -> ForwardBackward:
    """Pair the ends of each arrow (same id) with the operators they touch; half arrows are left out."""
    events, flows = trace.events, trace.flows
    arrows = events.category[flows.row] == Category.FLOW_FORWARD_BACKWARD
    begins = arrows & (events.phase[flows.row] == EventPhase.FLOW_START)
    ends = arrows & (events.phase[flows.row] == EventPhase.FLOW_END)
    _, at_begin, at_end = np.intersect1d(flows.id[begins], flows.id[ends], return_indices=True)
    forward_row = flows.row[begins][at_begin]
    backward_row = flows.row[ends][at_end]

    def operator_at(rows: Int32) -> Int32:
        inner = nesting.innermost(events.track[rows], events.start[rows])
        return nearest(tree.parent, tree.is_operator, inner)

    forward, backward = operator_at(forward_row), operator_at(backward_row)
    whole = (forward >= 0) & (backward >= 0)
    return ForwardBackward(forward[whole], backward[whole])
