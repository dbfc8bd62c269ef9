"""Any value as text for people, and names made harmless."""

from __future__ import annotations

from typing import Any

from torch_tb_profiler.analysis.answer import Unit
from torch_tb_profiler.analysis.shown.values import MISSING, alone, truth


def harmless(text: str, most: int | None = None) -> str:
    """The text without characters that control a terminal, a page or the text direction; at most `most` long.

    Control characters, marks of direction, characters without width, and spaces that are none become U+FFFD.
    """
    if most is not None and len(text) > most:
        text = f"{text[: most - 1]}…"
    return text if text.isprintable() else "".join(each if each.isprintable() else "\ufffd" for each in text)


def text_of(value: Any, unit: Unit | None) -> str:
    """A number with its unit, a boolean in words, a text unchanged."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return truth(value)
    return alone(value, unit) if isinstance(value, int | float) else str(value)
