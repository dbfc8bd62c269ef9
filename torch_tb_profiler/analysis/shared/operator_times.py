"""What each call of an operator took: the one definition of its self and total times."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.call_forest import call_forest
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.spill import spilled


class OperatorTimes(msgspec.Struct, frozen=True):
    """One entry per call of an operator (`Model.call_heads`), by its place in the call tree; times in ns.

    node           position in the call tree
    of_node        shape (call tree + 1,): which call a node is part of, -1 for annotations; the last entry, -1, is for
                   "no node"
    host_total     duration as recorded
    host_self      host_total − Σ operators directly inside, as far as they lie inside − Σ own calls of the device's
                   API
    api_self       Σ own calls of the device's API, each within the operator
    device_self    Σ durations of the work whose launch has this operator as its innermost one
    device_total   device_self of it and of all operators below it

    What is inside an operator and is none (an annotation, a call of nn.Module, other Python) is part of it.
    """

    node: Int64
    of_node: Int64
    host_total: Int64
    host_self: Int64
    api_self: Int64
    device_total: Int64
    device_self: Int64

    def __len__(self) -> int:
        return len(self.node)


class OperatorNodes(msgspec.Struct, frozen=True):
    """Where the calls of operators are in the call tree.

    node, of_node   as in `OperatorTimes`
    """

    node: Int64
    of_node: Int64


@cached
def operator_nodes(model: Model) -> OperatorNodes:
    """One entry per call of an operator, for those that need none of its times."""
    tree, head = model.tree, model.call_heads
    nodes = len(tree)
    kept = np.flatnonzero(tree.is_operator & (head[:-1] == np.arange(nodes)))
    return OperatorNodes(kept, places_of(kept, nodes + 1)[head])


@cached
def operator_times(model: Model) -> OperatorTimes:
    """Self and total times of every call of an operator, exact."""
    tree, durations = model.tree, model.trace.events.duration
    nodes, head = len(tree), model.call_heads
    calls = operator_nodes(model)
    kept = calls.node
    caller = nearest(tree.parent, tree.is_operator, tree.parent[kept])
    called = np.flatnonzero(caller >= 0)
    below = kept[called]
    inside = sums_at(head[caller[called]], (tree.end - tree.start)[below], nodes)[kept]
    calling = np.flatnonzero(model.launch_links.operator_node >= 0)
    api_self = sums_at(head[model.launch_links.operator_node[calling]], model.launch_links.duration[calling], nodes)
    api_self = api_self[kept]
    host_total = np.maximum(durations[tree.row[kept]], 0)
    host_total, host_self, api_self = spilled((host_total, host_total - inside - api_self, api_self))
    del caller, called, below, inside, calling

    owned = np.flatnonzero(model.is_work & (model.device_links.operator_node >= 0))
    work_ns = np.maximum(durations[model.device_work.row[owned]], 0)
    device_self = sums_at(head[model.device_links.operator_node[owned]], work_ns, nodes)
    return OperatorTimes(
        node=kept,
        of_node=calls.of_node,
        host_total=host_total,
        host_self=host_self,
        api_self=api_self,
        device_total=call_forest(model).below(device_self)[kept],
        device_self=device_self[kept],
    )
