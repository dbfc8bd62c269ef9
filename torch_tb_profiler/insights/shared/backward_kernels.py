"""The kernels that autograd launched for the backward of some operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.shared.operator_line import operator_line
from torch_tb_profiler.model import Model

#: how the nodes of autograd begin
EVALUATE = "autograd::engine::evaluate_function: "


def backward_kernels(model: Model, spans: Sequence[tuple[int, int]]) -> list[Int32]:
    """Rows of the device work of the nodes of autograd that belong to stretches of the operator line; none where no
    arrows join forward and backward.

    spans   places of the line, from one to another, which is excluded
    """
    tree, line, pairs = model.tree, operator_line(model), model.forward_backward
    if not spans or not len(pairs.forward):
        return [np.empty(0, np.int32) for _ in spans]
    is_node = model.trace.strings.where(lambda name: name.startswith(EVALUATE), tree.name)[tree.name]
    node = nearest(tree.parent, is_node, pairs.backward)
    # operators of one thread follow one another in the tree
    order = np.argsort(pairs.forward, kind="stable")
    forward, node = pairs.forward[order], node[order]
    work = np.flatnonzero(model.is_work & (model.device_links.operator_node >= 0))
    owner = nearest(tree.parent, is_node, model.device_links.operator_node[work])
    by_owner = np.argsort(owner, kind="stable")
    work, owner = work[by_owner], owner[by_owner]
    found = []
    for first, after in spans:
        # an operator that hands over to the first of them, as `to` does to `_to_copy`, is joined in its place
        begin, until = int(line.node[first]), int(tree.end[line.node[after - 1]])
        before = int(line.node[first - 1]) if first else -1
        while (above := int(tree.parent[begin])) > before and tree.is_operator[above] and int(tree.end[above]) <= until:
            begin = above
        low, high = np.searchsorted(forward, [begin, int(line.node[after - 1]) + 1]).tolist()
        nodes = np.unique(node[low:high][node[low:high] >= 0])
        at = [work[slice(*np.searchsorted(owner, [each, each + 1]).tolist())] for each in nodes.tolist()]
        found.append(model.device_work.row[np.concatenate(at)] if at else np.empty(0, np.int32))
    return found
