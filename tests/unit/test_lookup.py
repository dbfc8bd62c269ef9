"""Look-ups against dictionaries and loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays.lookup import bounds_of, find, place_of_running_maximum, places_of, take_known, window_of


@given(st.lists(st.integers(-5, 5), max_size=12), st.data())
def test_take_known(values: list[int], data: st.DataObject) -> None:
    index = data.draw(st.lists(st.integers(-2, len(values) - 1), max_size=12))
    found = take_known(np.array(values, np.int32), np.array(index, np.int64), missing=9)
    assert found.tolist() == [values[i] if i >= 0 else 9 for i in index]
    assert found.dtype == np.int32


def test_an_index_beyond_the_values_is_an_error() -> None:
    with pytest.raises(IndexError):
        take_known(np.array([1]), np.array([1]))


@given(st.permutations(range(8)), st.integers(0, 8))
def test_places_of(numbers: list[int], count: int) -> None:
    chosen = numbers[:count]
    found = places_of(np.array(chosen, np.int64), 8).tolist()
    assert found == [chosen.index(number) if number in chosen else -1 for number in range(8)]


@given(st.sets(st.integers(-9, 9)), st.lists(st.integers(-11, 11)))
def test_find(values: set[int], wanted: list[int]) -> None:
    ascending = sorted(values)
    found = find(np.array(ascending, np.int64), np.array(wanted, np.int64)).tolist()
    assert found == [ascending.index(number) if number in values else -1 for number in wanted]


@given(
    st.lists(st.integers(0, 4), max_size=8), st.lists(st.tuples(st.integers(-2, 40), st.integers(0, 6)), max_size=12)
)
def test_window_of(lengths: list[int], asked: list[tuple[int, int]]) -> None:
    """The gaps between windows are the lengths in reverse, so that some windows touch."""
    bounds = np.cumsum([each for pair in zip(lengths[::-1], lengths, strict=True) for each in pair]).astype(np.int64)
    start, end = bounds[::2], bounds[1::2]
    first, length = np.array(asked, np.int64).reshape(-1, 2).T

    def expected(low: int, high: int) -> int:
        started = np.flatnonzero(start <= low)
        return int(started[-1]) if len(started) and high <= end[started[-1]] else -1

    assert window_of(start, end, first).tolist() == [expected(low, low) for low, _ in asked]
    assert window_of(start, end, first, first + length).tolist() == [expected(low, low + more) for low, more in asked]


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=20))
def test_place_of_running_maximum(values: list[int]) -> None:
    expected = [max(range(i + 1), key=lambda k: (values[k], k)) for i in range(len(values))]
    assert place_of_running_maximum(np.array(values)).tolist() == expected


@given(st.lists(st.integers(0, 5), max_size=20).map(sorted))
def test_bounds_of(values: list[int]) -> None:
    bounds = bounds_of(np.array(values, np.int64), 6).tolist()
    assert [values[low:high] for low, high in pairwise(bounds)] == [[n] * values.count(n) for n in range(6)]
