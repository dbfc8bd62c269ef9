"""Regular expressions of filters (docs/tables.md), in any case."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.model.patterns import PatternError, SlowPattern, TimedPattern

__all__ = ["LONGEST", "SECONDS", "Pattern", "PatternError"]

LONGEST = 200
#: for all texts of a column
SECONDS = 2.0


class Pattern:
    """A regular expression, to be found in any case. Raises PatternError."""

    def __init__(self, source: str) -> None:
        if len(source) > LONGEST:
            raise PatternError(f"it is longer than {LONGEST} characters")
        self._pattern = TimedPattern(source, ignore_case=True)

    def search(self, texts: Sequence[str]) -> Bool:
        """In which of the texts it is found. Raises PatternError."""
        found = self._pattern.matcher(SECONDS)
        try:
            return np.fromiter(map(found, texts), np.bool_, len(texts))
        except SlowPattern:
            raise PatternError("it takes too long to match") from None
