"""Regular expressions that people write. They come with links, and one can be made to run for years: these stop."""

from __future__ import annotations

import time
from collections.abc import Callable

import regex


class SlowPattern(ValueError):
    """Matching takes longer than it may."""


class TimedPattern:
    """Raises ValueError for what is not a regular expression."""

    def __init__(self, source: str, flags: int = 0) -> None:
        try:
            self._compiled = regex.compile(source, flags)
        except (regex.error, OverflowError) as error:
            raise ValueError(f"{source!r} is not a regular expression: {error}") from None

    def matcher(self, seconds: float) -> Callable[[str], bool]:
        """Whether it is found in a text, for as many texts as it can be asked of from now on in so many seconds.

        The function raises SlowPattern. Other threads run meanwhile.
        """
        until = time.monotonic() + seconds
        search = self._compiled.search

        def found(text: str) -> bool:
            try:
                return search(text, timeout=max(until - time.monotonic(), 1e-3), concurrent=True) is not None
            except TimeoutError:
                raise SlowPattern("takes too long to match") from None

        return found
