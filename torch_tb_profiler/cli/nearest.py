"""Suggests the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

#: names that are compared: it takes time
_MOST_NAMES = 1000


def nearest(text: str, known: Sequence[str]) -> str:
    """The end of a message about an unknown name; empty if no known name is similar.

    >>> nearest("callz", ["calls", "name"])
    " (did you mean 'calls'?)"
    """
    found = difflib.get_close_matches(text, known[:_MOST_NAMES], n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""
