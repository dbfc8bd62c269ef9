"""Every call of an operator: its own time, that of all it called, and the forward call of a backward node."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.backward_links import LINKS, backward_times, selected_links
from torch_tb_profiler.analysis.shared.device_roles import share
from torch_tb_profiler.analysis.shared.operator_times import call_forest, operator_times
from torch_tb_profiler.analysis.shared.tensor_cores import (
    ELIGIBLE_OPERATORS,
    Use,
    eligible_device_work,
    use_of_device_work,
)
from torch_tb_profiler.arrays.distinct import distinct_first, distinct_places
from torch_tb_profiler.arrays.forest import Forest
from torch_tb_profiler.arrays.grouping import descending, group, sums_at
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.program_tree import ACCUMULATE
from torch_tb_profiler.trace import Category, StringTable


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
    """Return every call of an operator with its times, its kernels, and what used tensor cores; exact in ns."""
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
    """Rank nodes: callees before their caller, threads in the order in which they begin."""
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


#: behind the name of a forward operator: all that its autograd nodes ran
BACKWARD_OF = " (backward)"


class CallKeys(msgspec.Struct, frozen=True):
    """The keys by which calls of operators are grouped; parallel to `OperatorCalls`.

    strings  of which `name` has codes
    name     the operator, or its forward and `BACKWARD_OF`
    node     position in the call tree of that operator: where shapes and stack are from
    whole    whether its total times count; else they are in those of a call around it
    counted  whether it counts as a call: of the backward pass those that accumulate gradients do not
    """

    strings: StringTable
    name: Int32
    node: Int64
    whole: Bool
    counted: Bool


def keys_of(model: Model, calls: OperatorCalls, with_forward: bool) -> CallKeys:
    tree, strings = model.tree, model.trace.strings
    name, node = tree.name[calls.node], calls.node
    whole = np.ones(len(node), np.bool_)
    if not with_forward:
        return CallKeys(strings, name, node, whole, whole)
    linked, forward = selected_links(model)
    of = np.full(len(tree), -1, np.int64)
    of[linked] = forward
    around = nearest(tree.parent, of >= 0, node)
    moved = np.flatnonzero(around >= 0)
    target = of[around[moved]]
    different, place = distinct_places(tree.name[target].astype(np.int64))
    texts = [strings[code] + BACKWARD_OF for code in different.tolist()]
    name, node = name.copy(), node.copy()
    name[moved] = len(strings) + place
    node[moved] = target
    whole[moved] = calls.of_node[around[moved]] == moved
    codes = [strings.code(text) for text in (ACCUMULATE, "torch::autograd::AccumulateGrad")]
    counted = whole & ~((around >= 0) & np.isin(tree.name[around], codes))
    return CallKeys(StringTable([*strings, *texts]), name, node, whole, counted)


def unlinked_share(model: Model) -> float | None:
    """Return the share of the device time of autograd nodes, else of their host time, whose forward is unknown."""
    times = backward_times(model)
    spent: Int64 = times.device if times.device.any() else times.host
    known = share(int(spent[LINKS.index("linked")]), int(spent.sum()))
    return None if known is None else 1 - known


class OperatorSelfTimes(msgspec.Struct, frozen=True):
    """Operators by name, in the order of `OperatorTable`; columns as there, parallel."""

    name: tuple[str, ...]
    calls: Int64
    device_self_ns: Int64
    host_self_ns: Int64


def operator_sums(model: Model) -> OperatorSelfTimes:
    """Return some columns of `operators(model)` without computing the others."""
    times = operator_times(model)
    names = model.tree.name[times.node]
    groups = group([names], old_order(model, call_forest(model))[times.node])
    host_self, device_self = groups.sum(times.host_self), groups.sum(times.device_self)
    order = descending(device_self if model.has_device_work else host_self)
    return OperatorSelfTimes(
        name=tuple(model.trace.strings[code] for code in names[groups.first][order].tolist()),
        calls=groups.count()[order],
        device_self_ns=device_self[order],
        host_self_ns=host_self[order],
    )
