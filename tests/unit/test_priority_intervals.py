"""Priorities among intervals, and paths, against a look at every point."""

from __future__ import annotations

import numpy as np
import pytest

from torch_tb_profiler.arrays.forest import paths
from torch_tb_profiler.arrays.intervals import priority_intervals


@pytest.mark.parametrize("seed", range(60))
def test_every_point_belongs_to_the_lowest_rank(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(0, 14))
    start = random.integers(0, 30, count)
    end = start + random.integers(-1, 10, count)
    rank = start.copy() if seed % 3 == 0 else random.integers(0, 6, count)
    found = priority_intervals(start, end, rank)
    assert (found.end > found.start).all()
    assert (found.start[1:] >= found.end[:-1]).all()
    given = {point: int(of) for low, high, of in zip(*found, strict=True) for point in range(int(low), int(high))}
    for point in range(-1, 45):
        covering = [at for at in range(count) if start[at] <= point < end[at]]
        if not covering:
            assert point not in given
        else:
            assert rank[given[point]] == min(rank[at] for at in covering)
            assert given[point] in covering


@pytest.mark.parametrize("seed", range(20))
def test_paths_are_those_of_names(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(0, 25))
    outer = np.array([int(random.integers(-1, at)) if at else -1 for at in range(count)], np.int32)
    key = random.integers(0, 3, count)

    def names(at: int) -> tuple[int, ...]:
        return () if at < 0 else (*names(int(outer[at])), int(key[at]))

    of, parent = paths(outer, [key])
    for a in range(count):
        assert parent[of[a]] == (of[outer[a]] if outer[a] >= 0 else -1)
        for b in range(count):
            assert (of[a] == of[b]) == (names(a) == names(b))
