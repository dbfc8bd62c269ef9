"""What a snapshot without a history says of a failed allocation, if it was taken when memory ran out.

Observers of failures dump the state, also where no history was switched on, or one of a single record
(`max_entries=1`). Then nothing says that an allocation failed, nor what was asked for: what can be said is inferred
from the state at the end.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, Count
from torch_tb_profiler.analysis.snapshot.curves import History
from torch_tb_profiler.analysis.snapshot.device import DeviceSnapshot
from torch_tb_profiler.analysis.snapshot.frames import StackNames
from torch_tb_profiler.analysis.snapshot.layout import Layout, layout
from torch_tb_profiler.analysis.snapshot.oom import Holder, holders
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.snapshot.schema import Action

InferredReason = Literal["fragmented", "full"]
"""Much was free, in pieces that are smaller than what failed; nearly nothing was."""

#: of what the pool and stream reserve: from then on what is free decides
FREE_SHARE = 0.15
#: of allocations: with more there is a history
_MOST_RECORDS = 1


class InferredOom(msgspec.Struct, frozen=True):
    """Why an allocation failed, if one did when the snapshot was taken; the file shows neither.

    reason    what decides then
    free      bytes in pieces of the pool, stream and size class that reserves most
    pieces    how many pieces
    largest   the largest of them: what failed was larger
    other     free bytes of other pools, streams and size classes
    in_use    bytes of blocks in use on the device
    reserved  bytes of all segments
    holders   who holds the segments with free pieces
    """

    reason: InferredReason
    free: Bytes
    pieces: Count
    largest: Bytes
    other: Bytes
    in_use: Bytes
    reserved: Bytes
    holders: tuple[Holder, ...]


def has_history(device: DeviceSnapshot) -> bool:
    """Whether records tell what was in use before the end."""
    told = ~device.is_action(Action.SNAPSHOT, Action.ANNOTATE)
    return bool(np.count_nonzero(told) > _MOST_RECORDS)


def inferred_oom(history: History, names: StackNames) -> InferredOom | None:
    """Of the state at the end; None if the file has a history, or no such state."""
    device = history.device
    if device.cut_off or not len(device.segments) or has_history(device):
        return None
    if device.is_action(Action.OOM).any():
        return None
    found = layout(history, history.last)
    most = _most(found)
    own = found.is_free & most[found.piece_segment]
    free = int(found.piece_bytes[own].sum())
    all_free = int(found.piece_bytes[found.is_free].sum())
    return InferredOom(
        reason="fragmented" if free >= FREE_SHARE * int(found.bytes[most].sum()) else "full",
        free=free,
        pieces=int(np.count_nonzero(own)),
        largest=int(found.piece_bytes[own].max(initial=0)),
        other=all_free - free,
        in_use=int(found.bytes.sum()) - all_free,
        reserved=int(found.bytes.sum()),
        holders=holders(history, names, found, own),
    )


def _most(found: Layout) -> Bool:
    """The segments of the pool, stream and size class that reserves most."""
    keys = np.stack([found.pool_a, found.pool_b, found.stream, found.is_small], axis=1)
    _, of = np.unique(keys, axis=0, return_inverse=True)
    of = of.reshape(-1)
    chosen: Bool = of == int(np.argmax(np.bincount(of, found.bytes)))
    return chosen
