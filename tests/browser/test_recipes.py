"""The recipes of docs/contributing.md for a view, tracks and a chart make what works, in as few files as they say."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import frontend
from tests.browser.profiler import Profiler
from tests.browser.servers import Server
from tests.recipes.guide import ROOT, Copy, copy_into, files_of, recipe
from tests.tiny import write_trace

VIEW = recipe("An analysis with a table, a view and Python access")
TRACKS = {"steps": recipe("A track of the timeline"), "launches": recipe("A track with data of its own")}
CHART = recipe("A chart")
RECIPES = [*VIEW, *(block for track in TRACKS.values() for block in track), *CHART]
MOST_FILES = 8

ASK = """
import json, sys
import torch_tb_profiler
answer = torch_tb_profiler.open(sys.argv[1], cache_dir=sys.argv[2]).trace().answer("streams")
print(answer.to_pandas().to_json(orient="records"))
"""
#: of `tests.tiny`, two steps with a kernel of 300 µs each
EXPECTED = [{"stream": 7, "device": 0, "pieces": 2, "total_ns": 600_000}]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """With all these recipes applied, and the document and the types made of it."""
    made = copy_into(tmp_path_factory.mktemp("copy"), "fe", "docs")
    (made.root / "fe" / "node_modules").symlink_to(ROOT / "fe" / "node_modules")
    made.apply(RECIPES)
    document = made.python("-m", "torch_tb_profiler.web.openapi")
    (made.root / "docs" / "openapi.json").write_text(document, "utf-8")
    node(made, "types.mjs")
    return made


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "logs" / "run" / "w.1.pt.trace.json")


def node(copy: Copy, *command: str) -> None:
    done = subprocess.run(
        [frontend.any_node().node, *command],
        cwd=copy.root / "fe",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_few_files() -> None:
    assert len(files_of(VIEW)) <= MOST_FILES
    assert len(files_of(TRACKS["steps"])) <= 3
    assert len(files_of(TRACKS["launches"])) <= 6
    assert len(files_of(CHART)) <= 4


def test_types_and_style(copy: Copy) -> None:
    node(copy, "node_modules/typescript/bin/tsc", "--noEmit")
    written = [block.file.removeprefix("fe/") for block in RECIPES if block.file.startswith("fe/")]
    node(copy, "node_modules/@biomejs/biome/bin/biome", "check", *dict.fromkeys(written))


def test_tracks_and_a_chart(copy: Copy) -> None:
    tests = [block.file.removeprefix("fe/") for block in RECIPES if ".test." in block.file]
    assert len(tests) == 3
    node(copy, "node_modules/vitest/vitest.mjs", "run", *tests)


def test_answer_in_python(copy: Copy, trace: Path, tmp_path: Path) -> None:
    answer = copy.python("-c", ASK, str(trace), str(tmp_path / "cache"))
    assert json.loads(answer) == EXPECTED


def test_view(copy: Copy, trace: Path, page: Page, start: Callable[..., Server]) -> None:
    node(copy, "node_modules/vite/bin/vite.js", "build")
    logs = trace.parent.parent
    server = start("recipe", "torch_tb_profiler", "serve", str(logs), folder=copy.root)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="streams", r="run", k="w")
    expect(profiler.heading("Streams")).to_be_visible()
    grid = profiler.grid("Streams")
    expect(grid.count).to_have_text("1 row")
    expect(grid.first_row.get_by_role("gridcell")).to_contain_text(["7", "0", "2", "600"])
