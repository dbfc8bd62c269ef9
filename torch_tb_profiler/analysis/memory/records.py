"""Allocations and releases in time order, and the curves of memory in use and reserved that they make."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, Ints
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note, note

CPU = 0

#: c10::DeviceType by number. HIP and CUDA devices are both shown as GPU
DEVICE_TYPES = (
    *("CPU", "GPU", "MKLDNN", "OPENGL", "OPENCL", "IDEEP", "GPU", "FPGA", "MAIA", "XLA", "VULKAN"),
    *("METAL", "XPU", "MPS", "META", "HPU", "VE", "LAZY", "IPU", "MTIA", "PRIVATEUSEONE"),
)

#: later than every position
NEVER = np.iinfo(np.int64).max

Missing = Literal["no_memory", "no_memory_totals", "no_memory_addresses"]


def missing(what: Missing) -> Note:
    """Return the note about memory that was not recorded."""
    return note(what, "info", touches=("memory",), values={"asked": True})


class MemoryDevice(msgspec.Struct, frozen=True):
    """A device whose memory was recorded. `number` is -1 where devices of the type have none, as for the CPU."""

    name: str
    type: int
    number: int


class MemoryRecords(msgspec.Struct, frozen=True):
    """The rows of `Trace.memory` in time order, parallel arrays; a position is an index into them.

    entry      index into `Trace.memory`
    time       ns; bytes: negative for a release
    device     index into `devices`, which begins with accelerators and ends with the CPU
    node       position in the call tree of the innermost operator that contains the time on the same thread
               (start <= time < end), -1 for none
    next_here  position of the next record of the same device and address, `NEVER` for none
    mate       of an allocation its release and the other way round, -1 when the other end was not recorded
    """

    devices: tuple[MemoryDevice, ...]
    entry: Int64
    time: Int64
    bytes: Int64
    device: Int64
    node: Int32
    next_here: Int64
    mate: Int64

    def __len__(self) -> int:
        return len(self.time)

    @property
    def is_allocation(self) -> Bool:
        return self.bytes > 0

    @property
    def is_release(self) -> Bool:
        return self.bytes < 0

    def within(self, start_ns: int | None, end_ns: int | None) -> slice:
        """Return the positions from one time to another, both included."""
        first = 0 if start_ns is None else int(np.searchsorted(self.time, start_ns, "left"))
        after = len(self) if end_ns is None else int(np.searchsorted(self.time, end_ns, "right"))
        return slice(first, max(first, after))

    def device_index(self, name: str) -> int | None:
        """Return the index of the device with this name."""
        return next((i for i, device in enumerate(self.devices) if device.name == name), None)


@cached
def memory_records(model: Model) -> MemoryRecords:
    """Return all allocations and releases of a trace."""
    trace = model.trace
    when = trace.events.start[model.memory.row]
    entry = np.argsort(when, kind="stable")
    memory, time = model.memory.take(entry), when[entry]
    track = trace.events.track[memory.row]
    node = nearest(model.tree.parent, model.tree.is_operator, model.innermost_node(track, time))
    devices, device = devices_of(memory.device_type, memory.device)
    next_here, mate = pair(device, memory.address, memory.bytes)
    return MemoryRecords(devices, entry, time, memory.bytes, device, node, next_here, mate)


def pair(device: Int64, address: Int64, size: Int64) -> tuple[Int64, Int64]:
    """Return `next_here` and `mate` of records in time order.

    A release belongs to the allocation that is the record just before it at its address. Two allocations in a row
    mean that a release was not recorded, two releases in a row that an allocation was not: all of them stay.
    Records without address or size belong to nothing.
    """
    next_here = np.full(len(size), NEVER)
    mate = np.full(len(size), -1, np.int64)
    known = np.flatnonzero((address >= 0) & (size != 0))
    by_place = known[np.lexsort((address[known], device[known]))]
    before, after = by_place[:-1], by_place[1:]
    same = (device[before] == device[after]) & (address[before] == address[after])
    before, after = before[same], after[same]
    next_here[before] = after
    joined = (size[before] > 0) & (size[after] < 0)
    mate[before[joined]] = after[joined]
    mate[after[joined]] = before[joined]
    return next_here, mate


def operator_names(model: Model, node: Ints) -> tuple[list[str], list[str]]:
    """Return the name of each call and of the call around it, by position in the call tree; empty for none."""
    name, parent = operator_codes(model, node)
    return model.trace.strings.texts(name), model.trace.strings.texts(parent)


def operator_codes(model: Model, node: Ints) -> tuple[Int32, Int32]:
    """Return the names as string codes; 0 is the empty one.

    Nested calls that count as one call (`OperatorTable.calls`) have the same parent.
    """
    tree = model.tree
    name, parent = np.zeros(len(node), np.int32), np.zeros(len(node), np.int32)
    there = np.flatnonzero(node >= 0)
    head = model.call_heads[node[there]]
    name[there] = tree.name[head]
    above = tree.parent[head]
    parent[there[above >= 0]] = tree.name[above[above >= 0]]
    return name, parent


def devices_of(kind: Int32, number: Int32) -> tuple[tuple[MemoryDevice, ...], Int64]:
    """Return the distinct devices of records, and the index of each record's device."""
    number = np.where(kind == CPU, -1, number)  # the CPU is written as number -1 and as number 0
    groups = group([kind, number])
    found = [_device(int(kind[i]), int(number[i])) for i in groups.first.tolist()]
    order = sorted(range(len(found)), key=lambda i: (found[i].type == CPU, found[i].type, found[i].number))
    return tuple(found[i] for i in order), inverse(np.array(order, np.int64))[groups.inverse]


