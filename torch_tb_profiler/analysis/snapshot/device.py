"""The records and the final state of one device."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import Action, Blocks, BlockState, Contexts, Records, Segments
from torch_tb_profiler.snapshot.state import KEY


class DeviceSnapshot(msgspec.Struct, frozen=True):
    """One device of a snapshot.

    records   what the allocator did; a `position` is an index into it, and -1 the time before the first
    segments  that there were at the end, by address
    blocks    of them; `segment` is an index into `segments`
    contexts  of all devices
    cut_off   whether the file ends too early: then the state at the end is not known
    settings  allocator_settings of the file
    """

    number: int
    records: Records
    segments: Segments
    blocks: Blocks
    contexts: Contexts
    cut_off: bool
    settings: dict[str, Any]

    def is_action(self, *actions: Action) -> Bool:
        """Which records say one of some actions."""
        table = np.zeros(256, np.bool_)
        table[list(actions)] = True
        return table[self.records.action]

    @property
    def in_use(self) -> Bool:
        """Which blocks are in use at the end, those with a pending release among them."""
        found: Bool = self.blocks.state != BlockState.INACTIVE
        return found


def about(model: Model) -> dict[str, Any]:
    """What the file says of itself as a whole; empty for a trace."""
    found = model.trace.header.raw.get(KEY)
    return found if isinstance(found, dict) else {}


@cached
def device_snapshots(model: Model) -> tuple[DeviceSnapshot, ...]:
    """The devices that have a segment or a record, by number; the first has most of both."""
    trace, told = model.trace, about(model)
    if not told:
        return ()
    records, segments = trace.table(Records), trace.table(Segments)
    blocks, contexts = trace.table(Blocks), trace.table(Contexts)
    devices = sorted({*np.unique(records.device).tolist(), *np.unique(segments.device).tolist()})
    of_block = segments.device[blocks.segment]
    found = []
    for device in devices:
        chosen = np.flatnonzero(segments.device == device)
        own = blocks.take(of_block == device)
        place = np.full(len(segments), -1, np.int32)
        place[chosen] = np.arange(len(chosen))
        columns = {**own.columns(), "segment": place[own.segment]}
        of_device = records if len(devices) == 1 else records.take(records.device == device)
        found.append(
            DeviceSnapshot(
                device,
                of_device,
                segments.take(chosen),
                Blocks.from_columns(columns),
                contexts,
                bool(told.get("cut_off")),
                told.get("settings") or {},
            )
        )
    return tuple(sorted(found, key=lambda each: (-len(each.records), -int(each.segments.bytes.sum()), each.number)))
