"""Nest the intervals of each lane, and walk from the nodes of a forest to their ancestors."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeVar

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run, distinct
from torch_tb_profiler.arrays.lookup import LaneIndex, bounds_of
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.spill import spilled_property

Links = TypeVar("Links", Int32, Int64)

# Indexes are converted to `intp` before they are used: numpy converts them each time, and more slowly.

# Pointer jumping needs few rounds for intervals that nest; for random overlaps it could need one per interval.
_MAX_ROUNDS = 64


class Nesting(msgspec.Struct, frozen=True, dict=True):
    """A forest of intervals, in preorder: lane by lane, by start, the enclosing interval first. Made by `nest`.

    order       shape (n,): which given interval stands at each position
    parent      shape (n,): position of the enclosing interval, always an earlier one; -1 for none
    depth       shape (n,): how many intervals enclose it
    start, end  shape (n,); an interval that ends after its parent is cut to end with it
    clamped     shape (n,): whether it was cut
    lane        shape (n,)
    """

    order: Int32
    parent: Int32
    start: Int64
    end: Int64
    clamped: Bool
    lane: Int32

    @spilled_property
    def depth(self) -> Int32:
        """Count the intervals that enclose each."""
        return depths(self.parent)

    def innermost(self, lane: Int32, time: Int64) -> Int32:
        """Return the innermost interval of a lane that contains a time (start <= time < end); -1 for none.

        lane, time   shape (m,)
        Returns shape (m,). Takes (n + m) · log(depth) operations in deep trees.
        """
        position = last_started(self.lane, self.start, lane, time).astype(np.intp)
        ends = np.append(self.end, np.iinfo(np.int64).max)  # the last place is that of -1
        waiting = np.flatnonzero(ends[position] <= time)
        interval = position[waiting]
        for _ in range(_FEW_LEVELS):
            if not len(waiting):
                break
            interval = self.parent[interval].astype(np.intp)
            position[waiting] = interval
            ended = np.flatnonzero(ends[interval] <= time[waiting])
            waiting, interval = waiting[ended], interval[ended]
        if len(waiting):
            # deep: no interval ends after its parent, so pointer doubling finds the last one that has ended
            jumps = [np.append(self.parent, np.int32(-1))]
            while int(jumps[-1].max()) >= 0:
                jumps.append(jumps[-1][jumps[-1]])
            until = time[waiting]
            for jump in reversed(jumps):
                above = jump[interval]
                interval = np.where(ends[above] <= until, above, interval)
            position[waiting] = self.parent[interval]
        return position.astype(np.int32)


def nest(lane: Int32, start: Int64, end: Int64, rank: Int32, rounding: int = 0) -> Nesting:
    """Nest intervals [start, end) within each lane.

    lane, start, end, rank   shape (n,), in any order; no interval may end before it starts
    rounding                 an interval that starts exactly this long before another ends, and ends later, follows
                             it: the other is cut to where it starts, and does not count as clamped
    Of two intervals with the same start and end, the one of lower `rank` is outside, then the one given first.
    An interval that starts inside another one belongs to it even when it ends later: then it is cut, never dropped.

    >>> lane, rank = np.zeros(3, np.int32), np.zeros(3, np.int32)
    >>> found = nest(lane, np.array([2, 0, 6]), np.array([4, 8, 9]), rank)
    >>> found.order.tolist(), found.parent.tolist(), found.end.tolist()
    ([1, 0, 2], [-1, 0, 0], [8, 4, 8])
    >>> found.innermost(np.zeros(3, np.int32), np.array([3, 5, 8])).tolist()
    [1, 0, -1]
    """
    order = outermost_first(lane, start, end, rank)
    lane, start, end = lane[order], start[order], end[order].copy()
    parent = parents(lane, start, end)
    children = np.flatnonzero(parent >= 0)
    if rounding:
        late = children[end[children] > end[parent[children]]]
        late = late[start[late] == end[parent[late]] - rounding]
        if len(late):
            begins = LaneIndex(lane[late], start[late])
            ends = begins.between(lane, end - rounding, end - rounding + 1) > 0
            cut = np.flatnonzero(ends & (start < end - rounding))
            end[cut] -= rounding
            parent = parents(lane, start, end)
            children = np.flatnonzero(parent >= 0)
    given_end = end.copy()
    crossing = distinct(lane[children[end[children] > end[parent[children]]]])
    for first, after in zip(
        np.searchsorted(lane, crossing, "left").tolist(),
        np.searchsorted(lane, crossing, "right").tolist(),
        strict=True,
    ):
        # a cut end changes the parents of the next intervals, so such a lane needs a stack
        parent[first:after] = _nest_by_stack(start[first:after], end[first:after])
        parent[first:after] += np.where(parent[first:after] >= 0, first, 0).astype(np.int32)
    return Nesting(order.astype(np.int32), parent, start, end, end < given_end, lane)


def outermost_first(lane: Int32, start: Int64, end: Int64, rank: Int32) -> Int64:
    """Return the positions that sort intervals by lane, start, end (the later one first), rank, and input order.

    lane, start, end, rank   shape (n,)
    Returns shape (n,): what `np.lexsort((rank, -end, start, lane))` gives, faster where starts are nearly sorted, lanes
    are few and few intervals start together.

    >>> lane, rank = np.array([1, 0, 0], np.int32), np.zeros(3, np.int32)
    >>> outermost_first(lane, np.array([0, 5, 5]), np.array([9, 6, 8]), rank).tolist()
    [2, 1, 0]
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
    """Return for each interval the nearest earlier one of its lane that has not ended when it starts; -1 for none.

    lane, start, end   shape (n,), in the order of `outermost_first`
    Returns shape (n,).

    All intervals look back together, first to the interval before. If this candidate has ended, its own candidate is
    next. A candidate's final parent encloses everything that was open when the candidate started, so no interval
    that is still open is skipped: the result is that of the usual stack.

    >>> parents(np.zeros(4, np.int32), np.array([0, 1, 3, 5]), np.array([9, 2, 6, 7])).tolist()
    [-1, 0, 0, 2]
    """
    n = len(start)
    if not n:
        return np.empty(0, np.int32)
    candidate = np.arange(-1, n - 1)
    begins_lane = np.concatenate(([True], lane[1:] != lane[:-1]))
    alone = begins_lane.copy()
    bounds = np.append(np.flatnonzero(begins_lane), n)
    several = np.flatnonzero(np.diff(bounds) > 1)
    for low, high in zip(bounds[several].tolist(), bounds[several + 1].tolist(), strict=True):
        # no interval is open when all before have ended, as is common where they do not nest at all
        alone[low + 1 : high] = start[low + 1 : high] >= np.maximum.accumulate(end[low : high - 1])
    candidate[alone] = -1
    # intervals whose candidate has ended, and these candidates
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
    """Find parents within one lane, one interval after the other; cut `end` in place to the end of the parent."""
    parent = np.full(len(start), -1, dtype=np.int32)
    stack: list[int] = []
    ends: list[int] = []
    for i, (begin, finish) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while stack and ends[-1] <= begin:
            stack.pop()
            ends.pop()
        if stack:
            parent[i] = stack[-1]
            end[i] = min(finish, ends[-1])
        stack.append(i)
        ends.append(int(end[i]))
    return parent


