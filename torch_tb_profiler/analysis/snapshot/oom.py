"""Why an allocation failed: what was free, why it was unusable, who holds it, and what would have helped.

Observers of failures dump the state even where no history was switched on, or one of a single record (`max_entries=1`).
Then nothing says that an allocation failed, nor what was requested: the cause is inferred from the state at the end.
"""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, Count, Ns
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.snapshot.blocks import SMALL_REQUEST, segment_for
from torch_tb_profiler.analysis.snapshot.frames import StackNames, stack_names
from torch_tb_profiler.analysis.snapshot.history import History, histories
from torch_tb_profiler.analysis.snapshot.layout import SegmentLayout, segment_layout
from torch_tb_profiler.analysis.snapshot.lifetimes import DeviceSnapshot
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_DEVICE_FREE, NO_TIME, Action

OomReason = Literal["fragmented", "other_stream", "other_pool", "pending", "limit", "full", "unknown"]
"""What decides: free memory in pieces that are too small; of another stream; of another pool; waiting for another
stream; room on the device that PyTorch was not given; nothing. `unknown`: one of the last two, and the file does not
say what the device had free."""

#: of a table in the answer
MOST_HOLDERS = 10


class Holder(msgspec.Struct, frozen=True):
    """Allocations of one line that keep segments from being joined or given back.

    line      innermost frame of the user's own code
    bytes     requested
    blocks    how many
    segments  how many segments with free pieces contain them
    joins     bytes that would be free in one piece if they were released: the largest over its segments
    """

    line: str
    bytes: Bytes
    blocks: Count
    segments: Count
    joins: Bytes


class Oom(msgspec.Struct, frozen=True):
    """One failed allocation.

    device             number of the device
    position           number of the record
    time_ns            since the start of the recording, None before torch 2.2
    requested          what was asked for, rounded as the allocator does
    segment_needed     the segment that it would have allocated from the device
    line               innermost frame of the user's own code
    stack              id of its stack, -1 where none was recorded
    stream             id of the stream of the request: a number or a pointer
    pool_known         whether the pool of the request is known; otherwise the default pool is assumed
    free               bytes in pieces of the right pool, stream and size class
    pieces, largest    how many pieces, and the largest of them
    other_streams      free bytes of other streams, in the same pool
    other_pools        free bytes of other pools and size classes
    pending            bytes that were released and wait for another stream
    device_free        free bytes of the device; null if the file does not contain them
    reserved           bytes of all segments
    in_use             bytes that were requested and not released
    reason             what decides
    holders            who holds the segments with free pieces
    exact              whether the sizes of all blocks are known; otherwise rounding counts as free
    expandable_helps   whether expandable segments would have had room: an upper bound; null if they
                       are on already, or the free memory of the device is unknown
    """

    device: int
    position: int
    time_ns: Ns | None
    requested: Bytes
    segment_needed: Bytes
    line: str
    stack: int
    stream: int
    pool_known: bool
    free: Bytes
    pieces: Count
    largest: Bytes
    other_streams: Bytes
    other_pools: Bytes
    pending: Bytes
    device_free: Bytes | None
    reserved: Bytes
    in_use: Bytes
    reason: OomReason
    holders: tuple[Holder, ...]
    expandable_helps: bool | None
    exact: bool


#: of one device; programs that try again and again make thousands
MOST_OOMS = 100


@cached
def ooms(model: Model) -> tuple[Oom, ...]:
    """Return all failed allocations of a snapshot, in the order of their devices and records."""
    names = stack_names(model)
    return tuple(
        explain(history, names, place)
        for history in histories(model)
        for place in np.flatnonzero(history.device.is_action(Action.OOM)).tolist()[:MOST_OOMS]
    )


def explain(history: History, names: StackNames, position: int) -> Oom:
    """Explain why the allocation of a record failed."""
    device = history.device
    records = device.records
    layout = segment_layout(history, position - 1)
    request, stream = int(records.bytes[position]), int(records.stream[position])
    context = int(records.context[position])
    contexts = device.contexts
    pool_known = 0 <= context < len(contexts) and int(contexts.pool_a[context]) >= 0
    pool = (int(contexts.pool_a[context]), int(contexts.pool_b[context])) if pool_known else (0, 0)
    small = request <= SMALL_REQUEST
    same_pool = (layout.pool_a == pool[0]) & (layout.pool_b == pool[1])
    same_class = (layout.is_small == small) | layout.is_expandable
    usable = same_pool & same_class & (layout.stream == stream)
    free = layout.is_free
    own = free & usable[layout.piece_segment]
    others = free & (same_pool & same_class & (layout.stream != stream))[layout.piece_segment]
    elsewhere = free & ~(same_pool & same_class)[layout.piece_segment]
    sizes = layout.piece_bytes
    pending = history.lifetimes.alive(position - 1) & ~history.lifetimes.wanted(position - 1)
    pending &= history.lifetimes.stream == stream
    recorded, needed = int(records.address[position]), segment_for(request)
    device_free = None if recorded == NO_DEVICE_FREE else recorded
    free_bytes, other_streams, other_pools = (int(sizes[mask].sum()) for mask in (own, others, elsewhere))
    pending_bytes = int(history.blocks.bytes[pending].sum())
    reason = _reason(request, needed, (free_bytes, other_streams, other_pools, pending_bytes), device_free)
    on = device.settings.get("expandable_segments") is True or bool(layout.is_expandable.any())
    time, stack = int(records.time[position]), int(records.stack[position])
    return Oom(
        device=device.number,
        position=position,
        time_ns=None if time == NO_TIME else time,
        requested=request,
        segment_needed=needed,
        line=names.line_of(stack),
        stack=stack,
        stream=stream,
        pool_known=pool_known,
        free=free_bytes,
        pieces=int(np.count_nonzero(own)),
        largest=int(sizes[own].max(initial=0)),
        other_streams=other_streams,
        other_pools=other_pools,
        pending=pending_bytes,
        device_free=device_free,
        reserved=int(history.curves.reserved[position]),
        in_use=int(history.curves.requested[position]),
        reason=reason,
        holders=holders(history, names, layout, free & usable[layout.piece_segment]),
        expandable_helps=None if on else _fits(request, free_bytes, device_free),
        exact=layout.exact,
    )


