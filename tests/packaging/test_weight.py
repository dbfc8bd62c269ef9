"""_build/weight.py: what belongs to the first load, and what is over its limit."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import weight

#: module → file, static imports, dynamic imports, style sheets; as the build of the UI is laid out
MODULES: dict[str, tuple[str, list[str], list[str], list[str]]] = {
    "src/index.ts": ("index.js", ["_preload.js"], ["_base.js", "src/app.tsx"], []),
    "_preload.js": ("preload.js", [], [], []),
    "_base.js": ("base.js", [], ["_zh-CN.js", "_zh-CN-views.js"], ["base.css"]),
    "src/app.tsx": ("app.js", ["_base.js", "_preload.js"], ["src/views/overview/index.tsx"], []),
    "src/views/overview/index.tsx": ("view.js", ["_base.js"], ["src/dialog.ts"], ["view.css"]),
    "src/dialog.ts": ("dialog.js", [], [], []),
    "_zh-CN.js": ("zh-CN.js", ["_reasons.js", "_preload.js"], [], []),
    "_zh-CN-views.js": ("zh-CN-views.js", ["_reasons.js"], [], []),
    "_reasons.js": ("reasons.js", [], [], []),
}
FIRST = {"index.js", "preload.js", "base.js", "base.css", "app.js"}
LAZY = {"view.js", "view.css", "dialog.js", "zh-CN.js", "zh-CN-views.js", "reasons.js"}


@pytest.fixture
def static(tmp_path: Path) -> Path:
    """A build of which every file has 1,000 bytes or a little more, gzipped."""
    manifest = {
        module: {
            "file": file,
            "name": file.partition(".")[0],
            "imports": imports,
            "dynamicImports": dynamic,
            "css": css,
        }
        for module, (file, imports, dynamic, css) in MODULES.items()
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    for file in FIRST | LAZY:
        write(tmp_path / file, 1_000)
    return tmp_path


def write(path: Path, size: int) -> None:
    path.write_bytes(random.Random(size).randbytes(size))


def test_first_load(static: Path) -> None:
    weighed = weight.weigh(static)
    assert {piece.file for piece in weighed.first} == FIRST
    assert {piece.file for piece in weighed.lazy} == LAZY
    assert 5_000 < weighed.first_load < 5_500
    assert weighed.problems() == []


def test_a_heavy_first_load(static: Path) -> None:
    write(static / "base.css", weight.FIRST_LOAD_LIMIT)
    problem, _ = weight.weigh(static).problems()
    assert problem.startswith("the first load (en) has 134,")


@pytest.mark.parametrize("file", ["zh-CN.js", "reasons.js"])
def test_a_heavy_first_load_in_chinese(static: Path, file: str) -> None:
    assert {piece.file for piece in weight.weigh(static).languages["zh-CN"]} == {"zh-CN.js", "reasons.js"}
    write(static / file, weight.FIRST_LOAD_LIMIT - 6_000)
    (problem,) = weight.weigh(static).problems()
    assert problem.startswith("the first load (zh-CN) has 130,")


def test_a_build_whose_languages_cannot_be_told(static: Path) -> None:
    manifest = json.loads((static / "manifest.json").read_text())
    manifest["_zh-CN.js"]["name"] = "chinese"
    (static / "manifest.json").write_text(json.dumps(manifest))
    (problem,) = weight.weigh(static).problems()
    assert "language" in problem


def test_what_views_say_in_chinese_comes_later(static: Path) -> None:
    write(static / "zh-CN-views.js", weight.FIRST_LOAD_LIMIT)
    assert weight.weigh(static).problems() == []


def test_a_heavy_first_view(static: Path) -> None:
    weighed = weight.weigh(static)
    assert {piece.file for piece in weighed.first_view} == {*FIRST, "view.js", "view.css"}
    for file in ("view.js", "view.css"):
        write(static / file, weight.FIRST_VIEW_LIMIT // 2)
    (problem,) = weight.weigh(static).problems()
    assert problem.startswith("the first view has 180,")


def test_a_first_view_of_many_files(static: Path) -> None:
    manifest = json.loads((static / "manifest.json").read_text())
    manifest["src/views/overview/index.tsx"]["css"] = [f"{number}.css" for number in range(weight.FIRST_VIEW_FILES)]
    (static / "manifest.json").write_text(json.dumps(manifest))
    for number in range(weight.FIRST_VIEW_FILES):
        write(static / f"{number}.css", 100)
    (problem,) = weight.weigh(static).problems()
    assert problem.startswith("the first view has 26 files")


@pytest.mark.parametrize("file", ["zh-CN-views.js", "dialog.js"])
def test_a_heavy_piece(static: Path, file: str) -> None:
    limit = weight.LAZY_LIMIT
    write(static / file, limit - 1_000)
    assert weight.weigh(static).problems() == []
    write(static / file, limit)
    (problem,) = weight.weigh(static).problems()
    assert problem.startswith(file)
    assert f"at most {limit:,}" in problem


def test_without_a_build(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        weight.weigh(tmp_path)
