"""Sums of ranges against dictionaries."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays.ranges import KeyedSequence, positions, running_sums

BIG = 2**61  # no double holds it and 1


@given(
    st.lists(st.tuples(st.sampled_from([3, 4, 70_000]), st.sampled_from([-7, 1, BIG])), max_size=30),
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8),
)
def test_ranges(data: list[tuple[int, int]], ends: list[tuple[int, int]]) -> None:
    ranges = [sorted((min(a, len(data)), min(b, len(data)))) for a, b in ends]
    first, after = np.array(ranges, np.int64).reshape(-1, 2).T
    wanted = []
    for of, (low, high) in enumerate(ranges):
        found: dict[int, tuple[int, int]] = {}
        for key, value in data[low:high]:
            count, total = found.get(key, (0, 0))
            found[key] = count + 1, total + value
        wanted += [(of, key, count, _wrapped(total)) for key, (count, total) in found.items()]
    keys, values = np.array(data, np.int64).reshape(-1, 2).T
    sequence = KeyedSequence(keys, [values])
    rows = sequence.sums(first, after)
    columns = (rows.range_of, sequence.keys[rows.key], rows.count, rows.sums[0])
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == wanted
    assert positions(first, after).tolist() == [place for low, high in ranges for place in range(low, high)]


def _wrapped(total: int) -> int:
    """As 64 bits hold it."""
    return (total + 2**63) % 2**64 - 2**63


@given(st.lists(st.integers(-9, 9), max_size=20))
def test_running_sums(values: list[int]) -> None:
    assert running_sums(np.array(values, np.int64)).tolist() == [sum(values[:i]) for i in range(len(values) + 1)]
    assert running_sums(np.array(values, np.int64) > 0).tolist()[-1] == sum(value > 0 for value in values)