def depths(parent: Int32) -> Int32:
    """Return the distance of each node to its root, by pointer doubling.

    parent   shape (n,): the position of the parent, anywhere; -1 for a root
    Returns shape (n,).

    >>> depths(np.array([-1, 0, 1, 0], np.int32)).tolist()
    [0, 1, 2, 1]
    """
    jump = np.append(parent, -1).astype(np.intp)  # the last place is that of -1
    depth = (jump >= 0).astype(np.int32)
    while jump.max() >= 0:
        depth += depth[jump]
        jump = jump[jump]
    return depth[:-1]


def by_depth(depth: Int32) -> list[Int64]:
    """Return the positions at each depth from 0 on, ascending.

    depth   shape (n,)

    >>> [level.tolist() for level in by_depth(np.array([0, 1, 2, 1], np.int32))]
    [[0], [1, 3], [2]]
    """
    order = stable_order(depth)
    bounds = bounds_of(depth[order], int(depth.max(initial=-1)) + 1).tolist()
    return [order[first:after] for first, after in pairwise(bounds)]


def to_root(link: Links) -> Links:
    """Follow the links of each position to the end, a position that links to itself, by pointer doubling.

    link   shape (n,): positions, without cycles longer than one
    Returns shape (n,).

    >>> to_root(np.array([0, 0, 1, 3])).tolist()
    [0, 0, 0, 3]
    """
    found = link.copy()
    under_way = np.flatnonzero(link != np.arange(len(link)))
    while len(under_way):
        at = found[under_way]
        further = found[at]
        moves = np.flatnonzero(further != at)
        under_way = under_way[moves]
        found[under_way] = further[moves]
    return found


