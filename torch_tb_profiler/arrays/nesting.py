"""The general piece under every tree: which interval of a lane lies in which other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeVar

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int32, Int64

Links = TypeVar("Links", Int32, Int64)

# Indexes are made `intp` before they are used: numpy does so anyway, each time and more slowly.

# Pointer jumping settles real traces in a few rounds; random overlaps could need as many as there are intervals.
_MAX_ROUNDS = 64


@dataclass(frozen=True)
class Nesting:
    """A forest over intervals, in preorder: lane by lane, by start, the enclosing interval first.

    order       shape (n,): which given interval stands at each position
    parent      shape (n,): position of the enclosing interval, -1 for none; always below the own position
    depth       shape (n,): how many enclose it
    start, end  shape (n,), in ns; an interval that outlives its parent ends with it
    clamped     shape (n,): true where that happened
    lane        shape (n,)
    """

    order: Int64
    parent: Int32
    start: Int64
    end: Int64
    clamped: Bool
    lane: Int32

    @cached_property
    def depth(self) -> Int32:
        return depths(self.parent)

    def innermost(self, lane: Int32, time: Int64) -> Int32:
        """Position of the innermost interval of a lane that contains a time (start <= time < end), -1 for none."""
        return innermost(self, lane, time)


def nest(lane: Int32, start: Int64, end: Int64, rank: Int32) -> Nesting:
    """Nest intervals [start, end) within each lane.

    Of two intervals with the same start and end, the one of lower `rank` is the outer, then the one given first.
    An interval that starts inside another belongs to it even when it ends later: it is then clamped, never dropped.
    """
    order = outermost_first(lane, start, end, rank)
    lane, start, end = lane[order], start[order], end[order].copy()
    given_end = end.copy()
    parent = parents(lane, start, end)
    children = np.flatnonzero(parent >= 0)
    crossing = distinct(lane[children[end[children] > end[parent[children]]]])
    for first, after in zip(
        np.searchsorted(lane, crossing, "left").tolist(),
        np.searchsorted(lane, crossing, "right").tolist(),
        strict=True,
    ):
        # a cut end changes what the next intervals lie in, so such a lane is walked in order
        parent[first:after] = _nest_by_stack(start[first:after], end[first:after])
        parent[first:after] += np.where(parent[first:after] >= 0, first, 0).astype(np.int32)
    return Nesting(order, parent, start, end, end < given_end, lane)


def outermost_first(lane: Int32, start: Int64, end: Int64, rank: Int32) -> Int64:
    """Sort intervals by lane, start, end (the later one first), rank and the order in which they are given.

    What `np.lexsort` does, made for traces: they are nearly in order of time, have few lanes, and few intervals begin
    together.
    """
    order = np.argsort(start, kind="stable")
    begins, lanes = start[order], lane[order]
    by_lane = stable_order(lanes)
    order, begins, lanes = order[by_lane], begins[by_lane], lanes[by_lane]
    tied = (begins[1:] == begins[:-1]) & (lanes[1:] == lanes[:-1])
    if tied.any():
        among = np.concatenate(([False], tied)) | np.concatenate((tied, [False]))
        place = np.flatnonzero(among)
        bundle = np.cumsum(np.concatenate(([True], ~tied))[place])
        given = order[place]
        order[place] = given[np.lexsort((rank[given], -end[given], bundle))]
    return order


def parents(lane: Int32, start: Int64, end: Int64) -> Int32:
    """For each interval the nearest one before it, in the same lane, that is still open when it starts.

    All look back together: whose candidate has ended goes on to that candidate's own candidate. A candidate's
    own final parent encloses everything that was open when it started, so nothing that could be a parent is
    skipped; the numbers are those of the usual stack.
    """
    n = len(start)
    if not n:
        return np.empty(0, np.int32)
    candidate = np.arange(-1, n - 1)
    begins_lane = np.concatenate(([True], lane[1:] != lane[:-1]))
    alone = begins_lane.copy()
    for low, high in pairwise([*np.flatnonzero(begins_lane).tolist(), n]):
        # nothing is open when all before have ended; on the stream of a device that is nearly always so
        alone[low + 1 : high] = start[low + 1 : high] >= np.maximum.accumulate(end[low : high - 1])
    candidate[alone] = -1
    # those that look on, and where they look: the first time at the one before
    open_ = np.flatnonzero(np.concatenate(([False], end[:-1] <= start[1:])) & ~alone)
    seen = candidate[open_]
    for _ in range(_MAX_ROUNDS):
        seen = candidate[seen]
        candidate[open_] = seen
        within = seen >= 0
        open_, seen = open_[within], seen[within]
        closed = end[seen] <= start[open_]
        open_, seen = open_[closed], seen[closed]
        if not len(open_):
            break
    for i in open_.tolist():
        while candidate[i] >= 0 and end[candidate[i]] <= start[i]:
            candidate[i] = candidate[candidate[i]]
    return candidate.astype(np.int32)


def _nest_by_stack(start: Int64, end: Int64) -> Int32:
    """Parents within one lane, one interval after the other; cuts `end` in place to the parent's."""
    found = np.full(len(start), -1, dtype=np.int32)
    stack: list[int] = []
    ends: list[int] = []
    for i, (begin, finish) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while stack and ends[-1] <= begin:
            stack.pop()
            ends.pop()
        if stack:
            found[i] = stack[-1]
            end[i] = min(finish, ends[-1])
        stack.append(i)
        ends.append(int(end[i]))
    return found


