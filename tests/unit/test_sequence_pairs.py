"""Pairs that every best alignment has, against all alignments of short sequences."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays.sequences import sure_pairs

Pairs = frozenset[tuple[int, int]]
sequences = st.lists(st.integers(0, 3), max_size=7)


def in_all_best(left: list[int], right: list[int]) -> list[tuple[int, int]]:
    @cache
    def best(i: int, j: int) -> frozenset[Pairs]:
        if i == len(left) or j == len(right):
            return frozenset([frozenset()])
        found = best(i + 1, j) | best(i, j + 1)
        if left[i] == right[j]:
            found |= {pairs | {(i, j)} for pairs in best(i + 1, j + 1)}
        most = max(map(len, found))
        return frozenset(pairs for pairs in found if len(pairs) == most)

    return sorted(frozenset.intersection(*best(0, 0)))


@given(sequences, sequences)
def test_what_all_best_alignments_have(left: list[int], right: list[int]) -> None:
    i, j = sure_pairs(np.array(left, np.int64), np.array(right, np.int64))
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == in_all_best(left, right)


@given(sequences, sequences)
def test_a_narrow_band_pairs_equal_entries_in_order(left: list[int], right: list[int]) -> None:
    i, j = sure_pairs(np.array(left, np.int64), np.array(right, np.int64), band=1)
    assert all(left[a] == right[b] for a, b in zip(i, j, strict=True))
    assert all(a < b for of in (i.tolist(), j.tolist()) for a, b in pairwise(of))


def test_long_sequences_with_losses() -> None:
    chance = np.random.default_rng(7)
    whole = chance.integers(0, 50, 2000)
    kept = np.flatnonzero(chance.random(2000) >= 0.05)
    i, j = sure_pairs(whole, whole[kept])
    assert (kept[j] == i).mean() > 0.999
    assert len(i) > 0.99 * len(kept)
