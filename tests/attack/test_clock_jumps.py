"""See `clock_jumps`."""

from __future__ import annotations

from pathlib import Path

from tests.attack.clock_jumps import wrong_of


def test_jumps_of_the_clock_change_no_answer_and_remove_nothing(tmp_path: Path) -> None:
    assert wrong_of(tmp_path, 1) == []
