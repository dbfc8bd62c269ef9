"""The sizes of the blocks behind allocations: the allocator's rounding, and what a whole history tells."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.snapshot.lifetimes import DeviceSnapshot, Lifetimes
from torch_tb_profiler.analysis.text_format import whole_number
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.snapshot.schema import Action

#: the allocator's constants (c10/core/CachingDeviceAllocator)
SMALLEST = 512
SMALL_REQUEST = 1 << 20
SMALL_SEGMENT = 2 << 20
LARGE_SEGMENT = 20 << 20
LARGE_REQUEST = 10 << 20
ROUND_SEGMENT = 2 << 20

#: of longer histories blocks are not followed one by one
MOST_RECORDS = 3_000_000


def rounded(requested: Int64, settings: dict[str, object] | None = None) -> Int64:
    """Return the bytes of the block that a request needs: a multiple of 512, or as roundup_power2_divisions rounds it.

    >>> rounded(np.array([1, 512, 513])).tolist()
    [512, 512, 1024]
    """
    whole = np.maximum((requested + SMALLEST - 1) // SMALLEST * SMALLEST, SMALLEST)
    table = (settings or {}).get("roundup_power2_divisions")
    if not isinstance(table, dict) or not any(isinstance(n, int) and n > 1 for n in table.values()):
        return whole
    divisions = sorted(
        (size, v) for k, v in table.items() if (size := whole_number(str(k))) is not None and isinstance(v, int)
    )
    sizes = whole.copy()
    for row in np.flatnonzero(requested > SMALLEST).tolist():
        size = int(requested[row])
        bucket = min(max((size >> 20).bit_length() - 1, 0), len(divisions) - 1)
        parts = divisions[bucket][1]
        if parts > 1 and size > SMALLEST * parts:
            floor = 1 << (size.bit_length() - 1)
            step = floor // parts
            sizes[row] = size if size == floor else floor + -(-(size - floor) // step) * step
    return sizes


def segment_for(request: int) -> int:
    """Return the bytes of the segment that the allocator takes of the device for a rounded request."""
    if request <= SMALL_REQUEST:
        return SMALL_SEGMENT
    if request < LARGE_REQUEST:
        return LARGE_SEGMENT
    return -(-request // ROUND_SEGMENT) * ROUND_SEGMENT


class BlockBytes(msgspec.Struct, frozen=True):
    """Bytes of the block of each lifetime. exact: whether they are known; else a lower bound."""

    bytes: Int64
    exact: bool


def block_bytes(device: DeviceSnapshot, lifetimes: Lifetimes) -> BlockBytes:
    """Return block sizes by the state at the end, by a history that begins with nothing, else by the request."""
    least = np.where(lifetimes.block >= 0, lifetimes.block, rounded(lifetimes.requested, device.settings))
    if not len(device.records):
        return BlockBytes(least, True)
    if device.cut_off or lifetimes.missing or (lifetimes.born < 0).any() or len(device.records) > MOST_RECORDS:
        return BlockBytes(least, False)
    followed = _follow(device, lifetimes, rounded(lifetimes.requested, device.settings))
    if followed is None or (followed[lifetimes.block >= 0] != lifetimes.block[lifetimes.block >= 0]).any():
        return BlockBytes(least, False)
    return BlockBytes(followed, True)


def _follow(device: DeviceSnapshot, lifetimes: Lifetimes, need: Int64) -> Int64 | None:
    """Cut and join blocks as the allocator does; None if the records do not fit each other.

    A block is cut where what is left is worth keeping: 512 B of small and expandable segments, else more than 1 MiB.
    """
    records = device.records
    life_at = np.full(len(records), -1, np.int64)
    life_at[lifetimes.born] = np.arange(len(lifetimes))
    goes = np.flatnonzero(lifetimes.gone < len(records))
    life_at[lifetimes.gone[goes]] = goes
    most_split = device.settings.get("max_split_size")
    limit = most_split if isinstance(most_split, int) and most_split > 0 else None
    size_of = np.zeros(len(lifetimes), np.int64)
    free, borders = _Free(), set[int]()
    used: dict[int, tuple[int, bool]] = {}
    needs, actions, addresses, sizes, which = (
        x.tolist() for x in (need, records.action, records.address, records.bytes, life_at)
    )
    for action, address, size, life in zip(actions, addresses, sizes, which, strict=True):
        if action == Action.ALLOC:
            at = free.take(address)
            if at is None:
                return None
            whole, small = at
            wanted = needs[life]
            left = whole - wanted
            if left < 0:
                return None
            split = left >= SMALLEST if small else left > SMALL_REQUEST and (limit is None or wanted < limit)
            if split:
                free.put(address + wanted, left, small)
                whole = wanted
            used[address] = whole, small
            size_of[life] = whole
        elif action == Action.FREE_COMPLETED:
            held = used.pop(address, None)
            if held is None:
                return None
            free.join(address, *held, borders)
        elif action == Action.SEGMENT_ALLOC:
            borders.update((address, address + size))
            free.put(address, size, size == SMALL_SEGMENT)
        elif action == Action.SEGMENT_MAP:
            free.join(address, size, True, borders)
        elif action in (Action.SEGMENT_FREE, Action.SEGMENT_UNMAP) and not free.cut(address, size):
            return None
    return size_of


class _Free:
    """Free blocks by their address and by their end."""

    def __init__(self) -> None:
        self._size: dict[int, tuple[int, bool]] = {}
        self._begin: dict[int, int] = {}

    def put(self, address: int, size: int, small: bool) -> None:
        self._size[address] = size, small
        self._begin[address + size] = address

    def take(self, address: int) -> tuple[int, bool] | None:
        found = self._size.pop(address, None)
        if found is not None:
            del self._begin[address + found[0]]
        return found

    def join(self, address: int, size: int, small: bool, borders: set[int]) -> None:
        """Put a block, joined with its free neighbours of the same segment."""
        if address not in borders and address in self._begin:
            before = self._begin[address]
            size += self._size[before][0]
            address = before
            self.take(before)
        if address + size not in borders and (after := self.take(address + size)) is not None:
            size += after[0]
        self.put(address, size, small)

    def cut(self, address: int, size: int) -> bool:
        """Take away a part of a free block; whether it is there."""
        begin = address if address in self._size else None
        if begin is None:
            inside = [a for a, (length, _) in self._size.items() if a <= address and a + length >= address + size]
            if not inside:
                return False
            begin = inside[0]
        found = self.take(begin)
        if found is None or begin + found[0] < address + size:
            return False
        if begin < address:
            self.put(begin, address - begin, found[1])
        if begin + found[0] > address + size:
            self.put(address + size, begin + found[0] - address - size, found[1])
        return True