def _device(kind: int, number: int) -> MemoryDevice:
    known = DEVICE_TYPES[kind] if 0 <= kind < len(DEVICE_TYPES) else f"device type {kind} number "
    return MemoryDevice(known + (str(number) if number >= 0 else ""), kind, number)


class MemoryAt(msgspec.Struct, frozen=True):
    """Bytes in use and reserved at a time; `position` is that of the record that made it so, -1 before the first."""

    position: int
    time_ns: int
    allocated: int
    reserved: int


class MemoryCurve(Result, group="memory"):
    """The memory of one device: a step function, in time order."""

    position: Int64 = column("Position", "Index into `MemoryRecords`.", unit=None, api_only=True)
    time_ns: Int64 = column("Time", "Time since the start of the trace.")
    allocated: Int64 = column(
        "Allocated",
        "Memory in use by tensors, as the device's allocator counts it; on the CPU plus shared memory, which "
        "DataLoader workers use and the allocator does not count.",
        unit="bytes",
    )
    reserved: Int64 = column(
        "Reserved",
        "Memory that the caching allocator has reserved on the device, in use or not; 0 on the CPU, which has no "
        "caching allocator.",
        unit="bytes",
    )

    device: MemoryDevice = fact("whose memory it is")
    device_bytes: int | None = fact(
        "Memory of the device (totalGlobalMem of the trace's deviceProperties).", "Device total"
    )
    peak: MemoryAt = fact(
        "The highest memory in use, and when it was first reached. Taken from every record, not from the drawing.",
        "Peak",
        unit="bytes",
    )
    baseline: int = fact(
        "Memory in use before the first record: parameters, optimizer state and anything else already allocated. "
        "Memory in use at the end = this + Σ allocated − Σ released, exactly, unless something changed without a "
        "record.",
        "Before the recording",
        unit="bytes",
    )
    unrecorded: int = fact(
        "Σ of the changes between what the allocator counted and what its records add up to; 0 in a complete "
        "recording.",
        "Changed without a record",
        unit="bytes",
    )

    def at(self, i: int) -> MemoryAt:
        """Return the memory after the i-th record; -1 for before the first."""
        if i < 0:
            return MemoryAt(-1, int(self.time_ns[0]), self.baseline, int(self.reserved[0]))
        return MemoryAt(int(self.position[i]), int(self.time_ns[i]), int(self.allocated[i]), int(self.reserved[i]))

    def last_at(self, time_ns: int) -> MemoryAt:
        """Return the memory in use at a time, records of that very time included."""
        return self.at(int(np.searchsorted(self.time_ns, time_ns, "right")) - 1)


class MemoryCurves(msgspec.Struct, frozen=True):
    """One curve per device; or what is missing."""

    curves: tuple[MemoryCurve, ...]
    missing: Missing | None

    @property
    def reason(self) -> str | None:
        """What is missing, in words."""
        return None if self.missing is None else missing(self.missing).text

    def of(self, device: str) -> MemoryCurve | None:
        """Return the curve of the device of a name."""
        return next((curve for curve in self.curves if curve.device.name == device), None)


class MemoryBins(msgspec.Struct, frozen=True):
    """A curve in few pieces, parallel arrays in bytes; a piece holds until the next begins.

    `before` holds until the first piece. A piece of one record has min = max = last.
    """

    before: MemoryAt
    peak: MemoryAt
    time_ns: Int64
    allocated_min: Int64
    allocated_max: Int64
    allocated_last: Int64
    reserved_max: Int64
    reserved_last: Int64
    records: Int64


@cached(for_good=True)
def memory_curves(model: Model) -> MemoryCurves:
    """Return the memory in use on each device, as the allocators counted it."""
    records = memory_records(model)
    found = [_curve(model, records, i) for i in range(len(records.devices))]
    curves = tuple(curve for curve in found if curve is not None)
    if curves:
        return MemoryCurves(curves, None)
    return MemoryCurves((), "no_memory_totals" if len(records) else "no_memory")


