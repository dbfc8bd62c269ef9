"""See `agents`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra mcp is needed")

pytestmark = pytest.mark.slow


def test_every_request_has_one_harmless_answer(tmp_path: Path) -> None:
    from tests.attack.agents import wrong_of

    assert wrong_of(tmp_path, 1, 40) == []
