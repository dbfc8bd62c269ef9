"""Files keep apart where upper and lower case are the same: macOS and Windows."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from pathlib import Path, PurePosixPath

import pytest

#: left out when a module is imported
SCRIPT = re.compile(r"\.(d\.ts|tsx?|jsx?|mjs|cjs|py)$")


def import_path(file: str) -> str:
    return SCRIPT.sub("", file)


def clashes(files: list[str]) -> list[list[str]]:
    """Files and folders of one name when case is ignored, or two modules that are imported by the same one.

    >>> clashes(["a/Frames.tsx", "a/frames.ts", "a/frames.css"])
    [['a/Frames.tsx', 'a/frames.ts']]
    """
    by_name: dict[str, set[str]] = defaultdict(set)
    for file in files:
        by_name[import_path(file).lower()].add(file)
        for folder in PurePosixPath(file).parents:
            by_name[str(folder).lower()].add(str(folder))
    return sorted(sorted(names) for names in by_name.values() if len(names) > 1)


@pytest.fixture(scope="module")
def tracked(repository: Path) -> list[str]:
    if not (repository / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=repository, capture_output=True, text=True, check=True)
    return [file for file in listed.stdout.split("\0") if file]


def test_names_differ_in_more_than_case(tracked: list[str]) -> None:
    assert len(tracked) > 100
    assert clashes(tracked) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["a/Frames.tsx", "a/frames.ts"], [["a/Frames.tsx", "a/frames.ts"]]),
        (["a/x.test.ts", "a/x.test.tsx"], [["a/x.test.ts", "a/x.test.tsx"]]),
        (["a/Palette.tsx", "a/palette/entries.ts"], [["a/Palette.tsx", "a/palette"]]),
        (["A/x.py", "a/y.py"], [["A", "a"]]),
        (["a/Flame.tsx", "a/flame.css", "b/flame.ts"], []),
    ],
)
def test_clashes(files: list[str], expected: list[list[str]]) -> None:
    assert clashes(files) == expected
