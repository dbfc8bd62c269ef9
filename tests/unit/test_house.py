"""No module is too long."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: lines of a module
MOST_LINES = 400


def tracked() -> list[str]:
    try:
        found = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not in a git checkout")
    return [name for name in found.decode().split("\0") if name and (ROOT / name).exists()]


def test_no_module_is_too_long() -> None:
    modules = [name for name in tracked() if name.startswith(("torch_tb_profiler/", "fe/src/"))]
    long = {
        name: lines
        for name in modules
        if name.endswith((".py", ".ts", ".tsx", ".css"))
        # types made by a generator
        and not name.endswith(".gen.ts")
        if (lines := len((ROOT / name).read_text("utf-8").splitlines())) > MOST_LINES
    }
    assert modules
    assert not long
