"""Calls in the source of the package: of what kinds something is made there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch_tb_profiler

PACKAGE = Path(torch_tb_profiler.__file__).parent


class Source(NamedTuple):
    """Of a module the texts that stand in it, and its calls by what is called."""

    texts: list[str]
    calls: dict[str, list[ast.Call]]


@cache
def modules() -> list[Source]:
    """Of the whole package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        texts: list[str] = []
        calls: dict[str, list[ast.Call]] = {}
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append(node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                calls.setdefault(node.func.id, []).append(node)
        found.append(Source(texts, calls))
    return found


def calls_of(name: str) -> Iterator[ast.Call]:
    """Everywhere in the package."""
    for module in modules():
        yield from module.calls.get(name, ())


def constants(call: ast.Call, at: int) -> list[str]:
    """What is given at a place, where it stands there as a text."""
    given = call.args[at] if at < len(call.args) else None
    return [given.value] if isinstance(given, ast.Constant) and isinstance(given.value, str) else []
