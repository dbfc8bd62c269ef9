"""Every call of an operator: what it took itself, and with everything it called."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.operator_times import call_forest, operator_times
from torch_tb_profiler.analysis.shared.tensor_cores import (
    ELIGIBLE_OPERATORS,
    Use,
    eligible_device_work,
    use_of_device_work,
)
from torch_tb_profiler.arrays.distinct import distinct_first
from torch_tb_profiler.arrays.forest import Forest
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


class OperatorCalls(msgspec.Struct, frozen=True):
    """One entry per call of an operator, duplicates collapsed; parallel arrays, times in ns.

    node, of_node, host_*, api_self, device_self, device_total   as in `OperatorTimes`
    rank      order of the old plugin: thread by thread as they begin, callees before their caller
    decided   device time of which is known whether it uses tensor cores
    """

    node: Int64
    rank: Int64
    of_node: Int64
    host_self: Int64
    host_total: Int64
    api_self: Int64
    device_self: Int64
    device_total: Int64
    kernels: Int64
    kernel_self: Int64
    tensor_core_self: Int64
    tensor_core_total: Int64
    decided_self: Int64
    decided_total: Int64
    eligible: Bool
    device_ns: int
    unattributed_device_ns: int


@cached
def operator_calls(model: Model) -> OperatorCalls:
    """Every call of an operator with its times, its kernels, and what used tensor cores; exact in ns."""
    tree, trace = model.tree, model.trace
    nodes, head = len(tree), model.call_heads
    forest, times = call_forest(model), operator_times(model)
    kept = times.node

    work_ns = np.where(model.is_work, np.maximum(trace.events.duration[model.device_work.row], 0), 0)
    is_kernel = model.device_category == Category.KERNEL
    use = use_of_device_work(model)
    uses = is_kernel & (use == Use.YES)
    owned = np.flatnonzero(model.device_links.operator_node >= 0)
    owner = head[model.device_links.operator_node[owned]]

    def own(values: npt.NDArray[Any]) -> Int64:
        return sums_at(owner, values[owned], nodes)

    tensor_core_self = own(work_ns * uses)
    decided_self = own(work_ns * ~(is_kernel & (use == Use.UNKNOWN)))
    eligible_name = trace.strings.where(ELIGIBLE_OPERATORS.__contains__, tree.name)
    able = (tree.is_operator & eligible_name.take(tree.name)) | (own(uses | eligible_device_work(model)) > 0)
    return OperatorCalls(
        node=kept,
        rank=old_order(model, forest)[kept],
        of_node=times.of_node,
        host_self=times.host_self,
        host_total=times.host_total,
        api_self=times.api_self,
        device_self=times.device_self,
        device_total=times.device_total,
        kernels=own(is_kernel)[kept],
        kernel_self=own(work_ns * is_kernel)[kept],
        tensor_core_self=tensor_core_self[kept],
        tensor_core_total=forest.below(tensor_core_self)[kept],
        decided_self=decided_self[kept],
        decided_total=forest.below(decided_self)[kept],
        eligible=forest.below(able)[kept] > 0,
        device_ns=int(work_ns.sum()),
        unattributed_device_ns=int(work_ns.sum() - work_ns[owned].sum()),
    )


def old_order(model: Model, forest: Forest) -> Int64:
    """Rank of each node: callees before their caller, threads in the order in which they begin."""
    tree = model.tree
    nodes = len(tree)
    place = np.arange(nodes)
    rank = place - tree.depth + (forest.after - place - 1)  # finished before it, and below it
    if not nodes:
        return rank
    tracks, first = distinct_first(tree.track)
    turn = np.empty(int(tracks.max()) + 1, np.int64)
    turn[tracks[np.argsort(tree.start[first], kind="stable")]] = np.arange(len(tracks))
    ranked: Int64 = turn[tree.track] * nodes + rank
    return ranked
