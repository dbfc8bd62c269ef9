"""When each node of a graph comes, given how much later than its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import by_depth, depths, to_root
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int64

#: ns: a source that no longer counts; two of them can be added
_NEVER = -(2**61)


def solve(nodes: int, source: Sequence[int], target: Sequence[int], delay: Int64) -> Int64:
    """The longest path to each node. One plain loop: graphs of traces are deep and narrow.

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


@dataclass(frozen=True)
class _Paths:
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
        """Shape (n,): how much later each node is than the beginning of everything that it alone follows.

        delay   shape (n,): how much later than its cause
        """
        total = np.cumsum(delay)
        before = np.append(0, total)[self.begin]
        for paths, cause in self.rounds:
            # where the path begins counts from its cause
            before[paths] -= total[cause] - before[self.path[cause]]
        found: Int64 = total - before[self.path]
        return found


@dataclass(frozen=True)
class Solver:
    """As `solve`, for many delays of the same edges: nodes with a single cause need no comparison.

    only           shape (nodes with one cause,): their edges, in the order of `paths`
    anchor         shape (nodes,): the comparison that the time of a node follows from
    one, other     what each comparison compares: earlier comparisons, as lists
    one_edge, other_edge   the edges to them; one_edge is -1 where a comparison goes on with a third cause
    roots          how many nodes have no cause; they are the first comparisons
    """

    nodes: int
    source: Int64
    target: Int64
    paths: _Paths
    only: Int64
    anchor: Int64
    one: list[int]
    other: list[int]
    one_edge: Int64
    other_edge: Int64
    roots: int

    @classmethod
    def of(cls, nodes: int, source: Int64, target: Int64) -> Solver:
        """source, target: as of `solve`, as arrays."""
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
        return cls(
            nodes=nodes,
            source=source,
            target=target,
            paths=paths,
            only=first[paths.node],
            anchor=anchor,
            one=one.tolist(),
            other=anchor[source[other_edge]].tolist(),
            one_edge=one_edge,
            other_edge=other_edge,
            roots=len(roots),
        )

    def times(self, delay: Int64, dropped: Int64, wanted: Int64 | None = None) -> Int64:
        """When each node comes, or those that are wanted, ns.

        delay     shape (edges,), ns, none below 0
        dropped   edges that do not count
        """
        if len(dropped) and self._leaves_alone(dropped):
            kept: Bool = np.ones(len(self.source), np.bool_)
            kept[dropped] = False
            found = solve(self.nodes, self.source[kept].tolist(), self.target[kept].tolist(), delay[kept])
            return found if wanted is None else found[wanted]
        offset = np.zeros(self.nodes, np.int64)
        offset[self.paths.node] = self.paths.offsets(delay[self.only])
        later = offset[self.source] + delay
        later[dropped] = _NEVER
        by_one = np.append(later, 0)[self.one_edge].tolist()
        times = [0] * self.roots
        add = times.append
        for one, other, late, also in zip(self.one, self.other, by_one, later[self.other_edge].tolist(), strict=True):
            time, second = times[one] + late, times[other] + also
            add(time if time > second else second)  # noqa: FURB136 - faster than max()
        at_anchor = np.array(times, np.int64)
        if wanted is None:
            return at_anchor[self.anchor] + offset
        return at_anchor[self.anchor[wanted]] + offset[wanted]

    @property
    def comparisons(self) -> int:
        """What one scenario costs."""
        return len(self.one)

    def _leaves_alone(self, dropped: Int64) -> bool:
        """Whether a node that had causes has none without some edges."""
        nodes, lost = np.unique(self.target[dropped], return_counts=True)
        return bool((np.bincount(self.target, minlength=self.nodes)[nodes] == lost).any())


def _paths(alone: Int64, cause: Int64) -> _Paths:
    """The paths of nodes with one cause.

    alone   their numbers, ascending
    cause   shape (nodes,): the cause of each of them, a lower number; of others the node itself
    """
    place = places_of(alone, len(cause))
    above = place[cause[alone]]  # -1: the cause is no node of a path
    size = [1] * len(alone)
    parents = above.tolist()
    for at in range(len(parents) - 1, -1, -1):
        if parents[at] >= 0:
            size[parents[at]] += size[at]
    follows = np.flatnonzero(above >= 0)
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
