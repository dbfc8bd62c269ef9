"""The records and the final state of each device, and every allocation from its birth to its release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.lookup import find, take_known
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import Action, BlockState, Contexts, Records, SnapshotBlocks, SnapshotSegments
from torch_tb_profiler.snapshot.state import KEY


class DeviceSnapshot(msgspec.Struct, frozen=True):
    """One device of a snapshot.

    records   what the allocator did; a `position` is an index into it, and -1 the time before the first
    segments  that there were at the end, by address
    blocks    of them; `segment` is an index into `segments`
    contexts  of all devices
    cut_off   whether the file ends too early: then the state at the end is unknown
    settings  allocator_settings of the file
    """

    number: int
    records: Records
    segments: SnapshotSegments
    blocks: SnapshotBlocks
    contexts: Contexts
    cut_off: bool
    settings: dict[str, Any]

    def is_action(self, *actions: Action) -> Bool:
        """Return which records say one of some actions."""
        table = np.zeros(256, np.bool_)
        table[list(actions)] = True
        return table[self.records.action]

    @property
    def in_use(self) -> Bool:
        """Mark blocks in use at the end, including those with a pending release."""
        found: Bool = self.blocks.state != BlockState.INACTIVE
        return found


def about(model: Model) -> dict[str, Any]:
    """Return what the file says of itself as a whole; empty for a trace."""
    found = model.trace.header.raw.get(KEY)
    return found if isinstance(found, dict) else {}


@cached
def device_snapshots(model: Model) -> tuple[DeviceSnapshot, ...]:
    """Return the devices that have a segment or a record; the one with most records and bytes first."""
    trace, header = model.trace, about(model)
    if not header:
        return ()
    records, segments = trace.table(Records), trace.table(SnapshotSegments)
    blocks, contexts = trace.table(SnapshotBlocks), trace.table(Contexts)
    devices = sorted({*np.unique(records.device).tolist(), *np.unique(segments.device).tolist()})
    of_block = segments.device[blocks.segment]
    snapshots = []
    for device in devices:
        chosen = np.flatnonzero(segments.device == device)
        own = blocks.take(of_block == device)
        place = np.full(len(segments), -1, np.int32)
        place[chosen] = np.arange(len(chosen))
        columns = {**own.columns(), "segment": place[own.segment]}
        of_device = records if len(devices) == 1 else records.take(records.device == device)
        snapshots.append(
            DeviceSnapshot(
                device,
                of_device,
                segments.take(chosen),
                SnapshotBlocks.from_columns(columns),
                contexts,
                bool(header.get("cut_off")),
                header.get("settings") or {},
            )
        )
    return tuple(sorted(snapshots, key=lambda each: (-len(each.records), -int(each.segments.bytes.sum()), each.number)))


#: later than every record
NEVER = int(np.iinfo(np.int64).max)
#: before every record
BEFORE = -1

_ACTIONS = (Action.ALLOC, Action.FREE_REQUESTED, Action.FREE_COMPLETED)


class Lifetimes(msgspec.Struct, frozen=True):
    """Allocations of one device, parallel arrays, in the order of their births; those from before come first.

    address        where it is
    requested      bytes that were asked for; of what was there before and is not described, those of its block
    block          bytes of its block where the state at the end says so, else -1
    born           position of the record, BEFORE the first for what was there before
    released       position of free_requested, NEVER when it was not released, BEFORE when it was already
    gone           position of free_completed, NEVER when it still holds its block
    stack          row of stacks of the birth, -1 when unknown
    release_stack  of the release
    stream         of the birth, else of its segment
    context        row of contexts of the birth, -1 for none
    missing        actions that the file has no record of though it must, so that others stand for them
    contradictions what cannot be: a kind, and how often
    """

    address: Int64
    requested: Int64
    block: Int64
    born: Int64
    released: Int64
    gone: Int64
    stack: Int64
    release_stack: Int64
    stream: Int64
    context: Int64
    missing: tuple[str, ...] = ()
    contradictions: Mapping[str, int] = msgspec.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.address)

    def alive(self, position: int) -> Bool:
        """Return which allocations hold their blocks after a record, whether released or not."""
        return (self.born <= position) & (self.gone > position)

    def wanted(self, position: int) -> Bool:
        """Return which allocations are in use after a record: born and not released."""
        return (self.born <= position) & (self.released > position)


@cached
def lifetimes(model: Model) -> tuple[Lifetimes, ...]:
    """Return the lifetimes of each device of `device_snapshots`."""
    return tuple(map(lifetimes_of, device_snapshots(model)))


def lifetimes_of(device: DeviceSnapshot) -> Lifetimes:
    records = device.records
    wrong: Counter[str] = Counter()
    at = np.flatnonzero(device.is_action(*_ACTIONS))
    order = at[stable_order(records.address[at])]
    address, action = records.address[order], records.action[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = address[1:] != address[:-1]
    is_birth = action == Action.ALLOC
    life = np.cumsum(new | is_birth) - 1
    count = int(life[-1]) + 1 if len(life) else 0
    first = np.flatnonzero(new | is_birth)
    born = np.where(is_birth[first], order[first], BEFORE)
    released, gone = (_ends(life, order, action == kind, count, wrong) for kind in _ACTIONS[1:])
    next_here = np.full(count, NEVER)
    same = address[first][1:] == address[first][:-1]
    next_here[:-1][same] = order[first][1:][same]
    missing, released, gone = _completed(device, born, released, gone, next_here, address[first])
    wrong["released_after_completed"] += int(np.count_nonzero((released > gone) & (gone != NEVER)))
    overlaps = (gone > next_here) & (next_here != NEVER)
    wrong["address_in_use"] += int(np.count_nonzero(overlaps))
    gone = np.where(overlaps, next_here, gone)
    released = np.minimum(released, gone)
    requested = records.bytes[order[first]]
    wrong["size_differs"] += int(np.count_nonzero(records.bytes[order] != requested[life]))
    at_birth = np.where(born >= 0, born, 0) if len(records) else born
    complete = Lifetimes(
        address=address[first],
        requested=requested,
        block=np.full(count, -1, np.int64),
        born=born,
        released=released,
        gone=gone,
        stack=_if_born(records.stack, at_birth, born, -1),
        release_stack=take_known(records.stack, np.where(released < len(records), released, -1)).astype(np.int64),
        stream=records.stream[order[first]],
        context=_if_born(records.context, at_birth, born, -1),
    )
    complete = _with_state(device, complete, wrong)
    order = stable_order(complete.born)
    columns: dict[str, Any] = {name: getattr(complete, name)[order] for name in _COLUMNS}
    contradictions = {kind: times for kind, times in wrong.items() if times}
    return Lifetimes(**columns, missing=missing, contradictions=contradictions)


_COLUMNS = tuple(Lifetimes.__struct_fields__)[:10]


def _ends(life: Int64, order: Int64, chosen: Bool, count: int, wrong: Counter[str]) -> Int64:
    """Return the first record of a kind in each lifetime, NEVER for none; further ones are contradictions."""
    of = life[chosen]
    wrong["released_twice"] += int(np.count_nonzero(of[1:] == of[:-1]))
    first = begins_run(of)
    found = np.full(count, NEVER)
    found[of[first]] = order[chosen][first]
    return found


def _if_born(values: Int32, place: Int64, born: Int64, missing: int) -> Int64:
    return np.where(born >= 0, values[place], missing).astype(np.int64) if len(values) else np.full(len(born), missing)


def _completed(
    device: DeviceSnapshot, born: Int64, released: Int64, gone: Int64, next_here: Int64, address: Int64
) -> tuple[tuple[str, ...], Int64, Int64]:
    """Complete the ends where a kind of record was not recorded at all (`skip_actions`).

    A kind is missing when nothing of it is there though it must be: an address was given again, or is free at the end.
    """
    seen = {kind: bool(device.is_action(kind).any()) for kind in _ACTIONS}
    blocks, last = device.blocks, len(device.records) - 1
    pending = np.isin(address, blocks.address[blocks.state == BlockState.PENDING_FREE])
    there = np.isin(address, blocks.address[device.in_use])
    again = next_here != NEVER
    ended = again if device.cut_off else again | ~there
    missing: list[str] = []
    must_end = (ended & (born >= 0)) | ((again | ~(pending | device.cut_off)) & (released != NEVER))
    if not seen[Action.FREE_COMPLETED] and must_end.any():
        missing.append("free_completed")
        gone = np.where(released != NEVER, np.where(pending & ~again, NEVER, released), gone)
        gone = np.where((gone == NEVER) & ended, np.where(again, next_here, last), gone)
    if not seen[Action.FREE_REQUESTED] and ((gone != NEVER) & (born >= 0)).any():
        missing.insert(0, "free_requested")
        released = np.where((released == NEVER) & pending & ~again, last, released)
    elif not device.cut_off or seen[Action.FREE_REQUESTED]:
        # the release of what was there before was requested before the first record, too
        released = np.where((born < 0) & (released == NEVER) & (gone != NEVER), BEFORE, released)
    if not seen[Action.ALLOC] and (seen[Action.FREE_REQUESTED] or seen[Action.FREE_COMPLETED]) and len(born) > 1:
        missing.append("alloc")
    return tuple(missing), np.minimum(released, gone), gone


def _with_state(device: DeviceSnapshot, recorded: Lifetimes, wrong: Counter[str]) -> Lifetimes:
    """Add what the blocks at the end say, and allocations that no record shows."""
    if device.cut_off:
        return recorded
    blocks = device.blocks.take(device.in_use)
    order = np.argsort(blocks.address, kind="stable")
    blocks = blocks.take(order)
    pending = blocks.state == BlockState.PENDING_FREE
    alive = np.flatnonzero(recorded.gone == NEVER)
    place = find(blocks.address, recorded.address[alive]) if len(blocks) else np.full(len(alive), -1, np.int64)
    there = place >= 0
    wrong["not_at_the_end"] += int(np.count_nonzero(~there))
    known, of = alive[there], place[there]
    block = recorded.block.copy()
    block[known] = blocks.bytes[of]
    states = (recorded.released[known] != NEVER) != pending[of]
    wrong["state_differs"] += int(np.count_nonzero(states & ("free_requested" not in recorded.missing)))
    sizes = (blocks.requested[of] >= 0) & (blocks.requested[of] != recorded.requested[known])
    wrong["size_differs"] += int(np.count_nonzero(sizes))
    rest = np.ones(len(blocks), np.bool_)
    rest[of] = False
    # a block that has to be from before must not have been released during the recording
    seen = np.isin(blocks.address[rest], recorded.address[recorded.gone != NEVER])
    if "alloc" not in recorded.missing:
        wrong["released_but_in_use"] += int(np.count_nonzero(seen))
    more = blocks.take(rest)
    count = len(more)
    requested = np.where(more.requested >= 0, more.requested, more.bytes)
    columns = {
        "address": more.address,
        "requested": requested,
        "block": more.bytes,
        "born": np.full(count, BEFORE),
        "released": np.where(more.state == BlockState.PENDING_FREE, BEFORE, NEVER),
        "gone": np.full(count, NEVER),
        "stack": more.stack,
        "release_stack": np.full(count, -1),
        "stream": device.segments.stream[more.segment],
        "context": np.full(count, -1),
    }
    own = {name: getattr(recorded, name) for name in _COLUMNS} | {"block": block}
    joined: dict[str, Any] = {n: np.concatenate([own[n], columns[n]]).astype(np.int64) for n in _COLUMNS}
    return Lifetimes(**joined)
