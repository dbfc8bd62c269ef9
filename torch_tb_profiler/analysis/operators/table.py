"""Operators: their time on the host and on devices, where they were called from, and what they launched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import work_counts
from torch_tb_profiler.analysis.flops.rates import RateSums, rate_sums
from torch_tb_profiler.analysis.kernels import KernelTable
from torch_tb_profiler.analysis.operators.calls import OperatorCalls, keys_of, operator_calls
from torch_tb_profiler.analysis.result import Result, column, column_of, fact
from torch_tb_profiler.analysis.stacks.recorded import OperatorStacks, call_stacks
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import Groups, descending, group
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication import is_host_communication
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.trace import Category, StringTable

OperatorGrouping = Literal["name", "name_shape", "name_stack", "name_shape_stack"]


class OperatorTable(Result, group="operators"):
    """Operators grouped, by device self time, else host self time, descending.

    `input_shape` and `call_stack` are None unless grouped by them, `api_self_ns` where no operator called the device's
    API, `flop_rate` and `byte_rate` where shapes tell neither of device work. Tensor-core columns are NaN where there
    is no device time, or where it is known for no part of it whether it uses them.
    """

    name: tuple[str, ...] = column("Name", "Name of the operator.")
    is_communication: Bool = column(
        "Communication", "Whether it is a call of torch.distributed, by its name.", hidden=True
    )
    input_shape: tuple[str, ...] | None = column(
        "Input shapes", "Shapes of the inputs, one list per argument; recorded with record_shapes=True."
    )
    call_stack: tuple[str, ...] | None = column(
        "Call stack",
        "The Python frames around the call, innermost first: as recorded with the operator, otherwise from the Python "
        "functions that enclose it on the same thread.",
    )
    calls: Int64 = column(
        "Calls",
        "How often it was called. An operator whose only nested operator has the same name counts once with it.",
    )
    device_self_ns: Int64 = column(
        "Device self",
        "Σ durations of the kernels, copies and fills launched by the operator itself, not by operators it called. "
        "Work that runs at the same time on several streams is added up.",
        average=True,
    )
    device_total_ns: Int64 = column(
        "Device total", "Device self of the operator and of all operators it called.", average=True
    )
    kernels: Int64 = column(
        "Kernels", "Kernels launched by the operator itself, not by operators it called.", hidden=True
    )
    host_self_ns: Int64 = column(
        "Host self",
        "Duration on the host − Σ of the operators directly inside it − Σ of its own calls of the device's API.",
        average=True,
    )
    host_total_ns: Int64 = column(
        "Host total",
        "Σ durations on the host. A call inside another call of the same operator counts in both.",
        average=True,
    )
    api_self_ns: Int64 | None = column(
        "Blocked in API",
        "Σ of its own calls of the device's runtime or driver API: launches, copies, allocations, and waiting in "
        "them. Host self + this + operators inside it = its duration.",
        average=True,
    )
    tensor_core_eligible: Bool = column(
        "Tensor cores eligible",
        "Whether the operator multiplies matrices or convolves, so that it can use tensor cores, or launched kernels "
        "that do, or calls an operator for which this is true.",
        hidden=True,
    )
    tensor_core_self: Float64 = column(
        "Tensor cores self",
        "Duration of its own kernels known to use tensor cores ÷ device self; empty if it is known for none of them.",
        unit="percent",
    )
    tensor_core_total: Float64 = column(
        "Tensor cores total",
        "Duration of kernels known to use tensor cores, launched by it or by operators it called ÷ device total; "
        "empty if it is known for none of them.",
        unit="percent",
        hidden=True,
    )
    flop_rate: Float64 | None = column(
        "FLOP/s",
        "Matrix FLOP by the shapes of its inputs ÷ time of its own kernels. Empty for operators without FLOP, or if "
        "the shapes do not determine them.",
        hidden=True,
    )
    byte_rate: Float64 | None = column(
        "Bytes/s",
        "The minimum that it reads and writes, by the shapes of its inputs ÷ time of its own kernels. Empty if the "
        "shapes do not determine it.",
        hidden=True,
    )
    has_call_stack: Bool = column(
        "Has call stacks", "Whether Python frames are known for at least one of its calls.", hidden=True
    )

    group_by: OperatorGrouping = fact("what makes a row: name, name_shape or name_stack")
    has_device_work: bool = fact("whether any device work was recorded")
    device_ns: int = fact("Σ durations of all kernels, copies and fills: what percentages of device time refer to")
    host_ns: int = fact("Σ of host self times: what percentages of host time refer to")
    unattributed_device_ns: int = fact(
        "Device work that no operator launched: launched outside any operator, replayed by a graph, or launched "
        "before the recording began. Σ Device self + this = Σ of all kernels, copies and fills, exactly.",
        "Unattributed device time",
    )


class LaunchedKernels(Result):
    """The kernels that one operator launched itself; by total time, descending."""

    name: tuple[str, ...] = column_of(KernelTable, "name")
    short_name: tuple[str, ...] = column_of(KernelTable, "short_name")
    calls: Int64 = column_of(KernelTable, "calls")
    total_ns: Int64 = column_of(KernelTable, "total_ns")
    mean_ns: Float64 = column_of(KernelTable, "mean_ns")
    max_ns: Int64 = column_of(KernelTable, "max_ns")
    min_ns: Int64 = column_of(KernelTable, "min_ns")


class CallGroups(msgspec.Struct, frozen=True):
    """Calls of operators with the same name, shapes and stack; parallel arrays, by the first call in the old order.

    name, shape      string codes
    stack            numbers of call stacks
    calls            how many; those whose stack is known, that may use tensor cores, and the kernels of all of them
    …_self, …_total  sums over the calls as in `OperatorCalls`, ns
    flops … bytes_ns of their own device work, as in `flops.rates.Sums`
    """

    name: Int32
    shape: Int32
    stack: Int32
    calls: Int64
    calls_with_stack: Int64
    calls_eligible: Int64
    kernels: Int64
    host_self: Int64
    host_total: Int64
    api_self: Int64
    device_self: Int64
    device_total: Int64
    tensor_core_self: Int64
    tensor_core_total: Int64
    decided_self: Int64
    decided_total: Int64
    flops: Float64
    flops_ns: Int64
    bytes: Float64
    bytes_ns: Int64

    def merged(self, keys: Sequence[str], chosen: Int64 | None = None) -> CallGroups:
        """Merge all or some groups that have the keys in common; what is no key is that of the first."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in self.__struct_fields__}
        if chosen is not None:
            columns = {name: values[chosen] for name, values in columns.items()}
        groups = group([columns[key] for key in keys])
        merged: dict[str, Any] = {
            name: values[groups.first]
            if name in _KEYS
            else groups.sum_of_floats(values)
            if values.dtype.kind == "f"
            else groups.sum(values)
            for name, values in columns.items()
        }
        return CallGroups(**merged)


