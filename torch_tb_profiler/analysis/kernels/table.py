"""Kernels by name and by launch, what else devices did, and how much of the time tensor cores were used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.flops.calls import counted
from torch_tb_profiler.analysis.flops.rates import Sums, sums_of
from torch_tb_profiler.analysis.kernels.columns import KERNELS
from torch_tb_profiler.analysis.remember import remembered, remembered_by
from torch_tb_profiler.analysis.shared.kernel_use import (
    Occupancy,
    TensorCores,
    durations,
    is_compute,
    occupancy,
    tensor_cores,
)
from torch_tb_profiler.analysis.shared.launchers import launchers
from torch_tb_profiler.analysis.shared.owners import OwnerName, owner_names
from torch_tb_profiler.analysis.shared.residency import blocks_per_sm, known_occupancy
from torch_tb_profiler.analysis.shared.tensor_cores import ELIGIBLE_OPERATORS, Use, use_of_device_work
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.grouping import Groups, descending, group
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.types import Bool, Float64, Int8, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.trace import Category

KernelGrouping = Literal["name", "name_op_launch"]
#: by the API call where no operator launched it, as the old plugin has it
_Grouping = Literal["name", "name_op_launch", "name_call_launch"]


class Transfers(msgspec.Struct, frozen=True):
    """Copies, fills or waits of one name.

    name      of the copy, fill or wait
    calls     how many there were
    total_ns  Σ of their durations
    bytes     Σ of their sizes in bytes, None if the trace does not contain it
    """

    name: str
    calls: int
    total_ns: int
    bytes: int | None


class KernelTotals(msgspec.Struct, frozen=True):
    """Σ durations in ns of all kernels and of compute kernels; how these used tensor cores and what occupancy they had.

    tensor_cores  of compute kernels
    """

    kernel_ns: int
    compute_ns: int
    tensor_cores: TensorCores
    occupancy: Occupancy


class KernelTable(Tabular, frozen=True):
    """Kernels grouped; parallel columns, by total time, descending.

    Keys, units and definitions of the columns: `columns.KERNELS`. Columns from `operator` to
    `operator_tensor_core_eligible` are None if grouped by name alone; `mean_blocks_per_sm`,
    `mean_achieved_occupancy` and `occupancy_known_share` are None if the trace records no such value, `flop_rate` and
    `byte_rate` when shapes tell neither; the means and rates are NaN for groups of which it is not known.
    Missing registers or shared memory: -1. `kind` and `library` are None if the name is of no known family, and
    `library` where several have such kernels.
    """

    missing_below_zero: ClassVar = ("registers_per_thread", "shared_memory_bytes")

    group_by: _Grouping
    name: tuple[str, ...]
    short_name: tuple[str, ...]
    kind: tuple[str | None, ...]
    library: tuple[str | None, ...]
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
    occupancy_known_share: Float64 | None
    flop_rate: Float64 | None
    byte_rate: Float64 | None
    totals: KernelTotals
    memcpy: tuple[Transfers, ...]
    memset: tuple[Transfers, ...]
    waits: tuple[Transfers, ...]

    defined = KERNELS

    def __len__(self) -> int:
        return len(self.name)


@remembered
def kernel_totals(model: Model) -> KernelTotals:
    """Kernel time, with the use of compute kernels."""
    duration, computes = durations(model), is_compute(model)
    return KernelTotals(
        kernel_ns=int(duration[model.device_category == Category.KERNEL].sum()),
        compute_ns=int(duration[computes].sum()),
        tensor_cores=tensor_cores(model, computes),
        occupancy=occupancy(model, computes),
    )


def kernels(model: Model, group_by: KernelGrouping = "name") -> KernelTable:
    """All kernels, whether their launch is known or not."""
    return _kernels(model, group_by)


def kernels_by_call(model: Model) -> KernelTable:
    """By launch; what no operator launched by the API call, in parentheses."""
    return _kernels(model, "name_call_launch")


@remembered_by
def _kernels(model: Model, group_by: _Grouping) -> KernelTable:
    trace, strings = model.trace, model.trace.strings
    chosen = np.flatnonzero(model.device_category == Category.KERNEL)
    work = model.device_work.take(chosen)
    name = trace.events.name[work.row]
    duration = np.maximum(trace.events.duration[work.row], 0)
    by_launch = group_by != "name"
    operator, text = _by_call(model) if group_by == "name_call_launch" else by_owner(model)
    operator = operator[chosen]
    keys: list[npt.NDArray[Any]] = [name]
    if by_launch:
        keys += [operator, work.grid, work.block, work.registers, work.shared_memory]
    groups = group(keys)
    calls, total = groups.count(), groups.sum(duration)
    first = groups.first

    def texts_of(at: int) -> tuple[Any, ...]:
        """By what rows of equal time are sorted."""
        lead = int(first[at])
        launch = (strings[int(work.grid[lead])], strings[int(work.block[lead])], int(work.registers[lead]))
        return strings[int(name[lead])], *((text(int(operator[lead])), *launch) if by_launch else ())

    order = descending(total, texts_of)
    lead = first[order]
    use = use_of_device_work(model)[chosen]
    blocks, percent = blocks_per_sm(trace, work), known_occupancy(trace, work)
    has_occupancy = bool(((work.occupancy >= 0) | ~np.isnan(percent)).any())

    rates = _rates(model, chosen, groups)
    has_work = bool(rates.bytes_ns.any() or rates.flops_ns.any())

    def texts(codes: Int32) -> tuple[str, ...]:
        return tuple(strings[code] for code in codes[lead].tolist())

    names = texts(name)
    families = tuple(map(family_of, names))
    operators = tuple(text(code) for code in operator[lead].tolist())
    return KernelTable(
        group_by=group_by,
        name=names,
        short_name=tuple(map(short_name, names)),
        kind=tuple(None if family is None else family.label for family in families),
        library=tuple(None if family is None else family.library or None for family in families),
        operator=operators if by_launch else None,
        grid=texts(work.grid) if by_launch else None,
        block=texts(work.block) if by_launch else None,
        registers_per_thread=work.registers[lead].astype(np.int64) if by_launch else None,
        shared_memory_bytes=work.shared_memory[lead] if by_launch else None,
        operator_tensor_core_eligible=np.array([o in ELIGIBLE_OPERATORS for o in operators], dtype=np.bool_)
        if by_launch
        else None,
        tensor_cores_used=tuple(Use(value).known for value in _agreed(groups, use)[order].tolist()),
        calls=calls[order],
        total_ns=total[order],
        mean_ns=total[order] / np.maximum(calls[order], 1),
        max_ns=groups.max(duration)[order],
        min_ns=groups.min(duration)[order],
        mean_blocks_per_sm=None if np.isnan(blocks).all() else groups.mean(blocks, duration)[order],
        mean_achieved_occupancy=groups.mean(percent, duration)[order] if has_occupancy else None,
        occupancy_known_share=groups.mean((~np.isnan(percent)).astype(np.float64), duration)[order]
        if has_occupancy
        else None,
        flop_rate=rates.flop_rate[order] if has_work else None,
        byte_rate=rates.byte_rate[order] if has_work else None,
        totals=kernel_totals(model),
        memcpy=transfers(model, Category.MEMCPY),
        memset=transfers(model, Category.MEMSET),
        waits=transfers(model, Category.SYNC),
    )


def _rates(model: Model, chosen: Int64, groups: Groups) -> Sums:
    """Of kernels, of which those of communication have no work; chosen: positions in `Model.device_work`."""
    found = counted(model)
    of_work = np.empty(0, np.int64) if found.on_host else found.pieces.place
    place_of = places_of(of_work, len(model.device_work))[chosen]
    has = np.flatnonzero(place_of >= 0)
    return sums_of(model, place_of[has], Groups(groups.of[has], groups.first))


def by_owner(model: Model) -> tuple[Int64, Callable[[int], str]]:
    """A number for the owner of each piece of device work, and what is shown of it."""
    owners = owner_names(model)
    texts = [_shown(owner) for owner in owners.names]
    number = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    codes = np.array([number[text] for text in texts], np.int64)
    return codes[owners.code] if len(codes) else owners.code, list(number).__getitem__


def _shown(owner: OwnerName) -> str:
    """Threads have other numbers in each trace: the API call alone can be compared."""
    if owner.is_operator:
        return owner.text
    return f"({owner.launcher})" if owner.how == "thread" else f"({owner.text})"


def _by_call(model: Model) -> tuple[Int64, Callable[[int], str]]:
    """The same for the operator, or the API call without one."""
    known = launchers(model)
    return known.code.astype(np.int64), known.text


def _agreed(groups: Groups, use: Int8) -> Int64:
    """`Use` of each group: unknown where its kernels differ, as by the types that they were launched for."""
    least, most = (pick(use.astype(np.int64)) for pick in (groups.min, groups.max))
    return np.where(least == most, least, Use.UNKNOWN)


def transfers(model: Model, category: Category) -> tuple[Transfers, ...]:
    """Copies, fills or waits by name, by total time, descending."""
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
        for g in descending(total, lambda at: trace.strings[int(name[groups.first[at]])]).tolist()
    )
