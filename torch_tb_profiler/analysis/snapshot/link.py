"""Whether a snapshot and a trace are of one process, and how their clocks differ: by the addresses that both name.

Both record every allocation and release, in the same lock, microseconds apart. The difference of their clocks is the
one at which most records of the trace match one of the snapshot with the same address and kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.memory.records import CPU, memory_records
from torch_tb_profiler.analysis.question import NoParameters, NotFound, Question, Subject
from torch_tb_profiler.analysis.snapshot.history import History, device_history, histories
from torch_tb_profiler.analysis.snapshot.timeline import columns_of
from torch_tb_profiler.analysis.snapshot.tracks import CALLS, AllocatorCall
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_TIME, Action
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.words.sentences import because

LinkReason = Literal["linked", "nothing_recorded", "no_times", "other_time", "other_process"]
"""`linked`; one of the two has no allocations with addresses; the snapshot has no times (before torch 2.2); they do not
overlap in time; too few records have a counterpart."""

#: clocks of one machine differ by less
MOST_OFFSET_NS = 60 * 10**9
#: of the difference, around its median
MOST_SPREAD_NS = 1_000_000
LEAST_MATCHED = 0.95
FEWEST = 10
#: in which differences are counted
_BIN_NS = 200_000
#: records of the trace that vote, and pairs
_VOTERS = 4000
_MOST_PAIRS = 2_000_000


class SnapshotLink(msgspec.Struct, frozen=True):
    """How a snapshot and a trace belong together.

    reason     whether they do, and if not, why
    device     number of the device; null if not linked
    offset_ns  to be added to Unix times of the snapshot; null if unknown
    spread_ns  the 95th percentile of how far single records are from that
    matched    which part of the records in the time that both cover has a counterpart
    records    how many records of the trace that is
    """

    reason: LinkReason
    device: int | None = None
    offset_ns: Ns | None = None
    spread_ns: Ns | None = None
    matched: Fraction | None = None
    records: Count = 0


class AddressEvents(msgspec.Struct, frozen=True):
    """Allocations and releases by time; key: address and kind."""

    time: Int64
    key: Int64
    bytes: Int64

    def __len__(self) -> int:
        return len(self.time)

    def take(self, chosen: Bool | Int64) -> AddressEvents:
        return AddressEvents(self.time[chosen], self.key[chosen], self.bytes[chosen])


def link(trace: Model, snapshot: Model) -> SnapshotLink:
    """Link the device of the snapshot that fits best."""
    if not histories(snapshot) or not len(memory_records(trace)):
        return SnapshotLink("nothing_recorded")
    found = [_of_device(trace, snapshot, history) for history in histories(snapshot)]
    return max(found, key=lambda each: (each.reason == "linked", each.matched or 0.0))


def _of_device(trace: Model, snapshot: Model, history: History) -> SnapshotLink:
    ours, theirs = _of_trace(trace, history.device.number), _of_snapshot(snapshot, history)
    if not len(ours) or not len(history.device.records):
        return SnapshotLink("nothing_recorded")
    if not len(theirs):
        return SnapshotLink("no_times")
    for kind in (0, 1):  # an action that one of them did not record
        if not ((theirs.key & 1) == kind).any():
            ours = ours.take((ours.key & 1) != kind)
    first = max(int(ours.time[0]), int(theirs.time[0])) if len(ours) else 0
    last = min(int(ours.time[-1]), int(theirs.time[-1])) if len(ours) else -1
    if last - first < -MOST_OFFSET_NS or not len(ours):
        return SnapshotLink("other_time")
    offset = _voted(ours, theirs)
    if offset is None:
        return SnapshotLink("other_process" if last >= first else "other_time")
    nearest, differs, _ = match_events(ours, theirs, offset)
    offset += int(np.median(differs[nearest])) if nearest.any() else 0
    inside = (ours.time >= theirs.time[0] + offset - MOST_SPREAD_NS) & (
        ours.time <= theirs.time[-1] + offset + MOST_SPREAD_NS
    )
    nearest, differs, _ = match_events(ours, theirs, offset)
    count, met = int(inside.sum()), int((nearest & inside).sum())
    if count < FEWEST:
        return SnapshotLink("other_time")
    spread = int(np.quantile(np.abs(differs[nearest & inside]), 0.95)) if met else None
    share = met / count
    if share < LEAST_MATCHED:
        return SnapshotLink("other_process", None, None, None, share, count)
    return SnapshotLink("linked", history.device.number, offset, spread, share, count)


def _of_trace(model: Model, device: int) -> AddressEvents:
    records, memory = memory_records(model), model.memory.take(memory_records(model).entry)
    chosen = (memory.device_type != CPU) & (memory.device == device) & (memory.address >= 0) & (records.bytes != 0)
    time = records.time[chosen] + model.trace.origin_ns
    return AddressEvents(time, memory.address[chosen] * 2 + (records.bytes[chosen] < 0), np.abs(records.bytes[chosen]))


def _of_snapshot(model: Model, history: History) -> AddressEvents:
    records, device = history.device.records, history.device
    chosen = device.is_action(Action.ALLOC, Action.FREE_REQUESTED) & (records.time != NO_TIME) & (records.bytes > 0)
    time = records.time[chosen] + model.trace.origin_ns
    key = records.address[chosen] * 2 + (records.action[chosen] == Action.FREE_REQUESTED)
    found = AddressEvents(time, key, records.bytes[chosen])
    return found.take(np.argsort(time, kind="stable"))


def _voted(ours: AddressEvents, theirs: AddressEvents) -> int | None:
    """Return the difference of clocks at which most records meet; None if hardly any do."""
    order = np.lexsort((theirs.time, theirs.key))
    keys, times = theirs.key[order], theirs.time[order]
    chosen = np.unique(np.linspace(0, len(ours) - 1, min(len(ours), _VOTERS)).astype(np.int64))
    first = np.searchsorted(keys, ours.key[chosen], "left")
    count = np.searchsorted(keys, ours.key[chosen], "right") - first
    # addresses that are used seldom say most
    rare = np.argsort(count, kind="stable")
    rare = rare[(np.cumsum(count[rare]) <= _MOST_PAIRS) & (count[rare] > 0)]
    if not len(rare):
        return None
    count, first = count[rare], first[rare]
    begin = np.cumsum(count) - count
    place = np.arange(int(count.sum())) - np.repeat(begin - first, count)
    difference = np.repeat(ours.time[chosen][rare], count) - times[place]
    difference = difference[np.abs(difference) <= MOST_OFFSET_NS]
    if not len(difference):
        return None
    bins, votes = np.unique(difference // _BIN_NS, return_counts=True)
    # neighbouring bins count together, so that none is cut in two
    together = votes + np.where(np.append(np.diff(bins), 0) == 1, np.append(votes[1:], 0), 0)
    best = int(bins[np.argmax(together)])
    return int(np.median(difference[(difference >= best * _BIN_NS) & (difference < (best + 2) * _BIN_NS)]))


def match_events(ours: AddressEvents, theirs: AddressEvents, offset: int) -> tuple[Bool, Int64, Int64]:
    """Match records of the trace with nearby ones of the snapshot that are not larger: which, the difference, whom."""
    count = len(ours)
    key = np.concatenate([ours.key, theirs.key])
    time = np.concatenate([ours.time, theirs.time + offset])
    order = np.lexsort((time, key))
    is_theirs, key, time = order >= count, key[order], time[order]
    at = np.arange(len(order))
    before = np.maximum.accumulate(np.where(is_theirs, at, -1))
    after = np.minimum.accumulate(np.where(is_theirs, at, len(at))[::-1])[::-1]
    best = np.full(len(at), np.iinfo(np.int64).max)
    partner = np.full(len(at), -1, np.int64)
    for other in (before, np.where(after < len(at), after, -1)):
        known = (other >= 0) & (key[np.maximum(other, 0)] == key)
        apart = np.where(known, time - time[np.maximum(other, 0)], np.iinfo(np.int64).max)
        nearer = known & (np.abs(apart) < np.abs(best))
        best, partner = np.where(nearer, apart, best), np.where(nearer, other, partner)
    mine = ~is_theirs
    bytes_ = np.concatenate([ours.bytes, theirs.bytes])[order]
    fits = (partner >= 0) & (np.abs(best) <= MOST_SPREAD_NS) & (bytes_ >= bytes_[np.maximum(partner, 0)])
    met, differs = np.zeros(count, np.bool_), np.zeros(count, np.int64)
    met[order[mine]], differs[order[mine]] = fits[mine], np.where(fits, best, 0)[mine]
    which = np.full(count, -1, np.int64)
    which[order[mine]] = np.where(fits, order[np.maximum(partner, 0)] - count, -1)[mine]
    return met, differs, which


MOST_CALLS = 2000
MOST_COLUMNS = 1000


class AllocatorCalls(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of the allocator by time: parallel lists, the largest ones of them.

    time_ns   since the start of the trace
    call      what was called
    bytes     of the segment, or what was asked for
    position  number of the record of the snapshot
    """

    time_ns: Sequence[Ns]
    call: Sequence[AllocatorCall]
    bytes: Sequence[Bytes]
    position: Sequence[int]


