"""The host time of a graph in its smallest parts, and the parts that lie in some stretches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.replay.host_time import LABELS, HostTime
from torch_tb_profiler.analysis.replay.stretches import Stretches, lanes_of
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.range_sums import positions
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64


@dataclass(frozen=True)
class HostPieces:
    """Work of host threads, without waiting, each piece in one lane edge and of one label. Parallel, shape (pieces,).

    By lane and start, disjoint. Time outside of all lane edges, before the first node of a lane or after its last, is
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


def host_pieces(host: HostTime, waits: Stretches, point_lane: Int64, point_time: Int64, lane_from: Int64) -> HostPieces:
    """Cut the time of all threads at the points and where waiting begins or ends.

    waits                     when threads waited
    point_lane, point_time    shape (points,), by lane and time
    lane_from                 shape (lane edges,): the point where each begins; it ends at the next of its lane
    """
    lane: Int64 = np.concatenate((host.lane, point_lane, waits.lane, waits.lane)).astype(np.int64)
    time = np.concatenate((host.start, point_time, waits.start, waits.end))
    order = stable_order(time)
    order = order[stable_order(lane[order])]
    lane, time = lane[order], time[order]
    pieces, points = len(host.start), len(point_time)
    piece = np.maximum.accumulate(np.where(order < pieces, order, -1)) if len(order) else order
    of_point = (order >= pieces) & (order < pieces + points)
    point = np.maximum.accumulate(np.where(of_point, order - pieces, -1)) if len(order) else order
    begins = (order >= pieces + points) & (order < pieces + points + len(waits))
    waiting = np.cumsum(begins.astype(np.int64) - (order >= pieces + points + len(waits))) > 0
    edge_after = np.full(points + 1, -1, np.int64)
    edge_after[lane_from] = np.arange(len(lane_from))
    edge = edge_after[point]
    end = np.append(time[1:], time[-1:])
    known = (end > time) & (piece >= 0) & (point >= 0) & (edge >= 0) & ~waiting
    known[:-1] &= lane[1:] == lane[:-1]
    at = np.flatnonzero(known)
    at = at[(host.lane[piece[at]] == lane[at]) & (point_lane[point[at]] == lane[at])]
    label = host.label[piece[at]]
    return HostPieces(lane[at].astype(np.int32), time[at], end[at], label, edge[at].astype(np.int32))
