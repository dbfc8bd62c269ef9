"""Regular expressions that people write. They come with links, and one can be made to run for years: these stop."""

from __future__ import annotations

import time
from collections.abc import Callable


class SlowPattern(ValueError):
    """Matching takes longer than it may."""


class TimedPattern:
    """Raises ValueError for what is not a regular expression."""

    def __init__(self, source: str, ignore_case: bool = False) -> None:
        # takes two megabytes in every process, and few people write patterns
        import regex  # noqa: PLC0415

        self._source = source
        try:
            self._compiled = regex.compile(source, regex.IGNORECASE if ignore_case else 0)
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
                raise SlowPattern(f"{self._source!r} takes too long to match") from None

        return found


def check_pattern(pattern: str) -> None:
    """Raises ValueError for a pattern that is not a regular expression."""
    TimedPattern(pattern)


def searcher(pattern: str, seconds: float, ignore_case: bool = False) -> Callable[[str], bool]:
    """Tells whether a pattern is found in a text. All calls together may take `seconds`, from now on.

    Raises ValueError for a pattern that is not a regular expression; what is returned raises SlowPattern.
    """
    return TimedPattern(pattern, ignore_case).matcher(seconds)
