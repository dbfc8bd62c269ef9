"""No module is too long, documents name files that there are, and the architecture describes the house as it stands."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import house

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]

#: lines of a module, and of a file of tests
MOST_LINES = 450


def tracked() -> list[str]:
    try:
        return house.files_of(ROOT)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not in a git checkout")


def test_no_module_is_too_long() -> None:
    modules = [name for name in tracked() if name.startswith(("torch_tb_profiler/", "fe/src/", "tests/"))]
    long = {
        name: lines
        for name in modules
        if name.endswith((".py", ".ts", ".tsx", ".css"))
        and (lines := len((ROOT / name).read_text("utf-8").splitlines())) > MOST_LINES
    }
    assert modules
    assert not long


def test_columns_are_declared_in_results() -> None:
    modules = [name for name in tracked() if name.startswith("torch_tb_profiler/") and name.endswith(".py")]
    assert [name for name in modules if house.defines(name, (ROOT / name).read_text("utf-8"))] == []


def test_what_insights_say_is_in_their_words() -> None:
    modules = [name for name in tracked() if name.endswith(".py") and house.speaks(name)]
    assert len(modules) > 50
    assert {
        name: said for name in modules if (said := house.sentences(ast.parse((ROOT / name).read_text("utf-8"))))
    } == {}


def test_a_name_says_what_it_is() -> None:
    """Public classes have a name of their own, and no local that lives for long is called `found`, `each` or `of`."""
    modules = {name: ROOT / name for name in tracked() if re.fullmatch(r"torch_tb_profiler/.*\.py", name)}
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in modules.items()}
    assert house.shared_names(trees) == set()
    # `at` is a moment there, by the documented name of a parameter
    api = "torch_tb_profiler/api/snapshot.py"
    assert {name: vague for name, tree in trees.items() if name != api and (vague := [*house.vague_locals(tree)])} == {}


#: files and folders in the words of documents: of the package without its name, of the repository with theirs
_PATH = re.compile(r"`((?:[\w.-]+/)+(?:[\w-]+\.(?:pyi?|tsx?|css|toml|mjs))?)`")
_NAME = re.compile(r"`([\w-]+\.(?:py|tsx?|css|toml|mjs))`")


def rooms() -> list[str]:
    """Folders and modules of the package, and folders of the page."""
    names = tracked()
    package = {
        name.split("/")[1].removesuffix(".py")
        for name in names
        if re.match(r"torch_tb_profiler/[a-z]\w*(?:/|\.py$)", name)
    }
    page = {name.split("/")[2] for name in names if re.match(r"fe/src/\w+/", name)}
    return [*package, *page]


def test_documents_name_files_that_there_are() -> None:
    roots = {"torch_tb_profiler", "fe", "tests", "docs", "_build", "benchmarks", "examples", "samples"}
    inside = {path.name for path in (ROOT / "torch_tb_profiler").iterdir() if path.is_dir()}
    named = []
    for path in (ROOT / "docs").rglob("*.md"):
        for name in _PATH.findall(path.read_text("utf-8")):
            first = name.split("/")[0]
            if first in inside:
                named.append((path.name, f"torch_tb_profiler/{name}"))
            elif first in roots:
                named.append((path.name, name))
    assert len(named) > 50
    assert not [each for each in named if not (ROOT / each[1]).exists()]


def test_the_architecture_names_files_that_there_are() -> None:
    known = {Path(name).name for name in tracked()}
    pages = [ROOT / "docs/architecture.md", *(ROOT / "docs/maintainers/architecture").glob("*.md")]
    named = [name for page in pages for name in _NAME.findall(page.read_text("utf-8"))]
    assert len(pages) > 3
    assert not [name for name in named if name not in known]


def test_the_architecture_describes_every_room() -> None:
    text = (ROOT / "docs/architecture.md").read_text("utf-8").split("\nHow to add something")[0]
    found = rooms()
    assert {"analysis", "tables", "defaults", "timeline", "views"} <= set(found)
    assert not [room for room in found if not re.search(rf"(?<![\w/]){room}\b", text)]


def test_the_architecture_says_why_each_dependency_was_chosen() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = declared["project"]
    text = (ROOT / "docs/architecture.md").read_text("utf-8").split("\n## Dependencies, and why\n")[1]
    listed = {name.strip() for row in re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE) for name in row.split(",")}
    needed = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
        *(each for group in declared["dependency-groups"].values() for each in group if isinstance(each, str)),
    ]
    names = {re.split(r"[^\w.-]", each)[0] for each in needed} - {"torch-tb-profiler", "types-regex"}
    assert "numpy" in names
    assert not names - {name.split(" (")[0] for name in listed}