def memory_bins(curve: MemoryCurve, start_ns: int, end_ns: int, most: int) -> MemoryBins:
    """Return a curve between two times, both included, in at most `most` bins: records, or equal intervals."""
    first = int(np.searchsorted(curve.time_ns, start_ns, "left"))
    after = max(first, int(np.searchsorted(curve.time_ns, end_ns, "right")))
    time, allocated = curve.time_ns[first:after], curve.allocated[first:after]
    reserved = curve.reserved[first:after]
    before = curve.at(first - 1)
    if len(time) > most:
        width = (end_ns - start_ns) // most + 1
        number = (time - start_ns) // width
        begin = np.flatnonzero(begins_run(number))
    else:
        begin = np.arange(len(time))
    last = np.append(begin[1:], len(time))[: len(begin)] - 1
    top = first + int(np.argmax(allocated)) if len(time) else -1
    highest = curve.at(top) if top >= 0 else before
    return MemoryBins(
        before=before,
        peak=before if before.allocated > highest.allocated else highest,
        time_ns=time[begin],
        allocated_min=np.minimum.reduceat(allocated, begin) if len(time) else allocated,
        allocated_max=np.maximum.reduceat(allocated, begin) if len(time) else allocated,
        allocated_last=allocated[last],
        reserved_max=np.maximum.reduceat(reserved, begin) if len(time) else reserved,
        reserved_last=reserved[last],
        records=last - begin + 1,
    )


def _curve(model: Model, records: MemoryRecords, device: int) -> MemoryCurve | None:
    memory = model.memory
    position = np.flatnonzero(records.device == device)
    position = position[memory.total_allocated[records.entry[position]] >= 0]
    if not len(position):
        return None
    entry, size = records.entry[position], records.bytes[position]
    total, reserved = memory.total_allocated[entry], np.maximum(memory.total_reserved[entry], 0)
    is_shared = np.zeros(len(position), np.bool_)
    if records.devices[device].type == CPU:
        is_shared = _is_shared(records, position, total, reserved)
    shared = np.cumsum(np.where(is_shared, size, 0))
    # what is released without having been allocated in the window was in use before it
    earlier = is_shared & (size < 0) & (records.mate[position] < 0)
    shared += max(-int(size[earlier].sum()), -int(shared.min()))
    held, before = _filled(total, ~is_shared, size)
    allocated = held + shared
    baseline = before + int(shared[0]) - (int(size[0]) if is_shared[0] else 0)
    top = int(np.argmax(allocated))
    return MemoryCurve(
        device=records.devices[device],
        position=position,
        time_ns=records.time[position],
        allocated=allocated,
        reserved=_filled(reserved, ~is_shared, np.zeros_like(size))[0],
        baseline=baseline,
        unrecorded=int(allocated[-1]) - baseline - int(size.sum()),
        peak=MemoryAt(int(position[top]), int(records.time[position[top]]), int(allocated[top]), int(reserved[top])),
        device_bytes=_device_bytes(model, records.devices[device]),
    )


def _device_bytes(model: Model, device: MemoryDevice) -> int | None:
    """Return `totalGlobalMem` of its `deviceProperties`."""
    if device.type == CPU or device.number < 0:
        return None
    total = (model.trace.header.device(device.number) or {}).get("totalGlobalMem")
    return total if isinstance(total, int) and total > 0 else None


def _filled(values: Int64, known: Bool, change: Int64) -> tuple[Int64, int]:
    """Fill unknown values with the last known one; also return the value before the first known one."""
    there = np.flatnonzero(known)
    if not len(there):
        return np.zeros_like(values), 0
    before = int(values[there[0]] - change[there[0]])
    latest = np.maximum.accumulate(np.where(known, np.arange(len(values)), -1))
    return np.where(latest >= 0, values[latest], before), before


def _is_shared(records: MemoryRecords, position: Int64, total: Int64, reserved: Int64) -> Bool:
    """Return which records of the CPU are of shared memory, as DataLoader workers use it.

    Torch maps it beside its allocator and writes 0 as the total of such a record. After an allocation the total of
    the allocator is never less than its size. A release is known by its allocation; without one it is the
    allocator's exactly if the memory in use before was all of it.
    """
    size = records.bytes[position]
    shared = (size > 0) & (total < size)
    whose = np.zeros(len(records), np.bool_)
    whose[position[shared]] = True
    mate = records.mate[position]
    shared |= (size < 0) & (mate >= 0) & whose[mate]
    unclear = (size < 0) & (mate < 0) & (total == 0) & (reserved == 0)
    if unclear.any():
        held, _ = _filled(total, ~shared & ~unclear, size)
        shared |= unclear & (held + size != 0)
    return shared
