"""Ranks among all differences of two arrays, against sorting all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from torch_tb_profiler.arrays import order
from torch_tb_profiler.arrays.order import differences_at

KINDS: dict[str, Any] = {
    "spread": lambda chance, count: chance.normal(0, 1e6, count),
    "whole numbers": lambda chance, count: chance.integers(-3, 4, count).astype(np.float64),
    "all the same": lambda _, count: np.full(count, 17.25),
    "of every size": lambda chance, count: chance.choice([-1, 1], count) * 10.0 ** chance.integers(-300, 15, count),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("left", "right"), [(1, 1), (1, 40), (40, 1), (23, 31), (31, 23)])
def test_every_rank_is_that_of_all_sorted(kind: str, left: int, right: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(left + 100 * right)
    one, two = KINDS[kind](chance, left), KINDS[kind](chance, right)
    every = np.sort(np.subtract.outer(one, two).ravel()).tolist()
    ranks = range(0, len(every), max(len(every) // 25, 1))
    assert differences_at(one, two, ranks) == [every[rank] for rank in ranks]
    monkeypatch.setattr(order, "MOST_SORTED", 0)
    assert differences_at(one, two, ranks) == [every[rank] for rank in ranks]
