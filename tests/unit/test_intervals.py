"""The sweep against brute force over single points of time, and the numbers of the old plugin's tests."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.intervals import Coverage, Spans

LAST = 40

some_ranges = st.lists(st.tuples(st.integers(0, LAST), st.integers(0, LAST)), max_size=12)


def spans(ranges: list[tuple[int, int]]) -> Spans:
    pairs = np.array(ranges, np.int64).reshape(-1, 2)
    return intervals.union(pairs[:, 0], pairs[:, 1])


def points(ranges: list[tuple[int, int]]) -> set[int]:
    return {t for start, end in ranges for t in range(start, end)}


def points_of(of: Spans) -> set[int]:
    return points(list(zip(of.start.tolist(), of.end.tolist(), strict=True)))


def assert_is_a_set(of: Spans) -> None:
    assert (of.end > of.start).all()
    assert (of.start[1:] > of.end[:-1]).all()


@given(some_ranges)
def test_union(ranges: list[tuple[int, int]]) -> None:
    found = spans(ranges)
    assert_is_a_set(found)
    assert points_of(found) == points(ranges)
    assert intervals.total(found) == len(points(ranges))


@given(some_ranges, some_ranges)
def test_set_operations(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> None:
    both = intervals.intersection(spans(a), spans(b))
    rest = intervals.subtraction(spans(a), spans(b))
    for found, wanted in (
        (both, points(a) & points(b)),
        (rest, points(a) - points(b)),
        (intervals.union_of([spans(a), spans(b)]), points(a) | points(b)),
    ):
        assert_is_a_set(found)
        assert points_of(found) == wanted


@given(some_ranges, st.integers(0, LAST), st.integers(0, LAST))
def test_clip_and_coverage(ranges: list[tuple[int, int]], low: int, high: int) -> None:
    wanted = {t for t in points(ranges) if low <= t < high}
    assert points_of(intervals.clip(spans(ranges), low, high)) == wanted
    coverage = Coverage(spans(ranges))
    assert coverage.between(np.array([low]), np.array([high])).tolist() == [len(wanted)]
    assert coverage.before(np.array([low])).tolist() == [sum(t < low for t in points(ranges))]


@given(st.lists(some_ranges, min_size=1, max_size=4), some_ranges)
def test_paint(layers: list[list[tuple[int, int]]], windows: list[tuple[int, int]]) -> None:
    bounds = np.array(windows, np.int64).reshape(-1, 2)
    painted = intervals.paint([spans(layer) for layer in layers], bounds[:, 0], bounds[:, 1])
    for w, (start, end) in enumerate(windows):
        left = set(range(start, end))
        for row, layer in enumerate(layers):
            assert painted[row, w] == len(left & points(layer))
            left -= points(layer)
        assert painted[-1, w] == len(left)
        assert painted[:, w].sum() == max(end - start, 0)


@given(st.lists(st.tuples(st.integers(0, LAST), st.integers(0, LAST), st.floats(0.01, 2.0)), max_size=12))
def test_profile(ranges: list[tuple[int, int, float]]) -> None:
    start = np.array([r[0] for r in ranges], np.int64)
    end = np.array([r[1] for r in ranges], np.int64)
    found = intervals.step_function(start, end, np.array([r[2] for r in ranges]), cap=1.0)
    value = np.zeros(LAST)
    for low, high, height in zip(found.start.tolist(), found.end.tolist(), found.value.tolist(), strict=True):
        assert (value[low:high] == 0).all()
        value[low:high] = height
    for t in range(LAST):
        wanted = min(sum(r[2] for r in ranges if r[0] <= t < r[1]), 1.0)
        assert value[t] == pytest.approx(wanted)
        assert (value[t] == 0) == (wanted == 0)
    assert intervals.integral(found, intervals.union(np.array([3, 25]), np.array([20, 30]))) == pytest.approx(
        value[3:20].sum() + value[25:30].sum()
    )


@given(st.lists(some_ranges, max_size=4))
def test_overlay(sets: list[list[tuple[int, int]]]) -> None:
    found = intervals.overlay([spans(each) for each in sets])
    assert (found.start[1:] >= found.end[:-1]).all()
    members = {t: sum(1 << i for i, each in enumerate(sets) if t in points(each)) for t in range(LAST)}
    for member in range(1, 2 ** len(sets)):
        assert points_of(found.of(member)) == {t for t, of in members.items() if of == member}
    assert set(found.member.tolist()) <= set(range(1, 2 ** len(sets)))


def test_nothing_is_active_between_kernels() -> None:
    """The old plugin left 1e-17 there."""
    start, end = np.array([0, 5, 10, 30]), np.array([10, 8, 20, 40])
    found = intervals.step_function(start, end, np.array([0.1, 0.2, 0.7, 0.3]))
    assert found.end.tolist()[:-1] == [5, 8, 10, 20]
    assert found.start.tolist()[-1] == 30


def test_numbers_of_the_old_plugin() -> None:
    """In tenths, because times are integers here."""
    merged = spans([(11, 22), (15, 23), (33, 39), (35, 36), (37, 38), (41, 42)])
    assert list(zip(*(c.tolist() for c in merged), strict=True)) == [(11, 23), (33, 39), (41, 42)]
    a = spans([(11, 22), (33, 44), (55, 66)])
    b = spans([(0, 1), (10, 14), (15, 16), (19, 34), (43, 46)])
    left, shared = intervals.subtraction(a, b), intervals.intersection(a, b)
    assert list(zip(*(c.tolist() for c in left), strict=True)) == [(14, 15), (16, 19), (34, 43), (55, 66)]
    assert list(zip(*(c.tolist() for c in shared), strict=True)) == [
        (11, 14),
        (15, 16),
        (19, 22),
        (33, 34),
        (43, 44),
    ]
    assert intervals.total(a) == 33