_KEYS = ("name", "shape", "stack")
#: columns that are summed over calls
_SUMS = (
    "kernels",
    *("host_self", "host_total", "api_self", "device_self", "device_total"),
    *("tensor_core_self", "tensor_core_total", "decided_self", "decided_total"),
)


class LaunchGroups(msgspec.Struct, frozen=True):
    """Kernels of the same name that calls with the same name and shapes launched; parallel arrays, by the first.

    operator, shape, kernel  string codes
    """

    operator: Int32
    shape: Int32
    kernel: Int32
    calls: Int64
    total_ns: Int64
    max_ns: Int64
    min_ns: Int64


class OperatorDetails(msgspec.Struct, frozen=True):
    """All that is kept about operators without the trace: small, however many calls there were.

    strings, stacks  of the codes and numbers in `groups` and `launched`
    device_ns …      see `OperatorTable`
    """

    strings: StringTable
    stacks: OperatorStacks
    groups: CallGroups
    launched: LaunchGroups
    has_device_work: bool
    device_ns: int
    host_ns: int
    unattributed_device_ns: int

    def table(self, group_by: OperatorGrouping, chosen: Int64 | None = None) -> OperatorTable:
        """Return the table of all groups, or of some."""
        keys = group_by.split("_")
        groups = self.groups.merged(keys, chosen)
        order = descending(groups.device_self if self.has_device_work else groups.host_self)

        def share(part: Int64, whole: Int64, decided: Int64) -> Float64:
            return np.where(decided > 0, _percent(part, whole), np.nan)[order]

        rates = RateSums(groups.flops, groups.flops_ns, groups.bytes, groups.bytes_ns)
        has_work = bool(self.groups.flops_ns.any() or self.groups.bytes_ns.any())
        names = self._texts(groups.name[order])
        return OperatorTable(
            group_by=group_by,
            has_device_work=self.has_device_work,
            name=names,
            is_communication=np.array([is_host_communication(name) for name in names], np.bool_),
            input_shape=self._texts(groups.shape[order]) if "shape" in keys else None,
            call_stack=tuple(self.stacks.texts(self.strings, groups.stack[order])) if "stack" in keys else None,
            calls=groups.calls[order],
            device_self_ns=groups.device_self[order],
            device_total_ns=groups.device_total[order],
            kernels=groups.kernels[order],
            host_self_ns=groups.host_self[order],
            host_total_ns=groups.host_total[order],
            api_self_ns=groups.api_self[order] if self.groups.api_self.any() else None,
            tensor_core_eligible=groups.calls_eligible[order] > 0,
            tensor_core_self=share(groups.tensor_core_self, groups.device_self, groups.decided_self),
            tensor_core_total=share(groups.tensor_core_total, groups.device_total, groups.decided_total),
            flop_rate=rates.flop_rate[order] if has_work else None,
            byte_rate=rates.byte_rate[order] if has_work else None,
            has_call_stack=groups.calls_with_stack[order] > 0,
            device_ns=self.device_ns,
            host_ns=self.host_ns,
            unattributed_device_ns=self.unattributed_device_ns,
        )

    def stacks_of(self, name: str, input_shape: str | None = None) -> OperatorTable:
        """Split the calls of one operator (of one shape) by call stack; those without a known stack are left out."""
        groups = self.groups
        chosen = self._where(groups.name, groups.shape, name, input_shape) & (groups.stack > 0)
        return self.table("name_stack" if input_shape is None else "name_shape_stack", np.flatnonzero(chosen))

    def kernels_of(self, name: str, input_shape: str | None = None) -> LaunchedKernels:
        """Return the kernels that an operator (of one shape) launched itself, by name."""
        all_ = self.launched
        chosen = np.flatnonzero(self._where(all_.operator, all_.shape, name, input_shape))
        groups = group([all_.kernel[chosen]])
        total, count = groups.sum(all_.total_ns[chosen]), groups.sum(all_.calls[chosen])
        kernel = all_.kernel[chosen][groups.first]
        order = descending(total, lambda at: self.strings[int(kernel[at])])
        names = self._texts(kernel[order])
        return LaunchedKernels(
            name=names,
            short_name=tuple(map(short_name, names)),
            calls=count[order],
            total_ns=total[order],
            mean_ns=(total / np.maximum(count, 1))[order],
            max_ns=groups.max(all_.max_ns[chosen])[order],
            min_ns=groups.min(all_.min_ns[chosen])[order],
        )

    def shapes_of(self, name: str) -> list[str]:
        """Return the input shapes with which an operator was called, as the trace writes them."""
        codes = distinct(self.groups.shape[self.groups.name == self.strings.code(name)])
        return [self.strings[code] for code in codes.tolist()]

    def _where(self, names: Int32, shapes: Int32, name: str, input_shape: str | None) -> Bool:
        wanted: Bool = names == self.strings.code(name)
        return wanted if input_shape is None else wanted & (shapes == self.strings.code(input_shape))

    def _texts(self, codes: Int32) -> tuple[str, ...]:
        return tuple(self.strings[code] for code in codes.tolist())


