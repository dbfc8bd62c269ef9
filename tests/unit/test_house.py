"""What the house is kept by: sizes of modules, names of files."""

from __future__ import annotations

import subprocess
from collections import Counter
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


def test_no_two_files_differ_only_in_case() -> None:
    """On macOS and Windows they would be one."""
    names = tracked()
    stems = Counter(str(Path(name).with_suffix("")).lower() for name in names if name.startswith("fe/src/"))
    spelled = {}
    for name in names:
        if name.startswith("fe/src/"):
            spelled.setdefault(str(Path(name).with_suffix("")).lower(), set()).add(str(Path(name).with_suffix("")))
    assert stems
    # `./frames` could mean Frames.tsx or frames.ts there
    assert not {name: spellings for name, spellings in spelled.items() if len(spellings) > 1}
    whole = Counter(name.lower() for name in names)
    assert not [name for name, count in whole.items() if count > 1]
