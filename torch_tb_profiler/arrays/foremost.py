"""Which of the intervals that cover a point comes first by a rank."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from torch_tb_profiler.arrays.types import Int64


class Pieces(NamedTuple):
    """Disjoint stretches, by start; each belongs to one of the given intervals. Made by `foremost`.

    start, end, of   shape (pieces,); of: which interval
    """

    start: Int64
    end: Int64
    of: Int64


def foremost(start: Int64, end: Int64, rank: Int64) -> Pieces:
    """The points that some intervals cover, each given to the one of lowest rank there; of equal ranks to the first.

    start, end, rank   shape (n,), in any order; empty and reversed intervals count as empty

    >>> found = foremost(np.array([0, 2, 4]), np.array([6, 8, 5]), np.array([1, 2, 0]))
    >>> list(zip(*(column.tolist() for column in found)))
    [(0, 4, 0), (4, 5, 2), (5, 6, 0), (6, 8, 1)]
    """
    at = np.flatnonzero(end > start)
    at = at[np.lexsort((rank[at], start[at]))]
    if not len(at):
        nothing = np.empty(0, np.int64)
        return Pieces(nothing, nothing, nothing)
    begin, finish, order = start[at], end[at], rank[at]
    reached = np.maximum.accumulate(finish)
    before = np.concatenate(([begin[0]], reached[:-1]))
    opens = np.concatenate(([True], begin[1:] >= reached[:-1]))
    bundle = np.cumsum(opens) - 1
    late = np.zeros(int(bundle[-1]) + 1, np.bool_)
    # within a bundle of intervals that touch, ranks may fall: only there the lowest has to be looked for
    late[bundle[1:][(order[1:] < order[:-1]) & ~opens[1:]]] = True
    plain = np.flatnonzero(~late[bundle])
    low, high = np.maximum(begin[plain], np.where(opens[plain], begin[plain], before[plain])), finish[plain]
    kept = high > low
    parts = [(low[kept], high[kept], at[plain][kept])]
    for number in np.flatnonzero(late).tolist():
        first, after = np.searchsorted(bundle, [number, number + 1])
        inside = slice(int(first), int(after))
        parts.append(_by_heap(begin[inside], finish[inside], order[inside], at[inside]))
    found = [np.concatenate([part[column] for part in parts]) for column in range(3)]
    turns = np.argsort(found[0], kind="stable")
    return Pieces(*(column[turns] for column in found))


def _by_heap(start: Int64, end: Int64, rank: Int64, name: Int64) -> tuple[Int64, Int64, Int64]:
    """The same of intervals that touch, by start, one after the other."""
    starts, ends, ranks = start.tolist(), end.tolist(), rank.tolist()
    found: list[tuple[int, int, int]] = []
    running: list[tuple[int, int]] = []
    time, following = starts[0], 0
    while following < len(starts) or running:
        while following < len(starts) and starts[following] <= time:
            heappush(running, (ranks[following], following))
            following += 1
        while running and ends[running[0][1]] <= time:
            heappop(running)
        if not running:
            time = starts[following] if following < len(starts) else time
            continue
        first = running[0][1]
        until = min(ends[first], starts[following] if following < len(starts) else ends[first])
        if found and found[-1][2] == first and found[-1][1] == time:
            found[-1] = (found[-1][0], until, first)
        else:
            found.append((time, until, first))
        time = until
    columns = np.array(found, np.int64).reshape(-1, 3).T
    return columns[0], columns[1], name[columns[2]]
