"""Times as the old plugin wrote them."""

from __future__ import annotations


def microseconds(ns: int) -> int | float:
    """An int when it is a whole number, as in files that hold ints."""
    whole, rest = divmod(int(ns), 1000)
    return whole if rest == 0 else int(ns) / 1000