def operators(model: Model, group_by: OperatorGrouping = "name", with_forward: bool = False) -> OperatorTable:
    """Return all operators, grouped by name and what else `group_by` says.

    with_forward   what autograd nodes ran is a row `… (backward)` of the operator that they are the backward of, with
                   the shapes and the stack of that one; the sums stay the same
    """
    return _operators(model, (group_by, with_forward))


@cached
def _operators(model: Model, how: tuple[OperatorGrouping, bool]) -> OperatorTable:
    return (_details(model, True) if how[1] else operator_details(model)).table(how[0])


def operator_stacks(model: Model, name: str, input_shape: str | None = None) -> OperatorTable:
    """Split the calls of one operator (of one shape) by call stack; calls without a known stack are left out."""
    return operator_details(model).stacks_of(name, input_shape)


def operator_kernels(model: Model, name: str, input_shape: str | None = None) -> LaunchedKernels:
    """Return the kernels that an operator (of one shape) launched itself, by name."""
    return operator_details(model).kernels_of(name, input_shape)


@cached
def operator_details(model: Model) -> OperatorDetails:
    return _details(model, False)


def _details(model: Model, with_forward: bool) -> OperatorDetails:
    calls, stacks = operator_calls(model), call_stacks(model)
    keys = keys_of(model, calls, with_forward)
    name, counted = keys.name, keys.counted
    shape = model.trace.operators.input_dims[model.tree.operator[keys.node]]
    stack = stacks.of_node[keys.node]
    groups = group([name, shape, stack], calls.rank)
    sums: dict[str, Any] = {key: groups.sum(getattr(calls, key)) for key in _SUMS}
    sums |= {key: groups.sum(getattr(calls, key) * keys.whole) for key in _SUMS if key.endswith("_total")}
    return OperatorDetails(
        strings=keys.strings,
        stacks=stacks.stacks,
        groups=CallGroups(
            name=name[groups.first],
            shape=shape[groups.first],
            stack=stack[groups.first],
            calls=groups.sum(counted),
            calls_with_stack=groups.sum((stack > 0) & counted),
            calls_eligible=groups.sum(calls.eligible & counted),
            **sums,
            **msgspec.structs.asdict(_work(model, calls, groups)),
        ),
        launched=_launched(model, calls, name, shape),
        has_device_work=model.has_device_work,
        device_ns=calls.device_ns,
        host_ns=int(calls.host_self.sum()),
        unattributed_device_ns=calls.unattributed_device_ns,
    )


