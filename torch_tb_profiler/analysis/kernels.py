"""Kernels by name and by launch, the sequences that operators launch, and what else devices did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Ns
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import work_counts
from torch_tb_profiler.analysis.flops.rates import RateSums, rate_sums
from torch_tb_profiler.analysis.health.rules import no_kernels, nothing_shown
from torch_tb_profiler.analysis.result import Result, column, fact, result_question
from torch_tb_profiler.analysis.shared.kernel_use import (
    Occupancy,
    TensorCores,
    blocks_per_sm,
    durations,
    is_compute,
    known_occupancy,
    occupancy,
    tensor_cores,
)
from torch_tb_profiler.analysis.shared.owners import KnownOwners, OwnerName, known_owners, launchers, owner_names
from torch_tb_profiler.analysis.shared.tensor_cores import ELIGIBLE_OPERATORS, Use, use_of_device_work
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import Groups, descending, group
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Float64, Int8, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.trace import Category, Note

KernelGrouping = Literal["name", "name_op_launch"]
#: by the API call where no operator launched it, as the old plugin has it
_Grouping = Literal["name", "name_op_launch", "name_call_launch"]


class TransferSums(msgspec.Struct, frozen=True):
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


class KernelTable(Result, group="kernels"):
    """Kernels grouped, by total time, descending.

    Columns from `operator` to `operator_tensor_core_eligible` are None if grouped by name alone; occupancy and blocks
    per SM if the trace tells neither, `flop_rate` and `byte_rate` if shapes tell neither. The means and rates are NaN
    for groups where they are unknown.
    """

    name: tuple[str, ...] = column("Name", "Name of the kernel.")
    short_name: tuple[str, ...] = column(
        "Short name",
        "The name without parameters and most template arguments. The parts that show what the kernel does are kept: "
        "functor, tile, element type.",
    )
    kind: tuple[str | None, ...] = column(
        "Kind",
        "Kind of work, by the kernel's name: gemm, conv, attention, communication, norm, pointwise and others. A "
        "helper prepares or finishes the work of another kernel. Empty if the name is unknown.",
    )
    library: tuple[str | None, ...] = column(
        "Library",
        "The library that the kernel comes from, by its name; several if their kernels have the same names. Empty if "
        "the name does not show it.",
        hidden=True,
    )
    operator: tuple[str, ...] | None = column(
        "Operator",
        "The innermost operator that launched it; in parentheses another owner: what captured it into a graph, an "
        "annotation, a module, a Python frame, a thread.",
    )
    grid: tuple[str, ...] | None = column("Grid", "Blocks of the launch, [x, y, z].")
    block: tuple[str, ...] | None = column("Block", "Threads of a block, [x, y, z].")
    registers_per_thread: Int64 | None = column(
        "Registers per thread", "Registers each thread uses.", missing_below_zero=True, hidden=True
    )
    shared_memory_bytes: Int64 | None = column(
        "Shared memory", "Shared memory each block uses.", missing_below_zero=True, hidden=True
    )
    operator_tensor_core_eligible: Bool | None = column(
        "Operator eligible",
        "Whether the operator that launched it multiplies matrices or convolves, by its name.",
        hidden=True,
    )
    tensor_cores_used: tuple[bool | None, ...] = column(
        "Tensor cores used",
        "Whether the kernel uses tensor cores, judged by its name. If the name does not show it: no, if the device "
        "has none for the types of the operator's inputs, otherwise unknown.",
    )
    calls: Int64 = column("Calls", "How often it ran.")
    total_ns: Int64 = column("Total", "Σ durations of its calls.", total=True)
    mean_ns: Float64 = column("Mean", "Total ÷ calls.")
    max_ns: Int64 = column("Max", "Longest call.")
    min_ns: Int64 = column("Min", "Shortest call.")
    mean_blocks_per_sm: Float64 | None = column(
        "Mean blocks per SM",
        "Blocks of the launch ÷ multiprocessors (SMs) of the device; below 1 some SMs stay empty. Mean over the "
        "calls, weighted by duration.",
        unit=None,
    )
    mean_achieved_occupancy: Float64 | None = column(
        "Mean est. achieved occupancy",
        "Active warps ÷ the maximum number of warps of an SM, as estimated by the profiler, otherwise computed from "
        "the launch (compute capabilities 7.0, 7.5, 8.0 and 9.0). Mean over the calls for which it is known, weighted "
        "by duration. Empty if it is known for none.",
        unit="percent",
        hidden=True,
    )
    occupancy_known_share: Float64 | None = column(
        "Occupancy known", "Duration of the calls whose occupancy is known ÷ duration of all its calls.", hidden=True
    )
    flop_rate: Float64 | None = column(
        "FLOP/s",
        "Its share, by time, of the matrix FLOP of the calls that launched it ÷ its time. Empty for kernels without "
        "FLOP, or if the shapes do not determine them.",
    )
    byte_rate: Float64 | None = column(
        "Bytes/s",
        "Its share, by time, of the minimum that the calls that launched it read and write ÷ its time. Empty if the "
        "shapes do not determine it.",
    )

    group_by: str = fact("what makes a row: name or name_op_launch")
    device_ns: Ns = fact("Σ durations of kernels, copies and fills")
    host_ns: None = fact("always null: kernels have no time on the host")
    kernel_ns: Ns = fact("Σ durations of kernels")
    compute_ns: Ns = fact("Σ durations of kernels that are not communication's")
    tensor_cores: TensorCores = fact("parts of compute_ns")
    occupancy: Occupancy = fact("of compute kernels")
    owners: KnownOwners = fact("what is known of the owners of kernels, copies and fills")
    memcpy: Sequence[TransferSums] = fact("copies by kind")
    memset: Sequence[TransferSums] = fact("fills by kind")
    waits: Sequence[TransferSums] = fact("of devices for each other, for events and for the host, by kind: no work")


def kernels(model: Model, group_by: KernelGrouping = "name") -> KernelTable:
    """Return all kernels, whether their launch is known or not."""
    return _kernels(model, group_by)


def kernels_by_call(model: Model) -> KernelTable:
    """Group kernels by launch; what no operator launched by the API call, in parentheses."""
    return _kernels(model, "name_call_launch")


@cached
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
        """Return the texts by which rows of equal time are sorted."""
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
    computes = is_compute(model)
    copied, filled = transfers(model, Category.MEMCPY), transfers(model, Category.MEMSET)
    return KernelTable(
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
        group_by=group_by,
        device_ns=int(duration.sum()) + sum(each.total_ns for each in (*copied, *filled)),
        host_ns=None,
        kernel_ns=int(duration.sum()),
        compute_ns=int(durations(model)[computes].sum()),
        tensor_cores=tensor_cores(model, computes),
        occupancy=occupancy(model, computes),
        owners=known_owners(model),
        memcpy=copied,
        memset=filled,
        waits=transfers(model, Category.SYNC),
    )


def _rates(model: Model, chosen: Int64, groups: Groups) -> RateSums:
    """Sum the work of kernels; those of communication have none. chosen: positions in `Model.device_work`."""
    found = work_counts(model)
    of_work = np.empty(0, np.int64) if found.on_host else found.activities.place
    place_of = places_of(of_work, len(model.device_work))[chosen]
    has = np.flatnonzero(place_of >= 0)
    return rate_sums(model, place_of[has], Groups(groups.inverse[has], groups.first))


def by_owner(model: Model) -> tuple[Int64, Callable[[int], str]]:
    """Return a number for the owner of each device activity, and the function from numbers to texts."""
    owners = owner_names(model)
    texts = [_shown(owner) for owner in owners.names]
    number = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    codes = np.array([number[text] for text in texts], np.int64)
    return codes[owners.code] if len(codes) else owners.code, list(number).__getitem__


def _shown(owner: OwnerName) -> str:
    """Return the API call alone: threads have other numbers in each trace, and it can be compared."""
    if owner.is_operator:
        return owner.text
    return f"({owner.launcher})" if owner.how == "thread" else f"({owner.text})"


def _by_call(model: Model) -> tuple[Int64, Callable[[int], str]]:
    """Return the same for the operator, or the API call without one."""
    known = launchers(model)
    return known.code.astype(np.int64), known.text


def _agreed(groups: Groups, use: Int8) -> Int64:
    """Return the `Use` of each group: unknown if its kernels differ, as by the types that they were launched for."""
    least, most = (pick(use.astype(np.int64)) for pick in (groups.min, groups.max))
    return np.where(least == most, least, Use.UNKNOWN)


def transfers(model: Model, category: Category) -> tuple[TransferSums, ...]:
    """Return copies, fills or waits by name, by total time, descending."""
    trace = model.trace
    work = model.device_work.take(model.device_category == category)
    name = trace.events.name[work.row]
    groups = group([name])
    total = groups.sum(np.maximum(trace.events.duration[work.row], 0))
    known = groups.sum(work.bytes >= 0)
    size = groups.sum(np.maximum(work.bytes, 0))
    calls = groups.count()
    return tuple(
        TransferSums(
            name=trace.strings[int(name[groups.first[g]])],
            calls=int(calls[g]),
            total_ns=int(total[g]),
            bytes=int(size[g]) if known[g] else None,
        )
        for g in descending(total, lambda at: trace.strings[int(name[groups.first[at]])]).tolist()
    )


class KernelsGrouped(msgspec.Struct, frozen=True):
    """How kernels are grouped."""

    group_by: Annotated[KernelGrouping, Meta(description="What makes a row.")] = "name"


def _notes(model: Model, table: KernelTable) -> Sequence[Note]:
    # why the device was not recorded is among the notes of the trace
    return [nothing_shown()] if not len(table) and no_kernels(model) in (None, nothing_shown()) else []


KERNELS = result_question(
    "kernels",
    "Kernels",
    kernels,
    answer=KernelTable,
    parameters=KernelsGrouped,
    notes=_notes,
    precompute=(KernelsGrouped("name"), KernelsGrouped("name_op_launch")),
    report=({"group_by": "name"}, {"group_by": "name_op_launch"}),
)


class KernelSums(msgspec.Struct, frozen=True):
    """Kernels by name; columns as in `KernelTable`, parallel."""

    name: tuple[str, ...]
    calls: Int64
    total_ns: Int64


def kernel_sums(model: Model) -> KernelSums:
    """Return some columns of `kernels(model)`, in its order, without computing the others."""
    trace = model.trace
    rows = model.device_work.row[model.device_category == Category.KERNEL]
    names = trace.events.name[rows]
    groups = group([names])
    total = groups.sum(np.maximum(trace.events.duration[rows], 0))
    order = descending(total, lambda at: trace.strings[int(names[groups.first[at]])])
    return KernelSums(
        name=tuple(trace.strings[code] for code in names[groups.first][order].tolist()),
        calls=groups.count()[order],
        total_ns=total[order],
    )


class KernelSequences(Result):
    """One row per operator and sequence of kernels, by calls, descending."""

    operator: tuple[str, ...] = column("Operator", "The innermost operator around the launches.")
    kernels: tuple[tuple[str, ...], ...] = column("Kernels", "Names of the kernels in the order of their launches.")
    calls: Int64 = column("Calls", "Calls of the operator that launched exactly these.")
    device_ns: Int64 = column("Device", "Σ durations of the kernels.")
    launch_delay_ns: Float64 = column("Launch delay", "Mean of start of the first launch − start of the operator.")
    queue_delay_ns: Float64 = column("Queue delay", "Mean of start of the first kernel − start of its launch.")

    def to_columns(self) -> dict[str, object]:
        return {**super().to_columns(), "kernels": [list(names) for names in self.kernels]}


def kernel_sequences(model: Model, among: Callable[[str], object] | None = None) -> KernelSequences:
    """Return sequences by operator: a kernel belongs to the innermost operator around its launch, on the same thread.

    among    look only at operators with such names: a kernel belongs to the innermost of these
    """
    tree, trace, events = model.tree, model.trace, model.trace.events
    links = model.device_links
    known = (links.operator_node >= 0) & (links.launch >= 0)
    kernel = np.flatnonzero((model.device_category == Category.KERNEL) & known)
    node = links.operator_node[kernel]
    if among is not None:
        named = trace.strings.where(among, tree.name)
        node = nearest(tree.parent, tree.is_operator & named[tree.name], node)
        kernel, node = kernel[node >= 0], node[node >= 0]
    launch = events.start[model.launches.row[links.launch[kernel]]]
    begin = events.start[model.device_work.row[kernel]]
    order = np.lexsort((begin, launch, node))
    kernel, node, launch, begin = kernel[order], node[order], launch[order], begin[order]
    row = model.device_work.row[kernel]
    name = events.name[row].astype(np.int32)
    heads = np.flatnonzero(begins_run(node))
    ends = np.append(heads, len(node))[1:]
    numbers: dict[bytes, int] = {}
    sequence = np.array(
        [
            numbers.setdefault(name[a:b].tobytes(), len(numbers))
            for a, b in zip(heads.tolist(), ends.tolist(), strict=True)
        ],
        np.int64,
    )
    groups = group([tree.name[node[heads]], sequence])
    time = np.add.reduceat(np.maximum(events.duration[row], 0), heads) if len(heads) else np.empty(0, np.int64)
    count, device = groups.count(), groups.sum(time)
    launch_delay = groups.sum(launch[heads] - tree.start[node[heads]]) / count
    queue_delay = groups.sum(begin[heads] - launch[heads]) / count
    order = np.lexsort((-device, -count))
    texts = [tuple(trace.strings[c] for c in np.frombuffer(codes, np.int32).tolist()) for codes in numbers]
    lead = groups.first[order]
    return KernelSequences(
        operator=tuple(trace.strings[c] for c in tree.name[node[heads]][lead].tolist()),
        kernels=tuple(texts[s] for s in sequence[lead].tolist()),
        calls=count[order],
        device_ns=device[order],
        launch_delay_ns=launch_delay[order],
        queue_delay_ns=queue_delay[order],
    )
