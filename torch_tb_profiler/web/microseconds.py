"""Times in microseconds, as the old plugin and trace files write them."""

from __future__ import annotations

from torch_tb_profiler.trace.schema import Int64


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


def parts(ns: Int64) -> tuple[list[str], list[str]]:
    """Many times as JSON numbers, exact to the nanosecond: the whole microseconds, and what follows them."""
    if (ns < 0).any():
        return [exact(value) for value in ns.tolist()], [""] * len(ns)
    return list(map(str, (ns // 1000).tolist())), [_FRACTIONS[rest] for rest in (ns % 1000).tolist()]


_FRACTIONS = ["", *(f".{rest:03d}" for rest in range(1, 1000))]
