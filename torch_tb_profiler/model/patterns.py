"""Regular expressions that people write.

They come with links, and one can be made to run for years or to take all memory. These stop, and only such are taken as
cannot (`pattern_grammar`). Every pattern of a request goes this way.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from torch_tb_profiler.model.pattern_grammar import PatternError, translated

__all__ = ["PatternError", "SlowPattern", "TimedPattern", "check_pattern", "searcher"]

#: how much of a pattern is said again
_SHOWN = 100


class SlowPattern(ValueError):
    """Matching takes longer than it may."""


class TimedPattern:
    """Raises PatternError for what is not a regular expression of `pattern_grammar`."""

    def __init__(self, source: str, ignore_case: bool = False) -> None:
        # takes two megabytes in every process, and few people write patterns
        import regex  # noqa: PLC0415

        self._source = source
        # V1: sets within sets; without (?-f) ß would also be ss.
        known = f"(?V1)(?-f){translated(source)}"
        try:
            self._compiled = regex.compile(known, regex.IGNORECASE if ignore_case else 0)
        except (regex.error, OverflowError, RecursionError, MemoryError) as error:
            raise PatternError(str(error) or "it is too deep") from None

    def matcher(self, seconds: float) -> Callable[[str], bool]:
        """Whether it is found in a text, for as many texts as it can be asked of from now on in so many seconds.

        The function raises SlowPattern. Other threads run meanwhile.
        """
        until = time.monotonic() + seconds
        search = self._compiled.search

        def found(text: str) -> bool:
            try:
                return search(text, timeout=max(until - time.monotonic(), 1e-3), concurrent=True) is not None
            except (TimeoutError, MemoryError):
                raise SlowPattern(f"{_shown(self._source)} takes too long to match") from None

        return found


def check_pattern(pattern: str) -> None:
    """Raises PatternError, with the reason, for what is not a regular expression that is taken."""
    _timed(pattern)


def searcher(pattern: str, seconds: float, ignore_case: bool = False) -> Callable[[str], bool]:
    """Tells whether a pattern is found in a text. All calls together may take `seconds`, from now on.

    Raises PatternError for what is not a regular expression that is taken; what is returned raises SlowPattern.
    """
    return _timed(pattern, ignore_case).matcher(seconds)


def _timed(pattern: str, ignore_case: bool = False) -> TimedPattern:
    try:
        return TimedPattern(pattern, ignore_case)
    except PatternError as error:
        raise PatternError(f"{_shown(pattern)} is not a regular expression that is known here: {error}") from None


def _shown(pattern: str) -> str:
    return repr(pattern if len(pattern) <= _SHOWN else f"{pattern[:_SHOWN]}…")
