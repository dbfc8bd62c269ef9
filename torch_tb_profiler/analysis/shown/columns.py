"""Definitions of the columns of any result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.answer import ColumnType, Definition, Unit, field_texts

_SUFFIXES: tuple[tuple[str, Unit], ...] = (("_ns", "ns"), ("bytes", "bytes"), ("share", "fraction"))


def columns_of(result: type, values: Mapping[str, Any], defined: Mapping[str, Definition]) -> list[Definition]:
    """Definitions of the columns of a result: those that are declared, else what its docstring and the name say."""
    texts = field_texts(result)
    return [defined.get(key) or _guessed(key, each, texts.get(key, "")) for key, each in values.items()]


def _guessed(key: str, values: Any, text: str) -> Definition:
    unit = next((unit for suffix, unit in _SUFFIXES if key.endswith(suffix)), None)
    label = key.removesuffix("_ns").replace("_", " ").capitalize()
    kind = _type_of(values)
    return Definition(key, label, kind, unit if kind == "number" else None, text)


def _type_of(values: Any) -> ColumnType:
    if isinstance(values, np.ndarray):
        return "bool" if values.dtype.kind == "b" else "number" if values.dtype.kind in "iuf" else "string"
    known = next((value for value in values if value is not None), None)
    if isinstance(known, bool):
        return "bool"
    return "number" if isinstance(known, int | float) else "string"