_UNUSED: tuple[OomReason, ...] = ("fragmented", "other_stream", "other_pool", "pending")


def _reason(request: int, needed: int, unused: tuple[int, int, int, int], device_free: int | None) -> OomReason:
    """Return why a request failed. unused: bytes that the allocator held without use, as `_UNUSED` names them."""
    for reason, held in zip(_UNUSED, unused, strict=True):
        if held >= request:
            return reason
    if device_free is None:
        return "unknown"
    return "limit" if device_free >= needed else "full"


def _fits(request: int, free: int, device_free: int | None) -> bool | None:
    """Return whether there was room in pieces and on the device together; None if unknown."""
    if free >= request:
        return True
    return None if device_free is None else free + device_free >= request


def holders(history: History, names: StackNames, layout: SegmentLayout, free: Bool) -> tuple[Holder, ...]:
    """Return what lies in the segments of some free pieces, by line of the program."""
    lifetimes = history.lifetimes
    with_gaps = np.zeros(len(layout.address), np.bool_)
    with_gaps[layout.piece_segment[free]] = True
    piece = np.flatnonzero(~layout.is_free & with_gaps[layout.piece_segment])
    if not len(piece):
        return ()
    life = layout.life[piece]
    stack = lifetimes.stack[life]
    line = np.where(stack >= 0, names.line[np.maximum(stack, 0)], -1) if len(names.line) else stack
    groups = group([line])
    segment = layout.piece_segment[piece]
    free_in = np.bincount(layout.piece_segment, np.where(free, layout.piece_bytes, 0), minlength=len(layout.address))
    requested, count = groups.sum(lifetimes.requested[life]), groups.count()
    rows = []
    for number in descending(requested)[:MOST_HOLDERS].tolist():
        mine = groups.inverse == number
        of_segment = np.bincount(segment[mine], layout.piece_bytes[piece][mine], minlength=len(layout.address))
        touched = np.unique(segment[mine])
        joins = int((of_segment + free_in)[touched].max())
        code = int(line[groups.first[number]])
        name = names.lines[code] if code >= 0 else names.line_of(-1)
        rows.append(Holder(name, int(requested[number]), int(count[number]), len(touched), joins))
    return tuple(rows)


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
    """Return whether records tell what was in use before the end."""
    is_change = ~device.is_action(Action.SNAPSHOT, Action.ANNOTATE)
    return bool(np.count_nonzero(is_change) > _MOST_RECORDS)


def inferred_oom(history: History, names: StackNames) -> InferredOom | None:
    """Infer from the state at the end; None if the file has a history, or no such state."""
    device = history.device
    if device.cut_off or not len(device.segments) or has_history(device):
        return None
    if device.is_action(Action.OOM).any():
        return None
    layout = segment_layout(history, history.last)
    most = _most(layout)
    own = layout.is_free & most[layout.piece_segment]
    free = int(layout.piece_bytes[own].sum())
    all_free = int(layout.piece_bytes[layout.is_free].sum())
    return InferredOom(
        reason="fragmented" if free >= FREE_SHARE * int(layout.bytes[most].sum()) else "full",
        free=free,
        pieces=int(np.count_nonzero(own)),
        largest=int(layout.piece_bytes[own].max(initial=0)),
        other=all_free - free,
        in_use=int(layout.bytes.sum()) - all_free,
        reserved=int(layout.bytes.sum()),
        holders=holders(history, names, layout, own),
    )


def _most(layout: SegmentLayout) -> Bool:
    """Select the segments of the pool, stream and size class that reserves most."""
    keys = np.stack([layout.pool_a, layout.pool_b, layout.stream, layout.is_small], axis=1)
    _, of = np.unique(keys, axis=0, return_inverse=True)
    of = of.reshape(-1)
    chosen: Bool = of == int(np.argmax(np.bincount(of, layout.bytes)))
    return chosen