#: up to so many lanes a loop over lanes is faster
_FEW_LANES = 64


def last_started(lanes: Int32, starts: Int64, lane: Int32, time: Int64) -> Int32:
    """Return the last interval that starts in a lane at or before a time; -1 for none.

    lanes, starts   shape (n,), sorted by lane, then start
    lane, time      shape (m,): the lanes and times to look up
    Returns shape (m,).

    >>> lanes, starts = np.array([0, 0, 2], np.int32), np.array([1, 5, 3])
    >>> last_started(lanes, starts, np.array([0, 0, 2], np.int32), np.array([4, 0, 9])).tolist()
    [0, -1, 2]
    """
    positions = np.full(len(time), -1, dtype=np.int32)
    order = stable_order(lane)
    bounds = np.append(np.flatnonzero(begins_run(lane[order])), len(order))
    if len(bounds) > _FEW_LANES:
        return LaneIndex(lanes, starts).last(lane, time).astype(np.int32)
    for low, high in pairwise(bounds.tolist()):
        queries = order[low:high]
        on = int(lane[queries[0]])
        first, last = np.searchsorted(lanes, [on, on + 1])
        place = np.searchsorted(starts[first:last], time[queries], side="right") + first - 1
        positions[queries] = np.where(place >= first, place, -1)
    return positions


def on_paths(parent: Int32, nodes: Int32 | Int64) -> Bool:
    """Return which nodes are among `nodes` or their ancestors.

    parent   shape (n,): the position of the parent, -1 for a root
    nodes    shape (m,); -1 for none
    Returns shape (n,). Takes n + m operations: each node is passed once.

    >>> on_paths(np.array([-1, 0, 1, 0], np.int32), np.array([1, -1])).tolist()
    [True, True, False, False]
    """
    passed = np.zeros(len(parent) + 1, np.bool_)
    passed[-1] = True  # the place of -1
    last = np.empty(len(parent), np.int32)
    level = nodes.astype(np.intp)
    while len(level):
        level = level[~passed[level]]
        passed[level] = True
        # one of several equal nodes goes on
        number = np.arange(len(level), dtype=np.int32)
        last[level] = number
        level = parent[level[last[level] == number]].astype(np.intp)
    return passed[:-1]


#: single moves upwards before pointer doubling; enough for usual programs
_FEW_LEVELS = 40


def nearest(parent: Int32, wanted: Bool, start_at: Int32 | Int64) -> Int32:
    """Return the nearest wanted node from each node upwards: itself or an ancestor; -1 for none.

    parent     shape (n,): the position of the parent, -1 for a root
    wanted     shape (n,)
    start_at   shape (m,): nodes; -1 for none
    Returns shape (m,). Takes n · log(depth) + m operations in deep trees.

    >>> parent, wanted = np.array([-1, 0, 1], np.int32), np.array([True, False, False])
    >>> nearest(parent, wanted, np.array([2, 0, -1])).tolist()
    [0, 0, -1]
    """
    if not wanted.any():
        return np.full(len(start_at), -1, np.int32)
    result = start_at.astype(np.intp)
    unwanted = np.append(~wanted, False)  # the last place is that of -1
    waiting = np.flatnonzero(unwanted[result])
    node = result[waiting]
    for _ in range(_FEW_LEVELS):
        if not len(waiting):
            break
        node = parent[node].astype(np.intp)
        result[waiting] = node
        further = np.flatnonzero(unwanted[node])
        waiting, node = waiting[further], node[further]
    if len(waiting):
        # deep: the links are made twice as long in each round
        nodes = len(parent)
        link = np.append(np.where(wanted, np.arange(nodes), np.where(parent < 0, nodes, parent)), nodes)
        nearest_of = to_root(link)[node]
        result[waiting] = np.where(nearest_of < nodes, nearest_of, -1)
    return result.astype(np.int32)
