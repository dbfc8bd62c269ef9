"""How many examples of a property are drawn: a quarter in `make test`, all in `make test-long` (ALL_EXAMPLES=1)."""

from __future__ import annotations

import os
from typing import Any

import hypothesis

_ALL = bool(os.environ.get("ALL_EXAMPLES"))


def examples(most: int, **others: Any) -> hypothesis.settings:
    """Return the settings of a property that is tried on at most so many examples."""
    # The machines of CI are shared: an example that is slow once is no failure.
    return hypothesis.settings(max_examples=most if _ALL else max(most // 4, 10), deadline=None, **others)
