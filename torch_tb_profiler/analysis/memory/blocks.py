"""Blocks of memory: who allocated each, how long it lived, and which were in use at a time."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.memory.records import (
    MemoryAt,
    MemoryRecords,
    Missing,
    memory_curves,
    memory_records,
    missing,
    operator_codes,
    operator_names,
)
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.distinct import distinct, distinct_places, isin
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model

BlockOrder = Literal["time", "device", "operator", "parent", "bytes", "alloc_ns", "release_ns", "duration_ns"]
"""`time`: as first seen; else a column."""


class MemoryBlocks(msgspec.Struct, frozen=True):
    """Blocks, parallel arrays in the order in which they are first seen.

    device      index into `MemoryRecords.devices`
    bytes       the size
    allocation  position of the allocation in `MemoryRecords`, -1 when it was not recorded
    release     position of the release, -1 when it was not recorded
    gone        position of the record by which the block is known to be gone: its release, or whatever comes next
                at its address; `NEVER` when nothing does
    """

    device: Int64
    bytes: Int64
    allocation: Int64
    release: Int64
    gone: Int64

    def __len__(self) -> int:
        return len(self.bytes)

    def take(self, index: Int64 | Bool) -> MemoryBlocks:
        """Select blocks by `index`, a mask or positions."""
        return MemoryBlocks(
            self.device[index], self.bytes[index], self.allocation[index], self.release[index], self.gone[index]
        )


NO_BLOCKS = MemoryBlocks(*[np.empty(0, np.int64)] * 5)


class BlockTable(Result, group="memory"):
    """Blocks as they are shown. Times in ns; -1 when that end was not recorded."""

    device: tuple[str, ...] = column("Device", "Where the memory is: CPU, or type and number of the device.")
    operator: tuple[str, ...] = column(
        "Operator",
        "The innermost operator that made the allocation; empty if it was made outside operators, or before the "
        "recording began.",
    )
    parent: tuple[str, ...] = column(
        "Called by", "The operator or annotation that encloses that operator; it shows what an aten::empty was for."
    )
    bytes: Int64 = column("Size", "Bytes of the allocation, as the allocator counts them.")
    alloc_ns: Int64 = column(
        "Allocated at",
        "Time of the allocation since the start of the trace; empty if it was before the recording began.",
        missing_below_zero=True,
    )
    release_ns: Int64 = column(
        "Released at",
        "Time of the release since the start of the trace; empty if it was not recorded. The allocator may keep "
        "released memory as reserved memory.",
        missing_below_zero=True,
    )
    duration_ns: Int64 = column("Lifetime", "Released at − allocated at.", missing_below_zero=True)
    alloc_row: Int64 = column(
        "Alloc row",
        "Number of the event of the allocation in the file.",
        unit=None,
        missing_below_zero=True,
        api_only=True,
    )
    release_row: Int64 = column(
        "Release row",
        "Number of the event of the release in the file.",
        unit=None,
        missing_below_zero=True,
        api_only=True,
    )

    total: int = fact("how many there are, also those that are no rows")
    reason: str | None = fact("why something is missing")


class BlockFilter(msgspec.Struct, frozen=True):
    """A filter of blocks; None admits all.

    operator               part of the name of the operator or of what encloses it, in any case
    min_bytes, max_bytes   the size, both included
    """

    operator: str | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None


class AliveTable(Tabular, msgspec.Struct, frozen=True):
    """What was in use at a time, the largest blocks first; its data frame is the blocks.

    known_bytes + unknown_bytes = at.allocated. Without totals in the trace `at.allocated` is what is known.
    """

    device: str
    at: MemoryAt
    known_bytes: int
    unknown_bytes: int
    blocks: BlockTable

    def __len__(self) -> int:
        return len(self.blocks)

    def to_columns(self) -> dict[str, Any]:
        return self.blocks.to_columns()

    defined = BlockTable.columns
    missing_below_zero = BlockTable.missing_below_zero


@cached
def memory_blocks(model: Model) -> MemoryBlocks:
    """Return every allocation with its release, allocations never released, releases of what was never allocated."""
    records = memory_records(model)
    has_address = model.memory.address[records.entry] >= 0
    first = np.flatnonzero(has_address & (records.is_allocation | (records.is_release & (records.mate < 0))))
    allocates = records.is_allocation[first]
    return MemoryBlocks(
        device=records.device[first],
        bytes=np.abs(records.bytes[first]),
        allocation=np.where(allocates, first, -1),
        release=np.where(allocates, records.mate[first], first),
        gone=np.where(allocates, records.next_here[first], first),
    )


def blocks_within(model: Model, start_ns: int | None, end_ns: int | None, device: str | None = None) -> MemoryBlocks:
    """Return blocks of one or all devices that were allocated or released between two times, both included."""
    records, blocks = memory_records(model), memory_blocks(model)
    window = records.within(start_ns, end_ns)
    chosen = _inside(blocks.allocation, window) | _inside(blocks.release, window)
    if device is not None:
        chosen &= blocks.device == records.device_index(device)
    return blocks.take(chosen)


def memory_events(
    model: Model,
    start_ns: int | None = None,
    end_ns: int | None = None,
    device: str | None = None,
    order: BlockOrder = "time",
    descending: bool = False,
    only: BlockFilter | None = None,
) -> BlockTable:
    """Return the blocks allocated or released in a time range, filtered and sorted.

    What has no value in the column to order by comes last in both directions; ties stay as first seen.
    """
    blocks = blocks_within(model, start_ns, end_ns, device)
    if only is not None:
        blocks = _filtered(model, blocks, only)
    return block_table(model, blocks.take(_ordered(model, blocks, order, descending)), len(blocks))


def _filtered(model: Model, blocks: MemoryBlocks, only: BlockFilter) -> MemoryBlocks:
    chosen = np.ones(len(blocks), np.bool_)
    if only.min_bytes is not None:
        chosen &= blocks.bytes >= only.min_bytes
    if only.max_bytes is not None:
        chosen &= blocks.bytes <= only.max_bytes
    if only.operator:
        wanted = only.operator.lower()
        names = operator_codes(model, take_known(memory_records(model).node, blocks.allocation))
        codes = distinct(np.concatenate(names))
        found = [code for code in codes.tolist() if wanted in model.trace.strings[code].lower()]
        chosen &= isin(names[0], found) | isin(names[1], found)
    return blocks.take(chosen)


def _ordered(model: Model, blocks: MemoryBlocks, order: BlockOrder, descending: bool) -> Int64:
    """Sort blocks. Returns their positions."""
    if order == "time":
        place = np.arange(len(blocks))
        return place[::-1] if descending else place
    values, known = _values(model, blocks, order)
    return np.lexsort((-values if descending else values, ~known))


def _values(model: Model, blocks: MemoryBlocks, key: BlockOrder) -> tuple[Int64, Bool]:
    """Return numbers that order blocks as a column does, and which are there."""
    records = memory_records(model)
    if key in ("operator", "parent"):
        codes = operator_codes(model, take_known(records.node, blocks.allocation))[key == "parent"]
        different, of = distinct_places(codes)
        names = [model.trace.strings[code] for code in different.tolist()]
        by_name = sorted(range(len(names)), key=lambda i: (names[i].lower(), names[i]))
        return inverse(np.array(by_name, np.int64))[of], codes != 0
    if key == "device":
        return blocks.device, np.ones(len(blocks), np.bool_)
    if key == "bytes":
        return blocks.bytes, np.ones(len(blocks), np.bool_)
    if key == "duration_ns":
        return _duration(records, blocks), (blocks.allocation >= 0) & (blocks.release >= 0)
    position = blocks.allocation if key == "alloc_ns" else blocks.release
    return take_known(records.time, position), position >= 0


def alive(model: Model, device: str, time_ns: int | None = None, limit: int | None = None) -> AliveTable:
    """Return the blocks in use on a device at a time, by default at its peak. Raises ValueError for an unknown device.

    Records at that very time count as done. For the peak the record that reached it counts, whatever else happened
    in the same nanosecond. Without totals in the trace a time must be given, or it is the end.
    """
    records, blocks = memory_records(model), memory_blocks(model)
    place = records.device_index(device)
    if place is None:
        raise ValueError(f"no memory of {device!r} was recorded")
    curve = memory_curves(model).of(device)
    if time_ns is not None or curve is None:
        last = records.within(None, time_ns).stop - 1
    else:
        last = curve.peak.position
    chosen_blocks = blocks.take(
        (blocks.device == place) & (blocks.allocation >= 0) & (blocks.allocation <= last) & (blocks.gone > last)
    )
    known = int(chosen_blocks.bytes.sum())
    when = int(records.time[last]) if time_ns is None and last >= 0 else (time_ns or 0)
    if curve is None:
        at = MemoryAt(last, when, known, 0)
    elif time_ns is None:
        at = curve.peak
    else:
        held = curve.last_at(time_ns)
        at = MemoryAt(held.position, time_ns, held.allocated, held.reserved)
    largest = chosen_blocks.take(np.argsort(-chosen_blocks.bytes, kind="stable")[:limit])
    return AliveTable(device, at, known, at.allocated - known, block_table(model, largest, len(chosen_blocks)))


def missing_blocks(model: Model) -> Missing | None:
    """Return what is missing from a trace without any block."""
    if len(memory_blocks(model)):
        return None
    return "no_memory_addresses" if len(memory_records(model)) else "no_memory"


def block_table(model: Model, blocks: MemoryBlocks, total: int) -> BlockTable:
    """Return blocks with the names and times of their ends. The operator is the one that allocated."""
    records, memory = memory_records(model), model.memory
    operator, parent = operator_names(model, take_known(records.node, blocks.allocation))
    row = memory.row[records.entry].astype(np.int64)
    devices = [device.name for device in records.devices]
    lacks = missing_blocks(model)
    return BlockTable(
        device=tuple(map(devices.__getitem__, blocks.device.tolist())),
        operator=tuple(operator),
        parent=tuple(parent),
        bytes=blocks.bytes,
        alloc_ns=take_known(records.time, blocks.allocation),
        release_ns=take_known(records.time, blocks.release),
        duration_ns=_duration(records, blocks),
        alloc_row=take_known(row, blocks.allocation),
        release_row=take_known(row, blocks.release),
        total=total,
        reason=None if lacks is None else missing(lacks).text,
    )


def _duration(records: MemoryRecords, blocks: MemoryBlocks) -> Int64:
    both = (blocks.allocation >= 0) & (blocks.release >= 0)
    return np.where(both, take_known(records.time, blocks.release) - take_known(records.time, blocks.allocation), -1)


def _inside(position: Int64, window: slice) -> Bool:
    inside: Bool = (position >= window.start) & (position < window.stop)
    return inside
