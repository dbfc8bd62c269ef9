"""Singular and plural in sentences."""

from __future__ import annotations


def by_count(count: int, one: str, more: str) -> str:
    """The form of a word that goes with a number.

    >>> by_count(1, "takes", "take"), by_count(2, "takes", "take")
    ('takes', 'take')
    """
    return one if count == 1 else more


def counted(count: int, one: str, more: str = "") -> str:
    """A number with what is counted.

    more   the plural, where it is not `one` with an s

    >>> counted(1, "kernel"), counted(2, "kernel"), counted(2, "copy", "copies")
    ('1 kernel', '2 kernels', '2 copies')
    """
    return f"{count} {by_count(count, one, more or f'{one}s')}"
