"""JSON of values that contain NumPy numbers."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np


def enc_hook(value: Any) -> Any:
    """Convert a `value` that is a NumPy number into one of Python, for msgspec. Raises NotImplementedError for others.

    >>> enc_hook(np.float64(0.5)), enc_hook(np.int64(3))
    (0.5, 3)
    """
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(type(value).__name__)


def dumps(value: Any) -> bytes:
    """Return a value as JSON; numbers that JSON does not have (NaN, infinities) are null.

    >>> dumps({"share": np.float64("nan")})
    b'{"share":null}'
    """
    return msgspec.json.encode(value, enc_hook=enc_hook)


def dumps_indented(value: Any) -> str:
    """Return a value as JSON with line breaks, for people.

    >>> dumps_indented(np.int64(1))
    '1'
    """
    return msgspec.json.format(dumps(value)).decode()
