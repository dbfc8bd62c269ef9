"""What holds for every module of array algebra: worked examples that are true, and no word of what the numbers mean."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from torch_tb_profiler import arrays

FOLDER = Path(arrays.__file__).parent
MODULES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "types"))

#: words of the rooms that use the functions
OTHER_ROOMS = re.compile(
    r"\b(?:traces?|events?|kernels?|threads?|profiler|operators?|annotations?|categor(?:y|ies)|devices?|gpu|host"
    r"|durations?|ns|nanoseconds?|steps?|ranks of|collectives?)\b",
    re.IGNORECASE,
)


def public(module: str) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Functions, classes and methods."""
    for node in ast.parse((FOLDER / f"{module}.py").read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            yield node.name, node
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


@pytest.mark.parametrize("module", MODULES)
def test_examples_are_true(module: str) -> None:
    found = doctest.testmod(importlib.import_module(f"torch_tb_profiler.arrays.{module}"))
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_every_function_has_an_example(module: str) -> None:
    for name, node in public(module):
        docstring = ast.get_docstring(node)
        assert docstring, name
        if isinstance(node, ast.FunctionDef) and "." not in name:
            assert ">>> " in docstring, name
            assert [a.arg for a in node.args.args if a.arg not in docstring] == [], name


@pytest.mark.parametrize("module", [*MODULES, "__init__", "types"])
def test_no_words_of_other_rooms(module: str) -> None:
    lines = (FOLDER / f"{module}.py").read_text().splitlines()
    text = "\n".join(line for line in lines if not re.match(r"(from|import) ", line))
    assert OTHER_ROOMS.findall(text) == []
