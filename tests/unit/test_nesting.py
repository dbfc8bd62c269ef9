from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import MOST, Work, growth
from torch_tb_profiler.arrays import nesting as module
from torch_tb_profiler.arrays.nesting import Nesting, last_started, nearest, nest, on_paths, outermost_first, parents

Interval = tuple[int, int, int]  # lane, start, length

intervals = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 12)), max_size=40)


def of(given_intervals: list[Interval]) -> Nesting:
    lane, start, length = np.array(given_intervals, dtype=np.int64).reshape(-1, 3).T
    return nest(lane.astype(np.int32), start, start + length, np.zeros(len(start), dtype=np.int32))


def by_hand(given_intervals: list[Interval]) -> list[tuple[int, int, int, int]]:
    """(given index, parent position, depth, end) in preorder, by the definition."""
    order = sorted(
        range(len(given_intervals)),
        key=lambda i: (given_intervals[i][0], given_intervals[i][1], -sum(given_intervals[i][1:]), i),
    )
    result: list[tuple[int, int, int, int]] = []
    stack: list[int] = []
    for position, i in enumerate(order):
        lane, start, length = given_intervals[i]
        while stack and (given_intervals[order[stack[-1]]][0] != lane or result[stack[-1]][3] <= start):
            stack.pop()
        end = start + length
        if stack:
            end = min(end, result[stack[-1]][3])
        result.append((i, stack[-1] if stack else -1, len(stack), end))
        stack.append(position)
    return result


@given(intervals)
def test_nesting_is_that_of_a_stack(given_intervals: list[Interval]) -> None:
    found = of(given_intervals)
    expected = by_hand(given_intervals)
    assert list(zip(found.order, found.parent, found.depth, found.end, strict=True)) == expected


@given(intervals)
def test_nothing_is_dropped_and_children_lie_inside(given_intervals: list[Interval]) -> None:
    found = of(given_intervals)
    assert sorted(found.order.tolist()) == list(range(len(given_intervals)))
    has_parent = found.parent >= 0
    parent = found.parent[has_parent]
    assert (parent < np.flatnonzero(has_parent)).all()
    assert (found.start[has_parent] >= found.start[parent]).all()
    assert (found.end[has_parent] <= found.end[parent]).all()
    assert (found.end >= found.start).all()


@given(intervals, st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 45)), min_size=1, max_size=20))
def test_innermost_is_the_deepest_that_contains_the_time(
    given_intervals: list[Interval], asked: list[tuple[int, int]]
) -> None:
    found = of(given_intervals)
    lanes, times = np.array(asked, dtype=np.int64).T
    answer = found.innermost(lanes.astype(np.int32), times)
    for lane, time, got in zip(lanes, times, answer, strict=True):
        open_ = np.flatnonzero((found.lane == lane) & (found.start <= time) & (time < found.end))
        if not len(open_):
            assert got == -1
        else:
            assert got == open_[np.argmax(found.depth[open_])]


