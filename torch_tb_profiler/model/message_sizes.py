"""How many bytes the inputs of an operator have, from the shapes and types that were recorded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy.typing as npt

from torch_tb_profiler.model.communication_names import element_bytes


@lru_cache(maxsize=1024)
def input_bytes(dims: str, types: str) -> tuple[str, int]:
    """The type of the first input that has one, and bytes of all of them; -1 when a tensor's type is not known."""
    try:
        shapes, names = json.loads(dims or "[]"), json.loads(types or "[]")
    except ValueError:
        return "", -1
    if not isinstance(shapes, list) or not isinstance(names, list):
        return "", -1
    first, total = "", -1
    for shape, name in zip(shapes, names, strict=False):
        size = element_bytes(name) if isinstance(name, str) else None
        if size is None:
            if shape and name not in ("", "Scalar"):
                return "", -1
            continue
        first = first or name
        total = max(total, 0) + size * _elements(shape)
    return first, total


def _elements(shape: npt.ArrayLike | Sequence[Any]) -> int:
    """Number of elements of a shape, or of a list of shapes."""
    if not isinstance(shape, list):
        return 0
    if any(isinstance(part, list) for part in shape):
        return sum(_elements(part) for part in shape)
    product = 1
    for part in shape:
        product *= part if isinstance(part, int) else 0
    return product
