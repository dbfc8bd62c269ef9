"""A short form of the attack on what is read outside the page (tests/attack/outputs.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack import outputs
from tests.attack.names import LONG


@pytest.mark.parametrize("seed", [1, next(seed for seed in range(99) if LONG in outputs.names_of(seed))])
def test_hostile_names_outside_the_page(seed: int, tmp_path: Path) -> None:
    assert list(outputs.wrong_of(tmp_path, seed)) == []