def depths(parent: Int32) -> Int32:
    """Distance to the root, by doubling the jump each round."""
    jump = np.append(parent, -1).astype(np.intp)  # the last place is that of -1
    depth = (jump >= 0).astype(np.int32)
    while jump.max() >= 0:
        depth += depth[jump]
        jump = jump[jump]
    return depth[:-1]


def by_depth(depth: Int32) -> list[Int64]:
    """The positions at each depth from the top, each in ascending order."""
    order = stable_order(depth)
    bounds = np.searchsorted(depth[order], np.arange(int(depth.max(initial=-1)) + 2)).tolist()
    return [order[first:after] for first, after in pairwise(bounds)]


def to_root(link: Links) -> Links:
    """Follow `link` from every entry until it points to itself, doubling the stride each round."""
    while True:
        further = link[link]
        if np.array_equal(further, link):
            return link
        link = further


def innermost(nesting: Nesting, lane: Int32, time: Int64) -> Int32:
    found = last_started(nesting.lane, nesting.start, lane, time).astype(np.intp)
    ends = np.append(nesting.end, np.iinfo(np.int64).max)  # the last place is that of -1
    waiting = np.flatnonzero(ends[found] <= time)
    at = found[waiting]
    while len(waiting):
        at = nesting.parent[at].astype(np.intp)
        found[waiting] = at
        ended = np.flatnonzero(ends[at] <= time[waiting])
        waiting, at = waiting[ended], at[ended]
    return found.astype(np.int32)


def last_started(lanes: Int32, starts: Int64, lane: Int32, time: Int64) -> Int32:
    """Position of the last of (lane, start)-sorted intervals that starts in a lane at or before a time; -1 for none."""
    found = np.full(len(time), -1, dtype=np.int32)
    for on in distinct(lane).tolist():
        asked = np.flatnonzero(lane == on)
        first, last = np.searchsorted(lanes, [on, on + 1])
        place = np.searchsorted(starts[first:last], time[asked], side="right") + first - 1
        found[asked] = np.where(place >= first, place, -1)
    return found


def nearest(parent: Int32, wanted: Bool, start_at: Int32 | Int64) -> Int32:
    """From each position in `start_at`, itself or the nearest ancestor for which `wanted` is true; -1 for none."""
    found = start_at.astype(np.intp)
    unwanted = np.append(~wanted, False)  # the last place is that of -1
    waiting = np.flatnonzero(unwanted[found])
    at = found[waiting]
    while len(waiting):
        at = parent[at].astype(np.intp)
        found[waiting] = at
        further = np.flatnonzero(unwanted[at])
        waiting, at = waiting[further], at[further]
    return found.astype(np.int32)
