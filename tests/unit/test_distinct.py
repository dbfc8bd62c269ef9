"""Different values against sets."""

from __future__ import annotations

import statistics
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays.distinct import (
    begins_run,
    distinct,
    distinct_counts,
    distinct_first,
    distinct_places,
    isin,
    one_of,
)
from torch_tb_profiler.arrays.order import median, percentile

small = st.lists(st.integers(0, 20), max_size=40)
any_sign = st.lists(st.integers(-(2**62), 2**62), max_size=40)


@given(st.one_of(small, any_sign))
def test_against_sets(values: list[int]) -> None:
    given_values = np.array(values, np.int64)
    assert distinct(given_values).tolist() == sorted(set(values))
    found, place = distinct_places(given_values)
    assert found.tolist() == sorted(set(values))
    assert found[place].tolist() == values
    found, first = distinct_first(given_values)
    assert (found.tolist(), first.tolist()) == (
        sorted(set(values)),
        [values.index(each) for each in sorted(set(values))],
    )
    found, count = distinct_counts(given_values)
    assert dict(zip(found.tolist(), count.tolist(), strict=True)) == Counter(values)


@given(st.one_of(small, any_sign), st.one_of(small, any_sign))
def test_among_many(values: list[int], wanted: list[int]) -> None:
    expected = [value in wanted for value in values]
    assert isin(np.array(values, np.int64), np.array(wanted, np.int64)).tolist() == expected
    assert isin(np.array(values, np.int64), wanted).tolist() == expected


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=9))
def test_medians(values: list[int]) -> None:
    assert median(np.array(values)) == statistics.median(values)
    assert median(np.array(values) / 8) == statistics.median([value / 8 for value in values])


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=9), st.floats(0, 100))
def test_percentiles(values: list[int], percent: float) -> None:
    expected = np.percentile(np.array(values), percent)
    assert percentile(np.array(values), percent) == pytest.approx(expected, rel=1e-9, abs=1e-3)


@pytest.mark.parametrize("values", [[], [3, 3, 1], [-3, 3], [0, 2_000_000]])
def test_the_type_stays(values: list[int]) -> None:
    given_values = np.array(values, np.int32)
    assert distinct(given_values).dtype == np.int32
    assert distinct_places(given_values)[0].dtype == np.int32
    assert given_values.tolist() == values


@given(small, st.sets(st.integers(0, 20)))
def test_one_of_several(values: list[int], wanted: set[int]) -> None:
    assert one_of(np.array(values, np.uint8), wanted).tolist() == [value in wanted for value in values]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=20))
def test_runs(rows: list[tuple[int, int]]) -> None:
    a, b = np.array(rows, np.int64).reshape(-1, 2).T
    assert begins_run(a, b).tolist() == [i == 0 or rows[i] != rows[i - 1] for i in range(len(rows))]
    assert begins_run(a).tolist() == [i == 0 or rows[i][0] != rows[i - 1][0] for i in range(len(rows))]
