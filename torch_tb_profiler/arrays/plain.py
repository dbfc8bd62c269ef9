"""JSON of values with numbers of numpy, which msgspec takes as those of Python."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np


def plain(value: Any) -> Any:
    """A hook for encoders: a value that is a number of numpy as one of Python. Raises NotImplementedError for others.

    >>> plain(np.float64(0.5)), plain(np.int64(3))
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
    return msgspec.json.encode(value, enc_hook=plain)


def dumps_indented(value: Any) -> str:
    """Return a value as JSON with line breaks, for people.

    >>> dumps_indented(np.int64(1))
    '1'
    """
    return msgspec.json.format(dumps(value)).decode()
