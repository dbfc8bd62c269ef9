"""Fit lines between the clocks of ranks, through the ends of collectives that all of their ranks leave together.

For the timeline and joint replays, never for sums.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model.communication import KINDS
from torch_tb_profiler.ranks.matching.by_order import LEAST_SHARED, line_through
from torch_tb_profiler.ranks.run.answers import Clock
from torch_tb_profiler.ranks.run.data import RunData

#: kinds of collectives without a root: all ranks end them together
ENDING_TOGETHER = tuple(
    KINDS.index(kind) for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier")
)
#: backends whose calls on the host end milliseconds apart: they tell nothing of clocks
LOOSE_BACKENDS = frozenset({"gloo", "mpi"})
#: clocks differ if the largest offset is more than this many times the median distance from the lines
CLEAR_OFFSET = 3
_FAR = 10**12


class GroupEnds(msgspec.Struct, frozen=True):
    """When one rank left the collectives of one process group.

    group    the same number on all ranks
    number   shape (collectives,): distinct; equal numbers are the same collective on all ranks
    end      shape (collectives,), ns since the epoch
    """

    group: int
    number: Int64
    end: Int64


class RankEnds(msgspec.Struct, frozen=True):
    """The ends of a rank's collectives, from which its clock follows.

    worker   name of its trace
    host     empty if unknown
    origin   ns since the epoch: the start of its trace
    middle   ns since the epoch: where in its trace the offset is wanted
    groups   the largest group first
    """

    worker: str
    host: str
    origin: int
    middle: int
    groups: Sequence[GroupEnds]


class _Line(msgspec.Struct, frozen=True):
    """time of the other clock = t + at + slope × (t − middle), ns."""

    middle: int
    at: float
    slope: float

    def __call__(self, time: int) -> float:
        return self.at + self.slope * (time - self.middle)

    def then(self, other: _Line) -> _Line:
        """Chain two lines."""
        return _Line(self.middle, self.at + other(self.middle + round(self.at)), self.slope + other.slope)


def fit_clock_lines(ranks: Sequence[RankEnds], least: int = LEAST_SHARED) -> Clock:
    """Fit each rank's clock to that of an earlier rank, by the largest group they share; ranks of a host share a clock.

    least   how many collectives two ranks must have ended together for a line between their clocks
    """
    size = len(ranks)
    parent = list(range(size))
    edges: dict[int, list[tuple[int, _Line]]] = {rank: [] for rank in range(size)}
    residuals: list[float] = []
    references: dict[int, list[tuple[int, GroupEnds]]] = {}

    def root(rank: int) -> int:
        while parent[rank] != rank:
            parent[rank] = parent[parent[rank]]
            rank = parent[rank]
        return rank

    for rank, ends in enumerate(ranks):
        for mine in ends.groups:
            known = references.setdefault(mine.group, [])
            for other, theirs in known:
                if root(other) == root(rank) or min(len(mine.number), len(theirs.number)) < least:
                    continue
                _, i, j = np.intersect1d(mine.number, theirs.number, assume_unique=True, return_indices=True)
                if len(i) < least:
                    continue
                line, residual = _fitted(mine.end[i], theirs.end[j])
                edges[rank].append((other, line))
                edges[other].append((rank, _Line(line.middle + round(line.at), -line.at, -line.slope)))
                residuals.append(residual)
                parent[root(rank)] = root(other)
            # the first rank of a group, and others that share no clock with it
            if not any(root(other) == root(rank) for other, _ in known):
                known.append((rank, mine))
    lines = _chained(edges, size)
    _by_host(ranks, lines)
    offsets = [None if line is None else round(line(ends.middle)) for ends, line in zip(ranks, lines, strict=True)]
    apart = float(np.median(residuals)) if residuals else None
    largest = max((abs(offset) for offset in offsets if offset is not None), default=0)
    corrected = apart is not None and largest > CLEAR_OFFSET * max(apart, 1.0)
    return Clock(
        workers=[ends.worker for ends in ranks],
        offset_ns=offsets,
        drift_ppm=[None if line is None else round(line.slope * 1e6, 3) for line in lines],
        shift_ns=[
            None if offset is None else ends.origin - ranks[0].origin + (offset if corrected else 0)
            for ends, offset in zip(ranks, offsets, strict=True)
        ],
        residual_ns=apart,
        corrected=corrected,
        components=len({root(rank) for rank in range(size)}),
    )


def _fitted(mine: Int64, other: Int64) -> tuple[_Line, float]:
    """Fit a line from my clock to the other; return it and the median distance from it, ns."""
    offset = other - mine
    middle = int(np.median(mine))
    at, far = line_through(mine, offset, np.array([middle, middle + _FAR]))
    line = _Line(middle, float(at), float(far - at) / _FAR)
    apart = np.abs(offset - line.at - line.slope * (mine - middle))
    return line, float(np.median(apart))


def _chained(edges: dict[int, list[tuple[int, _Line]]], size: int) -> list[_Line | None]:
    """Chain lines from the clock of each rank to that of the first rank; None without a chain."""
    lines: list[_Line | None] = [None] * size
    if size:
        lines[0] = _Line(0, 0.0, 0.0)
    waiting = [0] if size else []
    while waiting:
        rank = waiting.pop()
        for other, _ in edges[rank]:
            if lines[other] is None:
                line = next(line for to, line in edges[other] if to == rank)
                known = lines[rank]
                assert known is not None
                lines[other] = line.then(known)
                waiting.append(other)
    return lines


def _by_host(ranks: Sequence[RankEnds], lines: list[_Line | None]) -> None:
    """Give ranks of one host one clock, whatever the fitted lines say."""
    known = {each.host: line for each, line in zip(ranks, lines, strict=True) if each.host and line is not None}
    for rank, each in enumerate(ranks):
        if lines[rank] is None and each.host in known:
            lines[rank] = known[each.host]


#: most collectives in the fit of a line
MOST_POINTS = 512


def fit_clocks(run: RunData) -> Clock:
    """Fit the clock of each rank to that of the first."""
    return fit_clock_lines([_ends(run, rank) for rank in range(len(run))])


def _ends(run: RunData, rank: int) -> RankEnds:
    head = run.heads[rank]
    middle = head.origin_ns + (head.first_ns + head.last_ns) // 2
    groups = () if head.backend in LOOSE_BACKENDS else _groups(run, rank)
    return RankEnds(head.worker, head.host, head.origin_ns, middle, groups)


def _groups(run: RunData, rank: int) -> list[GroupEnds]:
    of, rows = run.summaries[rank].timed, run.rows(rank)
    chosen = np.flatnonzero((rows.number >= 0) & (of.duration >= 0) & np.isin(of.kind, ENDING_TOGETHER))
    chosen = chosen[run.is_shared[rows.number[chosen]]]
    group = run.numbering.group_numbers(of.groups)[of.group[chosen]]
    origin = run.heads[rank].origin_ns
    found = []
    for at, of_group in each_value(group):
        mine = chosen[of_group[:: max(1, -(-len(of_group) // MOST_POINTS))]]
        ends = GroupEnds(at, rows.number[mine], of.end[mine] + origin)
        found.append((run.numbering.groups[at].size, len(of_group), ends))
    found.sort(key=lambda each: (-each[0], -each[1], each[2].group))
    return [ends for _, _, ends in found]
