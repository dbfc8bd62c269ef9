"""Regular expressions that are compiled when they are first used.

The package has hundreds, a process uses some, and to compile one takes a tenth of a millisecond and more.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, for a pattern of a module; what is wrong with it is raised at its first use."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(text, flags))


class _LazyPattern:
    """Has the attributes of the compiled pattern from the moment when one is asked for."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._arguments = text, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        text, flags = self._arguments
        found = self.__dict__[name] = getattr(re.compile(text, flags), name)
        return found
