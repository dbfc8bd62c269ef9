"""Numbers in sentences."""

from __future__ import annotations

from torch_tb_profiler.analysis.shared.byte_text import BYTES_PER
from torch_tb_profiler.analysis.shared.count_text import counted
from torch_tb_profiler.analysis.shared.duration_text import ms as ms  # noqa: PLC0414 - others have it from here
from torch_tb_profiler.analysis.shared.duration_text import short


def mebibytes(size: float, digits: int = 3) -> str:
    """Bytes in MiB.

    >>> mebibytes(77_070_336), mebibytes(1 << 30), mebibytes(1024), mebibytes(10_240 << 20, 4)
    ('73.5 MiB', '1024 MiB', '0.000977 MiB', '10240 MiB')
    """
    return f"{short(size / BYTES_PER['MiB'], digits)} MiB"


def gibibytes(size: float, digits: int = 2) -> str:
    """Bytes in GiB.

    >>> gibibytes(130 << 30), gibibytes(1 << 28)
    ('130 GiB', '0.25 GiB')
    """
    return f"{short(size / BYTES_PER['GiB'], digits)} GiB"


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
