"""A short form of the attack on what is read outside the page (tests/attack/shown_names.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack import shown_names
from tests.attack.names import LONG


@pytest.mark.parametrize(
    "seed",
    [pytest.param(1, marks=pytest.mark.long), next(seed for seed in range(99) if LONG in shown_names.names_of(seed))],
)
def test_hostile_names_outside_the_page(seed: int, tmp_path: Path) -> None:
    assert list(shown_names.wrong_of(tmp_path, seed)) == []