@pytest.mark.parametrize("end", [lambda i: 1_000, lambda i: 1_000 - i, lambda i: 1_000 - i // 7 * 7])
def test_innermost_of_a_tower(end: Callable[[int], int]) -> None:
    """Hundreds of intervals end at a time, or one after the other, and nothing begins in between."""
    found = of([(0, i, end(i) - i) for i in range(300)])
    times = np.arange(-1, 1_002)
    open_ = [np.flatnonzero((found.start <= time) & (time < found.end)) for time in times]
    expected = [int(each[-1]) if len(each) else -1 for each in open_]
    assert found.innermost(np.zeros(len(times), np.int32), times).tolist() == expected


def test_long_rows_of_siblings_and_deep_towers() -> None:
    siblings = [(0, 0, 10_000_000), *[(0, i, 1) for i in range(50_000)]]
    assert (of(siblings).parent[1:] == 0).all()
    tower = [(0, i, 2 * (5_000 - i)) for i in range(5_000)]
    assert of(tower).depth.tolist() == list(range(5_000))


def test_rounds_that_run_out_are_finished_one_by_one(monkeypatch) -> None:
    rng = np.random.default_rng(1)
    many = [(0, int(s), int(n)) for s, n in zip(rng.integers(0, 500, 300), rng.integers(0, 50, 300), strict=True)]
    monkeypatch.setattr(module, "_MAX_ROUNDS", 1)
    found = of(many)
    assert list(zip(found.order, found.parent, found.depth, found.end, strict=True)) == by_hand(many)


def test_nearest_wanted_ancestor() -> None:
    parent = np.array([-1, 0, 1, 2, -1], dtype=np.int32)
    wanted = np.array([True, False, False, True, False])
    start = np.array([3, 2, 1, 0, 4, -1], dtype=np.int32)
    assert nearest(parent, wanted, start).tolist() == [3, 0, 0, 0, -1, -1]


@given(intervals)
def test_the_order_is_that_of_a_full_sort(given_intervals: list[Interval]) -> None:
    lane, start, length = np.array(given_intervals, np.int64).reshape(-1, 3).T
    rank = (length % 3).astype(np.int32)
    expected = np.lexsort((rank, -start - length, start, lane)).tolist()
    for lanes in (lane, lane + 2**20, lane - 1):
        assert outermost_first(lanes.astype(np.int32), start, start + length, rank).tolist() == expected


@given(intervals)
def test_parents_are_the_nearest_before_that_have_not_ended(given_intervals: list[Interval]) -> None:
    lane, start, length = np.array(given_intervals, np.int64).reshape(-1, 3).T
    order = np.lexsort((-length, start, lane))
    lane, start, end = lane[order].astype(np.int32), start[order], (start + length)[order]
    found: list[int] = []
    stack: list[int] = []
    for i in range(len(start)):
        while stack and (lane[stack[-1]] != lane[i] or end[stack[-1]] <= start[i]):
            stack.pop()
        found.append(stack[-1] if stack else -1)
        stack.append(i)
    assert parents(lane, start, end).tolist() == found


@given(intervals, st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 45)), max_size=20))
def test_the_last_that_started(given_intervals: list[Interval], asked: list[tuple[int, int]]) -> None:
    rows = sorted((lane, start) for lane, start, _ in given_intervals)
    lanes, starts = np.array(rows, np.int64).reshape(-1, 2).T
    lane, time = np.array(asked, np.int64).reshape(-1, 2).T
    found = last_started(lanes.astype(np.int32), starts, lane.astype(np.int32), time)
    expected = [max((i for i, (on, at) in enumerate(rows) if on == w and at <= t), default=-1) for w, t in asked]
    assert found.tolist() == expected


@pytest.mark.parametrize("every", [3, 97, 10**9])
def test_the_nearest_in_a_deep_tree(every: int) -> None:
    """Level by level it grows with the square."""

    def prepared(depth: int) -> Work:
        chain = np.arange(-1, depth - 1, dtype=np.int32)
        wanted = np.arange(depth) % every == every - 1

        def work() -> None:
            found = nearest(chain, wanted, np.append(np.arange(depth), -1))
            expected = (np.arange(depth) + 1) // every * every - 1
            assert np.array_equal(found, np.append(expected, -1))

        return work

    assert growth(prepared, 7500) < MOST


@given(st.lists(st.integers(0, 30), max_size=30), st.lists(st.integers(-1, 29), max_size=10))
def test_on_paths_are_nodes_and_all_around_them(above: list[int], asked: list[int]) -> None:
    parent = [-1 if not at else above[at] % (at + 1) - 1 for at in range(len(above))]
    nodes = [each for each in asked if each < len(parent)]
    expected = set()
    for each in nodes:
        while each >= 0:
            expected.add(each)
            each = parent[each]  # noqa: PLW2901
    found = on_paths(np.array(parent, np.int32), np.array(nodes, np.int64))
    assert set(np.flatnonzero(found).tolist()) == expected


def test_on_paths_pass_a_long_common_path_once() -> None:
    def prepared(chain: int) -> Work:
        parent = np.append(np.arange(-1, chain - 1), np.full(chain, chain - 1)).astype(np.int32)
        return lambda: on_paths(parent, np.arange(chain, 2 * chain)).all()

    assert prepared(20_000)()
    assert growth(prepared, 5000) < MOST
