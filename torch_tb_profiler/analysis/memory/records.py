"""Allocations and releases in time order: on which device, by which operator, and which belong together."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
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
    """What a trace says of memory that it does not have."""
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
        """The positions from one time to another, both included."""
        first = 0 if start_ns is None else int(np.searchsorted(self.time, start_ns, "left"))
        after = len(self) if end_ns is None else int(np.searchsorted(self.time, end_ns, "right"))
        return slice(first, max(first, after))

    def device_index(self, name: str) -> int | None:
        """Which device has this name."""
        return next((i for i, device in enumerate(self.devices) if device.name == name), None)


@cached
def memory_records(model: Model) -> MemoryRecords:
    """All allocations and releases of a trace."""
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
    """`next_here` and `mate` of records in time order.

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
    """Of each position in the call tree the name, and the name of what encloses the call; empty for none."""
    name, parent = operator_codes(model, node)
    return model.trace.strings.texts(name), model.trace.strings.texts(parent)


def operator_codes(model: Model, node: Ints) -> tuple[Int32, Int32]:
    """The same as codes of strings; 0 is the empty one.

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
    """The devices of records, and of each record which."""
    number = np.where(kind == CPU, -1, number)  # the CPU is written as number -1 and as number 0
    groups = group([kind, number])
    found = [_device(int(kind[i]), int(number[i])) for i in groups.first.tolist()]
    order = sorted(range(len(found)), key=lambda i: (found[i].type == CPU, found[i].type, found[i].number))
    return tuple(found[i] for i in order), inverse(np.array(order, np.int64))[groups.of]


def _device(kind: int, number: int) -> MemoryDevice:
    known = DEVICE_TYPES[kind] if 0 <= kind < len(DEVICE_TYPES) else f"device type {kind} number "
    return MemoryDevice(known + (str(number) if number >= 0 else ""), kind, number)
