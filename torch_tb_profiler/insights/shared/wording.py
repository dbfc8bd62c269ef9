"""Numbers in sentences."""

from __future__ import annotations

from torch_tb_profiler.analysis.shared.count_text import counted


def ms(ns: float) -> str:
    """A duration in milliseconds, with three digits, from 100 ms on in whole ones, from ten seconds on in seconds.

    >>> ms(1_234_567), ms(234_567_890), ms(700), ms(24_587_123_456)
    ('1.23 ms', '235 ms', '0.0007 ms', '24.6 s')
    """
    if ns >= 1e10:
        return f"{ns / 1e9:.1f} s"
    return f"{ns / 1e6:.3g} ms" if ns < 1e8 else f"{ns / 1e6:.0f} ms"


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
