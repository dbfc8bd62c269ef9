"""The checks of anomaly detection: what autograd runs on the gradients of each node to find a NaN."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model

NODE = "autograd::engine::evaluate_function: "
#: a gradient is tested, and the answer is read
_TEST = "aten::isnan"
_READ = frozenset(("aten::_is_any_true", "aten::any", "aten::item"))


class Checks(msgspec.Struct, frozen=True):
    """Checks for NaN, positions in the call tree.

    node      shape (checks,): the operators that check
    checked   shape (nodes,): the backward nodes with a check
    nodes     shape (nodes,): the backward nodes that have gradients to check
    """

    node: Int64
    checked: Int64
    nodes: Int64

    @property
    def share(self) -> float:
        """Which part of the backward nodes is checked, 0…1."""
        return len(self.checked) / len(self.nodes) if len(self.nodes) else 0.0


@cached(for_good=True)
def anomaly_checks(model: Model) -> Checks:
    """All of the trace, also where few nodes have one: then it is the program's own test."""
    tree, strings = model.structure.tree, model.trace.strings
    nothing = np.empty(0, np.int64)
    if not len(tree):
        return Checks(nothing, nothing, nothing)
    is_node = strings.where(lambda name: name.startswith(NODE), tree.name)[tree.name]
    parent = tree.parent.astype(np.int64)
    # those that accumulate have no gradient as their result: what tests there is a hook of the program
    gives = is_node & ~strings.where(lambda name: "AccumulateGrad" in name, tree.name)[tree.name]
    test = np.flatnonzero((tree.name == strings.code(_TEST)) & np.append(gives, False)[parent])
    checked = distinct(parent[test])
    has_test = np.zeros(len(tree) + 1, np.bool_)
    has_test[checked] = True
    read = np.flatnonzero(strings.where(_READ.__contains__, tree.name)[tree.name] & has_test[parent])
    return Checks(np.sort(np.concatenate((test, read))), checked, np.flatnonzero(gives))


def in_checks(model: Model, rows: Int32) -> Bool:
    """Shape (n,): which calls are made by such a check."""
    node = anomaly_checks(model).node
    if not len(node):
        return np.zeros(len(rows), np.bool_)
    events = model.trace.events
    place = model.structure.nesting.innermost(events.track[rows], events.start[rows])
    found: Bool = below(model, node, place) >= 0
    return found


def below(model: Model, nodes: Int64, place: Int32) -> Int32:
    """Shape (n,): of some places in the call tree the nearest of some nodes around each, or itself; -1 for none."""
    tree = model.structure.tree
    wanted = np.zeros(len(tree), np.bool_)
    wanted[nodes] = True
    return nearest(tree.parent, wanted, place)
