"""Numbers of numpy where msgspec wants those of Python."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A hook for encoders: a value that is a number of numpy as one of Python. Raises NotImplementedError for others.

    >>> plain(np.float64(0.5)), plain(np.int64(3))
    (0.5, 3)
    """
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(type(value).__name__)
