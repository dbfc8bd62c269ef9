"""One clock for all ranks, from the collectives that they ended together: for the timeline, never for sums."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model.communication_names import KINDS
from torch_tb_profiler.ranks.clocks import CLEAR_OFFSET, LEAST_SHARED, line_through
from torch_tb_profiler.ranks.run_answers import Clock
from torch_tb_profiler.ranks.run_data import RunData

#: all of its ranks end such a collective together: none of them is a root
_TOGETHER = [KINDS.index(kind) for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier")]
#: libraries whose calls on the host end milliseconds apart
_LOOSE = frozenset({"gloo", "mpi"})
#: collectives that a line is fitted to at most
MOST_POINTS = 512
_FAR = 10**12


class _Line(msgspec.Struct, frozen=True):
    """time of the other clock = t + at + slope × (t − middle), ns."""

    middle: int
    at: float
    slope: float

    def __call__(self, time: int) -> float:
        return self.at + self.slope * (time - self.middle)

    def then(self, other: _Line) -> _Line:
        """From a clock to the next but one."""
        return _Line(self.middle, self.at + other(self.middle + round(self.at)), self.slope + other.slope)


def fit_clocks(run: RunData) -> Clock:
    """Every rank is joined by its largest group that leads to ranks before it; without any it has no common clock."""
    size = len(run)
    parent = list(range(size))
    edges: dict[int, list[tuple[int, _Line]]] = {rank: [] for rank in range(size)}
    residuals: list[float] = []
    references: dict[int, list[tuple[int, Int64, Int64]]] = {}

    def root(rank: int) -> int:
        while parent[rank] != rank:
            parent[rank] = parent[parent[rank]]
            rank = parent[rank]
        return rank

    for rank in range(size):
        if run.heads[rank].backend in _LOOSE:
            continue
        for group, number, end in _ends(run, rank):
            known = references.setdefault(group, [])
            for other, other_number, other_end in known:
                if root(other) == root(rank):
                    continue
                _, i, j = np.intersect1d(number, other_number, assume_unique=True, return_indices=True)
                if len(i) < LEAST_SHARED:
                    continue
                line, residual = _fitted(end[i], other_end[j])
                edges[rank].append((other, line))
                edges[other].append((rank, _Line(line.middle + round(line.at), -line.at, -line.slope)))
                residuals.append(residual)
                parent[root(rank)] = root(other)
            # the first rank of a group, and others that share no clock with it
            if not any(root(other) == root(rank) for other, _, _ in known):
                known.append((rank, number, end))
    lines = _chained(edges, size)
    _by_host(run, lines)
    offsets = [None if line is None else round(line(_middle(run, rank))) for rank, line in enumerate(lines)]
    apart = float(np.median(residuals)) if residuals else None
    largest = max((abs(each) for each in offsets if each is not None), default=0)
    corrected = apart is not None and largest > CLEAR_OFFSET * max(apart, 1.0)
    return Clock(
        workers=[head.worker for head in run.heads],
        offset_ns=offsets,
        shift_ns=[
            None if offset is None else head.origin_ns - run.heads[0].origin_ns + (offset if corrected else 0)
            for head, offset in zip(run.heads, offsets, strict=True)
        ],
        drift_ppm=[None if line is None else round(line.slope * 1e6, 3) for line in lines],
        residual_ns=apart,
        corrected=corrected,
        components=len({root(rank) for rank in range(size)}),
    )


def _middle(run: RunData, rank: int) -> int:
    head = run.heads[rank]
    return head.origin_ns + (head.first_ns + head.last_ns) // 2


def _ends(run: RunData, rank: int) -> list[tuple[int, Int64, Int64]]:
    """By group, largest first: its number, then numbers and ends (ns since the epoch) of what all end together."""
    of, rows = run.summaries[rank].timed, run.rows(rank)
    chosen = np.flatnonzero((rows.number >= 0) & (of.duration >= 0) & np.isin(of.kind, _TOGETHER))
    chosen = chosen[run.is_shared[rows.number[chosen]]]
    group = run.join.group_numbers(of.groups)[of.group[chosen]]
    found = []
    for at, count in zip(*np.unique(group, return_counts=True), strict=True):
        mine = chosen[group == at]
        mine = mine[:: max(1, -(-len(mine) // MOST_POINTS))]
        found.append((run.join.groups[at].size, int(count), int(at), rows.number[mine], of.end[mine]))
    origin = run.heads[rank].origin_ns
    found.sort(key=lambda each: (-each[0], -each[1], each[2]))
    return [(at, number, end + origin) for _, _, at, number, end in found]


def _fitted(mine: Int64, other: Int64) -> tuple[_Line, float]:
    """From my clock to the other, and the median distance from it, ns."""
    offset = other - mine
    middle = int(np.median(mine))
    at, far = line_through(mine, offset, np.array([middle, middle + _FAR]))
    line = _Line(middle, float(at), float(far - at) / _FAR)
    apart = np.abs(offset - line.at - line.slope * (mine - middle))
    return line, float(np.median(apart))


def _chained(edges: dict[int, list[tuple[int, _Line]]], size: int) -> list[_Line | None]:
    """Of each rank the line to the clock of the first; None where none leads there."""
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


def _by_host(run: RunData, lines: list[_Line | None]) -> None:
    """Ranks of one host have one clock, whatever else is known."""
    known = {head.host: line for head, line in zip(run.heads, lines, strict=True) if head.host and line is not None}
    for rank, head in enumerate(run.heads):
        if lines[rank] is None and head.host in known:
            lines[rank] = known[head.host]
