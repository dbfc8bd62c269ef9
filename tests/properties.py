"""How many examples of a property are drawn: a quarter in `make test`, all in `make test-long` (THOROUGH=1)."""

from __future__ import annotations

import os
from typing import Any

import hypothesis

THOROUGH = bool(os.environ.get("THOROUGH"))


def examples(most: int, **others: Any) -> hypothesis.settings:
    """Return the settings of a property that is tried on at most so many examples."""
    # The machines of CI are shared: an example that is slow once is no failure.
    return hypothesis.settings(max_examples=most if THOROUGH else max(most // 4, 10), deadline=None, **others)
