"""Every call of an operator: what it took itself, and with everything it called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.shared.call_forest import call_forest
from torch_tb_profiler.analysis.shared.tensor_cores import ELIGIBLE_OPERATORS, Use, use_of_device_work
from torch_tb_profiler.arrays.forest import Forest
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import nearest, to_root
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


@dataclass(frozen=True)
class OperatorCalls:
    """One entry per call of an operator, duplicates collapsed; parallel arrays, times in ns.

    node      position in the call tree
    rank      order of the old plugin: thread by thread as they begin, callees before their caller
    of_node   shape (call tree + 1,): which call a node is part of, -1 for annotations; the last entry, -1, is for
              "no node"
    decided   device time of which is known whether it uses tensor cores
    bottom    eligible for tensor cores while nothing it called is
    """

    node: Int64
    rank: Int64
    of_node: Int64
    host_self: Int64
    host_total: Int64
    device_self: Int64
    device_total: Int64
    kernels: Int64
    kernel_self: Int64
    tensor_core_self: Int64
    tensor_core_total: Int64
    decided_self: Int64
    decided_total: Int64
    eligible: Bool
    bottom: Bool
    device_ns: int
    unattributed_device_ns: int


@remembered
def call_heads(model: Model) -> Int64:
    """Of each node of the call tree the outermost one that is the same call; the last entry is for "no node": -1.

    An operator whose only callee has the same name is one call with it.
    """
    tree = model.tree
    is_operator = tree.is_operator
    inner = np.flatnonzero(is_operator & (tree.parent >= 0))
    parent = tree.parent[inner].astype(np.intp)
    merged = is_operator[parent] & (tree.name[inner] == tree.name[parent])
    merged &= call_forest(model).children[parent] == 1
    head = np.append(np.arange(len(tree)), -1)
    head[inner[merged]] = parent[merged]
    return to_root(head)


@remembered
def operator_calls(model: Model) -> OperatorCalls:
    """Self and total times of every operator call, exact in ns.

    Host self = duration − Σ operators directly inside (as far as they lie inside) − Σ own calls of the device's API.
    Device self = Σ durations of the work whose launch has this operator as its innermost one.
    """
    tree, trace = model.tree, model.trace
    nodes, parent = len(tree), tree.parent
    forest = call_forest(model)

    head = call_heads(model)
    merged = head[:-1] != np.arange(nodes)
    length = tree.end - tree.start
    # an annotation inside an operator is a label on part of its time, so what it encloses is looked through to
    caller = nearest(parent, tree.is_operator, parent)
    below = np.flatnonzero(tree.is_operator & (caller >= 0) & ~merged)
    inside = sums_at(head[caller[below]], length[below], nodes)
    calling = np.flatnonzero(model.launch_links.operator_node >= 0)
    inside += sums_at(head[model.launch_links.operator_node[calling]], model.launch_links.duration[calling], nodes)
    host_total = np.maximum(trace.events.duration.take(tree.row), 0)

    work_ns = np.where(model.is_work, np.maximum(trace.events.duration[model.device_work.row], 0), 0)
    is_kernel = model.device_category == Category.KERNEL
    use = use_of_device_work(model)
    uses = is_kernel & (use == Use.YES)
    owned = np.flatnonzero(model.device_links.operator_node >= 0)
    owner = head[model.device_links.operator_node[owned]]

    def own(values: npt.NDArray[Any]) -> Int64:
        return sums_at(owner, values[owned], nodes)

    device_self, tensor_core_self = own(work_ns), own(work_ns * uses)
    decided_self = own(work_ns * ~(is_kernel & (use == Use.UNKNOWN)))
    eligible_name = trace.strings.where(ELIGIBLE_OPERATORS.__contains__, tree.name)
    able = (tree.is_operator & eligible_name.take(tree.name)) | (own(uses) > 0)
    able_below = forest.below(able)
    kept = np.flatnonzero(tree.is_operator & ~merged)
    index = places_of(kept, nodes + 1)
    return OperatorCalls(
        node=kept,
        rank=_old_order(model, forest)[kept],
        of_node=index[head],
        host_self=(host_total - inside)[kept],
        host_total=host_total[kept],
        device_self=device_self[kept],
        device_total=forest.below(device_self)[kept],
        kernels=own(is_kernel)[kept],
        kernel_self=own(work_ns * is_kernel)[kept],
        tensor_core_self=tensor_core_self[kept],
        tensor_core_total=forest.below(tensor_core_self)[kept],
        decided_self=decided_self[kept],
        decided_total=forest.below(decided_self)[kept],
        eligible=able_below[kept] > 0,
        bottom=(able & (able_below == sums_at(head[:-1], able, nodes)))[kept],
        device_ns=int(work_ns.sum()),
        unattributed_device_ns=int(work_ns.sum() - work_ns[owned].sum()),
    )


def _old_order(model: Model, forest: Forest) -> Int64:
    """Rank of each node: callees before their caller, threads in the order in which they begin."""
    tree = model.tree
    nodes = len(tree)
    place = np.arange(nodes)
    rank = place - tree.depth + (forest.after - place - 1)  # finished before it, and below it
    if not nodes:
        return rank
    tracks, first = np.unique(tree.track, return_index=True)
    turn = np.empty(int(tracks.max()) + 1, np.int64)
    turn[tracks[np.argsort(tree.start[first], kind="stable")]] = np.arange(len(tracks))
    ranked: Int64 = turn[tree.track] * nodes + rank
    return ranked
