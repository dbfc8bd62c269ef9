"""Pairing two sequences: most pairs, in order, and the same on long sequences as far as that can be."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.compare import comparison
from torch_tb_profiler.analysis.compare.comparison import align

sequences = st.lists(st.integers(0, 4), max_size=12)


def longest(left: list[int], right: list[int]) -> int:
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            same = left[i] == right[j]
            table[i][j] = table[i + 1][j + 1] + 1 if same else max(table[i + 1][j], table[i][j + 1])
    return table[0][0]


@given(sequences, sequences)
def test_most_pairs(left: list[int], right: list[int]) -> None:
    pairs = align(left, right)
    assert len(pairs) == longest(left, right)
    assert all(left[i] == right[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


@given(sequences, sequences)
def test_long_sequences_are_matched_from_left_to_right(left: list[int], right: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "MOST_BITS", 0)
        pairs = align(left, right)
    assert all(left[i] == right[j] for i, j in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    assert bool(pairs) == bool(set(left) & set(right))


def test_a_far_match_does_not_swallow_what_is_between() -> None:
    """The old plugin found only B."""
    assert align("BAC", "ACB") == [(1, 0), (2, 1)]


def test_of_equally_many_pairs_the_first_on_the_left_is_kept() -> None:
    assert align("AB", "BA") == [(0, 1)]