class LinkedCurve(msgspec.Struct, frozen=True, kw_only=True):
    """What the snapshot says was in use: parallel lists.

    time_ns    since the start of the trace
    requested  bytes in use at the highest record of each column
    reserved   most bytes of segments in it
    """

    time_ns: Sequence[Ns]
    requested: Sequence[Bytes]
    reserved: Sequence[Bytes]


class SnapshotLinkAnswer(Answer, frozen=True, kw_only=True):
    """A trace and a memory snapshot.

    meta      of the trace
    link      whether they are of one process
    shift_ns  to be added to times since the start of the recording of the snapshot to have those since the start of the
              trace; null if they are not linked
    begin_ns  where the first slice of the trace begins, null without slices
    end_ns    where its last one ends
    calls     of the allocator; empty if they are not linked
    left_out  how many calls are not in the answer
    curve     of the snapshot, in the time of the trace; empty if they are not linked
    """

    meta: TraceMeta
    link: SnapshotLink
    shift_ns: Ns | None
    begin_ns: Ns | None
    end_ns: Ns | None
    calls: AllocatorCalls
    left_out: int
    curve: LinkedCurve


def _link(trace: Subject, snapshot: Subject, _: NoParameters) -> SnapshotLinkAnswer:
    if is_snapshot(trace.model.trace) or not is_snapshot(snapshot.model.trace):
        raise NotFound(because("no_pair"))
    linked = link(trace.model, snapshot.model)
    events = trace.model.trace.events
    slices = np.flatnonzero(events.duration >= 0)
    empty = SnapshotLinkAnswer(
        meta=TraceMeta(**trace.about("memory")),
        link=linked,
        shift_ns=None,
        begin_ns=int(events.start[slices].min()) if len(slices) else None,
        end_ns=int(events.end[slices].max()) if len(slices) else None,
        calls=AllocatorCalls(time_ns=[], call=[], bytes=[], position=[]),
        left_out=0,
        curve=LinkedCurve(time_ns=[], requested=[], reserved=[]),
    )
    if linked.offset_ns is None:
        return empty
    shift = snapshot.model.trace.origin_ns + linked.offset_ns - trace.model.trace.origin_ns
    history = device_history(snapshot.model, linked.device)
    records = history.device.records
    places = np.flatnonzero(history.device.is_action(*CALLS) & (records.time != NO_TIME))
    chosen = np.sort(places[np.argsort(-records.bytes[places], kind="stable")[:MOST_CALLS]])
    columns = columns_of(history, "time", None, None, MOST_COLUMNS)
    known = columns.axis == "time"
    return replace(
        empty,
        shift_ns=shift,
        calls=AllocatorCalls(
            time_ns=_shifted(records.time[chosen], shift),
            call=[CALLS[Action(action)] for action in records.action[chosen].tolist()],
            bytes=plain(records.bytes[chosen]),
            position=plain(chosen),
        ),
        left_out=len(places) - len(chosen),
        curve=LinkedCurve(
            time_ns=_shifted(columns.x, shift) if known else [],
            requested=plain(columns.requested) if known else [],
            reserved=plain(columns.reserved) if known else [],
        ),
    )


def _shifted(time: Int64, by: int) -> list[int]:
    return plain(time + by)


SNAPSHOT_LINK = Question(
    name="snapshot/link",
    summary="Whether a trace and a memory snapshot are of one process, and the snapshot in the time of the trace",
    compute=_link,
)
