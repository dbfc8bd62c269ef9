"""What a name says, worked out once for each name, however many names a trace has."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from sys import getsizeof
from typing import TypeVar

T = TypeVar("T")

#: bytes of the names that are kept for one function; when there are more, it begins anew
MOST_BYTES = 24_000_000
#: what a name takes beside its text
_ENTRY_BYTES = 100


def kept_by_name(of_name: Callable[[str], T]) -> Callable[[str], T]:
    """A function that is asked again and again about the same names, and returns one of few values.

    A bound on the number of names would not do: with one name more than that, asked one after the other, nothing is
    found that was kept, and a bound far above what traces have would keep names of any length.
    """
    known: dict[str, T] = {}
    held = 0

    @wraps(of_name)
    def found(name: str) -> T:
        nonlocal held
        try:
            return known[name]
        except KeyError:
            value = of_name(name)
        held += getsizeof(name) + _ENTRY_BYTES
        if held > MOST_BYTES:
            known.clear()
            held = getsizeof(name) + _ENTRY_BYTES
        known[name] = value
        return value

    return found
