"""When each node of a graph comes, given how much later than its sources."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct_counts
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import by_depth, depths, to_root
from torch_tb_profiler.arrays.order import inverse, stable_order
from torch_tb_profiler.arrays.ranges import positions
from torch_tb_profiler.arrays.types import Bool, Int64

#: ns: a source that no longer counts; two of them can be added
_NEVER = -(2**61)


def solve(nodes: int, source: Sequence[int], target: Sequence[int], delay: Int64) -> Int64:
    """Find the longest path to each node. One plain loop: graphs of traces are deep and narrow.

    source, target   (edges,), ascending by target; each source is a lower number than its target
    delay            shape (edges,), ns, none below 0
    Returns shape (nodes,), ns: the largest of (time of source + delay); 0 for nodes without an edge.

    >>> solve(3, [0, 0, 1], [1, 2, 2], np.array([5, 9, 3])).tolist()
    [0, 5, 9]
    """
    times = [0] * nodes
    for at, to, later in zip(source, target, delay.tolist(), strict=True):
        time = times[at] + later
        if time > times[to]:  # noqa: PLR1730 - a third faster than max()
            times[to] = time
    return np.array(times, np.int64)


class _Paths(msgspec.Struct, frozen=True):
    """Nodes with one cause, as paths from cause to effect: what a path adds up to is a running sum.

    A path goes on to the effect that has most behind it, so that only few begin at a node of another.

    node      shape (n,): path after path, from its beginning
    path      shape (n,): which path
    begin     shape (paths,): where each begins
    rounds    paths that begin at nodes of other paths: which ones, and where in `node` their cause is; those of a round
              follow from the rounds before
    """

    node: Int64
    path: Int64
    begin: Int64
    rounds: tuple[tuple[Int64, Int64], ...]

    def offsets(self, delay: Int64) -> Int64:
        """Return shape (n,): how much later each node is than the beginning of everything that depends on it alone.

        delay   shape (n,): how much later than its cause
        """
        total = np.cumsum(delay)
        before = np.append(0, total)[self.begin]
        for paths, cause in self.rounds:
            # where the path begins counts from its cause
            before[paths] -= total[cause] - before[self.path[cause]]
        found: Int64 = total - before[self.path]
        return found


class _Runs(msgspec.Struct, frozen=True, dict=True):
    """Comparisons, run by run: each but the first of a run compares the one before it, which nothing else needs, with
    something that is the same for the whole run. So its time is the larger of two sums.

    edge_on, edge_by   shape (comparisons,): the edges from the one before and from what is the same; -1 for none
    run                shape (comparisons,): which run
    begin, last        shape (runs,): where each begins, and its last
    place              shape (comparisons,): where each comparison stands, by its number
    on, by             what the first of each run goes on from, and what is the same for it: earlier roots and runs
    """

    edge_on: Int64
    edge_by: Int64
    run: Int64
    begin: Int64
    last: Int64
    place: Int64
    on: list[int]
    by: list[int]

    @cached_property
    def from_on(self) -> Int64:
        """Shape (comparisons,): `on` of the run of each."""
        return np.array(self.on, np.int64)[self.run]

    @cached_property
    def from_by(self) -> Int64:
        """Shape (comparisons,): `by` of the run of each."""
        return np.array(self.by, np.int64)[self.run]

    def sums(self, later: Int64) -> tuple[Int64, Int64]:
        """Return shape (comparisons,): how much later each is than what its run continues from, and than the constant
        input.

        later   shape (edges,): how much later than its comparison the source of each edge makes its target
        """
        known = np.append(later, 0)
        on, by = known[self.edge_on], known[self.edge_by]
        longer = (self.last > self.begin)[self.run]
        total = np.cumsum(np.where(longer, on, 0))
        ahead = np.where(longer, by - total, 0)
        # the largest so far within each run: runs are lifted above one another
        span = int(ahead.max(initial=0)) - int(ahead.min(initial=0)) + 1
        if span * max(len(self.begin), 1) < -_NEVER:
            lifted = self.run * span
            most = np.maximum.accumulate(ahead + lifted) - lifted
        else:
            most = ahead.copy()
            for first, last in zip(self.begin.tolist(), self.last.tolist(), strict=True):
                most[first : last + 1] = np.maximum.accumulate(ahead[first : last + 1])
        before = np.append(0, total)[self.begin][self.run]
        return np.where(longer, total - before, on), np.where(longer, most + total, by)


class Solver(msgspec.Struct, frozen=True):
    """As `solve`, for many delays of the same edges: nodes with a single cause need no comparison, runs of comparisons
    need one.

    only      shape (nodes with one cause,): their edges, in the order of `paths`
    anchor    shape (nodes,): the root or comparison that the time of a node follows from; roots come first
    roots     how many nodes have no cause
    lasting   shape (edges,): those that are never dropped, or only at a high cost
    """

    nodes: int
    source: Int64
    target: Int64
    paths: _Paths
    only: Int64
    anchor: Int64
    roots: int
    runs: _Runs
    lasting: Bool

    @classmethod
    def of(cls, nodes: int, source: Int64, target: Int64, lasting: Bool) -> Solver:
        """Prepare edges; `source` and `target` as for `solve`, as arrays."""
        causes = np.bincount(target, minlength=nodes)
        first = np.cumsum(causes) - causes
        alone = np.flatnonzero(causes == 1)
        cause = np.arange(nodes)
        cause[alone] = source[first[alone]]
        paths = _paths(alone, cause)
        begins = to_root(cause)
        roots, compared = np.flatnonzero(causes == 0), np.flatnonzero(causes > 1)
        # a node with k causes is k - 1 comparisons
        count = causes[compared] - 1
        last = len(roots) + np.cumsum(count) - 1
        number = np.full(nodes, -1, np.int64)
        number[roots], number[compared] = np.arange(len(roots)), last
        anchor = number[begins]
        nth = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        one_edge = np.where(nth == 0, np.repeat(first[compared], count), -1)
        other_edge = np.repeat(first[compared], count) + nth + 1
        before = np.arange(len(roots) - 1, len(roots) - 1 + len(nth))
        one = np.where(one_edge >= 0, anchor[source[one_edge]], before) if len(nth) else before
        other = anchor[source[other_edge]]
        stays = np.append(lasting, True)
        runs = _runs(len(roots), (one, other), (one_edge, other_edge), stays[one_edge] & stays[other_edge])
        return cls(nodes, source, target, paths, first[paths.node], anchor, len(roots), runs, lasting)

    def times(self, delay: Int64, dropped: Int64, wanted: Int64 | None = None) -> Int64:
        """Return the time of each node, or of wanted nodes, ns.

        delay     shape (edges,), ns, none below 0
        dropped   edges that do not count
        """
        if len(dropped) and (self.lasting[dropped].any() or self._leaves_alone(dropped)):
            kept: Bool = np.ones(len(self.source), np.bool_)
            kept[dropped] = False
            found = solve(self.nodes, self.source[kept].tolist(), self.target[kept].tolist(), delay[kept])
            return found if wanted is None else found[wanted]
        offset = np.zeros(self.nodes, np.int64)
        offset[self.paths.node] = self.paths.offsets(delay[self.only])
        later = offset[self.source] + delay
        later[dropped] = _NEVER
        runs = self.runs
        on, by = runs.sums(later)
        times = [0] * self.roots
        add = times.append
        for one, other, late, also in zip(
            runs.on, runs.by, on[runs.last].tolist(), by[runs.last].tolist(), strict=True
        ):
            time, second = times[one] + late, times[other] + also
            add(time if time > second else second)  # noqa: FURB136 - faster than max()
        known = np.array(times, np.int64)
        compared = np.empty(self.roots + len(on), np.int64)
        compared[: self.roots] = 0
        compared[self.roots :] = np.maximum(known[runs.from_on] + on, known[runs.from_by] + by)[runs.place]
        if wanted is None:
            return compared[self.anchor] + offset
        return compared[self.anchor[wanted]] + offset[wanted]

    @property
    def comparisons(self) -> int:
        """What one scenario costs: comparisons in a loop, and as much as one for 8 nodes or edges in arrays."""
        return len(self.runs.on) + (self.nodes + len(self.source)) // 8

    def _leaves_alone(self, dropped: Int64) -> bool:
        """Return whether a node that had causes has none without some edges."""
        nodes, lost = distinct_counts(self.target[dropped])
        return bool((np.bincount(self.target, minlength=self.nodes)[nodes] == lost).any())


def _runs(roots: int, compared: tuple[Int64, Int64], edges: tuple[Int64, Int64], lasting: Bool) -> _Runs:
    """Group comparisons into runs.

    compared   two of shape (comparisons,): what each compares; roots are numbered before the first comparison
    edges      two of shape (comparisons,): the edges from these
    lasting    shape (comparisons,): whose edges are never dropped; others are runs of their own
    """
    one, other = compared
    one_edge, other_edge = edges
    n = len(one)
    uses = np.bincount(np.concatenate((one, other)), minlength=roots + n)
    run, same = list(range(n)), [-1] * n
    goes_on_from_one = np.ones(n, np.bool_)
    # which may go on from one or the other: from a comparison that nothing else uses
    stays = np.append(lasting, False)
    from_one, from_other = (
        (before >= roots) & (one != other) & (uses[before] == 1) & lasting & stays[np.maximum(before - roots, -1)]
        for before in (one, other)
    )
    # from which of them, if it may be either: from one where that is possible
    goes = np.concatenate((np.flatnonzero(from_one), np.flatnonzero(from_other)))
    is_one = np.arange(len(goes)) < np.count_nonzero(from_one)
    by_goal = stable_order(goes)
    goes, is_one = goes[by_goal], is_one[by_goal]
    before, by = np.where(is_one, one[goes], other[goes]) - roots, np.where(is_one, other[goes], one[goes])
    turned: list[int] = []
    for c, p, constant, from_the_one, is_p_one, is_p_other in zip(
        goes.tolist(),
        before.tolist(),
        by.tolist(),
        is_one.tolist(),
        (by == one[before]).tolist(),
        (by == other[before]).tolist(),
        strict=True,
    ):
        if run[c] != c:
            continue
        if same[p] < 0 and (is_p_one or is_p_other):
            same[p] = constant
            if not is_p_other:
                turned.append(p)
        if same[p] == constant:
            run[c], same[c] = run[p], constant
            if not from_the_one:
                turned.append(c)
    goes_on_from_one[turned] = False
    # by the number of their first, then in order: what a run needs came before its first
    of = np.array(run, np.int64)
    order = stable_order(of)
    begin = np.flatnonzero(np.append(True, np.diff(of[order]) != 0)) if n else order
    last = np.append(begin[1:], n)[: len(begin)] - 1
    # a run is known when its last is: in that order
    by_last = np.argsort(order[last], kind="stable")
    length = (last - begin + 1)[by_last]
    order = order[positions(begin[by_last], last[by_last] + 1)] if n else order
    run_of = np.repeat(np.arange(len(begin)), length)
    begin = np.cumsum(length) - length
    last = begin + length - 1
    forward = goes_on_from_one
    number = np.full(roots + n, -1, np.int64)
    number[:roots] = np.arange(roots)
    number[roots + order[last]] = roots + np.arange(len(begin))
    head = order[begin]
    return _Runs(
        edge_on=np.where(forward, one_edge, other_edge)[order],
        edge_by=np.where(forward, other_edge, one_edge)[order],
        run=run_of,
        begin=begin,
        last=last,
        place=inverse(order),
        on=number[np.where(forward, one, other)[head]].tolist(),
        by=number[np.where(forward, other, one)[head]].tolist(),
    )


def _paths(alone: Int64, cause: Int64) -> _Paths:
    """Arrange nodes with one cause as paths.

    alone   their numbers, ascending
    cause   shape (nodes,): the cause of each of them, a lower number; of others the node itself
    """
    place = places_of(alone, len(cause))
    above = place[cause[alone]]  # -1: the cause is no node of a path
    follows = np.flatnonzero(above >= 0)
    size = [1] * len(alone)
    for at, up in zip(follows[::-1].tolist(), above[follows[::-1]].tolist(), strict=True):
        size[up] += size[at]
    # the last one written is the one with most behind it
    follows = follows[np.argsort(np.array(size, np.int64)[follows], kind="stable")]
    main = np.full(len(alone), -1, np.int64)
    main[above[follows]] = follows
    goes_on = np.arange(len(alone))
    goes_on[main[main >= 0]] = above[main[main >= 0]]
    head = to_root(goes_on)
    order = stable_order(head)
    begins = np.flatnonzero(np.append(True, np.diff(head[order]) != 0)) if len(order) else order
    path_of = np.empty(len(alone), np.int64)
    path_of[order] = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(order))))
    heads = head[order][begins]
    hangs_on = above[heads]
    in_order = np.empty(len(alone), np.int64)
    in_order[order] = np.arange(len(order))
    from_path = np.where(hangs_on >= 0, np.append(path_of, -1)[hangs_on], -1)
    levels = by_depth(depths(from_path.astype(np.int32)))[1:]
    rounds = tuple((paths, in_order[hangs_on[paths]]) for paths in levels)
    return _Paths(alone[order], path_of[order], begins, rounds)
