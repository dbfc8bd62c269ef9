"""The time of host threads as sets of spans, cut at every event and labelled by the innermost event that runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.distinct import distinct_places, one_of
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.intervals import Spans, intersection, subtraction, union
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import Nesting, to_root
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import positions
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import nest_category
from torch_tb_profiler.model.event_names import SYNCHRONIZE
from torch_tb_profiler.model.model import DATALOADER_NAME
from torch_tb_profiler.spill import spilled, spilled_property
from torch_tb_profiler.trace import Category, Trace


class LaneSpans(msgspec.Struct, frozen=True):
    """[start, end) of threads: disjoint and not touching, by lane and start; parallel, (n,). Made by `lane_union`.

    lane         index into Trace.tracks
    start, end   ns
    """

    lane: Int64
    start: Int64
    end: Int64

    def __len__(self) -> int:
        return len(self.lane)

    def before(self, lane: Int64, time: Int64) -> Int64:
        """Find shape (m,): the span on a lane that began last, strictly before each time; -1 for none."""
        last = np.full(len(time), -1, np.int64)
        order = stable_order(lane)
        on_lane = lane[order]
        for on in lanes_of(self.lane):
            mine = order[slice(*np.searchsorted(on_lane, (on, on + 1)).tolist())]
            if len(mine):
                low, high = np.searchsorted(self.lane, (on, on + 1)).tolist()
                place = np.searchsorted(self.start[low:high], time[mine], side="left") - 1
                last[mine] = np.where(place >= 0, place + low, -1)
        return last

    def ends_in(self, lane: Int64, time: Int64) -> Bool:
        """Return shape (m,): whether what ends at each time on a lane ends in a span: start < time <= end."""
        place = self.before(lane, time)
        found: Bool = (place >= 0) & (time <= np.append(self.end, 0)[place])
        return found


def lanes_of(ascending: Int64) -> list[int]:
    """List the distinct lanes of an ascending column."""
    found: list[int] = ascending[np.append(True, ascending[1:] != ascending[:-1])].tolist() if len(ascending) else []
    return found


def lane_union(lane: Int64, start: Int64, end: Int64) -> LaneSpans:
    """Return the time in at least one of some spans; spans that touch or overlap become one.

    >>> found = lane_union(np.array([1, 0, 1]), np.array([5, 2, 3]), np.array([9, 4, 6]))
    >>> found.lane.tolist(), found.start.tolist(), found.end.tolist()
    ([0, 1], [2, 3], [4, 9])
    """
    return _combined(lambda sets: sets[0], (lane, start, end))


def lane_intersection(a: LaneSpans, b: LaneSpans) -> LaneSpans:
    """Return the time in both.

    >>> one = lane_union(np.array([1]), np.array([5]), np.array([9]))
    >>> lane_intersection(one, lane_union(np.array([0, 1]), np.array([5, 8]), np.array([9, 20]))).start.tolist()
    [8]
    """
    return _combined(lambda sets: intersection(*sets), (a.lane, a.start, a.end), (b.lane, b.start, b.end))


def lane_subtraction(a: LaneSpans, b: LaneSpans) -> LaneSpans:
    """Return the time in `a` that is not in `b`.

    >>> one = lane_union(np.array([1]), np.array([5]), np.array([9]))
    >>> lane_subtraction(one, lane_union(np.array([0, 1]), np.array([5, 8]), np.array([9, 20]))).end.tolist()
    [8]
    """
    return _combined(lambda sets: subtraction(*sets), (a.lane, a.start, a.end), (b.lane, b.start, b.end))


def _combined(function: Callable[[list[Spans]], Spans], *sets: tuple[Int64, Int64, Int64]) -> LaneSpans:
    """Apply a function of one-dimensional sets to (lane, time): lane after lane, times by their rank."""
    times, rank = distinct_places(np.concatenate([each for _, *ends in sets for each in ends]).astype(np.int64))
    n, done, keyed = max(len(times), 1), 0, []
    for lane, start, _ in sets:
        first, last = rank[done : done + len(start)], rank[done + len(start) : done + 2 * len(start)]
        keyed.append(union(lane.astype(np.int64) * n + first, lane.astype(np.int64) * n + last))
        done += 2 * len(start)
    found = function(keyed)
    return LaneSpans(found.start // n, times[found.start % n], times[found.end % n])


class Label(IntEnum):
    """What a segment of host time is; a change scales all segments of a label."""

    PYTHON = 0  # no operator and no call: a frame, an annotation, or a short break between two events
    OPERATOR = 1
    DATA = 2  # anything while the next batch is fetched
    LAUNCH = 3  # calls that start device work
    BLOCKING = 4  # calls that wait for the device; only those that did not have to wait have a length
    ALLOCATOR = 5
    API = 6  # other calls of a device's API
    COLLECTIVE = 7  # a collective that runs on the host
    UNEXPLAINED = 8  # nothing was recorded for so long that nobody knows


ALLOCATOR = lazy_pattern(
    r"Malloc|Free(?!ze)|HostAlloc|USM\w{0,100}Alloc|HostRegister|HostUnregister|MemAlloc|MemCreate|MemMap|MemUnmap"
)
#: ranges of collectives that run on the host
HOST_COLLECTIVE = lazy_pattern(r"(?:gloo|mpi|ucc):")
API_CATEGORIES = (Category.RUNTIME, Category.DRIVER)
HOST_CATEGORIES = (Category.USER_ANNOTATION, Category.OPERATOR, *API_CATEGORIES)


def host_labels(trace: Trace, row: Int32, nesting: Nesting, launches: Bool) -> Int8:
    """Label each host event.

    row        shape (n,): events in the preorder of `nesting`
    launches   shape (events,): the calls that started device work
    Returns shape (n,). A call inside another call has the label of the outer one.
    """
    category, name = trace.events.category[row], trace.events.name[row]
    strings = trace.strings

    def named(pattern: re.Pattern[str]) -> Bool:
        found: Bool = strings.where(pattern.search, name)[name]
        return found

    label = np.full(len(row), Label.OPERATOR, np.int8)
    label[category == Category.USER_ANNOTATION] = Label.PYTHON
    label[(category == Category.USER_ANNOTATION) & named(HOST_COLLECTIVE)] = Label.COLLECTIVE
    is_call = one_of(category, API_CATEGORIES)
    calls = np.full(len(row), Label.API, np.int8)
    calls[named(ALLOCATOR)] = Label.ALLOCATOR
    calls[named(SYNCHRONIZE)] = Label.BLOCKING
    calls[launches[row]] = Label.LAUNCH
    label[is_call] = calls[is_call]
    inner = np.flatnonzero(is_call & (nesting.parent >= 0))
    inner = inner[is_call[nesting.parent[inner]]]
    for at in inner.tolist():  # a parent stands before its children
        label[at] = label[nesting.parent[at]]
    is_data = (category == Category.USER_ANNOTATION) & strings.where(DATALOADER_NAME.search, name)[name]
    if is_data.any():
        # up to the innermost range of loading, else to the outermost range
        own = np.arange(len(row), dtype=np.int32)
        label[is_data[to_root(np.where(is_data | (nesting.parent < 0), own, nesting.parent))]] = Label.DATA
    return label


LABELS = len(Label)


class HostTime(msgspec.Struct, frozen=True, dict=True):
    """The time of all host threads, cut where an operator, an annotation or a call begins or ends.

    row        shape (nodes,): the events, in the preorder of `nesting`
    lane       shape (segments,): index into Trace.tracks; ascending
    start      shape (segments,), ns: ascending within a lane; a segment ends where the next one of its lane begins
    label      shape (segments,)
    node       shape (segments,): position of the innermost event in `nesting`, -1 for none
    lanes      number of tracks
    """

    row: Int32
    nesting: Nesting
    lane: Int32
    start: Int64
    label: Int8
    node: Int32
    lanes: int

    @property
    def length(self) -> Int64:
        """Shape (segments,), ns: 0 for the last of each lane, which has no end."""
        length = np.zeros(len(self.start), np.int64)
        if len(length):
            length[:-1] = np.where(self.lane[1:] == self.lane[:-1], self.start[1:] - self.start[:-1], 0)
        return length

    @spilled_property
    def first(self) -> Int64:
        """Shape (lanes + 1,): where the segments of each lane begin."""
        return np.searchsorted(self.lane, np.arange(self.lanes + 1)).astype(np.int64)

    def boundaries(self, lane: int) -> Int64:
        """Return the times at which the segments of a lane begin, ns, ascending."""
        return self.start[self.first[lane] : self.first[lane + 1]]

    def place(self, lane: Int64, time: Int64) -> Int64:
        """Find the segment of a lane at each time; before the first segment that one, -1 where the lane has none."""
        segment = np.full(len(time), -1, np.int64)
        order = stable_order(lane)
        bounds = np.searchsorted(lane[order], np.arange(self.lanes + 1))
        for on in np.flatnonzero(np.diff(bounds)).tolist():
            low, high = int(self.first[on]), int(self.first[on + 1])
            if high > low:
                mine = order[bounds[on] : bounds[on + 1]]
                at = np.searchsorted(self.start[low:high], time[mine], side="right") - 1
                segment[mine] = np.maximum(at, 0) + low
        return segment


def host_time(trace: Trace, launches: Bool, marks: tuple[int, int] | None) -> HostTime:
    """Cut the time of every host thread.

    launches   shape (events,): the calls that started device work
    marks      the track of the main thread and the start of its first step: its time counts from there at least
    """
    row, nesting = spilled(nest_category(trace, HOST_CATEGORIES))
    label = spilled(host_labels(trace, row, nesting, launches))
    long = np.flatnonzero(nesting.end > nesting.start)
    back = long[::-1]
    # what ends comes before what begins; of several ends the outermost last, of several beginnings the innermost
    extra = [] if marks is None or (len(long) and _covers(nesting, long, marks)) else [marks]
    lane = np.concatenate((nesting.lane[back], nesting.lane[long], np.array([m[0] for m in extra], np.int32)))
    time = np.concatenate((nesting.end[back], nesting.start[long], np.array([m[1] for m in extra], np.int64)))
    node = np.concatenate((nesting.parent[back].astype(np.int64), long, np.full(len(extra), -1)))
    lane, time, node = spilled((lane, time, node))
    del long, back
    order = stable_order(time)
    order = order[stable_order(lane[order])]
    lane, time, node = spilled((lane[order], time[order], node[order]))
    del order
    if len(time):
        last = np.append((time[1:] != time[:-1]) | (lane[1:] != lane[:-1]), True)
        lane, time, node = lane[last], time[last], node[last]
    of_piece = np.append(label, np.int8(Label.PYTHON))[node]  # the last place is that of -1
    return HostTime(row, nesting, lane, time, of_piece, node.astype(np.int32), len(trace.tracks))


def _covers(nesting: Nesting, long: Int64, marks: tuple[int, int]) -> bool:
    """Return whether the lane of the marks has begun when the first step does."""
    mine = long[nesting.lane[long] == marks[0]]
    return len(mine) > 0 and int(nesting.start[mine].min()) <= marks[1]


class HostSegments(msgspec.Struct, frozen=True):
    """Work of host threads, without waiting, each in one lane edge and of one label. Parallel, shape (segments,).

    By lane and start, disjoint. Time outside all lane edges, before the first node of a lane or after its last, is
    left out.

    lane         index into Trace.tracks
    start, end   ns
    label        a Label
    edge         row of Graph.lane_times
    """

    lane: Int32
    start: Int64
    end: Int64
    label: Int8
    edge: Int32

    def __len__(self) -> int:
        return len(self.lane)

    def within(self, spans: LaneSpans) -> tuple[HostSegments, Int64]:
        """Return the parts of segments inside spans, shape (parts,), and the span that each lies in."""
        first, after = np.zeros(len(spans), np.int64), np.zeros(len(spans), np.int64)
        for on in lanes_of(spans.lane):
            mine = slice(*np.searchsorted(spans.lane, (on, on + 1)).tolist())
            low, high = np.searchsorted(self.lane, (on, on + 1)).tolist()
            first[mine] = low + np.searchsorted(self.end[low:high], spans.start[mine], side="right")
            after[mine] = low + np.searchsorted(self.start[low:high], spans.end[mine], side="left")
        after = np.maximum(after, first)
        chosen, of = positions(first, after), np.repeat(np.arange(len(spans)), after - first)
        found = self.take(chosen)
        start, end = np.maximum(found.start, spans.start[of]), np.minimum(found.end, spans.end[of])
        return HostSegments(found.lane, start, end, found.label, found.edge), of

    def take(self, chosen: Int64 | Bool) -> HostSegments:
        """Select some of them."""
        return HostSegments(
            self.lane[chosen], self.start[chosen], self.end[chosen], self.label[chosen], self.edge[chosen]
        )

    def spent(self, lane: Int64, start: Int64, end: Int64) -> Int64:
        """Return shape (m, labels), ns: work of each label on a lane from each start to each end; shape (m,), in any
        order.
        """
        order = np.lexsort((start, lane))
        parts, of = self.within(LaneSpans(lane[order], start[order], np.maximum(start, end)[order]))
        return sums_at(order[of] * LABELS + parts.label, parts.end - parts.start, len(lane) * LABELS).reshape(
            -1, LABELS
        )

    def sums(self, edges: int) -> Int64:
        """Return shape (lane edges, labels), ns: Graph.lane_times."""
        return sums_at(self.place, self.end - self.start, edges * LABELS).reshape(edges, LABELS)

    @property
    def place(self) -> Int64:
        """Shape (segments,): where the time of each counts in Graph.lane_times, row after row."""
        found: Int64 = self.edge.astype(np.int64) * LABELS + self.label
        return found


def host_segments(
    host: HostTime, waits: LaneSpans, silent: LaneSpans, point_lane: Int64, point_time: Int64, lane_from: Int64
) -> HostSegments:
    """Cut the time of all threads at the points and where waiting or silence begins or ends.

    waits                     when threads waited
    silent                    when nobody knows what threads did
    point_lane, point_time    shape (points,), by lane and time
    lane_from                 shape (lane edges,): the point where each begins; it ends at the next of its lane
    """
    points = len(point_time)
    cut_lane: Int64 = np.concatenate((point_lane, waits.lane, waits.lane, silent.lane, silent.lane)).astype(np.int64)
    cut_time = np.concatenate((point_time, waits.start, waits.end, silent.start, silent.end))
    order = stable_order(cut_time)
    order = order[stable_order(cut_lane[order])]
    cut_lane, cut_time = cut_lane[order], cut_time[order]
    # all moments in order: those where segments begin, and between them the cuts, behind what begins at the same time
    after = _begun(host, cut_lane, cut_time)
    size = len(host.start) + len(order)
    at_cut = after + np.arange(len(order))
    counts = np.ones(size, np.bool_)
    counts[at_cut] = False
    time, label = np.empty(size, np.int64), np.empty(size, np.int8)
    time[counts], label[counts] = host.start, host.label
    time[at_cut] = cut_time
    # behind a cut goes on what has begun on its lane, if anything has
    label[at_cut] = take_known(host.label, after - 1)
    counts[at_cut] = take_known(host.lane, after - 1, -1) == cut_lane

    def inside(spans: LaneSpans, first: int) -> Bool:
        """Return whether each moment is in one of some spans, whose cuts begin with number `first`."""
        n = len(spans)
        begun = (order >= first) & (order < first + n)
        ended = (order >= first + n) & (order < first + 2 * n)
        return _held(at_cut, np.cumsum(begun.astype(np.int64) - ended) > 0, False, size)

    if len(waits):
        counts &= ~inside(waits, points)
    if len(silent):
        label[inside(silent, points + 2 * len(waits))] = Label.UNEXPLAINED
    # an edge goes from one point of a lane to the next, so that all moments between them are of its lane
    edge_after = np.full(points, -1, np.int32)
    edge_after[lane_from] = np.arange(len(lane_from))
    at_point = at_cut[order < points]
    edge, lane = _held(at_point, edge_after, -1, size), _held(at_point, point_lane.astype(np.int32), -1, size)
    counts &= edge >= 0
    counts[:-1] &= time[1:] > time[:-1]
    counts[-1:] = False
    return HostSegments(lane[counts], time[counts], time[1:][counts[:-1]], label[counts], edge[counts])


def _held(at: Int64, values: npt.NDArray[Any], before: int, size: int) -> npt.NDArray[Any]:
    """Expand steps: each of `size` moments has the value of the last of `at` (ascending) up to it, or `before`."""
    lengths = np.diff(np.concatenate(([0], at, [size])))
    return np.repeat(np.append(np.array([before], values.dtype), values), lengths)


def _begun(host: HostTime, lane: Int64, time: Int64) -> Int64:
    """Return shape (m,), by lane: how many segments of earlier lanes, and of this lane until each time, have begun."""
    bounds = np.searchsorted(lane, np.arange(host.lanes + 1))
    found = np.empty(len(lane), np.int64)
    for on in np.flatnonzero(np.diff(bounds)).tolist():
        low, high = int(host.first[on]), int(host.first[on + 1])
        mine = slice(bounds[on], bounds[on + 1])
        found[mine] = low + np.searchsorted(host.start[low:high], time[mine], side="right")
    return found
