"""The thread that runs the program, the innermost call of each thread, and when a rank computes on the host."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.forest import Forest
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.model.communication import is_host_communication
from torch_tb_profiler.model.owners.owners import COMPILED_CODE
from torch_tb_profiler.trace import Category

AUTOGRAD_PREFIX = "autograd::engine::"


@cached(for_good=True)
def main_lane(model: Model) -> int:
    """Find the thread that runs the steps: that of their marks, else the one with most operators; -1 without host
    events.

    Threads with annotations come before those without, and threads of the autograd engine last. If only calls were
    recorded, it is the thread that calls first: it wakes the others.
    """
    trace, tree, steps = model.trace, model.structure.tree, model.steps
    if len(steps) and len(tree):
        at = np.searchsorted(steps.host_start, tree.start, side="left")
        at = np.minimum(at, len(steps) - 1)
        marks = (
            (tree.category == Category.USER_ANNOTATION)
            & (steps.host_start[at] == tree.start)
            & (np.abs(steps.host_end[at] - tree.end) <= 1)
        )
        if marks.any():
            return int(np.bincount(tree.track[marks]).argmax())
    if not len(tree):
        calls = trace.launches.row
        return int(trace.events.track[calls[np.argmin(trace.events.start[calls])]]) if len(calls) else -1
    lanes = len(trace.tracks)
    operators = np.bincount(tree.track[tree.is_operator], minlength=lanes)
    annotated = np.bincount(tree.track[~tree.is_operator], minlength=lanes) > 0
    is_engine = trace.strings.where(lambda name: name.startswith(AUTOGRAD_PREFIX), tree.name)[tree.name]
    engine = np.bincount(tree.track[is_engine], minlength=lanes) > 0
    used = np.bincount(tree.track, minlength=lanes) > 0
    return int(np.lexsort((operators, annotated, ~engine, used))[-1])


def innermost(tree: CallTree, counts: Bool) -> tuple[Int64, Int64, Int64]:
    """Return the spans of the calls that count, each the innermost of these; thread by thread.

    counts: shape (calls,), parallel to `tree`
    Returns start and end in ns, and the position in `tree`; those of one thread do not overlap.
    """
    counted = np.flatnonzero(counts)
    place = np.full(len(tree) + 1, -1, np.int32)  # the last is for "none"
    place[counted] = np.arange(len(counted), dtype=np.int32)
    parent = place[nearest(tree.parent, counts, tree.parent[counted])]
    start, end = tree.start[counted], tree.end[counted]
    starts = np.append(start, 0)
    # from its beginning to the first one inside, and from the end of each one inside to the next
    has_inside = np.append(parent[1:] == np.arange(len(counted) - 1), np.zeros(min(len(counted), 1), np.bool_))
    first_until = np.where(has_inside, starts[1:], end)
    after = Forest(parent).after
    has_next = np.append(parent, -2)[after] == parent
    next_until = np.where(has_next, starts[after], end[parent])
    first = np.flatnonzero(first_until > start)
    later = np.flatnonzero((parent >= 0) & (next_until > end))
    of = np.concatenate([first, parent[later]])
    order = stable_order(tree.track[counted[of]])
    begin = np.concatenate([start[first], end[later]])
    until = np.concatenate([first_until[first], next_until[later]])
    return begin[order], until[order], counted[of[order]]


#: `aten::mm`, `mylib::op.out`: what PyTorch's dispatcher calls. Nodes of autograd, and ranges of its engine and of the
#: reducer, have other names: hooks run in them, which may wait for other ranks
_DISPATCHED = lazy_pattern(r"[A-Za-z_]\w*::\w[\w.]*$")
#: a kernel of Inductor for the host, within compiled code
_CPP = lazy_pattern(r"(?:graph_\d{1,9}_)?cpp_")


@cached
def host_computing(model: Model) -> Spans:
    """Return when the innermost operator of a thread is one of the dispatcher, or compiled code, outside of
    communication.

    What is inside of a call of communication, on the same thread, is part of it.
    """
    tree, strings = model.tree, model.trace.strings
    communicates = strings.where(is_host_communication, tree.name)[tree.name]
    computes = tree.is_operator & strings.where(_computes, tree.name)[tree.name]
    start, end, of = innermost(tree, tree.is_operator | communicates)
    within = nearest(tree.parent, communicates, of) >= 0
    chosen = computes[of] & ~within
    return intervals.union(start[chosen], end[chosen])


def _computes(name: str) -> bool:
    return bool(_DISPATCHED.match(name) or COMPILED_CODE.match(name) or _CPP.match(name))
