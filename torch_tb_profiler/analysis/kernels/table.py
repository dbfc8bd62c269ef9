"""Kernels by name and by launch, copies and fills, and how much of the time tensor cores were used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.remember import remembered, remembered_by
from torch_tb_profiler.analysis.shared.launchers import launchers
from torch_tb_profiler.analysis.shared.tensor_cores import ELIGIBLE_OPERATORS, Use, use_of_device_work
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

KernelGrouping = Literal["name", "name_op_launch"]


@dataclass(frozen=True)
class Transfers:
    """Copies or fills of one name.

    name      of the copy or fill
    calls     how many there were
    total_ns  Σ of their durations
    bytes     Σ of their sizes in bytes, None when the trace does not say
    """

    name: str
    calls: int
    total_ns: int
    bytes: int | None


@dataclass(frozen=True)
class KernelTotals:
    """Σ kernel durations in ns: of all, of those known to use tensor cores, of those whose name leaves it open."""

    kernel_ns: int
    tensor_core_ns: int
    undecided_ns: int

    @property
    def tensor_core_share(self) -> float:
        """Known to use tensor cores ÷ all; 0.0 without kernel time. A lower bound while some are undecided."""
        return self.tensor_core_ns / self.kernel_ns if self.kernel_ns else 0.0


@dataclass(frozen=True)
class KernelTable(Tabular):
    """Kernels grouped; parallel columns, by total time, descending.

    Keys, units and definitions of the columns: `columns.KERNELS`. Columns from `operator` to
    `operator_tensor_core_eligible` are None when grouped by name alone; `mean_blocks_per_sm` and
    `mean_achieved_occupancy` are None when no kernel of the trace has them, NaN for groups without.
    Missing registers or shared memory: -1.
    """

    missing_below_zero: ClassVar = ("registers_per_thread", "shared_memory_bytes")

    group_by: KernelGrouping
    name: tuple[str, ...]
    operator: tuple[str, ...] | None
    grid: tuple[str, ...] | None
    block: tuple[str, ...] | None
    registers_per_thread: Int64 | None
    shared_memory_bytes: Int64 | None
    operator_tensor_core_eligible: Bool | None
    tensor_cores_used: tuple[bool | None, ...]
    calls: Int64
    total_ns: Int64
    mean_ns: Float64
    max_ns: Int64
    min_ns: Int64
    mean_blocks_per_sm: Float64 | None
    mean_achieved_occupancy: Float64 | None
    totals: KernelTotals
    memcpy: tuple[Transfers, ...]
    memset: tuple[Transfers, ...]

    def __len__(self) -> int:
        return len(self.name)


@remembered
def kernel_totals(model: Model) -> KernelTotals:
    """Kernel time, and what of it tensor cores did."""
    kernels = model.device_category == Category.KERNEL
    duration = np.maximum(model.trace.events.duration[model.device_work.row[kernels]], 0)
    use = use_of_device_work(model)[kernels]
    return KernelTotals(
        int(duration.sum()), int(duration[use == Use.YES].sum()), int(duration[use == Use.UNKNOWN].sum())
    )


def kernels(model: Model, group_by: KernelGrouping = "name") -> KernelTable:
    """All kernels, whether their launch is known or not."""
    return _kernels(model, group_by)


@remembered_by
def _kernels(model: Model, group_by: KernelGrouping) -> KernelTable:
    trace, strings = model.trace, model.trace.strings
    chosen = np.flatnonzero(model.device_category == Category.KERNEL)
    work = model.device_work.take(chosen)
    name = trace.events.name[work.row]
    duration = np.maximum(trace.events.duration[work.row], 0)
    by_launch = group_by == "name_op_launch"
    launched_by = launchers(model)
    operator = launched_by.code[chosen]
    keys: list[npt.NDArray[Any]] = [name]
    if by_launch:
        keys += [operator, work.grid, work.block, work.registers, work.shared_memory]
    groups = group(keys)
    calls, total = groups.count(), groups.sum(duration)
    order = descending(total)
    lead = groups.first[order]
    use = use_of_device_work(model)[chosen]
    blocks, occupancy = _blocks(work.blocks_per_sm), _occupancy(work.occupancy)

    def texts(codes: Int32) -> tuple[str, ...]:
        return tuple(strings[code] for code in codes[lead].tolist())

    operators = tuple(launched_by.text(code) for code in operator[lead].tolist())
    return KernelTable(
        group_by=group_by,
        name=texts(name),
        operator=operators if by_launch else None,
        grid=texts(work.grid) if by_launch else None,
        block=texts(work.block) if by_launch else None,
        registers_per_thread=work.registers[lead].astype(np.int64) if by_launch else None,
        shared_memory_bytes=work.shared_memory[lead] if by_launch else None,
        operator_tensor_core_eligible=np.array([o in ELIGIBLE_OPERATORS for o in operators], dtype=np.bool_)
        if by_launch
        else None,
        tensor_cores_used=tuple(Use(value).known for value in use[lead].tolist()),
        calls=calls[order],
        total_ns=total[order],
        mean_ns=total[order] / np.maximum(calls[order], 1),
        max_ns=groups.max(duration)[order],
        min_ns=groups.min(duration)[order],
        mean_blocks_per_sm=None if np.isnan(blocks).all() else groups.mean(blocks, duration)[order],
        mean_achieved_occupancy=None if np.isnan(occupancy).all() else groups.mean(occupancy, duration)[order],
        totals=kernel_totals(model),
        memcpy=transfers(model, Category.MEMCPY),
        memset=transfers(model, Category.MEMSET),
    )


def transfers(model: Model, category: Category) -> tuple[Transfers, ...]:
    """Copies or fills by name, by total time, descending."""
    trace = model.trace
    work = model.device_work.take(model.device_category == category)
    name = trace.events.name[work.row]
    groups = group([name])
    total = groups.sum(np.maximum(trace.events.duration[work.row], 0))
    known = groups.sum(work.bytes >= 0)
    size = groups.sum(np.maximum(work.bytes, 0))
    calls = groups.count()
    return tuple(
        Transfers(
            name=trace.strings[int(name[groups.first[g]])],
            calls=int(calls[g]),
            total_ns=int(total[g]),
            bytes=int(size[g]) if known[g] else None,
        )
        for g in descending(total).tolist()
    )


def _blocks(values: Float64) -> Float64:
    """Blocks per SM; the profiler writes 0 when it does not know."""
    return np.where(values > 0, values, np.nan)


def _occupancy(values: Float64) -> Float64:
    """Achieved occupancy in percent; below 0 means unknown."""
    return np.where(values >= 0, values, np.nan)
