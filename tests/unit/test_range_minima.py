"""The least value of ranges, against looking at each of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays.ranges import NOTHING, least_in


@given(
    st.lists(st.integers(-9, 9), max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=20)
)
def test_each_range_has_its_least_value(values: list[int], ranges: list[tuple[int, int]]) -> None:
    known = [(min(low, len(values)), min(high, len(values))) for low, high in ranges]
    first, after = (np.array([each[side] for each in known], np.int64) for side in (0, 1))
    found = least_in(np.array(values, np.int64), first, after)
    assert found.tolist() == [min(values[low:high], default=NOTHING) for low, high in known]
