"""Numbers of numpy where msgspec wants those of Python."""

from __future__ import annotations

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A hook for encoders: a number of numpy as one of Python. Raises NotImplementedError for everything else."""
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(type(value).__name__)
