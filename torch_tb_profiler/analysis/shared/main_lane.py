"""The thread that runs the program."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

AUTOGRAD_PREFIX = "autograd::engine::"


@cached(for_good=True)
def main_lane(model: Model) -> int:
    """The thread that runs the steps: of their marks, else the one with most operators; -1 without host events.

    Threads with annotations come before those without, and threads of the autograd engine last. Of threads of which
    only calls were recorded it is the one that calls first: it wakes the others.
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
