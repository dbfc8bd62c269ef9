"""Bytes in sentences."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def size(count: float) -> str:
    """Bytes as people read them.

    >>> size(5 << 20), size(1536), size(12)
    ('5 MiB', '1.5 KiB', '12 B')
    """
    place = 0
    while abs(count) >= 1024 and place < len(_UNITS) - 1:
        count, place = count / 1024, place + 1
    text = f"{count:.0f}" if place == 0 else f"{count:.2f}".rstrip("0").rstrip(".")
    return f"{text} {_UNITS[place]}"
