"""Sorting against numpy's stable sort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays.order import inverse, stable_order

codes = st.integers(-3, 20)
#: more than 16 bits hold, up to all that 32 do
positions = st.one_of(st.integers(0, 2**17), st.integers(-(2**31), 2**31 - 1))
times = st.integers(-(2**63), 2**63 - 1)


@given(st.one_of(*(st.lists(kind, max_size=60) for kind in (codes, positions, times))))
def test_against_numpy(values: list[int]) -> None:
    given_values = np.array(values, np.int64)
    assert stable_order(given_values).tolist() == np.argsort(given_values, kind="stable").tolist()


@given(st.lists(st.lists(positions, min_size=8, max_size=40), max_size=6), st.booleans())
def test_of_runs(runs: list[list[int]], back: bool) -> None:
    """As times of several threads come, and backwards."""
    given_values = np.array([value for run in runs for value in sorted(run, reverse=back)], np.int64)
    assert stable_order(given_values).tolist() == np.argsort(given_values, kind="stable").tolist()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32])
@given(st.data())
def test_of_fewer_bits(kind: type[np.integer[Any]], data: st.DataObject) -> None:
    limits = np.iinfo(kind)
    values = data.draw(st.lists(st.integers(limits.min, limits.max), max_size=60))
    given_values = np.array(values, kind)
    assert stable_order(given_values).tolist() == np.argsort(given_values, kind="stable").tolist()
    assert given_values.tolist() == values


@given(st.permutations(range(12)), st.integers(0, 12))
def test_the_inverse_of_a_permutation(numbers: list[int], count: int) -> None:
    order = stable_order(np.array(numbers[:count], np.int64))
    found = inverse(order)
    assert found[order].tolist() == order[found].tolist() == list(range(count))
