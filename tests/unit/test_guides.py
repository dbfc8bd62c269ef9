"""The code and the numbers of pages that are read from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torch_tb_profiler.cli import main


def run_page(page: Path) -> dict[str, Any]:
    """All code of a page in one namespace, as in a notebook."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) > 3
    namespace: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, page.name, "exec"), namespace)
    return namespace


@pytest.fixture
def in_repository(repository: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(repository)
    monkeypatch.setattr("torch_tb_profiler.workspace.cache.default_directory", lambda: cache)
    return repository


def test_the_guide(in_repository: Path) -> None:
    pytest.importorskip("pandas")
    assert run_page(in_repository / "docs" / "python.md")["trace"].worker == "worker0"


def test_how_to_find_the_bottleneck(in_repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page says what the samples say: its sentences, the output of its command, its numbers."""
    page = in_repository / "docs" / "find-the-bottleneck.md"
    text = page.read_text()
    said = run_page(page)
    for name in ("before", "after"):
        quoted = said[name].answer("overview").bound.sentence
        assert quoted in text.replace("\n> ", " ")
    steps = said["predicted"].step_after_ns
    for ns in (said["predicted"].before_ns / 6, np.median(steps), said["after"].summary().steps.median_ns):
        assert f"{ns / 1e6:.1f} ms" in text
    capsys.readouterr()
    assert main(["summary", "samples/cnn_workers0"]) == 0
    (shown,) = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert capsys.readouterr().out == shown
