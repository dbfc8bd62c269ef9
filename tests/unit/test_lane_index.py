"""Moments on lanes, and groups of positions, against a look at each of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays import nesting
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.lookup import LaneIndex

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 12)), max_size=25)


@given(pairs, pairs)
def test_moments_of_many_lanes(given_: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    moments = LaneIndex(*np.array(given_, np.int64).reshape(-1, 2).T)
    lane, time = np.array(asked, np.int64).reshape(-1, 2).T
    places = sorted(range(len(given_)), key=lambda at: given_[at])
    assert moments.order.tolist() == places
    for found, name in ((moments.last(lane, time), "last"), (moments.first(lane, time), "first")):
        for at, (on, when) in zip(found.tolist(), asked, strict=True):
            mine = [p for p in places if given_[p][0] == on]
            fitting = [p for p in mine if (given_[p][1] <= when if name == "last" else given_[p][1] >= when)]
            assert at == ((fitting[-1] if name == "last" else fitting[0]) if fitting else -1)
    between = moments.between(lane, time, time + 4)
    expected = [sum(on == other and w <= t < w + 4 for other, t in given_) for on, w in asked]
    assert between.tolist() == expected


@given(st.lists(st.integers(-3, 5), max_size=30))
def test_each_value_has_its_positions(values: list[int]) -> None:
    found = {value: at.tolist() for value, at in each_value(np.array(values, np.int64))}
    assert found == {v: [i for i, other in enumerate(values) if other == v] for v in sorted(set(values))}
    assert list(found) == sorted(found)


@given(pairs, pairs)
def test_many_lanes_are_searched_as_few_are(given_: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    lanes, starts = np.array(sorted(given_), np.int64).reshape(-1, 2).T
    lane, time = np.array(asked, np.int64).reshape(-1, 2).T
    few = nesting.last_started(lanes.astype(np.int32), starts, lane.astype(np.int32), time)
    many = LaneIndex(lanes, starts).last(lane, time)
    assert few.tolist() == many.tolist()
