"""Numbers in sentences."""

from __future__ import annotations

from torch_tb_profiler.analysis.shared.count_text import counted

#: units in sentences and their ns, the largest first
_DURATIONS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3))


def ms(ns: float) -> str:
    """A duration with three digits in the unit in which the page has it, mostly milliseconds.

    >>> ms(1_234_567), ms(234_567_890), ms(700), ms(2_729_400_000), ms(124_587_123_456), ms(999_600)
    ('1.23 ms', '235 ms', '0.7 µs', '2.73 s', '125 s', '1000 µs')
    """
    name, size = next((unit for unit in _DURATIONS if abs(ns) >= unit[1]), _DURATIONS[-1])
    count = ns / size
    return f"{count:.3g} {name}" if abs(count) < 100 else f"{count:.0f} {name}"


def megabytes(size: float) -> str:
    """Bytes in the unit of the page, whose MB is 2^20 bytes as PyTorch's own summaries have it.

    >>> megabytes(77_070_336), megabytes(1 << 30), megabytes(1024)
    ('73.5 MB', '1024 MB', '0.000977 MB')
    """
    count = size / 2**20
    return f"{count:.3g} MB" if abs(count) < 100 else f"{count:.0f} MB"


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
