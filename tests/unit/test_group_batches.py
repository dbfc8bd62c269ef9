"""Rows by group against a loop."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays import grouping


@given(st.lists(st.integers(-1, 4), max_size=40), st.integers(1, 9))
def test_rows_by_group(given: list[int], piece: int) -> None:
    group = np.array(given, np.int32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "BATCH_ROWS", piece)
        rows, first = grouping.rows_by_group(group, 5)
        found = list(grouping.group_batches(first))
    assert [rows[low:high].tolist() for low, high in pairwise(first.tolist())] == [
        [row for row, of in enumerate(given) if of == number] for number in range(5)
    ]
    assert [number for low, high in found for number in range(low, high)] == list(range(5))
    assert all(first[high] - first[low] <= piece or high == low + 1 for low, high in found)
