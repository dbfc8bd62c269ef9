"""What delays work on a device: its launch, the work before it, other streams."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.inputs import Calls, Items, calls_of, items_of
from torch_tb_profiler.arrays.distinct import distinct, distinct_first
from torch_tb_profiler.arrays.grouping import each_value, group
from torch_tb_profiler.arrays.lookup import find, take_known
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


class Launched(msgspec.Struct, frozen=True):
    """Items with a known call, stream by stream in the order of their launches.

    item      shape (n,): index into Items
    release   shape (n,), ns: ascending within a stream
    first     shape (streams + 1,): where each stream begins
    """

    item: Int64
    release: Int64
    first: Int64

    @classmethod
    def of(cls, items: Items, calls: Calls) -> Launched:
        known = np.flatnonzero(items.call >= 0)
        at = calls.start[items.call[known]]
        order = np.lexsort((known, at, items.stream[known]))
        streams = int(items.stream.max(initial=-1)) + 1
        first = np.searchsorted(items.stream[known][order], np.arange(streams + 1))
        return cls(known[order], at[order], first.astype(np.int64))

    def last_before(self, stream: int, time: Int64) -> Int64:
        """The last item launched on a stream before each time; -1 for none."""
        low, high = int(self.first[stream]), int(self.first[stream + 1])
        place = np.searchsorted(self.release[low:high], time, side="left") - 1
        return np.where(place >= 0, self.item[low:high][np.maximum(place, 0)], -1) if high > low else place * 0 - 1

    def first_after(self, stream: int, time: Int64) -> Int64:
        """The first item launched on a stream after each time; -1 for none."""
        low, high = int(self.first[stream]), int(self.first[stream + 1])
        return np.append(self.item[low:high], -1)[np.searchsorted(self.release[low:high], time, side="right")]


@cached
def stream_waits(model: Model) -> tuple[Int64, Int64]:
    """Pairs of items of the model: the second's stream waited for the first, as `cudaStreamWaitEvent` asked.

    Where the profiler recorded what was waited for, that is taken. Else the next item of the thread that called waits:
    a collective for the stream that the thread used last, other work for what ends latest on other streams.
    A source that ends after its target began is not one.
    """
    trace, items, calls = model.trace, items_of(model), calls_of(model)
    launched = Launched.of(items, calls)
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


def _recorded(trace: Trace, items: Items, calls: Calls, launched: Launched) -> dict[int, tuple[int, int]]:
    """By the correlation of the call: source and target, -1 where there is none, of waits whose event is known."""
    syncs, work = trace.syncs, trace.device_work
    chosen = np.flatnonzero(syncs.kind == trace.strings.code("Stream Wait Event"))
    if not len(chosen):
        return {}
    stream_number: dict[tuple[int, int], int] = {}
    on_device = np.flatnonzero(items.work >= 0)
    for item in on_device[group([items.stream[on_device]]).first].tolist():
        at = items.work[item]
        stream_number[int(work.device[at]), int(work.stream[at])] = int(items.stream[item])
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
    for at, streams, item_of, asked in (
        (source, waited, launched.last_before, record),
        (target, waiting, launched.first_after, call),
    ):
        of = np.flatnonzero(known & (streams >= 0))
        for stream, mine in each_value(streams[of]):
            at[of[mine]] = item_of(stream, calls.start[asked[of[mine]]])
    return {
        which: (before, after)
        for which, before, after in zip(
            correlation[known].tolist(), source[known].tolist(), target[known].tolist(), strict=True
        )
    }


def coincidences(items: Items, explained: Int64) -> tuple[Int64, Int64]:
    """Pairs of items: the second began when the first, of another stream, ended, and late for all that is known.

    explained   shape (items,), ns: when the edges so far let each begin
    """
    return Coincidences(items).of(np.arange(len(items)), explained)


class Coincidences:
    """The same for some items at a time."""

    def __init__(self, items: Items) -> None:
        self._items = items
        self._end = items.end
        self._by_end = np.argsort(self._end, kind="stable")
        self._ends = self._end[self._by_end]

    def of(self, item: Int64, explained: Int64) -> tuple[Int64, Int64]:
        """item: ascending; explained: when the edges so far let each of these begin."""
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
