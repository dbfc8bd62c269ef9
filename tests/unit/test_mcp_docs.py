"""The page for agents says what the server has, its commands do what it says, and its code runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from torch_tb_profiler.cli import main
from torch_tb_profiler.mcp.resources import PROMPTS, RESOURCES, SKILL, SUMMARY_TEMPLATE
from torch_tb_profiler.mcp.tools import TOOLS
from torch_tb_profiler.mcp.tools.tables import TABLES

pytestmark = pytest.mark.slow


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "for-agents.md").read_text("utf-8")


def test_the_table_of_tools(page: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\d,]+) \|$", page, re.MULTILINE)
    said = {name: int(most.replace(",", "")) for name, most in rows}
    assert said == {**{tool.name: tool.budget for tool in TOOLS}, "sql": 4_000}
    assert f"one of {len(TABLES)} tables" in page
    assert all(f"`{name}`" in page for name in (*PROMPTS, *RESOURCES, SUMMARY_TEMPLATE))


def test_its_code(page: str, repository: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(cache))
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    # in a thread of its own: the browser of other tests has an event loop in this one
    with ThreadPoolExecutor(1) as thread:
        thread.submit(exec, compile(code, "for-agents.md", "exec"), names).result()
    assert names["finding"] == "synchronous_dataloader"
    assert names["where"] == "cnn_dataloader.py:39 (__getitem__)"
    assert names["saving"] > 20


def test_its_commands(page: str, repository: Path, cache: Path) -> None:
    """Those that need nothing of a reader's own."""
    blocks = re.findall(r"^```console\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    commands = [line.removeprefix("$ ").split() for block in blocks for line in block.splitlines()]
    assert [command[0] for command in commands] == ["torch-tb-profiler"] * 2
    outputs = [
        subprocess.run(
            [sys.executable, "-m", "torch_tb_profiler", *command[1:]],
            cwd=repository,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout
        for command in commands
    ]
    assert outputs[0] == SKILL
    summary = json.loads(outputs[1])
    # what the skill goes by
    assert set(summary) >= {"findings", "steps", "notes", "ranks"}
    assert summary["findings"][0]["saving"]["after_others_ns"] > 0.03 * summary["steps"]["mean_ns"]
    assert {"key", "title", "detail", "advice", "where"} <= set(summary["findings"][0])
    assert {"period_ns", "mean_ns"} <= set(summary["steps"])
    assert "stragglers" in summary["ranks"]


def test_the_skill_proves_a_change(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its commands, with the samples in place of the names in capitals, print what it speaks of."""
    samples = repository / "samples"
    before, after = str(samples / "cnn_workers0"), str(samples / "cnn_workers2")
    names = {"PATH": before, "KEY": "synchronous_dataloader", "A": before, "B": after}
    told = []
    for command in re.findall(r"`torch-tb-profiler ((?:candidates|prove) [^`]+)`", SKILL):
        assert main([names.get(word.rstrip("0123456789"), word) for word in command.split()]) == 0
        told.append(json.loads(capsys.readouterr().out))
    candidates, proof = told
    assert {one["finding"] for one in candidates["candidates"]} == {"synchronous_dataloader"}
    assert candidates["candidates"][0]["saving_ms"]["after_others"] > 0
    assert proof["measure"]["verdict"] == "gone"
    assert proof["step"]["low"] > 0
    assert {"sentence", "moved", "more"} <= set(proof)
