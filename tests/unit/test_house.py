"""No module is too long, and documents name files that there are."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: lines of a module, and of a file of tests
MOST_LINES = 400


def tracked() -> list[str]:
    try:
        found = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not in a git checkout")
    return [name for name in found.decode().split("\0") if name and (ROOT / name).exists()]


def test_no_module_is_too_long() -> None:
    modules = [name for name in tracked() if name.startswith(("torch_tb_profiler/", "fe/src/", "tests/"))]
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


_SOURCE = re.compile(r"`((?:arrays|trace|model|analysis|timeline|ranks|insights|workspace|web|api|cli)/[\w/]+\.py)`")
_PAGE_SOURCE = re.compile(r"`(fe/src/[\w/.]+\.(?:ts|tsx|css))`")


def test_documents_name_files_that_there_are() -> None:
    named = []
    for path in (ROOT / "docs").rglob("*.md"):
        text = path.read_text("utf-8")
        named += [(path.name, f"torch_tb_profiler/{name}") for name in _SOURCE.findall(text)]
        named += [(path.name, name) for name in _PAGE_SOURCE.findall(text)]
    assert len(named) > 30
    assert not [each for each in named if not (ROOT / each[1]).exists()]
