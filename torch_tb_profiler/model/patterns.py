"""Regular expressions that people write, or that come with a link: none may hold the server."""

from __future__ import annotations

import time
from collections.abc import Callable

import regex


class SlowPattern(ValueError):
    """A pattern that takes longer than it may."""


def check_pattern(pattern: str) -> None:
    """Raises ValueError for a pattern that is not a regular expression."""
    try:
        regex.compile(pattern)
    except regex.error as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None


def searcher(pattern: str, seconds: float, ignore_case: bool = False) -> Callable[[str], object]:
    """Tells whether a pattern is found in a text. All calls together may take `seconds`, from now on.

    Raises ValueError for a pattern that is not a regular expression; what is returned raises SlowPattern.
    """
    check_pattern(pattern)
    compiled = regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    until = time.monotonic() + seconds

    def found(text: str) -> object:
        try:
            return compiled.search(text, timeout=max(until - time.monotonic(), 1e-3), concurrent=True)
        except TimeoutError:
            raise SlowPattern(f"{pattern!r} takes too long to match") from None

    return found
