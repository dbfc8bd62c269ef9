"""Calls in the source of the package: of what kinds something is made there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import torch_tb_profiler

PACKAGE = Path(torch_tb_profiler.__file__).parent


def calls_of(name: str) -> Iterator[ast.Call]:
    """Everywhere in the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if f"{name}(" in (source := path.read_text("utf-8")):
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                    yield node


def constants(call: ast.Call, at: int) -> list[str]:
    """What is given at a place, where it stands there as a text."""
    given = call.args[at] if at < len(call.args) else None
    return [given.value] if isinstance(given, ast.Constant) and isinstance(given.value, str) else []
