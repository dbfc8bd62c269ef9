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


def texts(ns: Int64) -> list[str]:
    """Many times as JSON numbers, exact to the nanosecond."""
    if (ns < 0).any():
        return [exact(value) for value in ns.tolist()]
    whole, rest = (ns // 1000).tolist(), (ns % 1000).tolist()
    return [f"{w}.{r:03d}" if r else f"{w}" for w, r in zip(whole, rest, strict=True)]
