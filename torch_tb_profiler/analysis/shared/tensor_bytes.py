"""How many bytes the tensors among the arguments of an operator have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from types import MappingProxyType

#: bytes of an element by `Input type`
ELEMENT_BYTES: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("double", "long int", "long", "c10::complex<float>"), 8),
        **dict.fromkeys(("float", "int"), 4),
        **dict.fromkeys(("c10::Half", "c10::BFloat16", "short", "short int"), 2),
        **dict.fromkeys(("bool", "signed char", "unsigned char"), 1),
        **{f"c10::Float8_{kind}": 1 for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")},
        "c10::complex<double>": 16,
    }
)
#: no real tensor has more elements in a dimension
LARGEST_DIMENSION = 2**48


def tensor_bytes(dims: str, types: str, strides: str) -> int | None:
    """Σ bytes of the tensors; each element of an expanded one (stride 0) counts once. None where it is not known.

    dims, types, strides   the arguments `Input Dims`, `Input type`, `Input Strides`, JSON texts; "" for missing
    """
    try:
        sizes, kinds, steps = (json.loads(each or "[]") for each in (dims, types, strides))
    except (ValueError, RecursionError):
        return None
    if not (isinstance(sizes, list) and isinstance(kinds, list) and isinstance(steps, list)):
        return None
    total = 0
    for at, (size, kind) in enumerate(zip(sizes, kinds, strict=False)):
        width = ELEMENT_BYTES.get(str(kind))
        if width is None:
            if isinstance(size, list) and size:
                return None  # a tensor of a type, or a list of tensors, that nothing is known of
            continue
        if not isinstance(size, list) or not all(isinstance(d, int) and 0 <= d < LARGEST_DIMENSION for d in size):
            return None
        stride = steps[at] if at < len(steps) and isinstance(steps[at], list) else []
        total += width * prod(d for d, step in zip(size, stride or [1] * len(size), strict=False) if step != 0)
    return total or None
