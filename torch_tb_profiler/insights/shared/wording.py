"""Numbers in sentences."""

from __future__ import annotations

from torch_tb_profiler.analysis.shared.byte_text import BYTES_PER
from torch_tb_profiler.analysis.shared.count_text import counted

#: units in sentences and their ns, the largest first
_DURATIONS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3))


def ms(ns: float) -> str:
    """A duration with three digits in the unit in which the page has it, mostly milliseconds.

    >>> ms(1_234_567), ms(234_567_890), ms(700), ms(2_729_400_000), ms(124_587_123_456), ms(999_600)
    ('1.23 ms', '235 ms', '0.7 µs', '2.73 s', '125 s', '1000 µs')
    """
    name, size = next((unit for unit in _DURATIONS if abs(ns) >= unit[1]), _DURATIONS[-1])
    return f"{_short(ns / size, 3)} {name}"


def mebibytes(size: float, digits: int = 3) -> str:
    """Bytes in MiB.

    >>> mebibytes(77_070_336), mebibytes(1 << 30), mebibytes(1024), mebibytes(10_240 << 20, 4)
    ('73.5 MiB', '1024 MiB', '0.000977 MiB', '10240 MiB')
    """
    return f"{_short(size / BYTES_PER['MiB'], digits)} MiB"


def gibibytes(size: float, digits: int = 2) -> str:
    """Bytes in GiB.

    >>> gibibytes(130 << 30), gibibytes(1 << 28)
    ('130 GiB', '0.25 GiB')
    """
    return f"{_short(size / BYTES_PER['GiB'], digits)} GiB"


def _short(count: float, digits: int) -> str:
    """With so many digits, but all those before the point."""
    return f"{count:.{digits}g}" if abs(count) < 10 ** (digits - 1) else f"{count:.0f}"


#: from so many a step on a whole number is near enough
_MANY = 10


def how_many(count: int, steps: int, what: str) -> str:
    """How many of something there are in steps: a whole number a step, or how many in all of few.

    what   in the singular

    >>> how_many(6, 6, "call"), how_many(18, 6, "call"), how_many(5, 6, "call"), how_many(100, 7, "call")
    ('1 call a step', '3 calls a step', '5 calls in 6 steps', 'about 14 calls a step')
    """
    each, rest = divmod(count, max(steps, 1))
    if rest and each < _MANY:
        return f"{counted(count, what)} in {steps} steps"
    about = "about " if rest else ""
    number = round(count / max(steps, 1))
    return f"{about}{counted(number, what)} a step"


def how_often(times: int, steps: int) -> str:
    """The same of what happens.

    >>> how_often(6, 6), how_often(18, 6), how_often(1, 6), how_often(5, 6)
    ('once a step', '3 times a step', 'once in 6 steps', '5 times in 6 steps')
    """
    said = how_many(times, steps, "time")
    return f"once{said.removeprefix('1 time')}" if said.startswith("1 time ") else said
