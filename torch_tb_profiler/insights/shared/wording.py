"""Numbers in sentences."""

from __future__ import annotations


def ms(ns: float) -> str:
    """A duration in milliseconds, with three digits, and from 100 ms on in whole ones.

    >>> ms(1_234_567), ms(234_567_890), ms(700)
    ('1.23 ms', '235 ms', '0.0007 ms')
    """
    return f"{ns / 1e6:.3g} ms" if ns < 1e8 else f"{ns / 1e6:.0f} ms"
