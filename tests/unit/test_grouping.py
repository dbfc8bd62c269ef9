"""The group-by against dictionaries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays import grouping
from torch_tb_profiler.arrays.grouping import descending, group

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
        assert set(np.flatnonzero(found.of == number).tolist()) == set(members)
    assert found.count().tolist() == [len(m) for m in wanted.values()]
    assert found.sum(values).tolist() == [int(values[m].sum()) for m in wanted.values()]
    assert found.max(values).tolist() == [int(values[m].max()) for m in wanted.values()]
    assert found.min(values).tolist() == [int(values[m].min()) for m in wanted.values()]


def test_without_a_rank_groups_come_as_they_are_seen() -> None:
    found = group([np.array([7, 3, 7, 5])])
    assert found.of.tolist() == [0, 1, 0, 2]
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
