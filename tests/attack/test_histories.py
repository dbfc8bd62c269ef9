"""See `histories`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("resource", reason="takes limits of processes")

pytestmark = pytest.mark.slow


def test_no_record_is_lost(tmp_path: Path) -> None:
    from tests.attack.histories import wrong_of

    assert wrong_of(tmp_path, 1, 6) == []
