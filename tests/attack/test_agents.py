"""See `agents`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the extra mcp is needed")

pytestmark = pytest.mark.long


def test_every_request_has_one_harmless_answer(tmp_path: Path) -> None:
    from tests.attack.agents import wrong_of

    assert wrong_of(tmp_path, 1, 40) == []


@pytest.mark.parametrize("is_modern", [True, False])
def test_a_line_that_is_no_request_is_refused(tmp_path: Path, is_modern: bool) -> None:
    from tests.attack.agents import BROKEN
    from tests.attack.mcp_client import Agent

    agent = Agent(tmp_path, tmp_path / "cache", is_modern, tmp_path / "errors", seconds=20)
    try:
        for line, error in BROKEN.items():
            assert list(agent.refused(line, error)) == []
        assert agent.answer("tools/list", {})[0] is not None
        assert list(agent.end()) == []
    finally:
        agent.process.kill()
