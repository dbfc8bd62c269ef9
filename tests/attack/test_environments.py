"""See `environments`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("resource", reason="takes limits of processes")

pytestmark = pytest.mark.long


def test_no_traceback_and_nothing_left(tmp_path: Path) -> None:
    from tests.attack.environments import wrong_of

    assert wrong_of(tmp_path, 1, 12) == []
