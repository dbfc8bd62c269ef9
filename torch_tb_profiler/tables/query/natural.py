"""The order of texts: numbers inside them by value, capital letters like small ones.

`fe/src/table/natural.ts` is the same in the browser.
"""

from __future__ import annotations

import re

from torch_tb_profiler.lazy_pattern import lazy_pattern

_NUMBER = lazy_pattern("[0-9]+")


def natural_key(text: str) -> str:
    """Texts are ordered as their keys are: `a2` before `a10`, `B` after `a`; texts alike in that, as they are."""
    return f"{_NUMBER.sub(_padded, text.lower())}\0{text}"


def _padded(number: re.Match[str]) -> str:
    """The longer number is the larger one; zeros in front do not count."""
    digits = number[0].lstrip("0")
    return f"0{chr(len(digits) + 1)}{digits}"
