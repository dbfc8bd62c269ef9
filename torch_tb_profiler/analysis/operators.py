"""Time of operators on the host and on devices, own and with everything they called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.call_stacks import call_stacks
from torch_tb_profiler.analysis.forest import Forest, call_forest
from torch_tb_profiler.analysis.grouping import Groups, descending, group, sums_at
from torch_tb_profiler.analysis.remember import remembered, remembered_by
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.analysis.tensor_cores import ELIGIBLE_OPERATORS, Use, use_of_device_work
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.nesting import nearest, to_root
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import Bool, Float64, Int32, Int64

OperatorGrouping = Literal["name", "name_shape", "name_stack", "name_shape_stack"]


@dataclass(frozen=True)
class OperatorTable(Tabular):
    """Operators grouped; parallel columns, by device self time, else host self time, descending.

    Keys, units and definitions of the columns: `definitions.OPERATORS`. `input_shape` and `call_stack` are None
    unless grouped by them. Tensor-core columns are percent, NaN where there is no device time, or where of no part of
    it is known whether it uses them.
    `device_ns` is the time of all kernels, copies and fills; `host_ns` the sum of host self times: the totals
    that percentages refer to.
    """

    group_by: OperatorGrouping
    has_device_work: bool
    name: tuple[str, ...]
    input_shape: tuple[str, ...] | None
    call_stack: tuple[str, ...] | None
    calls: Int64
    device_self_ns: Int64
    device_total_ns: Int64
    kernels: Int64
    host_self_ns: Int64
    host_total_ns: Int64
    tensor_core_eligible: Bool
    tensor_core_self: Float64
    tensor_core_total: Float64
    has_call_stack: Bool
    device_ns: int
    host_ns: int
    unattributed_device_ns: int

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True)
class LaunchedKernels(Tabular):
    """The kernels that one operator launched itself; by total time, descending. Times in ns."""

    name: tuple[str, ...]
    calls: Int64
    total_ns: Int64
    mean_ns: Float64
    max_ns: Int64
    min_ns: Int64

    def __len__(self) -> int:
        return len(self.name)


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
    tree, parent = model.tree, model.tree.parent
    same = (parent >= 0) & tree.is_operator & tree.is_operator[parent] & (tree.name == tree.name[parent])
    merged = same & (call_forest(model).children[parent] == 1)
    return to_root(np.append(np.where(merged, parent, np.arange(len(tree))), -1))


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
    calling = np.flatnonzero(model.launches.operator_node >= 0)
    inside += sums_at(head[model.launches.operator_node[calling]], model.launches.duration[calling], nodes)
    host_total = np.maximum(trace.events.duration[tree.row], 0)

    work_ns = np.where(model.is_work, np.maximum(trace.events.duration[trace.device_work.row], 0), 0)
    is_kernel = model.device_category == Category.KERNEL
    use = use_of_device_work(model)
    uses = is_kernel & (use == Use.YES)
    owned = np.flatnonzero(model.device.operator_node >= 0)
    owner = head[model.device.operator_node[owned]]

    def own(values: npt.NDArray[Any]) -> Int64:
        return sums_at(owner, values[owned], nodes)

    device_self, tensor_core_self = own(work_ns), own(work_ns * uses)
    decided_self = own(work_ns * ~(is_kernel & (use == Use.UNKNOWN)))
    eligible_name = trace.strings.where(ELIGIBLE_OPERATORS.__contains__, tree.name)
    able = (tree.is_operator & eligible_name[tree.name]) | (own(uses) > 0)
    able_below = forest.below(able)
    kept = np.flatnonzero(tree.is_operator & ~merged)
    index = np.full(nodes + 1, -1, np.int64)
    index[kept] = np.arange(len(kept))
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


def operators(model: Model, group_by: OperatorGrouping = "name") -> OperatorTable:
    """All operators, grouped by name and what else `group_by` says."""
    return _operators(model, group_by)


@remembered_by
def _operators(model: Model, group_by: OperatorGrouping) -> OperatorTable:
    calls = operator_calls(model)
    return _table(model, calls, group_by, np.arange(len(calls.node)))


def operator_stacks(model: Model, name: str, input_shape: str | None = None) -> OperatorTable:
    """The calls of one operator (of one shape) split by call stack; calls without a known stack are left out."""
    calls = operator_calls(model)
    chosen = _chosen(model, calls, name, input_shape)
    chosen = chosen[call_stacks(model).of_node[calls.node[chosen]] > 0]
    return _table(model, calls, "name_stack" if input_shape is None else "name_shape_stack", chosen)


def operator_kernels(model: Model, name: str, input_shape: str | None = None) -> LaunchedKernels:
    """The kernels that an operator (of one shape) launched itself, by name."""
    calls, trace = operator_calls(model), model.trace
    wanted = np.zeros(len(calls.node) + 1, np.bool_)
    wanted[_chosen(model, calls, name, input_shape)] = True
    owner = calls.of_node[model.device.operator_node]
    rows = trace.device_work.row[(model.device_category == Category.KERNEL) & wanted[owner]]
    kernel, duration = trace.events.name[rows], np.maximum(trace.events.duration[rows], 0)
    groups = group([kernel])
    total, count = groups.sum(duration), groups.count()
    order = descending(total)
    return LaunchedKernels(
        name=tuple(trace.strings[code] for code in kernel[groups.first][order].tolist()),
        calls=count[order],
        total_ns=total[order],
        mean_ns=(total / np.maximum(count, 1))[order],
        max_ns=groups.max(duration)[order],
        min_ns=groups.min(duration)[order],
    )


def _chosen(model: Model, calls: OperatorCalls, name: str, input_shape: str | None) -> Int64:
    """Which calls are of this operator, and of this shape."""
    wanted = model.tree.name[calls.node] == model.trace.strings.code(name)
    if input_shape is not None:
        wanted &= _shapes(model, calls) == (model.trace.strings.code(input_shape) if input_shape else 0)
    return np.flatnonzero(wanted)


def _shapes(model: Model, calls: OperatorCalls) -> Int32:
    return model.trace.operators.input_dims[model.tree.operator[calls.node]]


def _table(model: Model, calls: OperatorCalls, group_by: OperatorGrouping, chosen: Int64) -> OperatorTable:
    tree, strings = model.tree, model.trace.strings
    stacks = call_stacks(model)
    name, stack = tree.name[calls.node[chosen]], stacks.of_node[calls.node[chosen]]
    shape = _shapes(model, calls)[chosen] if "shape" in group_by else None
    keys = [name]
    if shape is not None:
        keys.append(shape)
    if "stack" in group_by:
        keys.append(stack)
    groups = group(keys, calls.rank[chosen])
    device_self = groups.sum(calls.device_self[chosen])
    device_total = groups.sum(calls.device_total[chosen])
    host_self = groups.sum(calls.host_self[chosen])
    order = descending(device_self if model.has_device_work else host_self)
    lead = groups.first[order]

    def share(part: Int64, whole: Int64, decided: Int64) -> Float64:
        known = groups.sum(decided[chosen]) > 0
        return np.where(known, _percent(groups.sum(part[chosen]), whole), np.nan)[order]

    return OperatorTable(
        group_by=group_by,
        has_device_work=model.has_device_work,
        name=tuple(strings[code] for code in name[lead].tolist()),
        input_shape=None if shape is None else tuple(strings[code] for code in shape[lead].tolist()),
        call_stack=tuple(stacks.texts(model, stack[lead])) if "stack" in group_by else None,
        calls=groups.count()[order],
        device_self_ns=device_self[order],
        device_total_ns=device_total[order],
        kernels=groups.sum(calls.kernels[chosen])[order],
        host_self_ns=host_self[order],
        host_total_ns=groups.sum(calls.host_total[chosen])[order],
        tensor_core_eligible=_any(groups, calls.eligible[chosen])[order],
        tensor_core_self=share(calls.tensor_core_self, device_self, calls.decided_self),
        tensor_core_total=share(calls.tensor_core_total, device_total, calls.decided_total),
        has_call_stack=_any(groups, stack > 0)[order],
        device_ns=calls.device_ns,
        host_ns=int(calls.host_self.sum()),
        unattributed_device_ns=calls.unattributed_device_ns,
    )


def _any(groups: Groups, values: Bool) -> Bool:
    return groups.sum(values) > 0


def _percent(part: Int64, whole: Int64) -> Float64:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part * 100.0 / whole, np.nan)


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
