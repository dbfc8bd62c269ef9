"""Numbers in sentences."""

from __future__ import annotations


def ms(ns: float) -> str:
    """A duration in milliseconds, with three digits, from 100 ms on in whole ones, from ten seconds on in seconds.

    >>> ms(1_234_567), ms(234_567_890), ms(700), ms(24_587_123_456)
    ('1.23 ms', '235 ms', '0.0007 ms', '24.6 s')
    """
    if ns >= 1e10:
        return f"{ns / 1e9:.1f} s"
    return f"{ns / 1e6:.3g} ms" if ns < 1e8 else f"{ns / 1e6:.0f} ms"