def _work(model: Model, calls: OperatorCalls, groups: Groups) -> RateSums:
    """Sum the device work whose FLOP or bytes operators tell; nothing about the host."""
    found = work_counts(model)
    node = take_known(found.calls.node, found.activities.call)
    of = calls.of_node[np.where(found.activities.recorded >= 0, found.activities.node, node)]
    own = np.flatnonzero((of >= 0) & (not found.on_host))
    return rate_sums(model, own, Groups(groups.inverse[of[own]], groups.first))


def _launched(model: Model, calls: OperatorCalls, name: Int32, shape: Int32) -> LaunchGroups:
    """Group launches. `name`, `shape`: of each call."""
    trace = model.trace
    owner = calls.of_node[model.device_links.operator_node]
    own = np.flatnonzero((model.device_category == Category.KERNEL) & (owner >= 0))
    owner, row = owner[own], model.device_work.row[own]
    kernel, duration = trace.events.name[row], np.maximum(trace.events.duration[row], 0)
    groups = group([name[owner], shape[owner], kernel])
    return LaunchGroups(
        operator=name[owner][groups.first],
        shape=shape[owner][groups.first],
        kernel=kernel[groups.first],
        calls=groups.count(),
        total_ns=groups.sum(duration),
        max_ns=groups.max(duration),
        min_ns=groups.min(duration),
    )


def _percent(part: Int64, whole: Int64) -> Float64:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part * 100.0 / whole, np.nan)
