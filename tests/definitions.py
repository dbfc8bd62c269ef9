"""What every reported number means, of all questions."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import torch_tb_profiler
from torch_tb_profiler.analysis.definition import Definition

PACKAGE = Path(torch_tb_profiler.__file__).parent


def column_modules() -> list[str]:
    """The modules that hold definitions: `columns.py` of each question, and what several of them share."""
    names = [info.name for info in walk_packages(torch_tb_profiler.__path__, "torch_tb_profiler.")]
    return [name for name in names if name.endswith("columns") and _definitions_in(name)]


def all_definitions() -> dict[str, dict[str, Definition]]:
    """By the name of the constant, such as OPERATORS."""
    return {name: defined for module in column_modules() for name, defined in _definitions_in(module).items()}


def _definitions_in(module: str) -> dict[str, dict[str, Definition]]:
    return {
        name: value
        for name, value in vars(import_module(module)).items()
        if isinstance(value, dict) and value and all(isinstance(each, Definition) for each in value.values())
    }
