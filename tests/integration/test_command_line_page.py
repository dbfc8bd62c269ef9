"""docs/command-line.md: every command has an example; tests/docs runs them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from torch_tb_profiler.cli.registry import COMMANDS
from torch_tb_profiler.tables.listing import COMMANDS as TABLES


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "command-line.md").read_text("utf-8")


def test_every_command_is_on_the_page(page: str) -> None:
    commands = set(re.findall(r"^\$ torch-tb-profiler ([\w-]+)", page, re.MULTILINE))
    assert set(TABLES) <= commands
    for name in COMMANDS:
        assert f"| `{name}` |" in page or name in commands, name
