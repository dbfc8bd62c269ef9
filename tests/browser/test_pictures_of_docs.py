"""The pictures of the documentation can be taken: `make docs` does it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import pictures
from tests.recorded import ROOT


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


#: of a window, of a panel, of two runs
SOME = ("overview", "what-if", "compared")


@pytest.mark.parametrize(
    "names", [SOME, pytest.param(tuple(pictures.PICTURES), marks=pytest.mark.long)], ids=["some", "all"]
)
def test_pictures_are_taken(names: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "_build/pictures.py", str(tmp_path), *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    taken = {path.stem: size_of(path.read_bytes()) for path in tmp_path.iterdir()}
    assert taken.keys() == set(names)
    window = (pictures.SIZE["width"], pictures.SIZE["height"])
    assert {size for name, size in taken.items() if not pictures.PICTURES[name].panel} == {window}
    assert all(width > 500 and height > 200 for width, height in taken.values())
