"""What was in use after every record."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.snapshot.annotations import Held, held
from torch_tb_profiler.analysis.snapshot.blocks import BlockBytes, block_bytes
from torch_tb_profiler.analysis.snapshot.device import DeviceSnapshot, device_snapshots
from torch_tb_profiler.analysis.snapshot.lives import Lives, lives
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import Action

_TAKEN = (Action.SEGMENT_ALLOC, Action.SEGMENT_MAP)
_GIVEN = (Action.SEGMENT_FREE, Action.SEGMENT_UNMAP)


class Curves(msgspec.Struct, frozen=True):
    """Bytes of one device, shape (records + 1,): the first before the first record, then after each of them.

    requested        what was asked for and is not released
    allocated        blocks of it
    active           and blocks whose release is pending
    reserved         segments
    allocated_exact  whether allocated and active are exact everywhere, or the least that they can be
    known_start      whether the state before the first record is known: not of a file that is cut off
    """

    requested: Int64
    allocated: Int64
    active: Int64
    reserved: Int64
    allocated_exact: bool
    known_start: bool

    def peak(self, curve: Int64) -> int:
        """The position of the record that first reaches the most; -1 when nothing is more than before the first."""
        return int(np.argmax(curve)) - 1


class History(msgspec.Struct, frozen=True):
    """One device with all that is computed of it together."""

    device: DeviceSnapshot
    lives: Lives
    blocks: BlockBytes
    curves: Curves
    contradictions: dict[str, int]
    annotations: Held

    @property
    def last(self) -> int:
        """The position of the last record."""
        return len(self.device.records) - 1


@cached
def histories(model: Model) -> tuple[History, ...]:
    """Of each device of `device_snapshots`."""
    return tuple(
        history(device, found, held(model)) for device, found in zip(device_snapshots(model), lives(model), strict=True)
    )


def history(device: DeviceSnapshot, found: Lives, annotations: Held) -> History:
    blocks = block_bytes(device, found)
    count = len(device.records)
    requested = _sum(count, found, found.released, found.requested)
    allocated = _sum(count, found, found.released, blocks.bytes)
    active = _sum(count, found, found.gone, blocks.bytes)
    change = np.where(device.is_action(*_TAKEN), device.records.bytes, 0)
    change -= np.where(device.is_action(*_GIVEN), device.records.bytes, 0)
    end = int(device.segments.bytes.sum())
    start = 0 if device.cut_off else end - int(change.sum())
    reserved = start + np.concatenate([[0], np.cumsum(change)]).astype(np.int64)
    contradictions = dict(found.contradictions)
    has_segments = device.is_action(*_TAKEN, *_GIVEN).any()
    if has_segments and not device.cut_off and int(reserved.min()) < 0:
        contradictions["reserved_below_zero"] = 1
    return History(
        device,
        found,
        blocks,
        Curves(requested, allocated, active, reserved, blocks.exact, not device.cut_off),
        contradictions,
        annotations,
    )


def _sum(count: int, found: Lives, end: Int64, bytes_: Int64) -> Int64:
    """Bytes of what is born and has not ended, after each record and before the first."""
    change = np.zeros(count + 2, np.int64)
    there = end != found.born  # what was released before the recording never counts
    np.add.at(change, found.born[there] + 1, bytes_[there])
    np.add.at(change, np.minimum(end[there], count) + 1, -bytes_[there])
    return np.cumsum(change)[: count + 1]
