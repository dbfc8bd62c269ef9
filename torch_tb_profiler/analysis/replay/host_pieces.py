"""The host time of a graph in its smallest parts, and the parts that lie in some stretches."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.replay.host_time import LABELS, HostTime
from torch_tb_profiler.analysis.replay.labels import Label
from torch_tb_profiler.analysis.replay.stretches import Stretches, lanes_of
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import positions
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64


class HostPieces(msgspec.Struct, frozen=True):
    """Work of host threads, without waiting, each piece in one lane edge and of one label. Parallel, shape (pieces,).

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

    def within(self, stretches: Stretches) -> tuple[HostPieces, Int64]:
        """The parts of pieces in stretches, shape (parts,), and the stretch that each lies in."""
        first, after = np.zeros(len(stretches), np.int64), np.zeros(len(stretches), np.int64)
        for on in lanes_of(stretches.lane):
            asked = slice(*np.searchsorted(stretches.lane, (on, on + 1)).tolist())
            low, high = np.searchsorted(self.lane, (on, on + 1)).tolist()
            first[asked] = low + np.searchsorted(self.end[low:high], stretches.start[asked], side="right")
            after[asked] = low + np.searchsorted(self.start[low:high], stretches.end[asked], side="left")
        after = np.maximum(after, first)
        chosen, of = positions(first, after), np.repeat(np.arange(len(stretches)), after - first)
        found = self.take(chosen)
        start, end = np.maximum(found.start, stretches.start[of]), np.minimum(found.end, stretches.end[of])
        return HostPieces(found.lane, start, end, found.label, found.edge), of

    def take(self, chosen: Int64 | Bool) -> HostPieces:
        """Some of them."""
        return HostPieces(
            self.lane[chosen], self.start[chosen], self.end[chosen], self.label[chosen], self.edge[chosen]
        )

    def spent(self, lane: Int64, start: Int64, end: Int64) -> Int64:
        """Shape (m, labels), ns: work of each label on a lane from each start to each end; shape (m,), in any order."""
        order = np.lexsort((start, lane))
        parts, of = self.within(Stretches(lane[order], start[order], np.maximum(start, end)[order]))
        return sums_at(order[of] * LABELS + parts.label, parts.end - parts.start, len(lane) * LABELS).reshape(
            -1, LABELS
        )

    def sums(self, edges: int) -> Int64:
        """Shape (lane edges, labels), ns: Graph.lane_times."""
        return sums_at(self.place, self.end - self.start, edges * LABELS).reshape(edges, LABELS)

    @property
    def place(self) -> Int64:
        """Shape (pieces,): where the time of each counts in Graph.lane_times, row after row."""
        found: Int64 = self.edge.astype(np.int64) * LABELS + self.label
        return found


def host_pieces(
    host: HostTime, waits: Stretches, silent: Stretches, point_lane: Int64, point_time: Int64, lane_from: Int64
) -> HostPieces:
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
    # all moments in order: those where pieces begin, and between them the cuts, behind what begins at the same time
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

    def inside(stretches: Stretches, first: int) -> Bool:
        """Whether each moment is in one of some stretches, whose cuts begin with that number."""
        n = len(stretches)
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
    return HostPieces(lane[counts], time[counts], time[1:][counts[:-1]], label[counts], edge[counts])


def _held(at: Int64, values: npt.NDArray[Any], before: int, size: int) -> npt.NDArray[Any]:
    """What holds at each of `size` moments: from each of `at`, ascending, its value on, and before them `before`."""
    lengths = np.diff(np.concatenate(([0], at, [size])))
    return np.repeat(np.append(np.array([before], values.dtype), values), lengths)


def _begun(host: HostTime, lane: Int64, time: Int64) -> Int64:
    """How many pieces of all lanes before, and of this lane until a time, have begun; shape (m,), by lane."""
    bounds = np.searchsorted(lane, np.arange(host.lanes + 1))
    found = np.empty(len(lane), np.int64)
    for on in np.flatnonzero(np.diff(bounds)).tolist():
        low, high = int(host.first[on]), int(host.first[on + 1])
        asked = slice(bounds[on], bounds[on + 1])
        found[asked] = low + np.searchsorted(host.start[low:high], time[asked], side="right")
    return found
