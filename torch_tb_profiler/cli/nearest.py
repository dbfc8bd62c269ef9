"""What somebody probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

#: names that are compared: it takes time
_MOST_NAMES = 1000


def nearest(text: str, known: Sequence[str]) -> str:
    """For a message about a name that is not there; empty where none is near.

    >>> nearest("callz", ["calls", "name"])
    " (did you mean 'calls'?)"
    """
    found = difflib.get_close_matches(text, known[:_MOST_NAMES], n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""
