"""Durations in sentences."""

from __future__ import annotations

#: units in sentences and their ns, the largest first
_DURATIONS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3))


def ms(ns: float) -> str:
    """A duration with three digits in the unit in which the page has it, mostly milliseconds.

    >>> ms(1_234_567), ms(234_567_890), ms(700), ms(2_729_400_000), ms(124_587_123_456), ms(999_600)
    ('1.23 ms', '235 ms', '0.7 µs', '2.73 s', '125 s', '1000 µs')
    """
    name, size = next((unit for unit in _DURATIONS if abs(ns) >= unit[1]), _DURATIONS[-1])
    return f"{short(ns / size, 3)} {name}"


def short(count: float, digits: int) -> str:
    """With so many digits, but all those before the point."""
    return f"{count:.{digits}g}" if abs(count) < 10 ** (digits - 1) else f"{count:.0f}"
