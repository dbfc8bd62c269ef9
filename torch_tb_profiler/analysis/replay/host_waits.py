"""Calls that wait: for the device, for their own copy, for a place in the launch queue."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.host_time import LaneSpans
from torch_tb_profiler.analysis.replay.launched_work import RuntimeCalls, WorkItems, WorkKind
from torch_tb_profiler.analysis.replay.stream_edges import COINCIDENCE_MOST_NS, TOLERANCE_NS, LaunchOrder
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.event_names import SYNCHRONIZE
from torch_tb_profiler.trace import Trace

#: work items that wait when the queue is taken as full, and when it surely is not
FULL, NOT_FULL = 900, 800
#: a call that is held up takes this many times as long as others
HELD = 1.5
#: copies of pageable memory to the device up to this size are staged by the driver
STAGED_BYTES = 65_536
#: of calls that wait and streams: with more, what calls of the same time waited for is not repeated
MOST_PAIRS = 4_000_000


class HostWait(msgspec.Struct, frozen=True):
    """Calls that waited for work. Parallel, shape (waits,).

    call     index into RuntimeCalls
    item     index into WorkItems: what was waited for
    since    ns: when the waiting began; what the call took before is its own time
    """

    call: Int64
    item: Int64
    since: Int64


class SilentWait(msgspec.Struct, frozen=True):
    """Threads that showed nothing while they waited for work. Parallel, shape (waits,).

    lane         index into Trace.tracks
    start, end   ns
    item         index into WorkItems: what was waited for
    """

    lane: Int64
    start: Int64
    end: Int64
    item: Int64


def synchronizations(
    trace: Trace, items: WorkItems, calls: RuntimeCalls, launched: LaunchOrder
) -> tuple[HostWait, Int64]:
    """Find what synchronizing calls waited for, and the calls that really had to wait, once candidate.

    A device or a context waits for all streams, another call for the one it names; without a record of it, for what
    ended last.
    """
    is_sync = trace.strings.where(SYNCHRONIZE.search, calls.name)[calls.name]
    chosen = np.flatnonzero(is_sync)
    nothing = np.empty(0, np.int64)
    if not len(chosen) or not len(launched.item):
        return HostWait(nothing, nothing, nothing), nothing
    of_all = trace.strings.where(lambda name: "Device" in name or "Ctx" in name or "Context" in name, calls.name)
    of_event = trace.strings.where(lambda name: "Event" in name, calls.name)
    recorded = _recorded(trace)
    # of calls of one correlation the first
    backwards = zip(calls.correlation[::-1].tolist(), range(len(calls) - 1, -1, -1), strict=True)
    first_call = dict(backwards) if recorded else {}
    end = np.append(items.end, np.iinfo(np.int64).max)
    last = _last_on_streams(items, calls, launched, chosen)
    meanwhile = _launched_meanwhile(items, calls, chosen)
    call, item, blocked = [], [], []
    for index, launched_last, launched_then in zip(chosen.tolist(), last, meanwhile.tolist(), strict=True):
        candidates = launched_last[end[launched_last] <= calls.end[index] + TOLERANCE_NS].tolist()
        sync = recorded.get(int(trace.launches.correlation[index]))
        late = (
            max((int(end[candidate]) for candidate in candidates), default=0) < calls.end[index] - COINCIDENCE_MOST_NS
        )
        if late and launched_then >= 0 and (sync is None or sync[1] in (-1, _stream_of(trace, items, launched_then))):
            candidates = [launched_then]
        if not candidates:
            continue
        if sync is not None and sync[0] != "Context Sync":
            _, stream, record = sync
            on = {_stream_of(trace, items, candidate): candidate for candidate in candidates}
            if stream in on:
                candidates = [on[stream]]
                begun = _before(calls, first_call.get(record), launched, int(items.stream[on[stream]]))
                if begun >= 0 and end[begun] <= calls.end[index] + TOLERANCE_NS:
                    candidates = [begun]
        elif not of_all[calls.name[index]]:
            candidates = [max(candidates, key=lambda candidate: int(end[candidate]))]
        waited = max(int(end[candidate]) for candidate in candidates) > int(calls.start[index])
        if not waited and of_event[calls.name[index]]:
            continue
        call += [index] * len(candidates)
        item += candidates
        if waited:
            blocked.append(index)
    waited_in = np.array(call, np.int64)
    return HostWait(waited_in, np.array(item, np.int64), calls.start[waited_in]), np.array(blocked, np.int64)


def _launched_meanwhile(items: WorkItems, calls: RuntimeCalls, chosen: Int64) -> Int64:
    """Find for each call the work that another thread launched while it waited and that ended as it returned; -1 for
    none.

    A device is synchronized when all is done, also what other threads launch until then.
    """
    order = np.argsort(items.end, kind="stable")
    place = np.searchsorted(items.end[order], calls.end[chosen] + TOLERANCE_NS, side="right") - 1
    found = np.append(order, -1)[place]
    launch = take_known(calls.start, take_known(items.call, found), -1)
    soon = take_known(items.end, found) >= calls.end[chosen] - COINCIDENCE_MOST_NS
    return np.where(soon & (launch >= calls.start[chosen]) & (launch < calls.end[chosen]), found, -1)


def _last_on_streams(items: WorkItems, calls: RuntimeCalls, launched: LaunchOrder, chosen: Int64) -> list[Int64]:
    """Find for each call, by start, the last item that was launched before it on each stream.

    With very many streams only those that were used since the call before: what ran earlier, that one waited for.
    """
    streams = distinct(items.stream[launched.item])
    if len(streams) * len(chosen) <= MOST_PAIRS:
        columns = [launched.last_before(stream, calls.start[chosen]) for stream in streams.tolist()]
        return [row[row >= 0] for row in np.stack(columns, axis=1)]
    order = np.argsort(calls.start[chosen], kind="stable")
    nth = np.searchsorted(calls.start[chosen][order], launched.release, side="right")
    # by stream and release: the last of a stream before each call
    stream = items.stream[launched.item]
    is_last = np.append((nth[1:] != nth[:-1]) | (stream[1:] != stream[:-1]), True)
    by_call = np.argsort(nth[is_last], kind="stable")
    found = np.split(
        launched.item[is_last][by_call], np.searchsorted(nth[is_last][by_call], np.arange(1, len(chosen) + 1))
    )
    in_order: list[Int64] = [np.empty(0, np.int64)] * len(chosen)
    for place, held in zip(order.tolist(), found, strict=False):
        in_order[place] = held
    return in_order


def unrecorded_waits(silent: LaneSpans, items: WorkItems, launched: LaunchOrder) -> SilentWait:
    """Find silences that end as the device finishes all that was launched before them: waits that were not recorded."""
    streams = distinct(items.stream[launched.item])
    if len(streams) * len(silent) > MOST_PAIRS:
        streams = streams[:0]
    last, done = np.full(len(silent), -1, np.int64), np.full(len(silent), -1, np.int64)
    for stream in streams.tolist():
        item = launched.last_before(stream, silent.start)
        end = take_known(items.end, item)
        last, done = np.where(end > done, item, last), np.maximum(end, done)
    waits = (last >= 0) & (done > silent.start) & (done <= silent.end) & (silent.end - done <= COINCIDENCE_MOST_NS)
    return SilentWait(silent.lane[waits], silent.start[waits], silent.end[waits], last[waits])


def _recorded(trace: Trace) -> dict[int, tuple[str, int, int]]:
    """Return kind, awaited stream and correlation of the record (-1) of host waits, by correlation."""
    syncs, work = trace.syncs, trace.device_work
    found = {}
    place = np.searchsorted(work.row, syncs.row)
    for i, at in enumerate(place.tolist()):
        kind = trace.strings[int(syncs.kind[i])]
        waited = int(syncs.wait_on_stream[i])
        stream = waited if waited >= 0 else int(work.stream[at])
        found[int(work.correlation[at])] = kind, stream, int(syncs.record_correlation[i])
    return found


def _stream_of(trace: Trace, items: WorkItems, item: int) -> int:
    return int(trace.device_work.stream[items.work[item]])


def _before(calls: RuntimeCalls, record: int | None, launched: LaunchOrder, stream: int) -> int:
    """Find the last item on a stream that was launched before a call recorded an event; -1 for none."""
    return -1 if record is None else int(launched.last_before(stream, calls.start[[record]])[0])


def blocking_copies(trace: Trace, items: WorkItems, calls: RuntimeCalls) -> HostWait:
    """Find calls that returned only when their own copy was done: synchronous ones, and those of pageable memory."""
    synchronous = trace.strings.where(lambda name: "emcpy" in name and "Async" not in name, calls.name)
    asynchronous = trace.strings.where(lambda name: "emcpy" in name and "Async" in name, calls.name)
    chosen = np.flatnonzero((items.kind == WorkKind.COPY) & (items.call >= 0))
    call = items.call[chosen]
    within = items.end[chosen] <= calls.end[call]
    names = trace.events.name[items.row[chosen]]
    waits = trace.strings.where(_waits, names)[names]
    # ROCm does not say which memory of the host it is: of a large copy, a call that is as long as it does
    large = trace.device_work.bytes[items.work[chosen]] > STAGED_BYTES
    waits |= trace.strings.where(_of_unknown_memory, names)[names] & large
    waits &= ~_staged(trace, items, chosen) | (_free_since(items)[chosen] > calls.start[call])
    kept: Bool = within & (synchronous[calls.name[call]] | (asynchronous[calls.name[call]] & waits))
    return HostWait(call[kept], chosen[kept], calls.release[call[kept]])


def _staged(trace: Trace, items: WorkItems, chosen: Int64) -> Bool:
    """Mark small copies to the device: their call returns when the driver has the data, and when the stream was free it
    ends after the copy only by chance.
    """
    names = trace.events.name[items.row[chosen]]
    to_device = trace.strings.where(lambda name: "HtoD" in name or "HostToDevice" in name, names)[names]
    size = trace.device_work.bytes[items.work[chosen]]
    small: Bool = to_device & (size > 0) & (size <= STAGED_BYTES)
    return small


def _free_since(items: WorkItems) -> Int64:
    """Return shape (items,), ns: when the previous work on the stream of each item was done."""
    order = np.lexsort((items.start, items.stream))
    found = np.full(len(items), np.iinfo(np.int64).min)
    follows = items.stream[order[1:]] == items.stream[order[:-1]]
    found[order[1:][follows]] = items.end[order[:-1][follows]]
    return found


def _waits(name: str) -> bool:
    if "Pinned" in name or "DtoD" in name or "PtoP" in name or "DeviceToDevice" in name:
        return False
    return "DtoH" in name or "DeviceToHost" in name or "Pageable" in name


def _of_unknown_memory(name: str) -> bool:
    return ("HtoD" in name or "HostToDevice" in name) and "Pinned" not in name and "Pageable" not in name


def full_queue(items: WorkItems, calls: RuntimeCalls, launched: LaunchOrder) -> HostWait:
    """Find launches that were held up by a full queue of their stream, and the item that began before they returned.

    Launches count, not items: a graph is one.
    """
    calls_held, sources, since = [], [], []
    for stream in range(len(launched.first) - 1):
        on = launched.item[launched.first[stream] : launched.first[stream + 1]]
        if len(on) < FULL:
            continue
        call = items.call[on]
        one = np.append(True, call[1:] != call[:-1])
        lead, call = on[one], call[one]
        began = np.sort(items.start[lead])
        begin, finish = calls.start[call], calls.end[call]
        outstanding = np.arange(len(call)) - np.searchsorted(began, begin, side="right")
        easy = outstanding < NOT_FULL
        if not easy.any():
            continue
        usual = median((finish - begin)[easy])
        held = np.flatnonzero((outstanding >= FULL) & (finish - begin > HELD * usual))
        by_start = lead[np.argsort(items.start[lead], kind="stable")]
        place = np.searchsorted(items.start[by_start], finish[held], side="left") - 1
        known = place >= 0
        calls_held.append(call[held[known]])
        sources.append(by_start[place[known]])
        since.append(np.minimum(begin[held[known]] + int(usual), finish[held[known]]))
    if not calls_held:
        return HostWait(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
    return HostWait(np.concatenate(calls_held), np.concatenate(sources), np.concatenate(since))
