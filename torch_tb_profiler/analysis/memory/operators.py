"""How much memory operators allocated and kept, themselves and with everything they called."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.memory.records import MemoryDevice, MemoryRecords, memory_records
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.shared.operator_times import OperatorNodes, call_forest, operator_nodes
from torch_tb_profiler.arrays.grouping import Groups, descending, group, sums_at
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model


class MemoryChange(msgspec.Struct, frozen=True):
    """Sums over records.

    size_increase     bytes allocated − bytes released
    allocation_count  how many allocations
    allocation_size   bytes allocated
    """

    size_increase: int
    allocation_count: int
    allocation_size: int


class MemoryOperators(Result, group="memory"):
    """Operators that changed the memory of one device; parallel columns, by self size increase, descending.

    `unattributed` is what happened outside operators: Σ self + unattributed = `all`, exactly.
    """

    name: tuple[str, ...] = column("Operator", "Name of the operator.")
    calls: Int64 = column(
        "Calls",
        "How often it was called while the time range lasted, whether a call changed memory or not; over the whole "
        "trace as in the operator view.",
    )
    size_increase: Int64 = column(
        "Size increase",
        "Σ bytes allocated − Σ bytes released by the operator and everything it called. Negative when it released "
        "more. A call inside another call of the same operator counts once.",
        unit="bytes",
    )
    self_size_increase: Int64 = column(
        "Self size increase",
        "Σ bytes allocated − Σ bytes released by the operator itself, not by operators it called.",
        unit="bytes",
    )
    allocation_count: Int64 = column("Allocations", "Allocations by the operator and everything it called.")
    self_allocation_count: Int64 = column(
        "Self allocations", "Allocations by the operator itself, not by operators it called."
    )
    allocation_size: Int64 = column(
        "Allocated size",
        "Σ bytes allocated by the operator and everything it called; releases are not subtracted.",
        unit="bytes",
        average=True,
    )
    self_allocation_size: Int64 = column(
        "Self allocated size",
        "Σ bytes allocated by the operator itself, not by operators it called; releases are not subtracted.",
        unit="bytes",
    )

    device: MemoryDevice = fact("whose memory it is")
    unattributed: MemoryChange = fact(
        "Allocations and releases outside all operators, such as releases when Python drops a tensor. Σ self + this = "
        "everything recorded on the device, exactly.",
        "Outside operators",
        unit="bytes",
    )
    all: MemoryChange = fact("everything that happened on the device")


class _Sums(NamedTuple):
    """Per group of calls, or per call."""

    increase: Int64
    allocations: Int64
    size: Int64


def memory_operators(
    model: Model, start_ns: int | None = None, end_ns: int | None = None
) -> tuple[MemoryOperators, ...]:
    """Return one table per device with memory records, for what was recorded from one time to another, both included.

    Calls that touch the time range are counted, so that over the whole trace there are as many as in the operator
    view.
    """
    if start_ns is None and end_ns is None:
        return _of_everything(model)
    return _tables(model, start_ns, end_ns)


@cached
def _of_everything(model: Model) -> tuple[MemoryOperators, ...]:
    return _tables(model, None, None)


def _tables(model: Model, start_ns: int | None, end_ns: int | None) -> tuple[MemoryOperators, ...]:
    records, calls = memory_records(model), operator_nodes(model)
    window = np.zeros(len(records), np.bool_)
    window[records.within(start_ns, end_ns)] = True
    touching = _touching(model, start_ns, end_ns)
    groups = group([model.tree.name[calls.node]])
    return tuple(
        _table(model, device, window & (records.device == i), groups, touching)
        for i, device in enumerate(records.devices)
    )


def _table(model: Model, device: MemoryDevice, chosen: Bool, groups: Groups, touching: Bool) -> MemoryOperators:
    records, calls, tree = memory_records(model), operator_nodes(model), model.tree
    position = np.flatnonzero(chosen)
    inside = position[records.node[position] >= 0]
    forest = call_forest(model)

    def per_node(values: Int64 | Bool) -> Int64:
        return sums_at(records.node[inside], values[inside], len(tree))

    size = np.maximum(records.bytes, 0)
    own = _Sums(per_node(records.bytes), per_node(records.is_allocation), per_node(size))

    def self_sum(values: Int64) -> Int64:
        # a nested call that counts as one with its caller has its records counted there
        there = np.flatnonzero(values)
        return groups.sum(sums_at(calls.of_node[there], values[there], len(calls.node)))

    def total_sum(values: Int64) -> Int64:
        return groups.sum(np.where(_outermost(model), forest.below(values)[calls.node], 0))

    own_sums = _Sums(*(self_sum(values) for values in own))
    all_sums = _Sums(*(total_sum(values) for values in own))
    changed = np.zeros(len(groups), np.bool_)
    for values in (*own_sums, *all_sums):
        changed |= values != 0
    shown = np.flatnonzero(changed)
    order = shown[descending(own_sums.increase[shown])]
    outside = position[records.node[position] < 0]
    return MemoryOperators(
        device=device,
        name=tuple(model.trace.strings.texts(tree.name[calls.node[groups.first[order]]])),
        calls=groups.sum(touching)[order],
        size_increase=all_sums.increase[order],
        self_size_increase=own_sums.increase[order],
        allocation_count=all_sums.allocations[order],
        self_allocation_count=own_sums.allocations[order],
        allocation_size=all_sums.size[order],
        self_allocation_size=own_sums.size[order],
        unattributed=_change(records, outside),
        all=_change(records, position),
    )


def _change(records: MemoryRecords, position: Int64) -> MemoryChange:
    size = records.bytes[position]
    allocated = size[size > 0]
    return MemoryChange(int(size.sum()), len(allocated), int(allocated.sum()))


def _touching(model: Model, start_ns: int | None, end_ns: int | None) -> Bool:
    """Return which calls begin before the end of a time range and end after its start."""
    tree, node = model.tree, operator_nodes(model).node
    touching = np.ones(len(node), np.bool_)
    if start_ns is not None:
        touching &= tree.end[node] >= start_ns
    if end_ns is not None:
        touching &= tree.start[node] <= end_ns
    return touching


@cached
def _outermost(model: Model) -> Bool:
    """Return which calls are not inside another call of the same operator: what happens in them is counted there."""
    calls: OperatorNodes = operator_nodes(model)
    name = model.tree.name[calls.node].astype(np.int64)
    order = stable_order(name)
    node, after = calls.node[order], call_forest(model).after[calls.node[order]]
    # by name and in preorder: a call is inside an earlier one of its name that has not ended when it begins
    beyond = len(model.tree) + 1
    ends = np.maximum.accumulate(after + name[order] * beyond)
    nested = np.zeros(len(node), np.bool_)
    nested[1:] = ends[:-1] > node[1:] + name[order][1:] * beyond
    outermost = np.empty(len(node), np.bool_)
    outermost[order] = ~nested
    return outermost
