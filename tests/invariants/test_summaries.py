"""The summary of every trace has the keys that programs read, and numbers that fit each other."""

from __future__ import annotations

from pathlib import Path

from tests.invariants.every_trace import each_file
from tests.recorded import shared_model_of
from tests.summary_checks import check_summary


@each_file
def test_a_summary_of_a_recorded_trace(path: Path) -> None:
    check_summary(shared_model_of(path))
