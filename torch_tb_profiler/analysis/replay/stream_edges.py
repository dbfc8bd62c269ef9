"""What delays work on a device: its launch, the work before it, other streams; and the usual latencies of each."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.launched_work import RuntimeCalls, WorkItems, runtime_calls, work_items
from torch_tb_profiler.arrays.distinct import distinct, distinct_first
from torch_tb_profiler.arrays.grouping import each_value, group
from torch_tb_profiler.arrays.lookup import find, take_known
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Trace

#: ns: how much later than the start of what waits the end of what it waits for may lie, for rounding
TOLERANCE_NS = 3_000
#: ns: an item that begins so much later than all that is known has another cause
LATE_NS = 10_000
#: ns, and share of the delay: how long before it another stream may have ended for that to be the cause
COINCIDENCE_NS, COINCIDENCE_SHARE, COINCIDENCE_MOST_NS = 10_000, 0.05, 50_000
#: with more streams than a program has, only recorded events tell what waits for what
MOST_STREAMS = 1_000
#: ended items that are looked at
_LOOK_BACK = 8


class LaunchOrder(msgspec.Struct, frozen=True):
    """Items with a known call, stream by stream in the order of their launches.

    item      shape (n,): index into WorkItems
    release   shape (n,), ns: ascending within a stream
    first     shape (streams + 1,): where each stream begins
    """

    item: Int64
    release: Int64
    first: Int64

    @classmethod
    def of(cls, items: WorkItems, calls: RuntimeCalls) -> LaunchOrder:
        known = np.flatnonzero(items.call >= 0)
        at = calls.start[items.call[known]]
        order = np.lexsort((known, at, items.stream[known]))
        streams = int(items.stream.max(initial=-1)) + 1
        first = np.searchsorted(items.stream[known][order], np.arange(streams + 1))
        return cls(known[order], at[order], first.astype(np.int64))

    def last_before(self, stream: int, time: Int64) -> Int64:
        """Find the last item launched on a stream before each time; -1 for none."""
        low, high = int(self.first[stream]), int(self.first[stream + 1])
        place = np.searchsorted(self.release[low:high], time, side="left") - 1
        return np.where(place >= 0, self.item[low:high][np.maximum(place, 0)], -1) if high > low else place * 0 - 1

    def first_after(self, stream: int, time: Int64) -> Int64:
        """Find the first item launched on a stream after each time; -1 for none."""
        low, high = int(self.first[stream]), int(self.first[stream + 1])
        return np.append(self.item[low:high], -1)[np.searchsorted(self.release[low:high], time, side="right")]


@cached
def stream_waits(model: Model) -> tuple[Int64, Int64]:
    """Find pairs of items where the second's stream waited for the first (`cudaStreamWaitEvent`).

    Where the profiler recorded what was waited for, that is taken. Else the next item of the thread that called waits:
    a collective for the stream that the thread used last, other work for what ends latest on other streams.
    A source that ends after its target began is not one.
    """
    trace, items, calls = model.trace, work_items(model), runtime_calls(model)
    launched = LaunchOrder.of(items, calls)
    name = trace.strings.where(lambda text: "StreamWaitEvent" in text, calls.name)[calls.name]
    waits = np.flatnonzero(name)
    if not len(waits) or not len(launched.item):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    recorded = _recorded(trace, items, calls, launched)
    by_lane = launched.item[np.lexsort((launched.release, calls.lane[items.call[launched.item]]))]
    lane_of, time_of = calls.lane[items.call[by_lane]], calls.start[items.call[by_lane]]
    time = calls.start[waits]
    target = np.full(len(waits), -1, np.int64)
    before = np.full(len(waits), -1, np.int64)
    for lane, mine in each_value(calls.lane[waits]):
        low, high = np.searchsorted(lane_of, [lane, lane + 1])
        place = np.searchsorted(time_of[low:high], time[mine], side="left")
        target[mine] = np.where(place < high - low, np.append(by_lane[low:high], -1)[place], -1)
        before[mine] = np.where(place > 0, by_lane[low:high][np.maximum(place - 1, 0)], -1) if high > low else -1
    end, own = items.end, items.stream[target]
    source = np.full(len(waits), -1, np.int64)
    streams = distinct(items.stream[launched.item]).tolist()
    if len(streams) <= MOST_STREAMS:
        for stream in streams:
            last = launched.last_before(stream, time)
            later = (last >= 0) & (own != stream) & ((source < 0) | (end[last] > end[source]))
            source[later] = last[later]
    used = items.is_communication[target] & (before >= 0) & (items.stream[before] != own)
    source[used] = before[used]
    if recorded:
        for i, correlation in enumerate(trace.launches.correlation[waits].tolist()):
            if correlation in recorded:
                source[i], target[i] = recorded[correlation]
    kept = (source >= 0) & (target >= 0) & (source != target)
    kept &= end[source] <= items.start[target] + TOLERANCE_NS
    return source[kept], target[kept]


def _recorded(trace: Trace, items: WorkItems, calls: RuntimeCalls, launched: LaunchOrder) -> dict[int, tuple[int, int]]:
    """Return source and target (-1 for none) of waits whose event is known, by the correlation of the call."""
    syncs, work = trace.syncs, trace.device_work
    chosen = np.flatnonzero(syncs.kind == trace.strings.code("Stream Wait Event"))
    if not len(chosen):
        return {}
    stream_number: dict[tuple[int, int], int] = {}
    on_device = np.flatnonzero(items.work >= 0)
    for item in on_device[group([items.stream[on_device]]).first].tolist():
        on_work = items.work[item]
        stream_number[int(work.device[on_work]), int(work.stream[on_work])] = int(items.stream[item])
    place = np.searchsorted(work.row, syncs.row[chosen])
    device = work.device[place].tolist()
    waiting, waited = (
        np.array([stream_number.get(each, -1) for each in zip(device, streams.tolist(), strict=True)], np.int64)
        for streams in (work.stream[place], syncs.wait_on_stream[chosen])
    )
    # of calls with one correlation the last
    ids, from_end = distinct_first(trace.launches.correlation[::-1])
    last = len(calls) - 1 - from_end
    correlation = work.correlation[place]
    record, call = (take_known(last, find(ids, wanted)) for wanted in (syncs.record_correlation[chosen], correlation))
    source, target = np.full(len(chosen), -1, np.int64), np.full(len(chosen), -1, np.int64)
    known = (record >= 0) & (call >= 0)
    for result, streams, item_of, wanted_call in (
        (source, waited, launched.last_before, record),
        (target, waiting, launched.first_after, call),
    ):
        of = np.flatnonzero(known & (streams >= 0))
        for stream, mine in each_value(streams[of]):
            result[of[mine]] = item_of(stream, calls.start[wanted_call[of[mine]]])
    return {
        which: (before, after)
        for which, before, after in zip(
            correlation[known].tolist(), source[known].tolist(), target[known].tolist(), strict=True
        )
    }


def coincidences(items: WorkItems, explained: Int64) -> tuple[Int64, Int64]:
    """Find pairs of items: the second began late for all that is known, when the first, of another stream, ended.

    explained   shape (items,), ns: when the edges so far let each begin
    """
    return Coincidences(items).of(np.arange(len(items)), explained)


class Coincidences:
    """The same for some items at a time."""

    def __init__(self, items: WorkItems) -> None:
        self._items = items
        self._end = items.end
        self._by_end = np.argsort(self._end, kind="stable")
        self._ends = self._end[self._by_end]

    def of(self, item: Int64, explained: Int64) -> tuple[Int64, Int64]:
        """Find the pairs of some items only.

        item        ascending
        explained   ns: when the edges so far let each of these begin
        """
        items, end = self._items, self._end
        late = items.start[item] - explained
        chosen = np.flatnonzero(late > LATE_NS)
        place = np.searchsorted(self._ends, items.start[item[chosen]], side="right")
        window = np.minimum(np.maximum(COINCIDENCE_SHARE * late[chosen], COINCIDENCE_NS), COINCIDENCE_MOST_NS)
        sources, targets = [], []
        for target, at, most in zip(item[chosen].tolist(), place.tolist(), window.tolist(), strict=True):
            for source in self._by_end[max(0, at - _LOOK_BACK) : at][::-1].tolist():
                if items.start[target] - end[source] > most:
                    break
                if items.stream[source] != items.stream[target] and source < target:
                    sources.append(source)
                    targets.append(target)
                    break
        return np.array(sources, np.int64), np.array(targets, np.int64)


#: ns: with more than this between two possible causes, the later one is the cause
CLEAR_NS = 20_000
#: samples that a median needs
FEWEST = 5
#: ns: of the launch and of the gap; a graph of many kernels would make them much longer
LARGEST_NS = 20_000
#: ns, and times the usual delay of a launch: what takes longer than the larger of the two is no latency
LATENCY_NS, LATENCY_FACTOR = 10_000, 3
#: ns: what takes longer is no latency of any device
LONGEST_LATENCY_NS = LATENCY_FACTOR * LARGEST_NS
DEFAULT_LAUNCH_NS, DEFAULT_GAP_NS, DEFAULT_WAKE_NS = 5_000, 1_500, 3_000


class Latencies(msgspec.Struct, frozen=True):
    """Typical delays, ns.

    launch   λ: from a launch to the start of its work, on an idle stream
    gap      γ: from the end of a work item to the start of the next, that was launched long before
    wake     ω: from the end of the work that is waited for to the return of the call that waits
    """

    launch: int
    gap: int
    wake: int


def longest_latencies(items: WorkItems, calls: RuntimeCalls, launch: int) -> Int64:
    """Return shape (items,), ns: the longest that a free device takes to begin each launched work item.

    Between two pieces of one graph no launch was measured: there the longest of all latencies counts.
    """
    in_graph = (items.call >= 0) & (take_known(calls.first_item, items.call) != np.arange(len(items)))
    return np.where(in_graph, LONGEST_LATENCY_NS, max(LATENCY_NS, LATENCY_FACTOR * launch))


def previous_on_stream(items: WorkItems) -> Int64:
    """Return shape (items,): the work item before each one on its stream, by start; -1 for the first."""
    order = np.argsort(items.stream, kind="stable")
    found = np.full(len(items), -1, np.int64)
    if len(items):
        same = items.stream[order[1:]] == items.stream[order[:-1]]
        found[order[1:][same]] = order[:-1][same]
    return found


def launch_and_gap(items: WorkItems, calls: RuntimeCalls, previous: Int64) -> tuple[int, int]:
    """Measure λ and γ: medians over items delayed by their launch alone, or by the item before alone."""
    never = -(2**62)
    release = np.full(len(items), never)
    known = items.call >= 0
    release[known] = calls.release[items.call[known]]
    free = np.where(previous >= 0, items.end[previous], never) if len(items) else np.empty(0, np.int64)
    alone = known & ~items.is_communication & (release > free + CLEAR_NS)
    launch = _usual(items.start[alone] - release[alone], DEFAULT_LAUNCH_NS, LARGEST_NS)
    queued = known & (previous >= 0) & (release + launch + CLEAR_NS < free)
    gap = _usual(items.start[queued] - free[queued], DEFAULT_GAP_NS, LARGEST_NS)
    return launch, gap


def wake_of(late: Int64) -> int:
    """Measure ω: the median of how much later calls returned than the work they waited for ended."""
    return int(median(late)) if len(late) else DEFAULT_WAKE_NS


def _usual(samples: Int64, default: int, largest: int) -> int:
    return max(0, min(int(median(samples)), largest)) if len(samples) >= FEWEST else default
