"""The group-by against dictionaries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays import grouping
from torch_tb_profiler.arrays.grouping import descending, first_at, greatest_at, group, least_at, sums_at

rows = st.lists(
    st.tuples(st.integers(-2, 3), st.sampled_from([-1, 0, 10**12]), st.integers(-(10**6), 10**6)), max_size=30
)


@given(rows, st.randoms(use_true_random=False), st.booleans())
def test_groups(data: list[tuple[int, int, int]], random: object, narrow: bool) -> None:
    a, b, values = (np.array([r[i] for r in data], np.int64) for i in range(3))
    rank = np.random.default_rng(len(data)).permutation(len(data)).astype(np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "WIDEST", 1 if narrow else grouping.WIDEST)
        found = group([a, b], rank)
    wanted: dict[tuple[int, int], list[int]] = {}
    for i in np.argsort(rank).tolist():
        wanted.setdefault((int(a[i]), int(b[i])), []).append(i)
    assert found.first.tolist() == [members[0] for members in wanted.values()]
    for number, members in enumerate(wanted.values()):
        assert set(np.flatnonzero(found.inverse == number).tolist()) == set(members)
    assert found.count().tolist() == [len(m) for m in wanted.values()]
    assert found.sum(values).tolist() == [int(values[m].sum()) for m in wanted.values()]
    assert found.max(values).tolist() == [int(values[m].max()) for m in wanted.values()]
    assert found.min(values).tolist() == [int(values[m].min()) for m in wanted.values()]
    assert found.sum_of_floats(values / 2).tolist() == [float(values[m].sum()) / 2 for m in wanted.values()]
    nth = [int(np.count_nonzero(found.inverse[:i] == found.inverse[i])) for i in range(len(data))]
    assert found.nth().tolist() == nth


def test_without_a_rank_groups_come_as_they_are_seen() -> None:
    found = group([np.array([7, 3, 7, 5])])
    assert found.inverse.tolist() == [0, 1, 0, 2]
    assert found.first.tolist() == [0, 1, 3]


def test_sums_are_exact_beyond_the_integers_of_floats() -> None:
    values = np.array([2**60, 1, 2])
    assert group([np.array([0, 0, 1])]).sum(values).tolist() == [2**60 + 1, 2]


def test_means_leave_out_what_is_missing() -> None:
    found = group([np.array([0, 0, 0, 1, 2])])
    values = np.array([1.0, math.nan, 4.0, math.nan, 5.0])
    mean = found.mean(values, np.array([1, 10, 2, 3, 0]))
    assert mean[0] == pytest.approx(3.0)
    assert np.isnan(mean[1:]).all()


def test_descending_keeps_the_order_of_equals() -> None:
    assert descending(np.array([1, 3, 1, 3])).tolist() == [1, 3, 0, 2]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-(2**62), 2**62)), max_size=30))
def test_values_at_places(data: list[tuple[int, int]]) -> None:
    place, values = np.array(data, np.int64).reshape(-1, 2).T
    at = {number: [value for where, value in data if where == number] for number in range(6)}
    limits = np.iinfo(np.int64)
    assert first_at(place, values, 6).tolist() == [given[0] if given else -1 for given in at.values()]
    assert least_at(place, values, 6).tolist() == [min(given, default=limits.max) for given in at.values()]
    assert greatest_at(place, values, 6).tolist() == [max(given, default=limits.min) for given in at.values()]
    small = values % 1000 - 500
    assert sums_at(place, small, 6).tolist() == [sum(value % 1000 - 500 for value in given) for given in at.values()]
    assert sums_at(place, small > 0, 6).tolist() == [
        sum(value % 1000 > 500 for value in given) for given in at.values()
    ]


def test_the_first_of_very_many_at_one_place() -> None:
    """As many as numpy buffers several times over."""
    place, values = np.zeros(100_000, np.int64), np.arange(100_000, dtype=np.int32)
    found = first_at(place, values, 2, missing=-7)
    assert found.tolist() == [0, -7]
    assert found.dtype == np.int32
    assert first_at(place, values[::-1], 1).tolist() == [99_999]


def test_sums_of_floats_and_of_none() -> None:
    nothing = np.empty(0, np.int64)
    assert len(group([nothing])) == 0
    assert sums_at(nothing, nothing, 2).tolist() == [0, 0]


@given(st.lists(st.integers(-9, 9), max_size=20))
def test_descending(values: list[int]) -> None:
    assert descending(np.array(values, np.int64)).tolist() == sorted(range(len(values)), key=lambda i: -values[i])
