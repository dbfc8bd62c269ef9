"""The recipes of docs/contributing.md, applied to a copy of the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "contributing.md"

_BLOCK = re.compile(
    r"^```\w+ file=(?P<file>\S+)(?: after=\"(?P<after>[^\"]+)\"|(?P<end> at-end))?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """after: the beginning of the line below which the text is put; "" for the end; None for a new file."""

    file: str
    after: str | None
    text: str


def recipe(title: str) -> list[Block]:
    """The blocks of a chapter."""
    text = GUIDE.read_text("utf-8")
    start = text.index(f"\n## {title}\n")
    end = text.find("\n## ", start + 1)
    blocks = _BLOCK.finditer(text[start : end if end > 0 else None])
    found = [Block(m["file"], "" if m["end"] else m["after"], m["text"]) for m in blocks]
    assert found, title
    return found


def files_of(blocks: list[Block]) -> set[str]:
    return {block.file for block in blocks}


@dataclass(frozen=True)
class Copy:
    """A copy of the package in a folder of its own."""

    root: Path

    def apply(self, blocks: list[Block]) -> None:
        for block in blocks:
            path = self.root / block.file
            if block.after is None:
                assert not path.exists(), f"{block.file} is not new"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, "utf-8")
            else:
                path.write_text(_put(path.read_text("utf-8"), block.after, block.text), "utf-8")

    def python(self, *arguments: str) -> str:
        """What a Python process that imports the copy prints."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def copy_into(folder: Path, *more: str) -> Copy:
    """more: other parts of the repository than the package."""
    without = shutil.ignore_patterns("__pycache__", "node_modules", "dist")
    for name in ("torch_tb_profiler", *more):
        shutil.copytree(ROOT / name, folder / name, ignore=without)
    return Copy(folder)


def _put(text: str, after: str, lines: str) -> str:
    if not after:
        return text + lines
    kept = text.splitlines(keepends=True)
    at = next((number for number, line in enumerate(kept) if line.startswith(after)), None)
    assert at is not None, f"no line begins with {after!r}"
    return "".join([*kept[: at + 1], lines, *kept[at + 1 :]])
