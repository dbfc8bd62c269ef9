"""Times in microseconds, as the old plugin and trace files write them."""

from __future__ import annotations


def microseconds(ns: int) -> int | float:
    """An int when it is a whole number, as in files that hold ints."""
    whole, rest = divmod(int(ns), 1000)
    return whole if rest == 0 else int(ns) / 1000


def rounded_microseconds(ns: float) -> int:
    """To whole microseconds."""
    return round(float(ns) / 1000)


def exact(ns: int) -> str:
    """The text of a number that a double could not hold."""
    whole, rest = divmod(abs(ns), 1000)
    return f"{'-' if ns < 0 else ''}{whole}" + (f".{rest:03d}" if rest else "")
