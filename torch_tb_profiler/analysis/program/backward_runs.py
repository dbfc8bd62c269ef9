"""Backward passes: autograd nodes that run one after the other, and what of the program comes between them."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.program.kinds import CODE, Evidence, Phase
from torch_tb_profiler.analysis.program.marks import Marks
from torch_tb_profiler.analysis.shared.backward_links import autograd_nodes
from torch_tb_profiler.analysis.shared.compiled import COMPILED_BACKWARD
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model

#: of which the beginning, on the main thread, ends a backward pass
_ENDS = tuple(CODE[each] for each in (Phase.FORWARD, Phase.LOSS, Phase.DATA, Phase.OPTIMIZER, Phase.ZERO_GRAD))


class Runs(msgspec.Struct, frozen=True):
    """Backward passes in the order of time; parallel. One follows another when the program did something between.

    start, end  ns: of the first node, and of the last to end
    nodes       how many autograd nodes, those inside others not counted
    """

    start: Int64
    end: Int64
    nodes: Int64

    def __len__(self) -> int:
        return len(self.start)


def backward_runs(model: Model, marked: Marks, main: int) -> Runs:
    """All of the trace. With Python frames each call of `backward` or `grad` is one.

    Compiled autograd runs one region for all nodes, which counts as one.
    """
    tree = model.structure.tree
    is_node = autograd_nodes(model) | _compiled(model)
    outer = np.flatnonzero(is_node)
    outer = outer[nearest(tree.parent, is_node, tree.parent[outer]) < 0]
    nesting = marked.nesting
    backward = marked.phase == CODE[Phase.BACKWARD]
    within = nearest(nesting.parent, backward, nesting.parent) >= 0
    ends = (nesting.lane == main) & ~within & one_of(marked.phase, _ENDS)
    calls = (nesting.lane == main) & ~within & backward & (marked.evidence == Evidence.FRAME)
    nodes = tree.start[outer]
    between = np.concatenate([nesting.start[ends | calls], tree.start[forward_operators(model, marked, main)]])
    # of what begins at one time the program's own doing comes first
    order = np.lexsort(
        (
            np.concatenate([np.ones(len(nodes), np.int8), np.zeros(len(between), np.int8)]),
            np.concatenate([nodes, between]),
        )
    )
    passed = np.empty(len(order), np.int64)
    passed[order] = np.cumsum(order >= len(nodes))
    of_node = passed[: len(nodes)]
    run = np.unique(of_node, return_inverse=True)[1].astype(np.int64)
    count = int(run.max()) + 1 if len(run) else 0
    return Runs(
        start=least_at(run, nodes, count),
        end=greatest_at(run, tree.end[outer], count),
        nodes=np.bincount(run, minlength=count).astype(np.int64),
    )


def forward_operators(model: Model, marked: Marks, main: int) -> Int64:
    """Positions in the call tree of operators of the main thread that the backward pass may follow.

    They carry a sequence number and do not run inside an autograd node; nothing marks them as anything but forward.
    """
    tree, operators = model.structure.tree, model.trace.operators
    at = np.flatnonzero(tree.is_operator & (tree.track == main))
    at = at[take_known(operators.sequence, tree.operator[at]) >= 0]
    at = at[take_known(operators.forward_thread, tree.operator[at]) <= 0]
    at = at[nearest(tree.parent, autograd_nodes(model), at) < 0]
    mark = marked.nesting.innermost(tree.track[at], tree.start[at])
    free = (mark < 0) | one_of(take_known(marked.phase, mark), (CODE[Phase.FORWARD], CODE[Phase.LOSS]))
    return at[free]


def _compiled(model: Model) -> Bool:
    """Shape (call tree,): calls of a compiled backward pass."""
    tree = model.structure.tree
    if not len(tree):
        return np.zeros(0, np.bool_)
    found: Bool = model.trace.strings.where(lambda name: name.startswith(COMPILED_BACKWARD), tree.name)[tree.name]
    return found
