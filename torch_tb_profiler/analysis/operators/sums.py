"""Operators by name with few sums: what costs least to know of them."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.analysis.operators.calls import old_order
from torch_tb_profiler.analysis.shared.operator_times import call_forest, operator_times
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model


class OperatorSums(msgspec.Struct, frozen=True):
    """Operators by name, in the order of `OperatorTable`; columns as there, parallel."""

    name: tuple[str, ...]
    calls: Int64
    device_self_ns: Int64
    host_self_ns: Int64


def operator_sums(model: Model) -> OperatorSums:
    """As `operators(model)`, without all that it tells beside these columns."""
    times = operator_times(model)
    names = model.tree.name[times.node]
    groups = group([names], old_order(model, call_forest(model))[times.node])
    host_self, device_self = groups.sum(times.host_self), groups.sum(times.device_self)
    order = descending(device_self if model.has_device_work else host_self)
    return OperatorSums(
        name=tuple(model.trace.strings[code] for code in names[groups.first][order].tolist()),
        calls=groups.count()[order],
        device_self_ns=device_self[order],
        host_self_ns=host_self[order],
    )
